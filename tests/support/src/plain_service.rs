//! A simple model of the service for random schedules: the records of one account with all their versions and authors.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// 2026-11-20T00:00:00Z.
pub const START: u64 = 1_795_132_800;

/// The author of a version of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Website,
    /// A request for this row, from any copy of the store.
    Row(u64),
}

#[derive(Clone, Debug)]
pub struct Version {
    pub value: Value,
    pub author: Author,
    /// In seconds. Each change has a different time.
    pub at: u64,
    /// The number of the event.
    pub event: u64,
}

#[derive(Clone, Debug)]
pub struct Record {
    pub versions: Vec<Version>,
    pub is_deleted: bool,
    pub created_by: &'static str,
    /// The number of the first list that shows it.
    pub listed_from: u64,
}

impl Record {
    pub fn last(&self) -> &Version {
        self.versions.last().unwrap()
    }

    pub fn maker(&self) -> Author {
        self.versions[0].author
    }

    pub fn status(&self) -> &str {
        self.last().value["status"].as_str().unwrap()
    }

    /// True if this author created the record and it was never changed since.
    pub fn is_only_of(&self, author: Author) -> bool {
        self.maker() == author && self.versions.len() == 1
    }
}

/// The result of a change, with the id of the record.
pub enum Outcome {
    Saved(String),
    Refused,
    NotFound,
}

#[derive(Debug, Default)]
pub struct Service {
    pub records: BTreeMap<String, Record>,
    /// In seconds.
    pub now: u64,
    /// The number of events so far.
    pub events: u64,
    pub lists: u64,
    /// The number of lists that do not show a new record yet.
    pub lag: u64,
    pub habits: Habits,
}

/// Variations in the behaviour of a service.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "they are independent of each other"
)]
pub struct Habits {
    /// Objects are merged into the existing value, not replaced.
    pub merges: bool,
    /// Null fields are ignored.
    pub ignores_null: bool,
    /// The service fills in a missing name of the destination.
    pub fills: bool,
    /// Requests cannot change a submitted record.
    pub locks: bool,
    /// The website cannot change a submitted record either.
    pub locks_website: bool,
    /// The website is used with the same login.
    pub shares_login: bool,
    /// A deleted record is returned with the status `DELETED`.
    pub shows_deleted: bool,
    /// The reply to a read of an unknown record is null.
    pub answers_null: bool,
    pub lists_newest_first: bool,
    /// Dates are returned as timestamps.
    pub shows_instants: bool,
    /// Replies contain only the id and the status.
    pub replies_briefly: bool,
    /// `createdBy` is not returned.
    pub hides_author: bool,
}

impl Service {
    pub fn event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    pub fn insert(&mut self, author: Author, mut value: Value) -> String {
        let id = format!("c{:04}", self.records.len() + 1);
        if value["status"].is_null() {
            value["status"] = json!("DRAFT");
        }
        let is_ours = self.habits.shares_login || author != Author::Website;
        let record = Record {
            versions: Vec::new(),
            is_deleted: false,
            created_by: if is_ours { "sam" } else { "pat" },
            listed_from: self.lists + self.lag,
        };
        self.records.insert(id.clone(), record);
        self.write(&id, author, value);
        id
    }

    fn write(&mut self, id: &str, author: Author, mut value: Value) {
        self.now += 1;
        let destination = &mut value["destination"];
        if self.habits.fills && destination.is_object() && destination["name"].is_null() {
            destination["name"] = json!("Filled Yards");
        }
        let version = Version {
            value,
            author,
            at: self.now,
            event: self.event(),
        };
        self.records.get_mut(id).unwrap().versions.push(version);
    }

    /// Writes fields to an existing record.
    pub fn save(&mut self, id: &str, author: Author, sent: &Value) -> Outcome {
        let Some(record) = self.records.get(id).filter(|record| !record.is_deleted) else {
            return Outcome::NotFound;
        };
        let is_locked = match author {
            Author::Website => self.habits.locks_website,
            Author::Row(_) => self.habits.locks,
        };
        if is_locked && record.status() != "DRAFT" {
            return Outcome::Refused;
        }
        let mut value = record.last().value.clone();
        for (name, field) in sent.as_object().unwrap() {
            match field {
                Value::Null if self.habits.ignores_null => {}
                Value::Object(parts) if self.habits.merges && value[name].is_object() => {
                    for (name_of_part, part) in parts {
                        value[name][name_of_part] = part.clone();
                    }
                }
                field => value[name] = field.clone(),
            }
        }
        self.write(id, author, value);
        Outcome::Saved(id.to_owned())
    }

    pub fn delete(&mut self, id: &str, author: Author) -> Outcome {
        let Some(record) = self.records.get_mut(id).filter(|record| !record.is_deleted) else {
            return Outcome::NotFound;
        };
        record.is_deleted = true;
        let mut value = record.last().value.clone();
        value["status"] = json!("DELETED");
        self.write(id, author, value);
        Outcome::Saved(id.to_owned())
    }

    /// The record, if reads show it.
    pub fn read(&self, id: &str) -> Option<&Record> {
        let record = self.records.get(id)?;
        (!record.is_deleted || self.habits.shows_deleted).then_some(record)
    }

    /// True if lists show the record now.
    pub fn is_listed(&self, record: &Record) -> bool {
        !record.is_deleted && record.listed_from <= self.lists
    }

    /// Counts a list request, and returns the listed records.
    pub fn list(&mut self) -> impl Iterator<Item = (&String, &Record)> {
        self.lists += 1;
        let records = self.records.iter();
        records.filter(|(_, record)| self.is_listed(record))
    }
}
