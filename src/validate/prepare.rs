//! Makes flat nodes of a tree of questions.

use std::collections::HashMap;
use std::sync::OnceLock;

use ecow::EcoString;

use super::prepared::{Group, Kind, NONE, Node, Prepared, Presentation, Span, Table, at};
use super::size::{self, Weights, step};
use super::year::Years;
use super::{Policy, UncheckedReason, order};
use crate::model::{FormType, Question, QuestionType, QuestionValidator, ValidatorType};

/// Questions that are removed from LPAG3, also where a list still names them for it (spec 2.6, 9.4).
const NOT_OF_LPAG3: [&str; 3] = ["23", "24", "87"];

impl Prepared {
    /// Never fails: what cannot be understood is kept as unchecked.
    pub(super) fn of(questions: &[Question], policy: Policy) -> Self {
        let mut prepared = Self {
            policy,
            // Scope 0: outside rows.
            scopes: vec![Span::default()],
            ..Self::default()
        };
        prepared.values.intern("");
        prepared.flatten(questions);
        prepared.link();
        prepared
    }

    /// Parents before children, siblings by their order. Without recursion: trees may be thousands of levels deep.
    fn flatten(&mut self, questions: &[Question]) {
        // The siblings that wait to be added, the next one last.
        let mut open: Vec<(u32, &Question)> = Vec::new();
        push_siblings(&mut open, NONE, questions);
        while let Some((parent, question)) = open.pop() {
            let position = self.add(question, parent);
            push_siblings(&mut open, position, &question.child_questions);
        }
        // Descendants stand behind their node, so going backwards they are complete when it is met.
        for position in (0..self.nodes.len()).rev() {
            let (end, parent) = (self.nodes[position].end, self.nodes[position].parent);
            if parent != NONE {
                let above = &mut self.nodes[parent as usize].end;
                *above = end.max(*above);
            }
        }
    }

    fn add(&mut self, question: &Question, parent: u32) -> u32 {
        let position = at(self.nodes.len());
        self.content.add(question, parent);
        let name = question.id.as_ref().map_or("", |id| id.as_str());
        let id = self.ids.intern(name);
        if question.id.is_none() {
            self.unchecked.push((position, UncheckedReason::NoId));
        }
        let above = self.nodes.get(parent as usize);
        // A child that names no forms has those of its parent.
        let forms = above
            .filter(|_| question.forms.is_empty())
            .map(|above| above.forms);
        // Only the outermost REPEATABLE question opens a scope: the last one, while its descendants are added.
        let scope = above.map_or(0, |above| match above.kind {
            Kind::Rows if above.scope == 0 => at(self.scopes.len() - 1),
            _ => above.scope,
        });
        let mut forms = forms.unwrap_or_else(|| self.forms.bits_noting(&question.forms));
        if NOT_OF_LPAG3.contains(&name) {
            forms &= !self.forms.bits(&[FormType::Lpag3]);
        }
        let kind = self.kind(question, position);
        if kind == Kind::Rows && scope == 0 {
            self.scopes.push(Span {
                start: position,
                end: position,
            });
        }
        let mut presentation = Presentation::new(question);
        let (required, years) = self.rules(question, position, &mut presentation);
        let read_only = question.read_only == Some(true);
        let choices = self.acceptable(question);
        let groups = self.triggers(question);
        let mut node = Node {
            id,
            parent,
            end: position + 1,
            scope,
            forms,
            kind,
            read_only,
            required: false,
            years,
            choices,
            groups,
        };
        // Without an id it cannot be answered.
        node.required = required && !read_only && question.id.is_some() && node.takes_answers();
        self.nodes.push(node);
        self.presentations.push(presentation);
        position
    }

    fn kind(&mut self, question: &Question, position: u32) -> Kind {
        let unknown = match &question.question_type {
            Some(QuestionType::Repeatable) => return Kind::Rows,
            Some(QuestionType::Display) => return Kind::Display,
            Some(QuestionType::SingleChoice) => return Kind::One,
            Some(QuestionType::MultipleChoice) => return Kind::Several,
            Some(QuestionType::Unrecognized(text)) => text.clone(),
            Some(_) => return Kind::Text,
            None => String::new(),
        };
        self.unchecked
            .push((position, UncheckedReason::UnknownType(unknown)));
        Kind::Unknown
    }

    /// Whether an answer is required, and which years will do; the service's texts go to what is presentation.
    fn rules(
        &mut self,
        question: &Question,
        position: u32,
        presentation: &mut Presentation,
    ) -> (bool, Years) {
        let mut required = false;
        let mut years = Years::default();
        for validator in &question.validators {
            let message = EcoString::from(validator.error_message.as_deref().unwrap_or_default());
            match bound(validator) {
                Ok(None) => {
                    required = true;
                    presentation.required_message = message;
                }
                Ok(Some(bound)) => {
                    years.min = years.min.max(bound.min);
                    years.max = match (years.max, bound.max) {
                        (Some(one), Some(other)) => Some(one.min(other)),
                        (one, other) => one.or(other),
                    };
                    years.not_future |= bound.not_future;
                    presentation.year_messages.push((bound, message));
                }
                Err(reason) => self.unchecked.push((position, reason)),
            }
        }
        (required, years)
    }

    fn acceptable(&mut self, question: &Question) -> Span {
        let start = at(self.choices.len());
        for choice in &question.acceptable_answers {
            if let Some(value) = &choice.value {
                self.choices.push(self.values.intern(value));
                let name = choice.display_name.as_deref();
                self.choice_names
                    .push(EcoString::from(name.unwrap_or_default()));
            }
        }
        let end = at(self.choices.len());
        Span { start, end }
    }

    /// Triggers by their source: any of the values within one, all of the sources. assumed
    fn triggers(&mut self, question: &Question) -> Span {
        let start = at(self.groups.len());
        // By the first trigger on the same source.
        let mut firsts = HashMap::new();
        let mut triggers = Vec::with_capacity(question.triggers.len());
        for (position, trigger) in question.triggers.iter().enumerate() {
            step();
            let source = trigger.question_id.as_ref();
            let source = source.map_or(NONE, |id| self.ids.intern(id.as_str()));
            let first = match question.triggers.len() {
                1 => position,
                _ => *firsts.entry(source).or_insert(position),
            };
            triggers.push((first, source, trigger));
        }
        triggers.sort_by_key(|(first, ..)| *first);
        for group in triggers.chunk_by(|one, other| one.0 == other.0) {
            let start = at(self.wanted.len());
            let values = group.iter().filter_map(|(.., t)| t.value.as_deref());
            self.wanted
                .extend(values.map(|value| self.values.intern(value)));
            let end = at(self.wanted.len());
            self.groups.push(Group {
                source: group[0].1,
                wanted: Span { start, end },
            });
        }
        let end = at(self.groups.len());
        Span { start, end }
    }

    /// What waits for what, and in which order to look.
    fn link(&mut self) {
        for scope in &mut self.scopes[1..] {
            scope.end = self.nodes[scope.start as usize].end;
        }
        self.missing.resize_with(self.nodes.len(), OnceLock::new);
        let nodes = self.nodes.iter().enumerate();
        let pairs: Vec<_> = nodes.map(|(at_, node)| (node.id, at(at_))).collect();
        self.id_nodes = Table::of_pairs(self.ids.len(), &pairs);
        self.too_large = !size::can_link(self);
        if self.too_large {
            return;
        }
        self.weights = Weights::of(self);
        let mut pairs = Vec::with_capacity(self.nodes.len() + self.groups.len());
        for (position, node) in self.nodes.iter().enumerate() {
            let position = at(position);
            if node.parent != NONE {
                pairs.push((position, node.parent));
            }
            for group in &self.groups[node.groups.range()] {
                let sources = self.id_nodes.of(group.source).iter();
                pairs.extend(sources.map(|source| (position, *source)));
            }
        }
        self.waits_for = Table::of_pairs(self.nodes.len(), &pairs);
        let order = order::sort(&self.waits_for, |_| true);
        self.evaluation = order.positions;
        self.has_rings = !order.rings.is_empty();
    }
}

/// The years that a validator lets pass, `None` for `required`; else why it cannot be checked.
fn bound(validator: &QuestionValidator) -> Result<Option<Years>, UncheckedReason> {
    let parameter = validator.parameter.as_deref().unwrap_or_default().trim();
    let unreadable = || UncheckedReason::UnreadableParameter(parameter.to_owned());
    let year = || parameter.parse().map(Some).map_err(|_| unreadable());
    let mut years = Years::default();
    match &validator.validator_type {
        Some(ValidatorType::Required) => return Ok(None),
        Some(ValidatorType::MinYear) => years.min = year()?,
        Some(ValidatorType::MaxYear) if parameter.eq_ignore_ascii_case("now") => {
            years.not_future = true;
        }
        Some(ValidatorType::MaxYear) => years.max = year()?,
        Some(ValidatorType::Unrecognized(text)) => {
            return Err(UncheckedReason::UnknownValidator(text.clone()));
        }
        None => return Err(UncheckedReason::UnknownValidator(String::new())),
    }
    Ok(Some(years))
}

/// Puts siblings on the pile, the first in display order on top; those without an order stand behind those that have one.
fn push_siblings<'a>(open: &mut Vec<(u32, &'a Question)>, parent: u32, questions: &'a [Question]) {
    let start = open.len();
    open.extend(questions.iter().rev().map(|question| (parent, question)));
    let order = |question: &Question| std::cmp::Reverse(question.order.unwrap_or(i64::MAX));
    // Stable, and the siblings came reversed, so equals stay reversed too.
    open[start..].sort_by_key(|(_, question)| order(question));
}
