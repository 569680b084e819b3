//! Makes flat nodes of a tree of questions.

use super::UncheckedReason;
use super::lint;
use super::node::{Group, Kind, Node, Prepared};
use super::order;
use super::year::Years;
use crate::model::{Question, QuestionType, ValidatorType};

impl Prepared {
    /// Never fails: what cannot be understood is kept as unchecked.
    pub(super) fn of(questions: &[Question]) -> Self {
        let mut prepared = Self {
            // Scope 0: outside rows.
            scopes: std::iter::once(0..0).collect(),
            ..Self::default()
        };
        prepared.flatten(questions);
        prepared.link();
        prepared
    }

    /// Parents before children, siblings by their order. Without recursion: trees may be thousands of levels deep.
    fn flatten(&mut self, questions: &[Question]) {
        let mut open = vec![(None, in_display_order(questions).into_iter())];
        while let Some((parent, siblings)) = open.last_mut() {
            let parent = *parent;
            if let Some(question) = siblings.next() {
                let position = self.add(question, parent);
                let children = in_display_order(&question.child_questions);
                open.push((Some(position), children.into_iter()));
            } else {
                let end = self.nodes.len();
                if let Some(closed) = parent {
                    self.nodes[closed].end = end;
                }
                open.pop();
            }
        }
    }

    fn add(&mut self, question: &Question, parent: Option<usize>) -> usize {
        let position = self.nodes.len();
        let id = self.intern(question.id.as_ref().map_or("", |id| id.as_str()));
        self.id_nodes[id].push(position);
        if question.id.is_none() {
            self.unchecked.push((position, UncheckedReason::NoId));
        }
        let own = self.forms.bits_noting(&question.forms);
        let above = parent.map(|parent| &self.nodes[parent]);
        // A child that names no forms has those of its parent.
        let forms = match above {
            Some(parent) if question.forms.is_empty() => parent.forms,
            _ => own,
        };
        // Only the outermost REPEATABLE question opens a scope: the last one, while its descendants are added.
        let scope = above.map_or(0, |parent| match parent.kind {
            Kind::Rows if parent.scope == 0 => self.scopes.len() - 1,
            _ => parent.scope,
        });
        let kind = self.kind(question, position);
        if kind == Kind::Rows && scope == 0 {
            self.scopes.push(position..position);
        }
        let (required, years) = self.rules(question, position);
        let choices = self.texts.len();
        let values = question.acceptable_answers.iter();
        self.texts.extend(
            values
                .filter_map(|answer| answer.value.as_deref())
                .map(Box::from),
        );
        let choices = choices..self.texts.len();
        let groups = self.triggers(question);
        self.nodes.push(Node {
            id,
            parent,
            end: position + 1,
            forms,
            scope,
            kind,
            read_only: question.read_only == Some(true),
            // Without an id it cannot be answered.
            required: required && question.id.is_some(),
            years,
            choices,
            groups,
            order: question.order,
            text: question.text.as_deref().unwrap_or_default().into(),
            question_type: question.question_type.clone(),
        });
        position
    }

    fn kind(&mut self, question: &Question, position: usize) -> Kind {
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

    fn rules(&mut self, question: &Question, position: usize) -> (bool, Years) {
        let mut required = false;
        let mut years = Years::default();
        for validator in &question.validators {
            let parameter = validator.parameter.as_deref().unwrap_or_default().trim();
            let year = parameter.parse::<i32>().ok();
            let reason = match (&validator.validator_type, year) {
                (Some(ValidatorType::Required), _) => {
                    required = true;
                    continue;
                }
                (Some(ValidatorType::MinYear), Some(year)) => {
                    years.min = years.min.max(Some(year));
                    continue;
                }
                (Some(ValidatorType::MaxYear), Some(year)) => {
                    years.max = Some(years.max.map_or(year, |max| max.min(year)));
                    continue;
                }
                (Some(ValidatorType::MaxYear), None) if parameter.eq_ignore_ascii_case("now") => {
                    years.not_future = true;
                    continue;
                }
                (Some(ValidatorType::Unrecognized(text)), _) => {
                    UncheckedReason::UnknownValidator(text.clone())
                }
                (Some(_), None) => UncheckedReason::UnreadableParameter(parameter.to_owned()),
                _ => UncheckedReason::UnknownValidator(String::new()),
            };
            self.unchecked.push((position, reason));
        }
        (required, years)
    }

    /// Triggers by their source: any of the values within one, all of the sources. assumed
    fn triggers(&mut self, question: &Question) -> std::ops::Range<usize> {
        let start = self.groups.len();
        let triggers = &question.triggers;
        for (position, trigger) in triggers.iter().enumerate() {
            let source = &trigger.question_id;
            if triggers[..position]
                .iter()
                .any(|other| other.question_id == *source)
            {
                continue;
            }
            let first = self.texts.len();
            let same = triggers[position..]
                .iter()
                .filter(|t| t.question_id == *source);
            self.texts
                .extend(same.filter_map(|t| t.value.as_deref()).map(Box::from));
            let wanted = first..self.texts.len();
            let source = source.as_ref().map(|id| self.intern(id.as_str()));
            self.groups.push(Group { source, wanted });
        }
        start..self.groups.len()
    }

    fn intern(&mut self, id: &str) -> usize {
        if let Some(position) = self.by_id.get(id) {
            return *position;
        }
        self.by_id.insert(id.into(), self.ids.len());
        self.ids.push(id.into());
        self.id_nodes.push(Vec::new());
        self.ids.len() - 1
    }

    /// What waits for what, in which order to look, and what is odd.
    fn link(&mut self) {
        for scope in &mut self.scopes[1..] {
            *scope = scope.start..self.nodes[scope.start].end;
        }
        for node in &self.nodes {
            let sources = self.groups[node.groups.clone()].iter();
            let sources = sources.filter_map(|group| group.source);
            let sources = sources.flat_map(|id| self.id_nodes[id].iter().copied());
            self.waits_for
                .push(node.parent.into_iter().chain(sources).collect());
        }
        let order = order::sort(&self.waits_for, |_| true);
        self.evaluation = order.positions;
        self.has_rings = !order.rings.is_empty();
        self.lints = lint::look(self, order.rings);
    }
}

fn in_display_order(questions: &[Question]) -> Vec<&Question> {
    let mut questions: Vec<&Question> = questions.iter().collect();
    // Questions without an order stay behind those that have one.
    questions.sort_by_key(|question| question.order.unwrap_or(i64::MAX));
    questions
}
