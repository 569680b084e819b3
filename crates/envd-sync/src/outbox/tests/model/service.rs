//! A plain model of the service: the records of one account with all their versions, and who made each.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use envd_sdk::model::Timestamp;

/// Who made a version of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    Website,
    /// A request of this row.
    Row(u64),
}

#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) value: Value,
    pub(super) author: Author,
    /// When, in events.
    pub(super) event: u64,
    /// Carried out after the program was told that the request was lost.
    pub(super) is_late: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) versions: Vec<Version>,
    pub(super) is_deleted: bool,
    /// The number of the list from which on it is listed.
    listed_from: u64,
    updated: u64,
}

#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "habits that are independent of each other"
)]
pub(super) struct Service {
    pub(super) records: BTreeMap<String, Record>,
    /// In seconds.
    pub(super) now: u64,
    /// Counts everything that happens.
    pub(super) events: u64,
    /// How many lists do not show a new record.
    pub(super) lag: u64,
    /// A deleted record is read as one with the status `DELETED`.
    pub(super) shows_deleted: bool,
    /// The answer to a read of what is not there is null.
    pub(super) answers_null: bool,
    /// The website is used with the same login.
    pub(super) shares_login: bool,
    pub(super) newest_first: bool,
    /// What is carried out now was on its way for some time.
    pub(super) is_late: bool,
    lists: u64,
    made: u64,
}

/// What a change did.
pub(super) enum Outcome {
    Saved(Value),
    Refused(&'static str),
    NotFound,
}

/// 2026-11-20T00:00:00Z.
pub(super) const START: u64 = 1_795_132_800;

impl Record {
    pub(super) fn last(&self) -> &Version {
        self.versions.last().unwrap()
    }

    pub(super) fn status(&self) -> &str {
        self.last().value["status"].as_str().unwrap()
    }

    pub(super) fn maker(&self) -> Author {
        self.versions[0].author
    }

    /// Whether somebody made it, and nobody has changed it since.
    pub(super) fn is_only_of(&self, author: Author) -> bool {
        self.maker() == author && self.versions.len() == 1
    }

    /// Whether the website has changed nothing up to the second version that somebody who has seen the first one and what
    /// the outbox has made of it does not know, nor wants just so. Versions count from 1.
    pub(super) fn shows_nothing_new(&self, seen: usize, up_to: usize, wanted: &Value) -> bool {
        let versions = &self.versions[..up_to];
        let Some(theirs) = up_to.checked_sub(1).filter(|at| *at >= seen) else {
            return true;
        };
        // What the outbox has saved over it was checked then.
        if versions[theirs].author != Author::Website {
            return true;
        }
        let ours = versions[..theirs]
            .iter()
            .rposition(|one| one.author != Author::Website);
        let known = ours.map_or(0, |at| at + 1).max(seen);
        let Some(known) = known.checked_sub(1) else {
            return false;
        };
        // A service that merges objects would have kept what the user saw in the version that our save has replaced.
        let [known, theirs] = [&versions[known].value, &versions[theirs].value];
        let saw = seen.checked_sub(1).map(|at| &versions[at].value);
        let mut fields = theirs.as_object().unwrap().iter();
        fields.all(|(name, value)| {
            let was_seen = saw.is_some_and(|saw| saw[name] == *value);
            let is_known = known[name] == *value || wanted[name] == *value;
            name == "updatedAt" || is_known || was_seen && name == "destination"
        })
    }
}

impl Service {
    pub(super) fn new() -> Self {
        Self {
            records: BTreeMap::new(),
            now: START,
            events: 0,
            lag: 0,
            shows_deleted: false,
            answers_null: false,
            shares_login: false,
            newest_first: true,
            is_late: false,
            lists: 0,
            made: 0,
        }
    }

    pub(super) fn event(&mut self) -> u64 {
        self.events += 1;
        self.events
    }

    pub(super) fn insert(&mut self, author: Author, mut value: Value) -> Value {
        self.made += 1;
        let id = format!("c{:04}", self.made);
        value["id"] = json!(id);
        value["number"] = json!(format!("C-{:04}", self.made));
        if value["status"].is_null() {
            value["status"] = json!("DRAFT");
        }
        let is_ours = self.shares_login || author != Author::Website;
        value["createdBy"] = json!(if is_ours { "sam" } else { "pat" });
        let record = Record {
            versions: Vec::new(),
            is_deleted: false,
            listed_from: self.lists + self.lag,
            updated: 0,
        };
        self.records.insert(id.clone(), record);
        self.change(&id, author, value)
    }

    fn change(&mut self, id: &str, author: Author, mut value: Value) -> Value {
        // Two changes never have one date.
        self.now += 1;
        let (now, event) = (self.now, self.event());
        let date = Timestamp::from(UNIX_EPOCH + Duration::from_secs(now));
        value["updatedAt"] = json!(date);
        let record = self.records.get_mut(id).unwrap();
        record.updated = now;
        let version = Version {
            value: value.clone(),
            author,
            event,
            is_late: self.is_late,
        };
        record.versions.push(version);
        value
    }

    /// Changes fields of a record.
    pub(super) fn edit(&mut self, id: &str, author: Author, fields: &Value) -> Outcome {
        let Some(record) = self.records.get(id).filter(|record| !record.is_deleted) else {
            return Outcome::NotFound;
        };
        if record.status() != "DRAFT" {
            return Outcome::Refused("status");
        }
        let mut value = record.last().value.clone();
        for (name, field) in fields.as_object().unwrap() {
            if name != "id" && name != "number" && !field.is_null() {
                value[name] = field.clone();
            }
        }
        Outcome::Saved(self.change(id, author, value))
    }

    pub(super) fn delete(&mut self, id: &str, author: Author) -> Outcome {
        let Some(record) = self.records.get_mut(id).filter(|record| !record.is_deleted) else {
            return Outcome::NotFound;
        };
        record.is_deleted = true;
        let mut value = record.last().value.clone();
        value["status"] = json!("DELETED");
        Outcome::Saved(self.change(id, author, value))
    }

    /// The record, and how many versions of it there are.
    pub(super) fn read(&self, id: &str) -> Option<(&Value, usize)> {
        let record = self.records.get(id)?;
        let is_shown = !record.is_deleted || self.shows_deleted;
        is_shown.then(|| (&record.last().value, record.versions.len()))
    }

    /// Whether lists show the record by now.
    pub(super) fn is_listed(&self, record: &Record) -> bool {
        !record.is_deleted && record.listed_from <= self.lists
    }

    pub(super) fn page(&mut self, variables: &Value) -> Value {
        let from = variables["fromDate"].as_str().map(|from| {
            let from = Timestamp::from(from).to_time().unwrap();
            from.duration_since(UNIX_EPOCH).unwrap().as_secs()
        });
        self.lists += 1;
        let listed = self.records.values().filter(|record| {
            self.is_listed(record) && from.is_none_or(|from| record.updated >= from)
        });
        let mut listed: Vec<&Record> = listed.collect();
        if self.newest_first {
            listed.reverse();
        }
        let start: usize = variables["after"]
            .as_str()
            .map_or(0, |after| after.parse().unwrap());
        let size = usize::try_from(variables["first"].as_u64().unwrap()).unwrap();
        let end = (start + size).min(listed.len());
        let page = listed.get(start..end).unwrap_or_default();
        let edges = page
            .iter()
            .map(|record| json!({"node": summary(&record.last().value)}));
        let info = json!({"hasNextPage": end < listed.len(), "endCursor": end.to_string()});
        let edges: Value = edges.collect();
        json!({"consignments": {"totalCount": listed.len(), "pageInfo": info, "edges": edges}})
    }
}

/// Lists show neither answers nor declaration.
fn summary(record: &Value) -> Value {
    let mut summary = record.clone();
    let fields = summary.as_object_mut().unwrap();
    fields.remove("answers");
    fields.remove("declaration");
    summary
}
