//! Limits of the work of one check: far above any declaration, and small enough to be quick.
//!
//! Questions come from a server. Rows, choices, triggers and repeated ids multiply each other, so that a short list could
//! cost hours of work or all of the memory.

use std::sync::Arc;

use super::prepared::{Kind, NONE, Prepared};
use super::{Finding, Rule};

/// Questions in rows. The list of the sample has 16 below its longest REPEATABLE question, which makes 6,250 rows; a
/// consignment that people fill in has some dozens.
const MOST_CELLS: u64 = 100_000;

/// Triggers, choices and answers that are looked at. The sample needs less than 2,000 with all its answers.
const MOST_STEPS: u64 = 1_000_000;

/// What looking at a list of questions costs, in steps.
#[derive(Debug, Default)]
pub(super) struct Weights {
    /// By id: an answer.
    answer: Vec<u64>,
    /// By scope: a row.
    row: Vec<u64>,
    /// By scope: a row for each row of other scopes.
    crossing: Vec<u64>,
}

/// Whether the triggers are few enough to be followed: each leads to all questions with the id.
pub(super) fn can_link(prepared: &Prepared) -> bool {
    let sources = prepared.groups.iter().filter(|group| group.source != NONE);
    let links = sources.map(|group| prepared.id_nodes.of(group.source).len() as u64);
    links.sum::<u64>() <= MOST_STEPS
}

impl Weights {
    pub(super) fn of(prepared: &Prepared) -> Self {
        let mut weights = Self {
            answer: vec![0; prepared.ids.len()],
            row: vec![0; prepared.scopes.len()],
            crossing: vec![0; prepared.scopes.len()],
        };
        for position in 0..prepared.nodes.len() {
            weights.add(prepared, position);
        }
        weights
    }

    fn add(&mut self, prepared: &Prepared, position: usize) {
        let node = &prepared.nodes[position];
        let scope = node.scope as usize;
        let choices = node.choices.range().len() as u64;
        self.answer[node.id as usize] += 1 + choices;
        let mut row = 1 + choices;
        for group in &prepared.groups[node.groups.range()] {
            let wanted = group.wanted.range().len() as u64;
            row += wanted;
            if group.source == NONE {
                continue;
            }
            self.answer[group.source as usize] += 1 + wanted;
            for source in prepared.id_nodes.of(group.source) {
                row += 1;
                let other = prepared.nodes[*source as usize].scope;
                if scope != 0 && other != 0 && other != node.scope {
                    self.crossing[scope] += 1 + wanted;
                }
            }
        }
        if scope != 0 {
            if node.kind == Kind::Rows {
                // Each question below looks for an answer below.
                let below = (node.end as usize - position - 1) as u64;
                row += below * below;
            }
            self.row[scope] += row;
        }
    }

    /// What answers with these numbers of ids cost.
    pub(super) fn of_answers(&self, ids: impl Iterator<Item = u32>) -> u64 {
        let known = ids.filter_map(|id| self.answer.get(id as usize));
        known.sum()
    }
}

/// Whether answers of so many steps may be judged, in so many rows by scope.
pub(super) fn fits(
    prepared: &Prepared,
    mut steps: u64,
    rows: impl Iterator<Item = u64> + Clone,
) -> bool {
    let weights = &prepared.weights;
    let all: u64 = rows.clone().sum();
    let mut cells = 0;
    for (scope, rows) in rows.enumerate() {
        let span = prepared.scopes[scope];
        let each = weights.row[scope].saturating_add(weights.crossing[scope].saturating_mul(all));
        steps = steps.saturating_add(rows.saturating_mul(each));
        cells += rows * u64::from((span.end - span.start).saturating_sub(1));
    }
    steps <= MOST_STEPS && cells <= MOST_CELLS
}

/// The finding that the answers were not checked. The server is not known to have such a limit.
pub(super) fn finding() -> Arc<Finding> {
    let message = "The answers were not checked: the questions, rows and choices are too many";
    Arc::new(Finding::whole(Rule::Size, message))
}

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts one question, trigger, value or answer that is looked at; in tests only, to show that work is linear.
pub(super) fn step() {
    #[cfg(test)]
    STEPS.set(STEPS.get() + 1);
}

/// The steps that something takes.
#[cfg(test)]
pub(super) fn steps(run: impl FnOnce()) -> u64 {
    let before = STEPS.get();
    run();
    STEPS.get() - before
}
