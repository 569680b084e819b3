//! The records of all accounts, which change while the fake runs.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::assumptions::{Assumptions, Deleted};
use super::problem::Problem;
use super::record_fields::{COPIED_FIELDS, items, stamp};
use super::record_page::{self, ListFilter, RecordPage};
use super::record_table::RecordTable;
use super::website::{Edit, Schedule};
use super::world::{Kind, World};
use super::{instant, rules};

/// All records, by account and kind.
pub(super) struct Records {
    tables: HashMap<String, [RecordTable; Kind::COUNT]>,
    assumptions: Assumptions,
    base: String,
    /// Edits on the website that wait for a list request.
    pub(super) schedule: Schedule,
    /// Accounts that no user may use any more.
    withdrawn: HashSet<String>,
    created: u32,
    serials: u32,
}

impl Records {
    /// The records of a world. The first was created at midnight of 2026-11-01, each other one six hours later.
    pub(super) fn of(world: &World, base: &str, assumptions: Assumptions) -> Self {
        let mut records = Self {
            tables: HashMap::new(),
            // No lag: lists show the records of the start at once.
            assumptions: assumptions.clone().list_lag(0),
            base: base.to_owned(),
            schedule: Schedule::default(),
            withdrawn: HashSet::new(),
            created: 0,
            serials: 0,
        };
        let mut now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_793_491_200);
        for (account, input) in world.consignments.iter() {
            let holder = world.holder(account);
            let author = holder.map_or(&Value::Null, |user| &user["email"]);
            records.create(account, input, author, now);
            now += Duration::from_secs(6 * 3_600);
        }
        for (account, input) in &world.templates {
            records.create_template(account, input, now);
        }
        for (kind, account, record) in &world.other_records {
            records.add(*kind, account, record.clone(), now);
        }
        records.assumptions = assumptions;
        records
    }

    /// Lists show all changes so far, by the new assumptions.
    pub(super) fn assume(&mut self, assumptions: Assumptions) {
        self.assumptions = assumptions;
        for table in self.tables.values_mut().flatten() {
            table.sort(&self.assumptions);
        }
    }

    pub(super) fn set_withdrawn(&mut self, account: &str, is_withdrawn: bool) {
        if is_withdrawn {
            self.withdrawn.insert(account.to_owned());
        } else {
            self.withdrawn.remove(account);
        }
    }

    pub(super) fn is_withdrawn(&self, account: &str) -> bool {
        self.withdrawn.contains(account)
    }

    /// How an instant is written.
    pub(super) fn wire(&self, time: SystemTime) -> String {
        instant::wire(time, self.assumptions.offset())
    }

    /// The records of a kind in an account, oldest first, without those that are hidden.
    pub(super) fn of_account(
        &self,
        kind: Kind,
        account: &str,
    ) -> impl DoubleEndedIterator<Item = &Arc<Value>> {
        let table = self.table(kind, account).into_iter();
        table
            .flat_map(RecordTable::iter)
            .filter(|record| !self.hides(record))
    }

    /// A page of the records of a kind in an account.
    pub(super) fn list(
        &mut self,
        kind: Kind,
        account: &str,
        filter: ListFilter,
        arguments: &Value,
        now: SystemTime,
    ) -> Result<RecordPage, Problem> {
        if kind == Kind::Consignment {
            for due in self.schedule.due(account) {
                // The record was known when the edit was scheduled, and consignments are never removed.
                self.edit(account, &due.edit, &due.author, now);
            }
        }
        let tables = self.tables.entry(account.to_owned()).or_default();
        let table = &mut tables[kind as usize];
        table.begin_list(&self.assumptions);
        record_page::page(table, filter, arguments, &self.assumptions)
    }

    /// A record by id or number; also a deleted consignment.
    pub(super) fn find(
        &self,
        kind: Kind,
        account: &str,
        name: &str,
    ) -> Result<&Arc<Value>, Problem> {
        let found = self.table(kind, account).and_then(|table| table.find(name));
        found
            .filter(|record| !self.hides(record))
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
        now: SystemTime,
    ) -> Value {
        self.created += 1;
        let number = format!("C-{:09}", 900_000_100 + self.created);
        let print = format!(
            "{}/api/v3/vendordeclaration/consignments/{number}/$print",
            self.base
        );
        let mut record = json!({
            "id": id(100 + self.created),
            "number": number,
            "pdfUrl": format!("{print}?authToken=fake-print-{}", self.created),
            "createdBy": author,
        });
        self.fill(&mut record, input);
        stamp(&mut record, &input["status"], &self.wire(now));
        self.add(Kind::Consignment, account, record, now)
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
        stamp(&mut record, &input["status"], &self.wire(now));
        record["updatedBy"] = author.clone();
        Ok(self.replace(Kind::Consignment, account, record))
    }

    /// Marks a consignment as deleted.
    pub(super) fn delete(
        &mut self,
        account: &str,
        name: &str,
        now: SystemTime,
    ) -> Result<Value, Problem> {
        let mut record = Value::clone(self.find_open(account, name)?);
        stamp(&mut record, &json!("DELETED"), &self.wire(now));
        Ok(self.replace(Kind::Consignment, account, record))
    }

    pub(super) fn create_template(
        &mut self,
        account: &str,
        input: &Value,
        now: SystemTime,
    ) -> Value {
        self.created += 1;
        let mut record = json!({
            "id": id(500_000 + self.created),
            "number": format!("T-{:09}", 900_000_000 + self.created),
            "name": input["name"],
        });
        self.fill(&mut record, input);
        self.add(Kind::Template, account, record, now)
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
        Ok(self.replace(Kind::Template, account, record))
    }

    /// Removes a template for good.
    pub(super) fn delete_template(&mut self, account: &str, name: &str) -> Result<Value, Problem> {
        let record = Value::clone(self.find(Kind::Template, account, name)?);
        self.write(Kind::Template, account, |table, assumptions| {
            table.remove(&record["id"], assumptions);
        });
        Ok(record)
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
        record["createdAt"] = self.wire(now).into();
        self.add(Kind::Comment, account, record, now)
    }

    /// Whether an edit can change a consignment; also one that is hidden.
    pub(super) fn holds(&self, account: &str, name: &str) -> bool {
        let table = self.table(Kind::Consignment, account);
        table.is_some_and(|table| table.find(name).is_some())
    }

    /// Applies an edit on the website, without rules. None when the record is unknown.
    pub(super) fn edit(
        &mut self,
        account: &str,
        edit: &Edit,
        author: &Value,
        now: SystemTime,
    ) -> Option<Value> {
        let (name, fields) = match edit {
            Edit::Insert(input) => return Some(self.create(account, input, author, now)),
            Edit::Change(name, fields) => (name, fields),
        };
        let table = self.table(Kind::Consignment, account);
        let mut record = Value::clone(table?.find(name)?);
        let fill = |record: &mut Value| {
            let values = fields.iter();
            values.for_each(|(name, value)| record[name.as_str()] = value.clone());
        };
        fill(&mut record);
        let status = record["status"].clone();
        stamp(&mut record, &status, &self.wire(now));
        // Again: what is given is not derived.
        fill(&mut record);
        Some(self.replace(Kind::Consignment, account, record))
    }

    fn table(&self, kind: Kind, account: &str) -> Option<&RecordTable> {
        Some(&self.tables.get(account)?[kind as usize])
    }

    fn write(
        &mut self,
        kind: Kind,
        account: &str,
        change: impl FnOnce(&mut RecordTable, &Assumptions),
    ) {
        let tables = self.tables.entry(account.to_owned()).or_default();
        change(&mut tables[kind as usize], &self.assumptions);
    }

    /// Whether a record is deleted and found nowhere. Templates are removed instead.
    fn hides(&self, record: &Value) -> bool {
        self.assumptions.deleted == Deleted::Hidden && record["status"] == "DELETED"
    }

    fn add(&mut self, kind: Kind, account: &str, record: Value, now: SystemTime) -> Value {
        self.write(kind, account, |table, assumptions| {
            table.add(record.clone(), now, assumptions);
        });
        record
    }

    fn replace(&mut self, kind: Kind, account: &str, record: Value) -> Value {
        self.write(kind, account, |table, assumptions| {
            table.replace(record.clone(), assumptions);
        });
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

fn id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}
