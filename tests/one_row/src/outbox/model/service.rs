//! A plain service: the records of one account with all their versions, and who wrote each.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::outbox::compare::Record;
use crate::outbox::row::Request;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    Website,
    /// A request of this row, of any copy of the store.
    Row(u64),
}

#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) value: Value,
    pub(super) author: Author,
    pub(super) at: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) versions: Vec<Version>,
    pub(super) is_deleted: bool,
    pub(super) created_by: &'static str,
    /// The number of the first list that shows it.
    pub(super) listed_from: u64,
}

impl Kept {
    pub(super) fn last(&self) -> &Version {
        self.versions.last().unwrap()
    }

    pub(super) fn maker(&self) -> Author {
        self.versions[0].author
    }

    pub(super) fn status(&self) -> &str {
        self.last().value["status"].as_str().unwrap()
    }
}

/// What a change did.
pub(super) enum Outcome {
    Saved(String),
    Refused,
    NotFound,
}

#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "habits that are independent of each other"
)]
pub(super) struct Service {
    pub(super) records: BTreeMap<String, Kept>,
    pub(super) now: u64,
    pub(super) lists: u64,
    /// How many lists do not show a new record.
    pub(super) lag: u64,
    /// Objects are merged with what was there, not replaced.
    pub(super) merges: bool,
    /// Null is ignored.
    pub(super) ignores_null: bool,
    /// A destination without a name gets one.
    pub(super) fills: bool,
    /// Dates are shown as instants.
    pub(super) shows_instants: bool,
    /// A deleted record is shown with that status.
    pub(super) shows_deleted: bool,
    /// Replies show the id and the status only.
    pub(super) replies_briefly: bool,
    /// What is submitted is not changed any more.
    pub(super) locks: bool,
    /// The website is used with the same login.
    pub(super) shares_login: bool,
    /// `createdBy` is not shown.
    pub(super) hides_author: bool,
}

pub(super) const START: u64 = 1_795_132_800;

/// The movement date of a declaration that is in time.
pub(super) const DATE: &str = "2027-06-01";

impl Service {
    pub(super) fn insert(&mut self, author: Author, mut value: Value) -> String {
        let id = format!("c{:03}", self.records.len() + 1);
        if value["status"].is_null() {
            value["status"] = json!("DRAFT");
        }
        let is_ours = self.shares_login || author != Author::Website;
        let kept = Kept {
            versions: Vec::new(),
            is_deleted: false,
            created_by: if is_ours { "sam" } else { "pat" },
            listed_from: self.lists + self.lag.max(1),
        };
        self.records.insert(id.clone(), kept);
        self.write(&id, author, value);
        id
    }

    fn write(&mut self, id: &str, author: Author, mut value: Value) {
        // Two changes never have one date.
        self.now += 1;
        if self.fills && value["destination"].is_object() && value["destination"]["name"].is_null()
        {
            value["destination"]["name"] = json!("Filled Yards");
        }
        let at = self.now;
        let kept = self.records.get_mut(id).unwrap();
        kept.versions.push(Version { value, author, at });
    }

    /// Saves fields over a record.
    pub(super) fn save(&mut self, id: &str, author: Author, sent: &Value) -> Outcome {
        let Some(kept) = self.records.get(id).filter(|kept| !kept.is_deleted) else {
            return Outcome::NotFound;
        };
        if kept.status() != "DRAFT" && self.locks && author != Author::Website {
            return Outcome::Refused;
        }
        let mut value = kept.last().value.clone();
        for (name, field) in sent.as_object().unwrap() {
            match field {
                Value::Null if self.ignores_null => {}
                Value::Object(parts) if self.merges && value[name].is_object() => {
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

    pub(super) fn delete(&mut self, id: &str, author: Author) -> Outcome {
        let Some(kept) = self.records.get_mut(id).filter(|kept| !kept.is_deleted) else {
            return Outcome::NotFound;
        };
        kept.is_deleted = true;
        let mut value = kept.last().value.clone();
        value["status"] = json!("DELETED");
        self.write(id, author, value);
        Outcome::Saved(id.to_owned())
    }

    pub(super) fn carry_out(&mut self, request: &Request, author: Author) -> Outcome {
        let mut sent = request.sent().unwrap_or_default();
        if let Some(sent) = sent.as_object_mut() {
            sent.remove("id");
        }
        match request {
            Request::Create(_) => Outcome::Saved(self.insert(author, sent)),
            Request::Update(id, _) | Request::Submit(id, _) => self.save(id, author, &sent),
            Request::Delete(id) => self.delete(id, author),
        }
    }

    pub(super) fn read(&self, id: &str) -> Option<Record> {
        let kept = self.records.get(id)?;
        (!kept.is_deleted || self.shows_deleted).then(|| self.shown(id, kept))
    }

    pub(super) fn reply(&self, id: &str) -> Record {
        let mut record = self.shown(id, &self.records[id]);
        if self.replies_briefly {
            record.fields = json!({"status": record.fields["status"]});
        }
        record
    }

    /// Which version of its record it shows.
    pub(super) fn version(&self, record: &Record) -> usize {
        let mut versions = self.records[&record.id].versions.iter();
        let is_shown = |version: &Version| format!("{:012}", version.at) == record.updated_at;
        versions.position(is_shown).unwrap()
    }

    fn shown(&self, id: &str, kept: &Kept) -> Record {
        let last = kept.last();
        let mut fields = last.value.clone();
        if let (true, Some(date)) = (self.shows_instants, fields["movementDate"].as_str())
            && date.len() == 10
        {
            fields["movementDate"] = json!(format!("{date}T00:00:00.000Z"));
        }
        Record {
            id: id.to_owned(),
            updated_at: format!("{:012}", last.at),
            created_by: (!self.hides_author).then(|| kept.created_by.to_owned()),
            fields,
        }
    }

    pub(super) fn is_listed(&self, kept: &Kept) -> bool {
        !kept.is_deleted && kept.listed_from <= self.lists
    }

    /// All that is listed now.
    pub(super) fn list(&mut self) -> Vec<Record> {
        self.lists += 1;
        let listed = self.records.iter().filter(|(_, kept)| self.is_listed(kept));
        listed.map(|(id, kept)| self.shown(id, kept)).collect()
    }
}

/// Texts that mean the same in the forms of this service.
pub(super) fn same_text(sent: &str, read: &str) -> bool {
    let day = |text: &str| {
        text.get(..10)
            .filter(|_| text.ends_with("T00:00:00.000Z"))
            .map(str::to_owned)
    };
    sent == read || day(read).as_deref() == Some(sent) || day(sent).as_deref() == Some(read)
}

/// The leaves of a record by path, as the laws compare them.
pub(super) fn leaves(value: &Value) -> BTreeMap<String, String> {
    fn walk(found: &mut BTreeMap<String, String>, path: &str, value: &Value) {
        match value {
            Value::Object(parts) => {
                for (name, part) in parts {
                    walk(found, &format!("{path}/{name}"), part);
                }
            }
            Value::Array(items) if path == "/answers" => {
                for answer in items {
                    let path = format!("{path}/{}/{}", answer["questionId"], answer["index"]);
                    walk(found, &path, &answer["value"]);
                }
            }
            Value::Null => {}
            Value::String(text) => {
                found.insert(path.to_owned(), text.clone());
            }
            other => {
                found.insert(path.to_owned(), other.to_string());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&mut found, "", value);
    found
}
