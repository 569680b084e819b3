//! The answers to the questions of some forms, as JSON Schema and as TypeScript type, for front ends in other languages.

mod json_schema;
mod typescript;

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::applicability::Applicability;
use super::order;
use super::prepared::{Group, Kind, NONE, Node, Prepared};
use crate::model::{AnswerInput, ConsignmentInput, FormType};

/// The answers of an input from an object as
/// [`Questionnaire::json_schema`](super::Questionnaire::json_schema) describes it.
///
/// A list of texts becomes an answer for each text, a list of objects a row for each object. Null and empty lists are no
/// answers; numbers and truth values become texts.
///
/// ```
/// use envd_sdk::validate::answers_from_json;
/// use serde_json::json;
///
/// let answers = answers_from_json(&json!({"17": "Yes", "1": [{"3": "12"}, {"3": "7"}]}));
/// let rows: Vec<_> = answers.iter().map(|answer| answer.index.value().copied()).collect();
/// assert_eq!(rows, [None, Some(0), Some(1)]);
/// ```
#[must_use]
pub fn answers_from_json(answers: &Value) -> Vec<AnswerInput> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([(answers, None)]);
    while let Some((object, row)) = open.pop_front() {
        for (id, value) in object.as_object().into_iter().flatten() {
            let items = match value {
                Value::Array(items) => items.as_slice(),
                value => std::slice::from_ref(value),
            };
            for (position, item) in items.iter().enumerate() {
                let text = match item {
                    Value::Null | Value::Array(_) => continue,
                    Value::Object(_) => {
                        open.push_back((item, row.or(i64::try_from(position).ok())));
                        continue;
                    }
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                let answer = AnswerInput::new(id.as_str(), text);
                found.push(match row {
                    Some(row) => answer.row(row),
                    None => answer,
                });
            }
        }
    }
    found
}

/// When a question applies, in terms of the object that holds its answer.
enum Condition {
    Always,
    Never,
    /// All of these schemas accept the object.
    If(Vec<Value>),
    /// It depends on answers outside of the object.
    Elsewhere,
}

struct Export<'a> {
    prepared: &'a Prepared,
    on_forms: Vec<bool>,
    /// By node.
    conditions: Vec<Condition>,
}

impl<'a> Export<'a> {
    fn new(prepared: &'a Prepared, forms: &[FormType]) -> Self {
        let input = ConsignmentInput {
            forms: forms.to_vec(),
            ..ConsignmentInput::default()
        };
        let questions = Applicability::new(prepared, &input);
        let nodes = 0..prepared.nodes.len();
        let on_forms: Vec<bool> = nodes.map(|node| questions.is_on_forms(node)).collect();
        let mut this = Self {
            prepared,
            conditions: on_forms.iter().map(|_| Condition::Never).collect(),
            on_forms,
        };
        let order = order::sort(&prepared.waits_for, |node| this.on_forms[node as usize]);
        for position in order.positions {
            let position = position as usize;
            // Members of a ring never apply.
            if !questions.is_in_ring(position) {
                this.conditions[position] = this.condition(position);
            }
        }
        this
    }

    /// When a question applies, if that of all that it waits for is known (spec 2.6).
    fn condition(&self, position: usize) -> Condition {
        let prepared = self.prepared;
        let node = &prepared.nodes[position];
        let mut scopes = self.same_id(node.id);
        if scopes.any(|other| prepared.nodes[other].scope != node.scope) {
            return Condition::Elsewhere;
        }
        let groups = prepared.groups(node);
        let mut parts = Vec::new();
        if let Some(parent) = prepared.parent(position) {
            let above = &prepared.nodes[parent];
            match &self.conditions[parent] {
                Condition::Never => return Condition::Never,
                Condition::Elsewhere => return Condition::Elsewhere,
                // Rows inside rows are rows only with an answer below.
                _ if above.kind == Kind::Rows && above.scope != 0 => return Condition::Elsewhere,
                // The row is there only if the question above applies.
                _ if above.kind == Kind::Rows => {}
                Condition::If(_) => parts.push(self.reference(parent)),
                Condition::Always => {}
            }
            if groups.is_empty() && above.takes_answers() {
                parts.push(answered(prepared.ids.text(above.id), above));
            }
        }
        for group in groups {
            match self.trigger(node, group) {
                Condition::Always => {}
                Condition::If(part) => parts.extend(part),
                other => return other,
            }
        }
        if parts.is_empty() {
            Condition::Always
        } else {
            Condition::If(parts)
        }
    }

    fn trigger(&self, asking: &Node, group: &Group) -> Condition {
        let prepared = self.prepared;
        if group.source == NONE {
            return Condition::Never;
        }
        let wanted = prepared.wanted[group.wanted.range()].iter();
        let wanted = wanted.map(|wanted| prepared.values.text(*wanted));
        let wanted: Vec<&str> = wanted.filter(|wanted| !wanted.is_empty()).collect();
        let stale_count = prepared.policy.stale_answers_count;
        let mut any = Vec::new();
        for source in self.same_id(group.source) {
            let node = &prepared.nodes[source];
            let condition = &self.conditions[source];
            if !node.takes_answers() || matches!(condition, Condition::Never) && !stale_count {
                continue;
            }
            if node.scope != asking.scope || matches!(condition, Condition::Elsewhere) {
                return Condition::Elsewhere;
            }
            let id = prepared.ids.text(node.id);
            let value = match node.kind {
                Kind::Several => json!({"contains": {"enum": wanted}}),
                _ => json!({"enum": wanted}),
            };
            let matches = json!({"properties": {id: value}, "required": [id]});
            any.push(match condition {
                Condition::If(_) if !stale_count => {
                    json!({"allOf": [self.reference(source), matches]})
                }
                _ => matches,
            });
        }
        if any.is_empty() || wanted.is_empty() {
            Condition::Never
        } else {
            Condition::If(vec![json!({"anyOf": any})])
        }
    }

    fn same_id(&self, id: u32) -> impl Iterator<Item = usize> {
        let nodes = self.prepared.nodes_of_number(id);
        nodes.filter(|node| self.on_forms[*node])
    }

    /// The name of a condition.
    fn key(&self, position: usize) -> String {
        let id = self.prepared.ids.text(self.prepared.nodes[position].id);
        let id = id.chars().filter(char::is_ascii_alphanumeric);
        format!("applies-{}-{position}", id.collect::<String>())
    }

    fn reference(&self, position: usize) -> Value {
        json!({"$ref": format!("#/$defs/{}", self.key(position))})
    }

    /// The questions that may apply with an answer in an object, by id, in display order: of a scope, or outside rows.
    fn questions(&self, scope: u32) -> Vec<(&'a str, Vec<usize>)> {
        let mut questions: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut by_id = BTreeMap::new();
        for (position, node) in self.prepared.nodes.iter().enumerate() {
            let id = self.prepared.ids.text(node.id);
            let is_here = node.scope == scope && self.on_forms[position] && !id.is_empty();
            let has_value = node.takes_answers() || node.kind == Kind::Rows && scope == 0;
            if !is_here || !has_value || matches!(self.conditions[position], Condition::Never) {
                continue;
            }
            let nth = *by_id.entry(id).or_insert(questions.len());
            if nth == questions.len() {
                questions.push((id, Vec::new()));
            }
            questions[nth].1.push(position);
        }
        questions
    }

    /// The acceptable answers with the names that people see, each once.
    fn choices(&self, node: &Node) -> Vec<(&'a str, &'a str)> {
        let values = self.prepared.choices(node).iter();
        let values = values.map(|choice| self.prepared.values.text(*choice));
        let names = &self.prepared.choice_names[node.choices.range()];
        let mut choices: Vec<(&str, &str)> = Vec::new();
        for (value, name) in values.zip(names) {
            if choices.iter().all(|(other, _)| *other != value) {
                let name = name.as_str();
                choices.push((value, if name.is_empty() { value } else { name }));
            }
        }
        choices
    }
}

/// That a question has an answer.
fn answered(id: &str, node: &Node) -> Value {
    match node.kind {
        Kind::Several => json!({"properties": {id: {"minItems": 1}}, "required": [id]}),
        _ => json!({"required": [id]}),
    }
}
