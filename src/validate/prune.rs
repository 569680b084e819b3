//! Removes answers to questions that do not apply.

use std::collections::HashSet;

use super::walk::{Instance, Walk};
use crate::model::{AnswerInput, ConsignmentInput};

/// The positions of answers that are ignored. Answers to unknown ids are kept, because the list may be old.
pub(super) fn superfluous(walk: &Walk<'_>) -> HashSet<usize> {
    let mut given = walk.found.given.clone();
    // If several questions share the id, one of them is enough.
    let sources = sources(walk);
    let (counting, others): (Vec<_>, Vec<_>) = given
        .iter()
        .partition(|(answered, _)| counts(walk, *answered, &sources));
    let mut superfluous: HashSet<usize> = others.into_iter().map(|(_, at)| at).collect();
    if superfluous.is_empty() {
        return superfluous;
    }
    for (_, position) in counting {
        superfluous.remove(&position);
    }
    // Keep an answer that alone creates a row, even if its question does not apply: otherwise the row would vanish with it.
    given.sort_by_key(|(_, position)| (superfluous.contains(position), *position));
    let mut rows = HashSet::new();
    for (answered, position) in given {
        if makes_row(walk, answered, &mut rows) {
            superfluous.remove(&position);
        }
    }
    superfluous
}

/// Whether the question applies, or its stale answer still triggers others.
fn counts(walk: &Walk<'_>, answered: Instance, sources: &HashSet<usize>) -> bool {
    walk.applies(answered)
        || walk.is_on_forms(answered.question) && sources.contains(&answered.question)
}

/// The questions whose stale answers may trigger others.
fn sources(walk: &Walk<'_>) -> HashSet<usize> {
    if !walk.tree.policy.stale_answers_count {
        return HashSet::new();
    }
    let triggers = walk.tree.iter().flat_map(|(_, at)| &at.triggers);
    triggers
        .flat_map(|trigger| &trigger.sources)
        .copied()
        .collect()
}

/// Records the rows that this answer creates. True if one of them is new and applies.
fn makes_row(walk: &Walk<'_>, answered: Instance, rows: &mut HashSet<Instance>) -> bool {
    if !walk.is_on_forms(answered.question) {
        return false;
    }
    let sections = walk.tree.sections_above(answered.question);
    let new = sections.map(|section| answered.with(section));
    let new = new.filter(|row| rows.insert(*row) && walk.applies(*row));
    new.count() > 0
}

/// Removes the answers at these positions and returns them in input order.
pub(super) fn remove(input: &mut ConsignmentInput, positions: &HashSet<usize>) -> Vec<AnswerInput> {
    let Some(answers) = input.answers.value_mut() else {
        return Vec::new();
    };
    let mut all = 0..;
    let is_gone = |_: &mut AnswerInput| all.next().is_some_and(|at| positions.contains(&at));
    answers.extract_if(.., is_gone).collect()
}
