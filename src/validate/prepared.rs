//! Questions as they are walked: flat, parents before children, every text that is compared as a number.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use ecow::EcoString;

use super::content_hash::Content;
use super::size::Weights;
use super::year::Years;
use super::{ContentHash, Finding, Policy, QuestionText, UncheckedReason};
use crate::model::{FormType, Question, QuestionId, QuestionType};

/// No position and no number: no list is that long.
pub(super) const NONE: u32 = u32::MAX;

/// A position as it is kept in tables.
pub(super) fn at(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(NONE)
}

/// The number of the empty text in `Prepared::values`.
pub(super) const EMPTY: u32 = 0;

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

/// What the rules need of a question.
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
    /// Whether an answer must be given when it applies. What is only presentation is never required.
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

/// What only people read of a question.
#[derive(Clone, Debug)]
pub(super) struct Presentation {
    pub(super) order: Option<i64>,
    pub(super) question_type: Option<QuestionType>,
    pub(super) text: EcoString,
    pub(super) help: Option<EcoString>,
    pub(super) tip: Option<EcoString>,
    /// The service's text for a missing answer; empty where it has none.
    pub(super) required_message: EcoString,
    /// By validator of years: what it lets pass, and the service's text where an answer does not.
    pub(super) year_messages: Vec<(Years, EcoString)>,
}

impl Presentation {
    pub(super) fn new(question: &Question) -> Self {
        Self {
            order: question.order,
            question_type: question.question_type.clone(),
            text: EcoString::from(question.text.as_deref().unwrap_or_default()),
            help: question.help.as_deref().map(EcoString::from),
            tip: question.tip.as_deref().map(EcoString::from),
            required_message: EcoString::default(),
            year_messages: Vec::new(),
        }
    }

    /// What people read of the question in a finding, with the message of the validator that failed.
    pub(super) fn for_finding(&self, error_message: Option<&EcoString>) -> QuestionText {
        let error_message = error_message.filter(|message| !message.is_empty());
        QuestionText {
            text: self.text.to_string(),
            help: self.help.as_ref().map(ToString::to_string),
            tip: self.tip.as_ref().map(ToString::to_string),
            error_message: error_message.map(ToString::to_string),
        }
    }
}

/// Triggers of one question on the same source: any of the values will do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The number of the source's id; `NONE` when the trigger names none, so that it is never met.
    pub(super) source: u32,
    /// Positions in `Prepared::wanted`.
    pub(super) wanted: Span,
}

/// A list of questions, prepared.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) policy: Policy,
    /// In display order: siblings by their `order`.
    pub(super) nodes: Vec<Node>,
    pub(super) presentations: Vec<Presentation>,
    pub(super) ids: Texts,
    /// The nodes of each id; several where a question differs between forms.
    pub(super) id_nodes: Table,
    /// Acceptable answers and values of triggers.
    pub(super) values: Texts,
    pub(super) groups: Vec<Group>,
    /// Numbers of `values`.
    pub(super) wanted: Vec<u32>,
    /// Numbers of `values`.
    pub(super) choices: Vec<u32>,
    /// By choice: its name; empty where there is none.
    pub(super) choice_names: Vec<EcoString>,
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
    /// By node: the finding that its answer is missing, outside rows. Made once, then shared.
    pub(super) missing: Vec<OnceLock<Arc<Finding>>>,
    pub(super) weights: Weights,
    pub(super) content: Content,
    /// Made when it is first asked for: SHA-256 takes longer than everything else here.
    pub(super) hash: OnceLock<ContentHash>,
    /// Whether there are too many triggers to be followed; then nothing is linked and nothing judged.
    pub(super) too_large: bool,
}

impl Prepared {
    /// The id of a node.
    pub(super) fn id_of(&self, position: usize) -> QuestionId {
        self.ids.text(self.nodes[position].id).into()
    }

    #[inline]
    pub(super) fn parent(&self, position: usize) -> Option<usize> {
        let parent = self.nodes[position].parent;
        (parent != NONE).then_some(parent as usize)
    }

    /// The positions of all questions below one.
    pub(super) fn below(&self, position: usize) -> Range<usize> {
        position + 1..self.nodes[position].end as usize
    }

    /// Whether it is an outermost REPEATABLE question.
    pub(super) fn opens_scope(&self, position: usize) -> bool {
        self.nodes[position].kind == Kind::Rows && self.nodes[position].scope == 0
    }

    /// The scope that an outermost REPEATABLE question opens.
    pub(super) fn scope_below(&self, position: usize) -> u32 {
        let opened = &self.scopes[1..];
        at(opened.partition_point(|scope| (scope.start as usize) < position) + 1)
    }

    /// The acceptable answers of a node, as numbers.
    #[inline]
    pub(super) fn choices(&self, node: &Node) -> &[u32] {
        &self.choices[node.choices.range()]
    }

    /// The triggers of a node.
    #[inline]
    pub(super) fn groups(&self, node: &Node) -> &[Group] {
        &self.groups[node.groups.range()]
    }

    /// The values that a trigger wants.
    pub(super) fn wanted(&self, group: &Group) -> impl Iterator<Item = &str> {
        let wanted = self.wanted[group.wanted.range()].iter();
        wanted.map(|wanted| self.values.text(*wanted))
    }

    /// The nodes that have an id.
    pub(super) fn nodes_of(&self, id: &str) -> impl Iterator<Item = usize> + Clone {
        self.nodes_of_number(self.ids.number(id))
    }

    /// The nodes that have an id by its number; none have `NONE`.
    #[inline]
    pub(super) fn nodes_of_number(&self, id: u32) -> impl Iterator<Item = usize> + Clone {
        self.id_nodes.of(id).iter().map(|node| *node as usize)
    }
}

/// Texts as small numbers.
#[derive(Debug, Default)]
pub(super) struct Texts {
    numbers: HashMap<EcoString, u32>,
    texts: Vec<EcoString>,
}

impl Texts {
    /// The number of a text, a new one if it has none yet.
    pub(super) fn intern(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = at(self.texts.len());
        let text = EcoString::from(text);
        self.texts.push(text.clone());
        self.numbers.insert(text, number);
        number
    }

    /// The number of a text; `NONE` where it has none.
    pub(super) fn number(&self, text: &str) -> u32 {
        self.numbers.get(text).copied().unwrap_or(NONE)
    }

    /// As `number`, where the text is likely to have a number: answers mostly come as the questions do, and many are alike.
    #[inline]
    pub(super) fn number_guessed(&self, text: &str, guess: u32) -> u32 {
        match self.texts.get(guess as usize) {
            Some(guessed) if guessed == text => guess,
            _ => self.number(text),
        }
    }

    pub(super) fn text(&self, number: u32) -> &str {
        self.texts
            .get(number as usize)
            .map_or("", EcoString::as_str)
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
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

    /// A list; empty where there is none with this number.
    pub(super) fn of(&self, list: u32) -> &[u32] {
        let list = list as usize;
        let Some(end) = self.ends.get(list) else {
            return &[];
        };
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        &self.items[start as usize..*end as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }
}

/// Forms as bits, numbered as the questions name them.
#[derive(Debug, Default)]
pub(super) struct Forms(Vec<FormType>);

impl Forms {
    pub(super) fn bits_noting(&mut self, forms: &[FormType]) -> u64 {
        for form in forms {
            if self.0.len() < 64 && !self.0.contains(form) {
                self.0.push(form.clone());
            }
        }
        self.bits(forms)
    }

    /// Beyond 64 forms the last ones share a bit: no species has a tenth of that.
    pub(super) fn bits(&self, forms: &[FormType]) -> u64 {
        let is_full = self.0.len() == 64;
        let bit = |form| self.0.iter().position(|other| other == form);
        forms
            .iter()
            .filter_map(|form| bit(form).or(is_full.then_some(63)))
            .fold(0, |bits, bit| bits | 1 << bit)
    }
}
