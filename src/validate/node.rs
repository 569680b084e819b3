//! Questions as they are walked: flat, parents before children, everything that points elsewhere as a position.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::ids::Ids;
use super::pool::Pool;
use super::size::Weights;
use super::year::Years;
use super::{Finding, Lint, Policy, UncheckedReason};
use crate::model::{FormType, QuestionId, QuestionType};

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
    /// A type that it does not know. Its validators and acceptable answers count all the same: spec 2.6 and 7.2 tie them to
    /// no type.
    Unknown,
}

/// A part of one of the tables below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    pub(super) fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// What the rules want to know of a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The number of the id.
    pub(super) id: u32,
    /// The question above, or `NONE`.
    pub(super) parent: u32,
    /// Where the descendants end; they begin behind the node.
    pub(super) end: u32,
    /// 0 outside rows, or the scope of the outermost REPEATABLE question above.
    pub(super) scope: u32,
    /// The forms in which it appears; see `Forms`.
    pub(super) forms: u64,
    pub(super) kind: Kind,
    pub(super) read_only: bool,
    /// Whether an answer must be given when it applies. What is only shown is never required.
    pub(super) required: bool,
    pub(super) years: Years,
    /// Positions in `Prepared::choices`.
    pub(super) choices: Span,
    /// Positions in `Prepared::groups`.
    pub(super) groups: Span,
}

impl Node {
    /// Whether it can have an answer of its own.
    pub(super) fn takes_answers(&self) -> bool {
        !matches!(self.kind, Kind::Rows | Kind::Display)
    }
}

/// What only people want to know of a question.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) order: Option<i64>,
    /// A position in `Prepared::shown_text`.
    pub(super) text: Span,
    pub(super) question_type: Option<QuestionType>,
}

/// Triggers of one question on the same source: any of the values will do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The number of the source's id; `NONE` when the trigger names none, so that it is never met.
    pub(super) source: u32,
    /// Positions in `Prepared::choices`.
    pub(super) wanted: Span,
}

/// A list of questions, prepared.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) policy: Policy,
    /// In display order: siblings by their `order`.
    pub(super) nodes: Vec<Node>,
    pub(super) shown: Vec<Shown>,
    pub(super) ids: Ids,
    /// The ids by their numbers.
    pub(super) names: Vec<QuestionId>,
    /// The nodes of each id; several where a question differs between forms.
    pub(super) id_nodes: Table,
    pub(super) groups: Vec<Group>,
    /// Choices and values of triggers, as positions in `text`.
    pub(super) choices: Vec<Span>,
    /// What answers are compared with. The less there is, the more of it stays in the processor's cache.
    pub(super) text: String,
    /// By choice: its name, as a position in `shown_text`; empty where there is none.
    pub(super) choice_names: Vec<Span>,
    /// What only people want to read.
    pub(super) shown_text: String,
    /// The outermost REPEATABLE questions with their descendants, by scope; scope 0 has none.
    pub(super) scopes: Vec<Span>,
    /// What each node waits for: its parent and the sources of its triggers.
    pub(super) waits_for: Table,
    /// All nodes, each behind what it waits for.
    pub(super) evaluation: Vec<u32>,
    /// Whether some nodes wait for themselves.
    pub(super) has_rings: bool,
    /// Rules that cannot be checked, by node.
    pub(super) unchecked: Vec<(u32, UncheckedReason)>,
    pub(super) forms: Forms,
    pub(super) lints: Vec<Lint>,
    /// By node: that its answer is missing, outside rows. Made when it is first said, and then shared.
    pub(super) missing: Vec<OnceLock<Arc<Finding>>>,
    pub(super) pool: Pool,
    pub(super) weights: Weights,
    /// Whether there are too many triggers to be followed; then nothing is linked and nothing judged.
    pub(super) too_large: bool,
}

impl Prepared {
    /// A text of `shown_text`.
    pub(super) fn shown_text(&self, span: Span) -> &str {
        &self.shown_text[span.range()]
    }

    /// The id with a number.
    pub(super) fn name(&self, id: u32) -> &QuestionId {
        &self.names[id as usize]
    }

    /// The id of a node.
    pub(super) fn id_of(&self, position: usize) -> &QuestionId {
        self.name(self.nodes[position].id)
    }

    /// Texts of choices, or of values of triggers.
    pub(super) fn values(&self, span: Span) -> impl Iterator<Item = &str> {
        self.choices[span.range()]
            .iter()
            .map(|choice| &self.text[choice.range()])
    }

    /// The nodes that have an id.
    pub(super) fn nodes_of(&self, id: &str) -> &[u32] {
        self.ids.find(id).map_or(&[], |id| self.id_nodes.of(id))
    }
}

/// Lists of positions, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    items: Vec<u32>,
    /// Where each list ends.
    ends: Vec<u32>,
}

impl Table {
    /// Puts pairs `(list, item)` into lists; each list keeps the order of the pairs.
    pub(super) fn of_pairs(lists: usize, pairs: &[(u32, u32)]) -> Self {
        let mut ends = vec![0; lists];
        for (list, _) in pairs {
            ends[*list as usize] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            let count = *end;
            *end = total;
            total += count;
        }
        let mut items = vec![0; pairs.len()];
        for (list, item) in pairs {
            let end = &mut ends[*list as usize];
            items[*end as usize] = *item;
            *end += 1;
        }
        Self { items, ends }
    }

    pub(super) fn of(&self, list: u32) -> &[u32] {
        let list = list as usize;
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        &self.items[start as usize..self.ends[list] as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Forms as bits: the known ones first, then those that only these questions name.
#[derive(Debug, Default)]
pub(super) struct Forms {
    /// At most as many as there are bits.
    further: Vec<FormType>,
}

impl Forms {
    pub(super) fn bits_noting(&mut self, forms: &[FormType]) -> u64 {
        for form in forms {
            let has_room = self.further.len() < 64 - FormType::KNOWN.len();
            if has_room && !form.is_known() && !self.further.contains(form) {
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
        let known = FormType::KNOWN.len();
        let bit = if form.is_known() {
            FormType::KNOWN.iter().position(|other| other == form)
        } else {
            let further = self.further.iter().position(|other| other == form);
            let is_full = self.further.len() == 64 - known;
            further.map(|bit| known + bit).or(is_full.then_some(63))
        };
        bit.map(|bit| bit.min(63))
    }
}
