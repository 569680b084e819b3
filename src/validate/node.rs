//! Questions as they are walked: flat, parents before children, everything that points elsewhere as a position.

use std::collections::HashMap;
use std::ops::Range;

use super::year::Years;
use super::{Lint, UncheckedReason};
use crate::model::{FormType, QuestionType};

/// What a question is, as far as the rules care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Children are answered row by row.
    Rows,
    /// A heading.
    Display,
    /// One choice.
    One,
    /// Several choices.
    Several,
    /// Another type that the crate knows.
    Text,
    /// A type that it does not know.
    Unknown,
}

/// A question in its place.
#[derive(Debug)]
pub(super) struct Node {
    /// Position of the id in `Prepared::ids`.
    pub(super) id: usize,
    pub(super) parent: Option<usize>,
    /// Where the descendants end; they begin behind the node.
    pub(super) end: usize,
    /// The forms in which it appears; see `Forms`.
    pub(super) forms: u64,
    /// 0 outside rows, or the scope of the outermost REPEATABLE question above.
    pub(super) scope: usize,
    pub(super) kind: Kind,
    pub(super) read_only: bool,
    pub(super) required: bool,
    pub(super) years: Years,
    /// Positions in `Prepared::texts`.
    pub(super) choices: Range<usize>,
    /// Positions in `Prepared::groups`.
    pub(super) groups: Range<usize>,
    pub(super) order: Option<i64>,
    pub(super) text: Box<str>,
    pub(super) question_type: Option<QuestionType>,
}

impl Node {
    /// Whether the user can answer it.
    pub(super) fn takes_answers(&self) -> bool {
        !matches!(self.kind, Kind::Rows | Kind::Display)
    }

    /// Whether an answer must be given when it applies. What is not known or only shown is never required.
    pub(super) fn is_required(&self) -> bool {
        self.required && !self.read_only && self.takes_answers() && self.kind != Kind::Unknown
    }
}

/// Triggers of one question on the same source: any of the values will do.
#[derive(Debug)]
pub(super) struct Group {
    /// Position of the source's id; `None` when the trigger names none, so that it is never met.
    pub(super) source: Option<usize>,
    /// Positions in `Prepared::texts`.
    pub(super) wanted: Range<usize>,
}

/// A list of questions, prepared.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// In display order: siblings by their `order`.
    pub(super) nodes: Vec<Node>,
    pub(super) ids: Vec<Box<str>>,
    pub(super) by_id: HashMap<Box<str>, usize>,
    /// The nodes of each id; several where a question differs between forms.
    pub(super) id_nodes: Vec<Vec<usize>>,
    pub(super) groups: Vec<Group>,
    /// Choices and values of triggers.
    pub(super) texts: Vec<Box<str>>,
    /// The outermost REPEATABLE questions, by scope; scope 0 has none.
    pub(super) scopes: Vec<Range<usize>>,
    /// What each node waits for: its parent and the sources of its triggers.
    pub(super) waits_for: Vec<Vec<usize>>,
    /// All nodes, each behind what it waits for.
    pub(super) evaluation: Vec<usize>,
    /// Nodes that wait for themselves, if any.
    pub(super) has_rings: bool,
    /// Rules that cannot be checked, by node.
    pub(super) unchecked: Vec<(usize, UncheckedReason)>,
    pub(super) forms: Forms,
    pub(super) lints: Vec<Lint>,
}

/// Forms as bits: the known ones first, then those that only these questions name.
#[derive(Debug, Default)]
pub(super) struct Forms {
    further: Vec<FormType>,
}

impl Forms {
    pub(super) fn bits_noting(&mut self, forms: &[FormType]) -> u64 {
        for form in forms {
            if self.bit(form).is_none() {
                self.further.push(form.clone());
            }
        }
        self.bits(forms)
    }

    pub(super) fn bits(&self, forms: &[FormType]) -> u64 {
        forms
            .iter()
            .filter_map(|form| self.bit(form))
            .fold(0, |bits, bit| bits | 1 << bit)
    }

    /// Beyond 64 forms the last ones share a bit: no species has a tenth of that.
    fn bit(&self, form: &FormType) -> Option<usize> {
        let mut all = FormType::KNOWN.iter().chain(&self.further);
        all.position(|known| known == form).map(|bit| bit.min(63))
    }
}
