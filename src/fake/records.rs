//! The records of all accounts, which change while the fake runs, and their derived fields.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use super::controls::{Assumptions, Deleted};
use super::problem::ErrorItem;
use super::record_page::{self, ListFilter, Listed};
use super::reply::FakeReply;
use super::website::{Edit, ScheduledEdit};
use super::world::{Kind, World};
use super::{instant, rules};

/// The path prefix of printed declarations (public: `location_4.4.0`, `guide::sources`).
pub(super) const PRINTS: &str = "/api/v3/vendordeclaration/consignments/";

#[derive(Default)]
pub(super) struct Records {
    /// Oldest first.
    all: Vec<StoredRecord>,
    /// The number of list requests so far.
    lists: HashMap<(Kind, String), usize>,
    assumptions: Assumptions,
    base: String,
    /// Edits on the website scheduled for a list request.
    pub(super) schedule: Vec<ScheduledEdit>,
    /// Accounts that users may no longer access.
    pub(super) withdrawn: HashSet<String>,
    created: u32,
    serials: u32,
}

struct StoredRecord {
    kind: Kind,
    account: String,
    created: SystemTime,
    /// Each state, with the number of list requests after which lists show it. `None` marks a removal.
    states: Vec<(usize, Option<Value>)>,
}

impl StoredRecord {
    fn is(&self, kind: Kind, account: &str) -> bool {
        self.kind == kind && self.account == account
    }

    fn current(&self) -> Option<&Value> {
        self.states.last()?.1.as_ref()
    }

    /// The record as lists show it after this number of list requests.
    fn listed(&self, lists: usize) -> Option<Listed<'_>> {
        let mut newest_first = self.states.iter().rev();
        let (_, record) = newest_first.find(|(after, _)| *after <= lists)?;
        Some(Listed {
            record: record.as_ref()?,
            created: self.created,
        })
    }
}

impl Records {
    /// The records of a world. The newest consignment of an account was created an hour before the start, each older one a day
    /// earlier.
    pub(super) fn of(
        world: &World,
        base: &str,
        assumptions: Assumptions,
        start: SystemTime,
    ) -> Self {
        let mut records = Self {
            // Without lag, so that lists show the initial records immediately.
            assumptions: assumptions.clone().list_lag(0),
            base: base.to_owned(),
            ..Self::default()
        };
        let mut newer: HashMap<&str, u32> = HashMap::new();
        for (account, _) in world.consignments.iter() {
            *newer.entry(account).or_default() += 1;
        }
        let earlier = |time: SystemTime, by| time.checked_sub(by).unwrap_or(time);
        let newest = earlier(start, Duration::from_secs(3_600));
        for (account, input) in world.consignments.iter() {
            let holder = world.holder(account);
            let author = holder.map_or(&Value::Null, |user| &user["email"]);
            let newer = newer.entry(account).or_default();
            *newer -= 1;
            let age = Duration::from_secs(24 * 3_600).saturating_mul(*newer);
            let made = earlier(newest, age);
            // OK to ignore here and below: only changes to existing records can be refused.
            let _ = records.save(Kind::Consignment, account, None, input, author, made);
        }
        for (account, input) in &world.templates {
            let _ = records.save(Kind::Template, account, None, input, &Value::Null, newest);
        }
        for (kind, account, record) in &world.other_records {
            let mut record = record.clone();
            if let Some(at) = record.get_mut("createdAt") {
                *at = instant::wire(newest).into();
            }
            records.add(*kind, account, record, newest);
        }
        records.assumptions = assumptions;
        records
    }

    /// Lists show all changes so far, under the new assumptions.
    pub(super) fn assume(&mut self, assumptions: Assumptions) {
        self.assumptions = assumptions;
        let states = self.all.iter_mut().flat_map(|stored| &mut stored.states);
        states.for_each(|(after, _)| *after = 0);
    }

    /// The records of a kind in an account, oldest first, without hidden ones.
    pub(super) fn of_account(
        &self,
        kind: Kind,
        account: &str,
    ) -> impl DoubleEndedIterator<Item = &Value> {
        self.all
            .iter()
            .filter(move |stored| stored.is(kind, account))
            .filter_map(StoredRecord::current)
            .filter(|record| !self.hides(record))
    }

    /// A page of the records of a kind in an account.
    pub(super) fn list(
        &mut self,
        kind: Kind,
        account: &str,
        filter: &ListFilter<'_>,
        now: SystemTime,
    ) -> Result<Value, ErrorItem> {
        if kind == Kind::Consignment {
            let due = self.schedule.extract_if(.., |scheduled| {
                scheduled.lists_left -= usize::from(scheduled.account == account);
                scheduled.lists_left == 0
            });
            for due in due.collect::<Vec<_>>() {
                // The record existed when the edit was scheduled, and consignments are never removed.
                self.edit(account, &due.edit, &due.author, now);
            }
        }
        let lists = self.lists.entry((kind, account.to_owned())).or_default();
        let before = *lists;
        *lists += 1;
        let stored = self.all.iter().filter(|stored| stored.is(kind, account));
        let listed = stored.filter_map(|stored| stored.listed(before)).collect();
        record_page::page(listed, filter, &self.assumptions)
    }

    /// Finds a record by id or number, including deleted consignments. Recent records are read most.
    pub(super) fn find(&self, kind: Kind, account: &str, name: &str) -> Result<&Value, ErrorItem> {
        let mut records = self.of_account(kind, account);
        records
            .rfind(|record| is_named(record, name))
            .ok_or_else(ErrorItem::not_found)
    }

    /// The printed declaration at the address of a record: a page with its number and its properties. assumed: what the service
    /// replies is not shown.
    pub(super) fn print(&self, path: &str, query: &str) -> Option<FakeReply> {
        let address = format!("{}{path}?{query}", self.base);
        let mut records = self.all.iter().filter_map(StoredRecord::current);
        let record = records.find(|record| record["pdfUrl"] == *address)?;
        let number = record["number"].as_str().unwrap_or_default();
        let pic = |party: &str| record[party]["pic"].as_str().unwrap_or_default();
        // Only these characters need no escape in a text of a PDF.
        let plain =
            |text: &str| text.replace(|it: char| !it.is_ascii_alphanumeric() && it != '-', " ");
        let text = format!(
            "BT /F1 24 Tf 72 740 Td (Declaration {}) Tj 0 -36 Td (From {} to {}) Tj ET",
            plain(number),
            plain(pic("origin")),
            plain(pic("destination")),
        );
        let pdf = format!(
            "%PDF-1.4\n% {number}\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
             3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n\
             4 0 obj<</Length {}>>stream\n{text}\nendstream endobj\n\
             5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
            text.len(),
        );
        Some(FakeReply::raw(200, "application/pdf", pdf))
    }

    /// Finds a record that may be changed, neither locked nor deleted. assumed
    pub(super) fn find_open(
        &self,
        kind: Kind,
        account: &str,
        name: &str,
    ) -> Result<&Value, ErrorItem> {
        let found = self.find(kind, account, name)?;
        let is_open = found["status"] != "LOCKED" && found["status"] != "DELETED";
        is_open.then_some(found).ok_or_else(ErrorItem::not_found)
    }

    /// Saves a valid input to a new consignment or template, or to an existing one.
    pub(super) fn save(
        &mut self,
        kind: Kind,
        account: &str,
        name: Option<&str>,
        input: &Value,
        author: &Value,
        now: SystemTime,
    ) -> Result<Value, ErrorItem> {
        let mut record = match name {
            Some(name) => self.find_open(kind, account, name)?.clone(),
            None => self.new_record(kind, author),
        };
        self.fill(&mut record, input);
        if kind == Kind::Template {
            record["name"] = input["name"].clone();
        } else {
            stamp(&mut record, &input["status"], &instant::wire(now));
        }
        if name.is_none() {
            return Ok(self.add(kind, account, record, now));
        }
        if kind == Kind::Consignment {
            record["updatedBy"] = author.clone();
        }
        Ok(self.replace(kind, account, record))
    }

    fn new_record(&mut self, kind: Kind, author: &Value) -> Value {
        self.created += 1;
        let created = self.created;
        if kind == Kind::Template {
            let number = format!("T-{:09}", 900_000_000 + created);
            return json!({"id": id(500_000 + created), "number": number});
        }
        let number = format!("C-{:09}", 900_000_100 + created);
        let base = &self.base;
        json!({
            "id": id(100 + created),
            "number": number,
            "pdfUrl": format!(
                "{base}{PRINTS}{number}/$print?authToken=fake-print-{created}"
            ),
            "createdBy": author,
        })
    }

    /// Marks a consignment as deleted, or removes a template permanently.
    pub(super) fn delete(
        &mut self,
        kind: Kind,
        account: &str,
        name: &str,
        now: SystemTime,
    ) -> Result<Value, ErrorItem> {
        let mut record = self.find_open(kind, account, name)?.clone();
        if kind == Kind::Template {
            self.set(kind, account, &record["id"], None);
            return Ok(record);
        }
        stamp(&mut record, &json!("DELETED"), &instant::wire(now));
        Ok(self.replace(kind, account, record))
    }

    /// Creates a comment, dated now.
    pub(super) fn create_comment(
        &mut self,
        account: &str,
        mut record: Value,
        now: SystemTime,
    ) -> Value {
        self.created += 1;
        record["commentId"] = id(600_000 + self.created).into();
        record["createdAt"] = instant::wire(now).into();
        self.add(Kind::Comment, account, record, now)
    }

    /// The index of a record, including hidden ones.
    fn position(&self, kind: Kind, account: &str, name: &str) -> Option<usize> {
        self.all.iter().position(|stored| {
            stored.is(kind, account)
                && stored
                    .current()
                    .is_some_and(|record| is_named(record, name))
        })
    }

    /// Whether a consignment can be edited, including hidden ones.
    pub(super) fn holds(&self, account: &str, name: &str) -> bool {
        self.position(Kind::Consignment, account, name).is_some()
    }

    /// Applies an edit on the website, bypassing the rules. `None` if the record is unknown.
    pub(super) fn edit(
        &mut self,
        account: &str,
        edit: &Edit,
        author: &Value,
        now: SystemTime,
    ) -> Option<Value> {
        let (name, fields) = match edit {
            Edit::Insert(input) => {
                return self
                    .save(Kind::Consignment, account, None, input, author, now)
                    .ok();
            }
            Edit::Change(name, fields) => (name, fields),
        };
        let at = self.position(Kind::Consignment, account, name)?;
        let mut record = self.all[at].current()?.clone();
        let fill = |record: &mut Value| {
            let values = fields.iter();
            values.for_each(|(name, value)| record[name.as_str()] = value.clone());
        };
        fill(&mut record);
        let status = record["status"].clone();
        stamp(&mut record, &status, &instant::wire(now));
        // Applied again, so that given fields override derived ones.
        fill(&mut record);
        Some(self.replace(Kind::Consignment, account, record))
    }

    /// Whether a record is deleted and cannot be found anywhere. Templates are removed instead.
    fn hides(&self, record: &Value) -> bool {
        self.assumptions.deleted == Deleted::Hidden && record["status"] == "DELETED"
    }

    fn add(&mut self, kind: Kind, account: &str, record: Value, now: SystemTime) -> Value {
        let after = self.shown_after(kind, account);
        self.all.push(StoredRecord {
            kind,
            account: account.to_owned(),
            created: now,
            states: vec![(after, Some(record.clone()))],
        });
        record
    }

    /// Replaces the record with the same id.
    fn replace(&mut self, kind: Kind, account: &str, record: Value) -> Value {
        self.set(kind, account, &record["id"], Some(record.clone()));
        record
    }

    fn set(&mut self, kind: Kind, account: &str, id: &Value, record: Option<Value>) {
        let at = id.as_str().and_then(|id| self.position(kind, account, id));
        if let Some(at) = at {
            let after = self.shown_after(kind, account);
            self.all[at].states.push((after, record));
        }
    }

    /// The number of list requests after which lists show a change made now.
    fn shown_after(&self, kind: Kind, account: &str) -> usize {
        let lists = self.lists.get(&(kind, account.to_owned()));
        lists.copied().unwrap_or_default() + self.assumptions.lag
    }

    /// Writes an input to a record. Forms that remain keep their serial numbers.
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
        let names = list(&input["forms"]).iter().filter_map(Value::as_str);
        record["forms"] = names
            .map(|name| {
                let known = list(&forms).iter().find(|form| form["type"] == name);
                known.cloned().unwrap_or_else(|| new_form(name))
            })
            .collect();
        record["species"] = input["forms"][0].as_str().and_then(rules::species).into();
        if record["answers"].is_null() {
            record["answers"] = json!([]);
        }
    }
}

fn is_named(record: &Value, name: &str) -> bool {
    record["id"] == name || record["number"] == name
}

fn id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// The input fields that a record stores unchanged.
pub(super) const COPIED_FIELDS: [&str; 8] = [
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
    list(&record["forms"])
        .iter()
        .map(|form| form["type"].clone())
        .collect()
}

/// Sets the fields of a consignment that depend on other fields and on the time. The head count is the sum of the answers to
/// question 3. assumed
pub(super) fn stamp(record: &mut Value, status: &Value, now: &str) {
    let answers = list(&record["answers"])
        .iter()
        .filter(|answer| answer["questionId"] == "3");
    let heads = answers.filter_map(|answer| answer["value"].as_str()?.trim().parse::<u64>().ok());
    record["heads"] = heads.fold(0, u64::saturating_add).into();
    record["status"] = status.as_str().unwrap_or("DRAFT").into();
    record["updatedAt"] = now.into();
    if status == "SUBMITTED" && record["submittedAt"].is_null() {
        record["submittedAt"] = now.into();
    }
}

/// A list on the wire. Null and a missing list are empty.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
