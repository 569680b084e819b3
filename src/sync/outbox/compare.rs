//! What a record is compared with before it is saved, and after a reply was lost.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{Consignment, ConsignmentInput};
use crate::ops::same_value;
use crate::sync::replica::changed_fields;

/// Who changed a field since it was edited here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangedBy {
    /// Only the user here.
    Mine,
    /// Only somebody on the service.
    Theirs,
    /// Both, to different values.
    Both,
}

/// One field that is not the same everywhere. `Debug` hides its values.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FieldDifference {
    /// Its path, such as `origin.pic`, `answers.17` or, for an answer of a row, `answers.3[0]`.
    pub path: String,
    /// As it was when the user edited it; null: not there.
    pub base: Value,
    /// As the user wants it.
    pub mine: Value,
    /// As the service has it.
    pub theirs: Value,
    /// Who changed it.
    pub changed_by: ChangedBy,
}

/// A record that changed on the service since it was edited here, in the shape of an input. `Debug` hides its values.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Conflict {
    /// As it was when the user edited it, if that is known.
    pub base: Option<Value>,
    /// What the user wants.
    pub mine: Value,
    /// As the service has it.
    pub theirs: Value,
    /// The fields that differ, by path.
    pub fields: Vec<FieldDifference>,
}

impl Conflict {
    /// The fields that only one side changed: both edits can be kept.
    pub fn one_sided(&self) -> impl Iterator<Item = &FieldDifference> {
        let fields = self.fields.iter();
        fields.filter(|field| field.changed_by != ChangedBy::Both)
    }

    pub(super) fn new(base: Option<&Value>, mine: &Value, theirs: &Value) -> Self {
        let known = base.unwrap_or(theirs);
        let wanted = overlaid(known, mine);
        let (mut paths, by_them) = (paths(known, &wanted), paths(known, theirs));
        paths.extend(by_them.iter().cloned());
        paths.sort_unstable();
        paths.dedup();
        let fields = paths.into_iter().filter_map(|path| {
            let [base, mine, theirs] = [known, &wanted, theirs].map(|record| at(record, &path));
            let changed_by = match (is_same(&base, &mine), is_same(&base, &theirs)) {
                (true, _) => ChangedBy::Theirs,
                (_, true) => ChangedBy::Mine,
                _ if is_same(&mine, &theirs) => return None,
                _ => ChangedBy::Both,
            };
            Some(FieldDifference {
                path,
                base,
                mine,
                theirs,
                changed_by,
            })
        });
        Self {
            fields: fields.collect(),
            base: base.cloned(),
            mine: mine.clone(),
            theirs: theirs.clone(),
        }
    }
}

impl fmt::Debug for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conflict")
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldDifference")
            .field("path", &self.path)
            .field("changed_by", &self.changed_by)
            .finish_non_exhaustive()
    }
}

/// What a record shows of a change whose reply was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trace {
    /// It is as it was before.
    None,
    /// It has all that was changed.
    Applied,
    /// It has something else.
    Other,
}

/// A record in the shape of an input, with its names and status.
pub(super) fn shape(record: &Consignment) -> Value {
    let mut input = ConsignmentInput::from(record);
    input.id = record.id.clone().into();
    input.number = record.number.clone().into();
    input.status = record.status.clone().into();
    // OK because an input can always be written.
    serde_json::to_value(&input).unwrap_or_default()
}

/// Whether the record is as the user edited it.
pub(super) fn is_unchanged(base: &Value, record: &Value) -> bool {
    paths(base, record).is_empty()
}

/// What became of a change that was made of `base`.
pub(super) fn trace(base: &Value, sent: &Value, record: &Value) -> Trace {
    let wanted = overlaid(base, sent);
    let changed = paths(base, &wanted);
    if changed
        .iter()
        .all(|path| is_same(&at(&wanted, path), &at(record, path)))
    {
        Trace::Applied
    } else if is_unchanged(base, record) {
        Trace::None
    } else {
        Trace::Other
    }
}

/// `record` with the fields that `sent` has.
fn overlaid(record: &Value, sent: &Value) -> Value {
    match (record, sent) {
        (Value::Object(record), Value::Object(sent)) => {
            let mut whole = record.clone();
            for (name, sent) in sent {
                let before = record.get(name).unwrap_or(&Value::Null);
                whole.insert(name.clone(), overlaid(before, sent));
            }
            Value::Object(whole)
        }
        (_, sent) => sent.clone(),
    }
}

/// The paths of the fields that differ. Answers are told apart by their question and row, not by their place.
fn paths(one: &Value, other: &Value) -> Vec<String> {
    let [one, other] = [one, other].map(by_question);
    let mut paths = changed_fields(&one, &other);
    paths.retain(|path| !is_same(&field(&one, path), &field(&other, path)));
    paths
}

fn at(record: &Value, path: &str) -> Value {
    field(&by_question(record), path)
}

fn field(record: &Value, path: &str) -> Value {
    if let Some(answer) = path.strip_prefix("answers.") {
        return record["answers"][answer].clone();
    }
    let mut part = record;
    for name in path.split('.') {
        part = &part[name];
    }
    part.clone()
}

/// The record with its answers as an object, and without its names: they never change.
fn by_question(record: &Value) -> Value {
    let mut record = record.clone();
    let Some(fields) = record.as_object_mut() else {
        return record;
    };
    fields.remove("id");
    fields.remove("number");
    if let Some(Value::Array(answers)) = fields.get("answers") {
        let mut named = Map::new();
        for answer in answers {
            let id = answer["questionId"].as_str().unwrap_or_default();
            let name = match &answer["index"] {
                Value::Null => id.to_owned(),
                row => format!("{id}[{row}]"),
            };
            // Several answers to one question are one field.
            match named.get_mut(&name) {
                Some(Value::Array(values)) => values.push(answer["value"].clone()),
                Some(first) => *first = Value::Array(vec![first.clone(), answer["value"].clone()]),
                None => {
                    named.insert(name, answer["value"].clone());
                }
            }
        }
        fields.insert("answers".to_owned(), Value::Object(named));
    }
    record
}

/// Whether two values mean the same, whatever the letter case, the blanks and the form of numbers and dates. An empty text is
/// as good as none.
fn is_same(one: &Value, other: &Value) -> bool {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    match (one, other) {
        (Value::String(one), Value::String(other)) => same_value(one, other),
        (one, other) => one == other || is_empty(one) && is_empty(other),
    }
}
