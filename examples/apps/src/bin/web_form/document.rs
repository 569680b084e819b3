//! A declaration as the fields of its page, and the form and the input that follow from them.
//!
//! `q.4.0` is the answer to question 4 in row 0, `f.origin.pic` a field of the input, both exactly as typed. Each `row` adds (`+1.0`)
//! or removes (`-1.0`) a row. The last one for a row counts, so the answers in a removed row stay, for the case that the row is added
//! again. `none` is a section without rows, `checked` shows missing answers, and `version` counts the changes.

use std::collections::BTreeMap;

use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, Pic};
use envd_sdk::validate::{Context, Form, Item, ItemKind, QuestionRef, Questionnaire, SavedForm};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::server::fields::Fields;
use super::server::pages::day;

pub(crate) const PARTIES: [&str; 4] = ["origin", "destination", "owner", "consignee"];
pub(crate) const PARTY: &str = "pic name address.line1 address.town address.state address.postcode";
pub(crate) const MOVE: &str = "movementDate movementTime";
pub(crate) const DECLARER: &str =
    "declaration.fullName declaration.phone declaration.email declaration.date";
const SIGNED: &str = "declaration.signature declaration.accept";

/// Transporter, registration of the vehicle, phone and email: what the next load has as well.
const TRANSPORT: [&str; 4] = ["158", "159", "160", "182"];

pub(crate) struct Document {
    pub(crate) key: String,
    pub(crate) fields: Fields,
}

impl Document {
    /// Of a form that nobody has filled in.
    pub(crate) fn new(key: String) -> Self {
        let mut fields = Fields::default();
        fields.add("f.forms", "LPAC1");
        Self { key, fields }
    }

    /// That leads to an input.
    pub(crate) fn of(key: String, input: &ConsignmentInput) -> Self {
        let mut fields = Fields::default();
        for form in &input.forms {
            fields.add("f.forms", form.as_str());
        }
        let json = serde_json::to_value(input).unwrap_or_default();
        for path in paths() {
            let name = format!("f.{path}");
            match json.pointer(&format!("/{}", path.replace('.', "/"))) {
                Some(Value::String(text)) => fields.add(&name, &day(text)),
                Some(Value::Bool(true)) => fields.add(&name, "true"),
                _ => {}
            }
        }
        for answer in input.answers() {
            if let (Some(id), Some(text)) = (answer.question_id.value(), answer.value.value()) {
                let row = answer.index.value().copied();
                fields.add(&name(&QuestionRef::from((id.clone(), row))), text);
            }
        }
        Self { key, fields }
    }

    /// For the next load: with the parties, the transporter and the declarer of this one.
    pub(crate) fn next_load(self, key: String) -> Self {
        let mut fields = Fields::default();
        for (name, text) in self.fields.iter() {
            let is_kept = match name.strip_prefix("f.") {
                Some(path) => ![MOVE, SIGNED, "declaration.date"]
                    .iter()
                    .any(|one| one.contains(path)),
                None => question(name).is_some_and(|at| TRANSPORT.contains(&at.id.as_str())),
            };
            if is_kept {
                fields.add(name, text);
            }
        }
        Self { key, fields }
    }

    pub(crate) fn version(&self) -> u64 {
        let version = self.fields.get("version");
        version.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// The parts of all fields with a name.
    fn list<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let fields = self.fields.iter().filter(move |(known, _)| *known == name);
        let parts = fields.flat_map(|(_, text)| text.split(','));
        parts.filter(|part| !part.is_empty())
    }

    /// The rows that were added or removed, and whether they are there.
    pub(crate) fn rows(&self) -> BTreeMap<&str, bool> {
        let rows = self.list("row");
        rows.filter_map(|row| Some((row.get(1..)?, row.starts_with('+'))))
            .collect()
    }

    /// What follows from the document. What it has for other lists of questions is left out, and stays in it.
    pub(crate) fn form(&self, questions: &Questionnaire, context: &Context) -> Form {
        let mut answers = Vec::new();
        let forms: Vec<&str> = self.list("f.forms").collect();
        let mut input = json!({ "forms": forms });
        for (name, text) in self
            .fields
            .iter()
            .filter(|(_, text)| !text.trim().is_empty())
        {
            let path = name.strip_prefix("f.").unwrap_or_default();
            if let Some(at) = question(name) {
                let answer = AnswerInput::new(at.id, text);
                answers.push(match at.row {
                    Some(row) => answer.row(row),
                    None => answer,
                });
            } else if paths().any(|known| known == path) {
                *path
                    .split('.')
                    .fold(&mut input, |place, part| &mut place[part]) = read(path, text);
            }
        }
        input["answers"] = json!(answers);
        let rows = self.rows();
        let places = |is_wanted: bool| {
            let rows = rows
                .iter()
                .filter(move |(_, is_there)| **is_there == is_wanted);
            rows.filter_map(|(row, _)| place(row))
        };
        let opened: Vec<_> = places(true).map(|at| (at.id, at.row)).collect();
        let skipped: Vec<QuestionRef> = self.list("none").filter_map(place).collect();
        let hash = questions.content_hash();
        let saved =
            json!({"contentHash": hash, "input": input, "opened": opened, "skipped": skipped});
        // OK because all of it has the types of a saved form, and the hash of the list.
        let saved: SavedForm = serde_json::from_value(saved).expect("a saved form");
        let mut form = questions.open(saved, context).expect("the same list");
        for at in places(false) {
            // It has nothing to remove where the section does not apply.
            let _ = form.remove_row(at.id, at.row);
        }
        for (at, text) in typed(&form.items()) {
            // OK because the question has an answer.
            form.answer(at, text.as_str())
                .expect("a question with an answer");
        }
        form
    }
}

/// The answers that were typed otherwise than they are sent.
fn typed(items: &[Item]) -> Vec<(QuestionRef, String)> {
    let items = items.iter().flat_map(Item::descendants);
    let read = items.filter_map(|item| {
        let text = item
            .value
            .as_ref()
            .filter(|_| item.choices.is_empty() && !item.read_only)?;
        let read = item.kind.from_typed(text);
        (read != *text).then(|| (item.question.clone(), read))
    });
    read.collect()
}

/// The value of a field that was typed.
fn read(path: &str, text: &str) -> Value {
    let text = text.trim();
    match path.rsplit('.').next().unwrap_or_default() {
        "accept" => json!(text == "true"),
        "pic" => Pic::from_typed(text).map_or(json!(text), |pic| json!(pic)),
        "movementDate" => json!(ItemKind::Date.from_typed(text)),
        "movementTime" => json!(ItemKind::Time.from_typed(text)),
        "date" => Day::from_typed(text).map_or(json!(text), |day| json!(format!("{day}T00:00:00"))),
        _ => json!(text),
    }
}

/// The paths of all fields outside the questions.
fn paths() -> impl Iterator<Item = String> {
    let of_party = |party| {
        PARTY
            .split(' ')
            .map(move |field| format!("{party}.{field}"))
    };
    let others = [MOVE, DECLARER, SIGNED]
        .into_iter()
        .flat_map(|them| them.split(' '));
    PARTIES
        .into_iter()
        .flat_map(of_party)
        .chain(others.map(str::to_owned))
}

/// A hash of the input to send.
pub(crate) fn hash(input: &ConsignmentInput) -> String {
    let json = serde_json::to_vec(input).unwrap_or_default();
    format!("{:x}", Sha256::digest(json))
}

/// The name of the field of a question.
pub(crate) fn name(question: &QuestionRef) -> String {
    let row = question.row.map_or(String::new(), |row| row.to_string());
    format!("q.{}.{row}", question.id)
}

/// The question of a field.
fn question(name: &str) -> Option<QuestionRef> {
    place(name.strip_prefix("q.")?)
}

/// A question and its row, such as `4.0`.
fn place(text: &str) -> Option<QuestionRef> {
    let (id, row) = text.rsplit_once('.')?;
    let row = if row.is_empty() {
        None
    } else {
        Some(row.parse().ok()?)
    };
    Some((id, row).into())
}
