//! Taking away the answers that count for nothing.

use std::collections::HashSet;

use super::answers;
use super::node::Kind;
use super::view::View;
use super::work::step;
use crate::model::{AnswerInput, ConsignmentInput};

/// By answer: whether it counts. Answers to ids that no question has are kept: the list may be old.
pub(super) fn kept(view: View<'_>) -> Vec<bool> {
    if view.play.too_large {
        return vec![true; view.answers.len()];
    }
    let sources = sources(view);
    let counts = |answer| applies(view, answer, &sources);
    let mut kept: Vec<bool> = view.answers.iter().map(counts).collect();
    let mut held = HeldRows::new(view);
    for (answer, _) in view.answers.iter().zip(&kept).filter(|(_, kept)| **kept) {
        held.hold(answer);
    }
    // An answer that alone makes a row stays, although its question does not apply: the row would go with it.
    for (answer, kept) in view.answers.iter().zip(&mut kept) {
        *kept = *kept || held.hold(answer);
    }
    kept
}

/// The rows that answers make which are kept.
struct HeldRows<'a> {
    view: View<'a>,
    /// By cell inside rows: whether it and its ancestors in the row are noted, so that none is visited twice.
    cells: Vec<bool>,
    /// By row: whether its outermost REPEATABLE question is noted.
    rows: Vec<bool>,
}

impl<'a> HeldRows<'a> {
    fn new(view: View<'a>) -> Self {
        Self {
            view,
            cells: vec![false; view.play.applies.len()],
            rows: vec![false; view.play.rows.len()],
        }
    }

    /// Notes the REPEATABLE questions that have a row by an answer; true when one that applies had none before.
    fn hold(&mut self, answer: &AnswerInput) -> bool {
        let (view, index) = (self.view, answers::row(answer));
        let mut is_new = false;
        for node in nodes(view, answer).filter(|node| view.play.on_forms[*node]) {
            let scope = view.prepared.nodes[node].scope;
            let place = view.place_of_row(scope, index);
            let Some(row) = view.nth_row(place).filter(|_| scope != 0) else {
                continue;
            };
            let outermost = view.prepared.scopes[scope as usize].start as usize;
            let mut above = view.prepared.nodes[node].parent as usize;
            while above != outermost {
                step();
                let cell = view.cell(above, Some(row));
                if std::mem::replace(&mut self.cells[cell], true) {
                    break;
                }
                let above_node = &view.prepared.nodes[above];
                is_new |= above_node.kind == Kind::Rows && view.play.applies[cell];
                above = above_node.parent as usize;
            }
            if above == outermost && !std::mem::replace(&mut self.rows[place as usize], true) {
                is_new |= view.play.applies[outermost];
            }
        }
        is_new
    }
}

fn nodes<'a>(view: View<'a>, answer: &'a AnswerInput) -> impl Iterator<Item = usize> + 'a {
    let id = answer.question_id.value().map_or("", |id| id.as_str());
    let nodes = view.prepared.nodes_of(id).iter();
    nodes.map(|node| *node as usize)
}

fn applies(view: View<'_>, answer: &AnswerInput, sources: &HashSet<u32>) -> bool {
    let index = answers::row(answer);
    let mut nodes = nodes(view, answer).peekable();
    nodes.peek().is_none()
        || nodes.any(|node| view.applies_in(node, index) || triggers(view, node, sources))
}

/// The numbers of the ids whose answers may trigger others although their questions do not apply.
fn sources(view: View<'_>) -> HashSet<u32> {
    let counted = view.prepared.policy.stale_answers_count;
    let groups = view.prepared.groups.iter().filter(|_| counted);
    groups.map(|group| group.source).collect()
}

fn triggers(view: View<'_>, node: usize, sources: &HashSet<u32>) -> bool {
    view.play.on_forms[node] && sources.contains(&view.prepared.nodes[node].id)
}

/// Removes the answers that are not kept, and returns them in the order of the input.
pub(super) fn remove(input: &mut ConsignmentInput, kept: &[bool]) -> Vec<AnswerInput> {
    let Some(answers) = input.answers.value_mut() else {
        return Vec::new();
    };
    let (mut left, mut gone) = (Vec::with_capacity(answers.len()), Vec::new());
    for (answer, kept) in answers.drain(..).zip(kept) {
        if *kept {
            left.push(answer);
        } else {
            gone.push(answer);
        }
    }
    *answers = left;
    gone
}
