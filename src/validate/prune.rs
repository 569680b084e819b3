//! Taking away the answers that count for nothing.

use std::collections::HashSet;

use super::answers;
use super::node::Kind;
use super::view::View;
use crate::model::{AnswerInput, ConsignmentInput};

/// By answer: whether it counts. Answers to ids that no question has are kept: the list may be old.
pub(super) fn kept(view: View<'_>) -> Vec<bool> {
    let sources = sources(view);
    let counts = |answer| applies(view, answer, &sources);
    let mut kept: Vec<bool> = view.answers.iter().map(counts).collect();
    let mut answered = HashSet::new();
    for (answer, _) in view.answers.iter().zip(&kept).filter(|(_, kept)| **kept) {
        answered.extend(rows_of(view, answer));
    }
    // An answer that alone makes a row stays, although its question does not apply: the row would go with it.
    for (answer, kept) in view.answers.iter().zip(&mut kept) {
        if !*kept && rows_of(view, answer).any(|row| !answered.contains(&row)) {
            *kept = true;
            answered.extend(rows_of(view, answer));
        }
    }
    kept
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

/// The REPEATABLE questions that apply and have a row by this answer, with its number.
fn rows_of<'a>(
    view: View<'a>,
    answer: &'a AnswerInput,
) -> impl Iterator<Item = (usize, Option<i64>)> + 'a {
    let index = answers::row(answer);
    let all = view.prepared.nodes.len();
    let above = move |node: &usize| {
        let parent = view.prepared.nodes[*node].parent as usize;
        (parent < all).then_some(parent)
    };
    nodes(view, answer)
        .filter(move |node| view.play.on_forms[*node])
        .flat_map(move |node| std::iter::successors(above(&node), above))
        .filter(move |above| view.prepared.nodes[*above].kind == Kind::Rows)
        .filter(move |above| view.applies_in(*above, index))
        .map(move |above| (above, index))
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
