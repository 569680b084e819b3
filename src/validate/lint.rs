//! What is odd about a list of questions.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::UncheckedReason;
use super::node::Prepared;
use crate::model::QuestionId;

/// What kind of oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum LintKind {
    /// The questions wait for each other, so none of them ever applies.
    Ring,
    /// A trigger names a question that is not in the list.
    UnknownTriggerTarget,
    /// Two questions with the same id can appear in the same form.
    DuplicateId,
    /// A type that this version of the crate does not know.
    UnknownType,
    /// A type of validator that this version of the crate does not know.
    UnknownValidator,
    /// A year that cannot be read.
    UnreadableParameter,
    /// A question without an id.
    NoId,
}

/// Something odd about a list of questions. It is never a finding about a consignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lint {
    /// What kind of oddity.
    pub kind: LintKind,
    /// The questions concerned, in display order.
    pub questions: Vec<QuestionId>,
    /// What it is about: a type, a parameter, a question id; possibly empty.
    pub detail: String,
}

impl fmt::Display for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            LintKind::Ring => "wait for each other, so none of them ever applies",
            LintKind::UnknownTriggerTarget => "has a trigger on an unknown question",
            LintKind::DuplicateId => "appears more than once in the same form",
            LintKind::UnknownType => "has an unknown type",
            LintKind::UnknownValidator => "has an unknown validator",
            LintKind::UnreadableParameter => "has a validator with an unreadable parameter",
            LintKind::NoId => "has no id",
        };
        f.write_str("question ")?;
        for (position, id) in self.questions.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            write!(f, "{comma}{id}")?;
        }
        write!(f, " {what}")?;
        if self.detail.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", self.detail)
    }
}

/// Looks a prepared list over.
pub(super) fn look(prepared: &Prepared, rings: Vec<Vec<usize>>) -> Vec<Lint> {
    let id = |node: usize| QuestionId::from(&*prepared.ids[prepared.nodes[node].id]);
    let lint = |kind, questions, detail: &str| Lint {
        kind,
        questions,
        detail: detail.to_owned(),
    };
    let mut lints = Vec::new();
    for mut ring in rings {
        ring.sort_unstable();
        lints.push(lint(LintKind::Ring, ring.into_iter().map(id).collect(), ""));
    }
    for (position, node) in prepared.nodes.iter().enumerate() {
        for group in &prepared.groups[node.groups.clone()] {
            let known = group
                .source
                .is_some_and(|id| !prepared.id_nodes[id].is_empty());
            if !known {
                let target = group.source.map_or("", |id| &prepared.ids[id]);
                lints.push(lint(
                    LintKind::UnknownTriggerTarget,
                    vec![id(position)],
                    target,
                ));
            }
        }
    }
    for nodes in &prepared.id_nodes {
        let mut seen = 0;
        for node in nodes {
            let forms = prepared.nodes[*node].forms;
            if seen & forms != 0 {
                lints.push(lint(LintKind::DuplicateId, vec![id(*node)], ""));
                break;
            }
            seen |= forms;
        }
    }
    for (node, reason) in &prepared.unchecked {
        let (kind, detail) = match reason {
            UncheckedReason::UnknownType(text) => (LintKind::UnknownType, text.as_str()),
            UncheckedReason::UnknownValidator(text) => (LintKind::UnknownValidator, text.as_str()),
            UncheckedReason::UnreadableParameter(text) => {
                (LintKind::UnreadableParameter, text.as_str())
            }
            UncheckedReason::NoId => (LintKind::NoId, ""),
        };
        lints.push(lint(kind, vec![id(*node)], detail));
    }
    lints
}
