//! What a record is compared with before it is saved, and after a reply was lost.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use envd_sdk::model::{Consignment, ConsignmentInput, same_value};

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
/// # let (outbox, website) = (Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new())), account.clone());
/// use envd_sync::outbox::ChangedBy;
/// # use envd_sync::{Outbox, Replica};
///
/// let base = account.consignment(id).await?.value;
/// let moved = |day| ConsignmentInput::from(&base).movement(day, "05:15").id(id);
/// let (_, problems) = website.save_consignment(moved("2099-01-20")).await?.into_parts();
/// println!("saved with {} problems", problems.len());
/// let entry = outbox.update(&base, moved("2099-01-15")).await?;
/// outbox.send().await?;
///
/// let conflict = outbox.entry(entry.id).await?.and_then(|entry| entry.conflict).ok_or("no conflict")?;
/// let mut fields = conflict.fields.iter();
/// let field = fields.find(|field| field.changed_by == ChangedBy::Both).ok_or("no field")?;
/// assert_eq!(field.path, "movementDate");
/// assert_eq!((&field.mine, &field.theirs), (&"2099-01-15".into(), &"2099-01-20".into()));
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

/// How a record stands to what was sent about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// It is as it was before.
    Unchanged,
    /// It is as it was before, with all that was sent and nothing else.
    OursApplied,
    /// Somebody else has written a field of it.
    Theirs,
}

/// What the service writes into records by itself, learnt from records of ours whose reply came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ServiceFields {
    /// Fields that we had not sent, and in how many records they were there all the same.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    filled: BTreeMap<String, u32>,
    /// What `createdBy` says of records that we made.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    created_by: BTreeSet<String>,
}

impl ServiceFields {
    /// One record could have been edited between its reply and the read that follows it.
    const ENOUGH: u32 = 2;
    const AUTHORS: usize = 16;

    /// Learns from a record that was created and read at once.
    pub(super) fn learn(&mut self, sent: &Value, record: &Consignment, read: &Value) {
        for path in paths(sent, read) {
            if is_empty(&at(sent, &path)) {
                let records = self.filled.entry(path).or_default();
                *records = (*records + 1).min(Self::ENOUGH);
            }
        }
        if self.created_by.len() < Self::AUTHORS {
            self.created_by.extend(record.created_by.clone());
        }
    }

    /// With what the profile tells.
    pub(super) fn and_told(mut self, told: &BTreeSet<String>) -> Self {
        self.filled
            .extend(told.iter().map(|path| (path.clone(), Self::ENOUGH)));
        self
    }

    fn fills(&self, path: &str) -> bool {
        self.filled
            .get(path)
            .is_some_and(|records| *records >= Self::ENOUGH)
    }

    /// Whether the record says that somebody else made it.
    pub(super) fn is_of_another(&self, record: &Consignment) -> bool {
        let author = record.created_by.as_ref();
        author
            .is_some_and(|author| !self.created_by.is_empty() && !self.created_by.contains(author))
    }
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

/// What a record says about a change that was made of `base`; of a creation there is none.
pub(super) fn compare(
    base: Option<&Value>,
    sent: &Value,
    read: &Value,
    service: &ServiceFields,
) -> Compared {
    let expected = overlaid(base.unwrap_or(&Value::Null), sent);
    let mut differing = paths(&expected, read).into_iter().filter(|path| {
        // An object that was sent without a field may have replaced one that had it.
        let field = path.split('.').next().unwrap_or_default();
        let is_dropped =
            !sent[field].is_null() && is_empty(&at(sent, path)) && is_empty(&at(read, path));
        let is_filled_in = service.fills(path) && is_empty(&at(&expected, path));
        !is_dropped && !is_filled_in
    });
    if differing.next().is_none() {
        Compared::OursApplied
    } else if base.is_some_and(|base| is_unchanged(base, read)) {
        Compared::Unchanged
    } else {
        Compared::Theirs
    }
}

/// Whether a record has all that was sent, and perhaps more.
pub(super) fn is_ours_and_more(sent: &Value, read: &Value) -> bool {
    paths(sent, read)
        .iter()
        .all(|path| is_empty(&at(sent, path)))
}

/// `record` with the fields that `sent` has.
pub(super) fn overlaid(record: &Value, sent: &Value) -> Value {
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

/// Two edits of one state as one: the later one wins where it changes a field. A field that is set back to what it was counts as
/// not meant. Answers are told apart by question and row.
pub(super) fn merged(base: &Value, earlier: &Value, later: &Value) -> Value {
    match (earlier, later) {
        (Value::Object(some), Value::Object(others)) => {
            let names: BTreeSet<&String> = some.keys().chain(others.keys()).collect();
            let field = |name: &String| {
                let value = match (some.get(name), others.get(name)) {
                    (Some(earlier), Some(later)) if name == "answers" => {
                        merged_answers(&base[name], earlier, later)
                    }
                    (Some(earlier), Some(later)) => merged(&base[name], earlier, later),
                    (one, other) => one.or(other).cloned().unwrap_or_default(),
                };
                (name.clone(), value)
            };
            names.into_iter().map(field).collect::<Map<_, _>>().into()
        }
        _ if is_same(base, later) => earlier.clone(),
        _ => later.clone(),
    }
}

fn merged_answers(base: &Value, earlier: &Value, later: &Value) -> Value {
    let key = |answer: &Value| (answer["questionId"].clone(), answer["index"].clone());
    let all = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let [base, earlier, later] = [base, earlier, later].map(all);
    let mut keys = Vec::new();
    for answer in later.iter().chain(&earlier) {
        if !keys.contains(&key(answer)) {
            keys.push(key(answer));
        }
    }
    let merged = keys.iter().flat_map(|name| {
        let of = |list: &[Value]| -> Vec<Value> {
            list.iter()
                .filter(|answer| key(answer) == *name)
                .cloned()
                .collect()
        };
        let values = |list: &[Value]| {
            of(list)
                .iter()
                .map(|answer| answer["value"].clone())
                .collect::<Value>()
        };
        if is_same(&values(&base), &values(&later)) {
            of(&earlier)
        } else {
            of(&later)
        }
    });
    merged.collect()
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

/// Whether two values mean the same, whatever the letter case, the blanks, the order of a list and the form of numbers and
/// dates. An empty text is as good as none.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::String(one), Value::String(other)) => same_value(one, other),
        (Value::Array(one), Value::Array(other)) => {
            let has = |all: &[Value], one: &Value| all.iter().any(|other| is_same(one, other));
            one.len() == other.len()
                && one.iter().all(|value| has(other, value))
                && other.iter().all(|value| has(one, value))
        }
        (one, other) => one == other || is_empty(one) && is_empty(other),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        _ => false,
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
        let day = &conflict.fields[1];
        assert_eq!(
            [&day.base, &day.mine, &day.theirs],
            ["2026-11-23", "2026-11-25", "2026-11-26"]
        );
    }

    fn compared(base: Option<&Value>, sent: &Value, read: &Value) -> Compared {
        compare(base, sent, read, &ServiceFields::default())
    }

    #[test]
    fn a_lost_change_is_there_not_there_or_something_else() {
        let sent = json!({"movementDate": "2026-11-25", "status": "SUBMITTED"});
        let mut applied = with("/movementDate", json!("2026-11-25T00:00:00"));
        assert_eq!(compared(Some(&base()), &sent, &base()), Compared::Unchanged);
        assert_eq!(compared(Some(&base()), &sent, &applied), Compared::Theirs);
        applied["status"] = json!("SUBMITTED");
        assert_eq!(
            compared(Some(&base()), &sent, &applied),
            Compared::OursApplied
        );
        for (pointer, value) in [
            ("/forms", json!(["EUC1"])),
            ("/destination/pic", json!("QAZZ7777")),
            ("/consignee", json!({"pic": "QBZZ2222"})),
            ("/destination/name", json!("Demo Meats")),
        ] {
            let mut edited = applied.clone();
            match edited.pointer_mut(pointer) {
                Some(field) => *field = value,
                None if pointer == "/consignee" => edited["consignee"] = value,
                None => edited["destination"]["name"] = value,
            }
            assert_eq!(
                compared(Some(&base()), &sent, &edited),
                Compared::Theirs,
                "{pointer}"
            );
        }
    }

    /// sync.md, settled readings 3 to 5.
    #[test]
    fn a_creation_is_ours_with_all_that_was_sent_and_nothing_else_but_what_the_service_fills_in() {
        let (sent, read) = (base(), with("/origin/name", json!("Sample Downs Pty Ltd")));
        assert_eq!(compared(None, &sent, &read), Compared::Theirs);
        let mut filled = read.clone();
        filled["origin"]["name"] = json!("Sample Downs");
        filled["origin"]["town"] = json!("Roma");
        assert_eq!(compared(None, &sent, &filled), Compared::Theirs);
        let (mut service, mut record) = (ServiceFields::default(), Consignment::default());
        record.created_by = Some("sam@example.com".to_owned());
        assert!(!service.is_of_another(&record));
        for is_known in [false, true] {
            service.learn(&sent, &record, &filled);
            let compared = compare(None, &sent, &filled, &service);
            assert_eq!(compared == Compared::OursApplied, is_known);
        }
        // Never where something was sent.
        assert_eq!(compare(None, &sent, &read, &service), Compared::Theirs);
        assert!(!service.is_of_another(&record));
        record.created_by = Some("pat@example.com".to_owned());
        assert!(service.is_of_another(&record));
        assert!(is_ours_and_more(&sent, &filled) && !is_ours_and_more(&filled, &sent));
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
