//! Removes the answers that count for nothing.

use std::collections::HashSet;

use super::answers::{GivenAnswer, Instance};
use super::applicability::Applicability;
use crate::model::{AnswerInput, ConsignmentInput};

/// Whether each answer of the input counts. Answers to unknown ids are kept: the list may be old.
pub(super) fn kept(questions: &Applicability<'_>) -> Vec<bool> {
    let mut kept = vec![true; questions.input.len()];
    if questions.is_too_large {
        return kept;
    }
    // An answer counts where it counts for one of the questions with its id.
    let answers = questions.answers.all();
    let sources = sources(questions);
    let counts = |given: &&GivenAnswer<'_>| counts(questions, given.instance, &sources);
    let mark = |kept: &mut Vec<bool>, given: &GivenAnswer<'_>, is_kept| {
        if let Some(kept) = kept.get_mut(given.position) {
            *kept = is_kept;
        }
    };
    for given in answers {
        mark(&mut kept, given, false);
    }
    for given in answers.iter().filter(counts) {
        mark(&mut kept, given, true);
    }
    // An answer that alone makes a row stays, although its question does not apply: the row would go with it.
    let is_kept = |kept: &[bool], given: &GivenAnswer<'_>| kept.get(given.position) == Some(&true);
    let mut kept_first: Vec<_> = answers.iter().collect();
    kept_first.sort_by_key(|given| (!is_kept(&kept, given), given.position));
    let mut rows = HashSet::new();
    for given in kept_first {
        if makes_row(questions, given.instance, &mut rows) {
            mark(&mut kept, given, true);
        }
    }
    kept
}

/// Whether the question applies, or triggers others although it does not apply.
fn counts(questions: &Applicability<'_>, answered: Instance, sources: &HashSet<usize>) -> bool {
    questions.applies(answered)
        || questions.is_on_forms(answered.question) && sources.contains(&answered.question)
}

/// The questions whose answers may trigger others although they do not apply.
fn sources(questions: &Applicability<'_>) -> HashSet<usize> {
    questions
        .tree
        .iter()
        .flat_map(|(_, at)| &at.triggers)
        .filter(|_| questions.tree.policy.stale_answers_count)
        .flat_map(|trigger| &trigger.sources)
        .copied()
        .collect()
}

/// Notes the REPEATABLE questions that have a row by an answer; true when one that applies had none before.
fn makes_row(
    questions: &Applicability<'_>,
    answered: Instance,
    rows: &mut HashSet<Instance>,
) -> bool {
    let mut is_new = false;
    let mut section = questions.tree[answered.question].section;
    while let Some(question) = section
        && questions.is_on_forms(answered.question)
        && rows.insert(answered.with(question))
    {
        is_new |= questions.applies(answered.with(question));
        section = questions.tree[question].section;
    }
    is_new
}

/// Removes the answers that are not kept, and returns them in the order of the input.
pub(super) fn remove(input: &mut ConsignmentInput, kept: &[bool]) -> Vec<AnswerInput> {
    let Some(answers) = input.answers.value_mut() else {
        return Vec::new();
    };
    let mut kept = kept.iter();
    let is_gone = |_: &mut AnswerInput| kept.next() == Some(&false);
    answers.extract_if(.., is_gone).collect()
}
