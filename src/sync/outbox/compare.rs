//! What a record is compared with before it is saved, and after a reply was lost.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{Consignment, ConsignmentInput};
use crate::ops::similarity::same_value;

/// Who changed a field since it was edited here.
///
/// Of a [`FieldDifference`]. See [`Conflict`] for an example.
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
///
/// Of a [`Conflict`], whose page has an example.
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
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # use envd_sdk::model::ConsignmentInput;
/// # let id = "00000000-0000-4000-8000-000000000101";
/// # let (outbox, website) = (account.outbox(envd_sdk::sync::store::MemorySync::new()), account.clone());
/// use envd_sdk::sync::outbox::ChangedBy;
///
/// let base = account.consignment(id).await?.value;
/// let moved = |day| ConsignmentInput::from(&base).movement(day, "05:15").id(id);
/// website.save_consignment(moved("2099-01-20")).await?;
/// let entry = outbox.update(&base, moved("2099-01-15")).await?;
/// outbox.send().await?;
///
/// let conflict = outbox.entry(entry.id).await?.and_then(|entry| entry.conflict).ok_or("no conflict")?;
/// let field = conflict.fields.iter().find(|field| field.changed_by == ChangedBy::Both).ok_or("no field")?;
/// assert_eq!((field.path.as_str(), &field.mine, &field.theirs), ("movementDate", &"2099-01-15".into(), &"2099-01-20".into()));
/// # Ok(()) });
/// ```
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

debug_shows!(Conflict, |it| fields: it.fields);

debug_shows!(FieldDifference, |it| path: it.path, changed_by: it.changed_by);

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
    let mut paths = Vec::new();
    collect(&mut paths, &[], &by_question(one), &by_question(other));
    paths
}

fn collect(paths: &mut Vec<String>, path: &[&str], one: &Value, other: &Value) {
    let fields = |value: &Value| match value {
        Value::Object(fields) => Some(fields.clone()),
        Value::Null => Some(Map::new()),
        _ => None,
    };
    match (fields(one), fields(other)) {
        (Some(some), Some(others)) if !(some.is_empty() && others.is_empty()) => {
            let names: BTreeSet<&String> = some.keys().chain(others.keys()).collect();
            for name in names {
                let path = [path, &[name.as_str()]].concat();
                collect(paths, &path, &one[name], &other[name]);
            }
        }
        _ if is_same(one, other) => {}
        _ => paths.push(path.join(".")),
    }
}

fn at(record: &Value, path: &str) -> Value {
    let record = by_question(record);
    let mut names = path.split('.');
    names
        .try_fold(&record, |part, name| part.get(name))
        .cloned()
        .unwrap_or_default()
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
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => one
            .iter()
            .zip(other)
            .all(|(one, other)| is_same(one, other)),
        (one, other) => one == other || is_empty(one) && is_empty(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn base() -> Value {
        json!({
            "id": "c-1", "number": "C-1", "status": "DRAFT", "forms": ["LPAC1"],
            "origin": {"pic": "QAZZ7777", "name": "Sample Downs"}, "destination": {"pic": "QDZZ3333"},
            "movementDate": "2026-11-23", "owner": null,
            "answers": [
                {"questionId": "17", "index": null, "value": "Yes"},
                {"questionId": "3", "index": 0, "value": "24"},
                {"questionId": "5", "index": null, "value": "M"},
                {"questionId": "5", "index": null, "value": "F"},
            ],
        })
    }

    fn with(pointer: &str, value: Value) -> Value {
        let mut record = base();
        *record.pointer_mut(pointer).expect("a field") = value;
        record
    }

    #[test]
    fn a_record_is_unchanged_whatever_its_names_places_and_forms_of_values() {
        let mut same = base();
        same["answers"].as_array_mut().unwrap().swap(0, 1);
        same["movementDate"] = json!("2026-11-23T00:00:00");
        same["origin"]["pic"] = json!("qazz7777 ");
        same["owner"] = json!({"name": ""});
        assert!(is_unchanged(&base(), &same));
        for (pointer, value, path) in [
            ("/status", json!("SUBMITTED"), "status"),
            ("/forms", json!(["EUC1"]), "forms"),
            ("/forms", json!(["LPAC1", "EUC1"]), "forms"),
            ("/origin/pic", json!("QBZZ2222"), "origin.pic"),
            ("/origin/name", Value::Null, "origin.name"),
            ("/owner", json!({"pic": "QBZZ2222"}), "owner.pic"),
            ("/answers/0/value", json!("No"), "answers.17"),
            ("/answers/1/value", json!("25"), "answers.3[0]"),
            ("/answers/2/value", json!("Mixed"), "answers.5"),
            ("/movementDate", json!("2026-11-24"), "movementDate"),
        ] {
            assert_eq!(paths(&base(), &with(pointer, value)), [path]);
        }
    }

    #[test]
    fn what_one_side_changed_is_told_apart() {
        let mine = json!({"movementDate": "2026-11-25", "owner": {"pic": "QBZZ2222"}, "origin": {"pic": "QAZZ0001"}});
        let mut theirs = with("/movementDate", json!("2026-11-26"));
        theirs["destination"]["pic"] = json!("QAZZ7777");
        // Both changed it, to the same.
        theirs["origin"]["pic"] = json!("QAZZ0001");
        let conflict = Conflict::new(Some(&base()), &mine, &theirs);
        let fields = conflict.fields.iter();
        let fields: Vec<(&str, ChangedBy)> = fields
            .map(|field| (&*field.path, field.changed_by))
            .collect();
        assert_eq!(
            fields,
            [
                ("destination.pic", ChangedBy::Theirs),
                ("movementDate", ChangedBy::Both),
                ("owner.pic", ChangedBy::Mine),
            ]
        );
        assert_eq!(conflict.one_sided().count(), 2);
        let day = &conflict.fields[1];
        assert_eq!(
            [&day.base, &day.mine, &day.theirs],
            ["2026-11-23", "2026-11-25", "2026-11-26"]
        );
    }

    #[test]
    fn a_lost_change_is_there_not_there_or_something_else() {
        let sent = json!({"movementDate": "2026-11-25", "status": "SUBMITTED"});
        let mut applied = with("/movementDate", json!("2026-11-25T00:00:00"));
        assert_eq!(trace(&base(), &sent, &base()), Trace::None);
        assert_eq!(trace(&base(), &sent, &applied), Trace::Other);
        applied["status"] = json!("SUBMITTED");
        assert_eq!(trace(&base(), &sent, &applied), Trace::Applied);
        // What somebody else changed beside it does not matter.
        applied["destination"]["pic"] = json!("QAZZ7777");
        assert_eq!(trace(&base(), &sent, &applied), Trace::Applied);
        assert_eq!(
            trace(&base(), &sent, &with("/forms", json!(["EUC1"]))),
            Trace::Other
        );
    }

    #[test]
    fn debug_shows_no_values() {
        let theirs = with("/origin/name", json!("Their Downs"));
        let conflict = Conflict::new(Some(&base()), &base(), &theirs);
        let shown = format!("{conflict:?}");
        assert!(
            shown.contains("origin.name") && !shown.contains("Downs"),
            "{shown}"
        );
    }
}
