//! Removes the answers that count for nothing.

use std::collections::HashSet;

use super::answers::Given;
use super::applicability::Applicability;
use super::prepared::Kind;
use super::size::step;
use crate::model::{AnswerInput, ConsignmentInput};

/// Whether each answer of the input counts. Answers to unknown ids are kept: the list may be old.
pub(super) fn kept(questions: &Applicability<'_>) -> Vec<bool> {
    let mut kept = vec![true; questions.answers.all().len()];
    if questions.too_large {
        return kept;
    }
    let sources = sources(questions);
    let mut rows = HashSet::new();
    let mut others = Vec::new();
    for given in questions.answers.all() {
        if counts(questions, given, &sources) {
            makes_row(questions, given, &mut rows);
        } else {
            others.push(given);
        }
    }
    // An answer that alone makes a row stays, although its question does not apply: the row would go with it.
    others.sort_unstable_by_key(|given| given.position);
    for given in others {
        kept[given.position as usize] = makes_row(questions, given, &mut rows);
    }
    kept
}

/// Whether the question applies, is unknown, or triggers others although it does not apply.
fn counts(questions: &Applicability<'_>, given: &Given, sources: &HashSet<u32>) -> bool {
    let mut nodes = questions.prepared.nodes_of_number(given.id).peekable();
    nodes.peek().is_none()
        || nodes.any(|node| {
            questions.applies_in(node, given.row)
                || questions.is_on_forms(node) && sources.contains(&given.id)
        })
}

/// The numbers of the ids whose answers may trigger others although their questions do not apply.
fn sources(questions: &Applicability<'_>) -> HashSet<u32> {
    let prepared = questions.prepared;
    let groups = prepared.groups.iter();
    let groups = groups.filter(|_| prepared.policy.stale_answers_count);
    groups.map(|group| group.source).collect()
}

/// Notes the REPEATABLE questions that have a row by an answer; true when one that applies had none before.
fn makes_row(
    questions: &Applicability<'_>,
    given: &Given,
    rows: &mut HashSet<(usize, Option<i64>)>,
) -> bool {
    let prepared = questions.prepared;
    let mut is_new = false;
    let nodes = prepared.nodes_of_number(given.id);
    for mut node in nodes.filter(|node| questions.is_on_forms(*node)) {
        while prepared.nodes[node].scope != 0
            && let Some(parent) = prepared.parent(node)
            && rows.insert((parent, given.row))
        {
            step();
            is_new |= prepared.nodes[parent].kind == Kind::Rows
                && questions.applies_in(parent, given.row);
            node = parent;
        }
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
