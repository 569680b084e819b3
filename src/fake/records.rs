//! The records of all accounts, which change while the fake runs.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use super::problem::Problem;
use super::world::{Kind, World};
use super::{instant, rules};

/// All records, each with its kind and its account, oldest first.
#[derive(Default)]
pub(super) struct Records {
    all: Vec<(Kind, String, Arc<Value>)>,
    created: u32,
    serials: u32,
}

impl Records {
    /// The records of a world. The first was created at midnight of 2026-11-01, each other one six hours later.
    pub(super) fn of(world: &World, base: &str) -> Self {
        let mut records = Self::default();
        let mut now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_793_491_200);
        for (account, input) in &world.consignments {
            let holder = world.holder(account);
            let author = holder.map_or(&Value::Null, |user| &user["email"]);
            records.create(account, input, author, base, now);
            now += Duration::from_secs(6 * 3_600);
        }
        for (account, input) in &world.templates {
            records.create_template(account, input);
        }
        for (kind, account, record) in &world.other_records {
            records.add(*kind, account, record.clone());
        }
        records
    }

    /// The records of a kind in an account, oldest first.
    pub(super) fn of_account(
        &self,
        kind: Kind,
        account: &str,
    ) -> impl DoubleEndedIterator<Item = &Arc<Value>> {
        let matching = self
            .all
            .iter()
            .filter(move |(k, a, _)| (*k, a.as_str()) == (kind, account));
        matching.map(|(_, _, record)| record)
    }

    /// A record by id or number; also a deleted consignment.
    pub(super) fn find(
        &self,
        kind: Kind,
        account: &str,
        name: &str,
    ) -> Result<&Arc<Value>, Problem> {
        let mut records = self.of_account(kind, account);
        records
            .find(|record| has_name(record, name))
            .ok_or_else(Problem::not_found)
    }

    /// A consignment that may be changed: it is neither locked nor deleted. assumed
    pub(super) fn find_open(&self, account: &str, name: &str) -> Result<&Arc<Value>, Problem> {
        let found = self.find(Kind::Consignment, account, name)?;
        let is_open = found["status"] != "LOCKED" && found["status"] != "DELETED";
        is_open.then_some(found).ok_or_else(Problem::not_found)
    }

    /// Creates a consignment from a valid input.
    pub(super) fn create(
        &mut self,
        account: &str,
        input: &Value,
        author: &Value,
        base: &str,
        now: SystemTime,
    ) -> Value {
        self.created += 1;
        let number = format!("C-{:09}", 900_000_100 + self.created);
        let print = format!("{base}/api/v3/vendordeclaration/consignments/{number}/$print");
        let mut record = json!({
            "id": id(100 + self.created),
            "number": number,
            "pdfUrl": format!("{print}?authToken=fake-print-{}", self.created),
            "createdBy": author,
        });
        self.fill(&mut record, input);
        stamp(&mut record, &input["status"], now);
        self.add(Kind::Consignment, account, record)
    }

    /// Writes a valid input into a consignment.
    pub(super) fn update(
        &mut self,
        account: &str,
        name: &str,
        input: &Value,
        author: &Value,
        now: SystemTime,
    ) -> Result<Value, Problem> {
        let mut record = Value::clone(self.find_open(account, name)?);
        self.fill(&mut record, input);
        stamp(&mut record, &input["status"], now);
        record["updatedBy"] = author.clone();
        Ok(self.replace(record))
    }

    /// Marks a consignment as deleted.
    pub(super) fn delete(
        &mut self,
        account: &str,
        name: &str,
        now: SystemTime,
    ) -> Result<Value, Problem> {
        let mut record = Value::clone(self.find_open(account, name)?);
        stamp(&mut record, &json!("DELETED"), now);
        Ok(self.replace(record))
    }

    pub(super) fn create_template(&mut self, account: &str, input: &Value) -> Value {
        self.created += 1;
        let mut record = json!({
            "id": id(500_000 + self.created),
            "number": format!("T-{:09}", 900_000_000 + self.created),
            "name": input["name"],
        });
        self.fill(&mut record, input);
        self.add(Kind::Template, account, record)
    }

    pub(super) fn update_template(
        &mut self,
        account: &str,
        name: &str,
        input: &Value,
    ) -> Result<Value, Problem> {
        let mut record = Value::clone(self.find(Kind::Template, account, name)?);
        self.fill(&mut record, input);
        record["name"] = input["name"].clone();
        Ok(self.replace(record))
    }

    /// Removes a template for good.
    pub(super) fn delete_template(&mut self, account: &str, name: &str) -> Result<Value, Problem> {
        let record = Value::clone(self.find(Kind::Template, account, name)?);
        self.all.retain(|(_, _, other)| other["id"] != record["id"]);
        Ok(record)
    }

    pub(super) fn create_comment(&mut self, account: &str, mut record: Value) -> Value {
        self.created += 1;
        record["commentId"] = id(600_000 + self.created).into();
        self.add(Kind::Comment, account, record)
    }

    fn add(&mut self, kind: Kind, account: &str, record: Value) -> Value {
        let shared = Arc::new(record.clone());
        self.all.push((kind, account.to_owned(), shared));
        record
    }

    /// Replaces the record with the same id.
    fn replace(&mut self, record: Value) -> Value {
        let mut all = self.all.iter_mut();
        if let Some((_, _, stored)) = all.find(|(_, _, stored)| stored["id"] == record["id"]) {
            *stored = Arc::new(record.clone());
        }
        record
    }

    /// Writes an input into a record. Forms that stay keep their serial numbers.
    fn fill(&mut self, record: &mut Value, input: &Value) {
        for name in COPIED_FIELDS {
            if let Some(value) = input.get(name) {
                record[name] = value.clone();
            }
        }
        let forms = record["forms"].take();
        let mut new_form = |name: &str| {
            self.serials += 1;
            let number = 40_000_000 + self.serials;
            json!({
                "type": name,
                "serialNumber": format!("{}{number:08}", rules::serial_prefix(name)),
            })
        };
        let names = items(&input["forms"]).filter_map(Value::as_str);
        record["forms"] = names
            .map(|name| {
                let known = items(&forms).find(|form| form["type"] == name);
                known.cloned().unwrap_or_else(|| new_form(name))
            })
            .collect();
        record["species"] = input["forms"][0].as_str().and_then(rules::species).into();
        if record["answers"].is_null() {
            record["answers"] = json!([]);
        }
    }
}

/// The fields of the input that a record keeps unchanged.
const COPIED_FIELDS: [&str; 8] = [
    "origin",
    "destination",
    "owner",
    "consignee",
    "declaration",
    "movementDate",
    "movementTime",
    "answers",
];

/// The input of a record after an update: given fields replace the stored ones.
pub(super) fn updated_input(record: &Value, given: &Value) -> Value {
    let fields = COPIED_FIELDS.into_iter().chain(["status", "name"]);
    let stored = fields.filter_map(|name| Some((name.to_owned(), record.get(name)?.clone())));
    let mut input: Map<String, Value> = stored.collect();
    input.insert("forms".to_owned(), form_names(record));
    input.extend(given.as_object().cloned().unwrap_or_default());
    Value::Object(input)
}

/// The names of the forms of a record.
pub(super) fn form_names(record: &Value) -> Value {
    items(&record["forms"])
        .map(|form| form["type"].clone())
        .collect()
}

/// Whether a record has a form.
pub(super) fn has_form(record: &Value, name: &str) -> bool {
    items(&record["forms"]).any(|form| form["type"] == name)
}

fn has_name(record: &Value, name: &str) -> bool {
    record["id"] == name || record["number"] == name
}

/// Sets the fields of a consignment that depend on other fields and on the time. The number of heads is the sum of the
/// answers to question 3. assumed
fn stamp(record: &mut Value, status: &Value, now: SystemTime) {
    let answers = items(&record["answers"]).filter(|answer| answer["questionId"] == "3");
    let heads = answers.filter_map(|answer| answer["value"].as_str()?.trim().parse::<u64>().ok());
    record["heads"] = heads.fold(0, u64::saturating_add).into();
    record["status"] = status.as_str().unwrap_or("DRAFT").into();
    record["updatedAt"] = instant::wire(now).into();
    if status == "SUBMITTED" && record["submittedAt"].is_null() {
        record["submittedAt"] = instant::wire(now).into();
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}
