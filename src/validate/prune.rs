//! Taking away the answers that count for nothing.

use super::answers;
use super::view::View;
use crate::model::{AnswerInput, ConsignmentInput};

/// By answer: whether a question that applies has it. Answers to ids that no question has are kept: the list may be old.
pub(super) fn kept(view: View<'_>) -> Vec<bool> {
    let keeps = |answer: &AnswerInput| {
        let id = answer.question_id.value().map_or("", |id| id.as_str());
        let index = answers::row(answer);
        let nodes = view.prepared.nodes_of(id);
        nodes.is_empty()
            || nodes
                .iter()
                .any(|node| view.applies_in(*node as usize, index))
    };
    view.answers.iter().map(keeps).collect()
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
