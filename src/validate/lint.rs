//! What is odd about a list of questions.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::UncheckedReason;
use super::ids::{NONE, at};
use super::node::{Group, Kind, Prepared};
use super::work::step;
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
    /// A trigger wants a value that its source cannot take, because it is none of its choices.
    ImpossibleTrigger,
    /// No year satisfies all validators.
    UnsatisfiableYears,
    /// Two questions with the same id can appear in the same form.
    DuplicateId,
    /// A type that this version of the crate does not know.
    UnknownType,
    /// A type of validator that this version of the crate does not know.
    UnknownValidator,
    /// A year that cannot be read.
    UnreadableParameter,
    /// Too many triggers on too many questions with the same id to be followed: nothing is judged.
    TooLarge,
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
            LintKind::Ring if self.questions.len() == 1 => "waits for itself, so it never applies",
            LintKind::Ring => "wait for each other, so none of them ever applies",
            LintKind::UnknownTriggerTarget => "has a trigger on an unknown question",
            LintKind::ImpossibleTrigger => "has a trigger on an answer that is no choice",
            LintKind::UnsatisfiableYears => "has validators that no year satisfies",
            LintKind::DuplicateId => "appears more than once in the same form",
            LintKind::UnknownType => "has an unknown type",
            LintKind::UnknownValidator => "has an unknown validator",
            LintKind::UnreadableParameter => "has a validator with an unreadable parameter",
            LintKind::NoId => "has no id",
            LintKind::TooLarge => {
                return f.write_str(
                    "the list has more triggers than can be followed: see its repeated ids",
                );
            }
        };
        let several = self.questions.len() > 1;
        f.write_str(if several { "questions " } else { "question " })?;
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
pub(super) fn look(prepared: &Prepared, rings: Vec<Vec<u32>>) -> Vec<Lint> {
    let mut lints = Vec::new();
    if prepared.too_large {
        lints.push(Lint {
            kind: LintKind::TooLarge,
            questions: Vec::new(),
            detail: String::new(),
        });
    }
    for mut ring in rings {
        ring.sort_unstable();
        // A question may stand at several places of a ring; it is named once.
        let mut named = HashSet::new();
        ring.retain(|node| named.insert(prepared.nodes[*node as usize].id));
        let questions = ring.into_iter().map(|node| id(prepared, node as usize));
        let questions = questions.inspect(|_| step()).collect();
        lints.push(Lint {
            kind: LintKind::Ring,
            questions,
            detail: String::new(),
        });
    }
    let mut choices = HashMap::new();
    for (position, node) in prepared.nodes.iter().enumerate() {
        for group in &prepared.groups[node.groups.range()] {
            of_trigger(prepared, position, group, &mut choices, &mut lints);
        }
        if node.years.are_unsatisfiable() {
            lints.push(lint(prepared, LintKind::UnsatisfiableYears, position, ""));
        }
    }
    for id in 0..at(prepared.id_nodes.len()) {
        let mut seen = 0;
        for node in prepared.id_nodes.of(id) {
            let forms = prepared.nodes[*node as usize].forms;
            if seen & forms != 0 {
                lints.push(lint(prepared, LintKind::DuplicateId, *node as usize, ""));
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
        lints.push(lint(prepared, kind, *node as usize, detail));
    }
    lints
}

/// By source: what an answer can be; `None` where it can be anything.
type Choices<'a> = HashMap<u32, Option<HashSet<&'a str>>>;

fn of_trigger<'a>(
    prepared: &'a Prepared,
    position: usize,
    group: &Group,
    choices: &mut Choices<'a>,
    lints: &mut Vec<Lint>,
) {
    let sources = match group.source {
        NONE => &[],
        source => prepared.id_nodes.of(source),
    };
    if sources.is_empty() {
        let target = match group.source {
            NONE => "",
            source => prepared.name(source).as_str(),
        };
        let kind = LintKind::UnknownTriggerTarget;
        lints.push(lint(prepared, kind, position, target));
        return;
    }
    let choices = choices
        .entry(group.source)
        .or_insert_with(|| choices_of(prepared, sources));
    let Some(choices) = choices else { return };
    for wanted in prepared.values(group.wanted).inspect(|_| step()) {
        if !choices.contains(wanted) {
            let kind = LintKind::ImpossibleTrigger;
            lints.push(lint(prepared, kind, position, wanted));
        }
    }
}

/// Only choices say what an answer can be.
fn choices_of<'a>(prepared: &'a Prepared, sources: &[u32]) -> Option<HashSet<&'a str>> {
    let mut choices = HashSet::new();
    for source in sources {
        let source = &prepared.nodes[*source as usize];
        let is_choice = matches!(source.kind, Kind::One | Kind::Several);
        if !is_choice || source.choices.is_empty() {
            return None;
        }
        choices.extend(prepared.values(source.choices).inspect(|_| step()));
    }
    Some(choices)
}

fn lint(prepared: &Prepared, kind: LintKind, position: usize, detail: &str) -> Lint {
    Lint {
        kind,
        questions: vec![id(prepared, position)],
        detail: detail.to_owned(),
    }
}

fn id(prepared: &Prepared, position: usize) -> QuestionId {
    prepared.id_of(position).into()
}
