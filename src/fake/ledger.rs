//! What changes while the fake runs: the records of all accounts.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::problem::Problem;
use super::world::World;
use super::{instant, record};

/// A record and the account that owns it.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) account: String,
    pub(super) body: Arc<Value>,
}

pub(super) struct Ledger {
    consignments: Vec<Held>,
    templates: Vec<Held>,
    comments: Vec<Held>,
    mappings: Vec<Held>,
    edecs: Vec<Held>,
    made: u32,
    serials: u32,
}

impl Ledger {
    /// The records of a world; the first was made at midnight of 2026-11-01, the others six hours apart.
    pub(super) fn of(world: &World, base: &str) -> Self {
        let mut ledger = Self {
            consignments: Vec::new(),
            templates: Vec::new(),
            comments: Vec::new(),
            mappings: Vec::new(),
            edecs: Vec::new(),
            made: 0,
            serials: 40_000_000,
        };
        let mut now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_793_491_200);
        for (account, input) in &world.consignments {
            let author = world
                .holder(account)
                .map_or(&Value::Null, |person| &person["email"]);
            ledger.create(account, input, author, base, now);
            now += Duration::from_secs(6 * 3_600);
        }
        for (account, input) in &world.templates {
            ledger.create_template(account, input);
        }
        if world.is_sample {
            ledger.add_neighbours(now);
        }
        ledger
    }

    /// Records of the other kinds, around the first consignment.
    fn add_neighbours(&mut self, now: SystemTime) {
        let account = "envd-100201";
        let Some(first) = self.consignments.first() else {
            return;
        };
        let body = Value::clone(&first.body);
        let number = body["number"].clone();
        let input = record::updated_input(&body, &json!({"name": "Weaners to the yards"}));
        self.create_template(account, &input);
        self.comments.push(held(
            account,
            json!({
                "commentId": id(600_001),
                "consignmentNumber": number,
                "role": "Producer",
                "firstName": "Sam",
                "lastName": "Sample",
                "commentText": "Please call before arrival.",
                "createdAt": instant::wire(now),
            }),
        ));
        self.mappings.push(held(
            account,
            json!({
                "mappingId": id(700_001),
                "consignmentNumber": number,
                "email": "dana.demo@example.com",
                "firstName": "Dana",
                "lastName": "Demo",
                "role": "AUTHVIEWER",
                "pic": "QDZZ3333",
                "numOfHeads": body["heads"],
            }),
        ));
        for (n, status) in [(800_001, "SUBMITTED"), (800_002, "DRAFT")] {
            self.edecs.push(held(
                account,
                json!({
                    "id": id(n),
                    "number": format!("E-{:09}", 900_000_100 + n % 100),
                    "status": status,
                    "createdAt": instant::wire(now),
                }),
            ));
        }
    }

    /// The consignments of an account, oldest first.
    pub(super) fn consignments(&self, account: &str) -> impl Iterator<Item = &Arc<Value>> {
        of(&self.consignments, account)
    }

    /// The templates of an account, oldest first.
    pub(super) fn templates(&self, account: &str) -> impl Iterator<Item = &Arc<Value>> {
        of(&self.templates, account)
    }

    pub(super) fn comments(&self, account: &str, number: &str) -> Vec<Value> {
        about(&self.comments, account, number)
    }

    pub(super) fn mappings(&self, account: &str, number: &str, role: &str) -> Vec<Value> {
        let mut mappings = about(&self.mappings, account, number);
        mappings.retain(|mapping| mapping["role"] == role);
        mappings
    }

    pub(super) fn edecs(&self, account: &str) -> impl Iterator<Item = &Arc<Value>> {
        of(&self.edecs, account)
    }

    /// A consignment by id or number, also a deleted one.
    pub(super) fn consignment(&self, account: &str, name: &str) -> Result<&Arc<Value>, Problem> {
        of(&self.consignments, account)
            .find(|body| record::is_named(body, name))
            .ok_or_else(Problem::not_found)
    }

    /// A template by id or number.
    pub(super) fn template(&self, account: &str, name: &str) -> Result<&Arc<Value>, Problem> {
        of(&self.templates, account)
            .find(|body| record::is_named(body, name))
            .ok_or_else(Problem::not_found)
    }

    /// Makes a consignment from an input that was judged.
    pub(super) fn create(
        &mut self,
        account: &str,
        input: &Value,
        author: &Value,
        base: &str,
        now: SystemTime,
    ) -> Value {
        self.made += 1;
        let number = format!("C-{:09}", 900_000_100 + self.made);
        let print = format!("{base}/api/v3/vendordeclaration/consignments/{number}/$print");
        let mut body = json!({
            "id": id(100 + self.made),
            "number": number,
            "pdfUrl": format!("{print}?authToken=fake-print-{}", self.made),
            "createdBy": author,
        });
        record::fill(&mut body, input, || next(&mut self.serials));
        record::stamp(&mut body, input["status"].as_str().unwrap_or("DRAFT"), now);
        self.consignments.push(held(account, body.clone()));
        body
    }

    /// Writes a judged input into a consignment that is open to changes.
    pub(super) fn update(
        &mut self,
        account: &str,
        name: &str,
        input: &Value,
        author: &Value,
        now: SystemTime,
    ) -> Result<Value, Problem> {
        let body = open(&mut self.consignments, account, name)?;
        record::fill(body, input, || next(&mut self.serials));
        record::stamp(body, input["status"].as_str().unwrap_or("DRAFT"), now);
        body["updatedBy"] = author.clone();
        Ok(body.clone())
    }

    /// Marks a consignment as deleted.
    pub(super) fn delete(
        &mut self,
        account: &str,
        name: &str,
        now: SystemTime,
    ) -> Result<Value, Problem> {
        let body = open(&mut self.consignments, account, name)?;
        record::stamp(body, "DELETED", now);
        Ok(body.clone())
    }

    /// The consignment that may be changed: neither locked nor deleted. assumed
    pub(super) fn changeable(&mut self, account: &str, name: &str) -> Result<Value, Problem> {
        Ok(Value::clone(open(&mut self.consignments, account, name)?))
    }

    pub(super) fn create_template(&mut self, account: &str, input: &Value) -> Value {
        self.made += 1;
        let mut body = json!({
            "id": id(500_000 + self.made),
            "number": format!("T-{:09}", 900_000_000 + self.made),
        });
        self.fill_template(&mut body, input);
        self.templates.push(held(account, body.clone()));
        body
    }

    pub(super) fn update_template(
        &mut self,
        account: &str,
        name: &str,
        input: &Value,
    ) -> Result<Value, Problem> {
        let mut body = Value::clone(self.template(account, name)?);
        self.fill_template(&mut body, input);
        if let Ok(at) = open(&mut self.templates, account, name) {
            *at = body.clone();
        }
        Ok(body)
    }

    fn fill_template(&mut self, body: &mut Value, input: &Value) {
        record::fill(body, input, || next(&mut self.serials));
        body["name"] = input["name"].clone();
    }

    /// Removes a template for good.
    pub(super) fn delete_template(&mut self, account: &str, name: &str) -> Result<Value, Problem> {
        let body = Value::clone(self.template(account, name)?);
        self.templates
            .retain(|held| !(held.account == account && held.body["id"] == body["id"]));
        Ok(body)
    }

    pub(super) fn comment(&mut self, account: &str, mut body: Value) -> Value {
        self.made += 1;
        body["commentId"] = id(600_000 + self.made).into();
        self.comments.push(held(account, body.clone()));
        body
    }
}

fn held(account: &str, body: Value) -> Held {
    Held {
        account: account.to_owned(),
        body: Arc::new(body),
    }
}

fn of<'a>(all: &'a [Held], account: &str) -> impl Iterator<Item = &'a Arc<Value>> {
    all.iter()
        .filter(move |held| held.account == account)
        .map(|held| &held.body)
}

fn about(all: &[Held], account: &str, number: &str) -> Vec<Value> {
    let found = of(all, account).filter(|body| body["consignmentNumber"] == number);
    found.map(|body| Value::clone(body)).collect()
}

fn open<'a>(all: &'a mut [Held], account: &str, name: &str) -> Result<&'a mut Value, Problem> {
    all.iter_mut()
        .filter(|held| held.account == account)
        .find(|held| record::is_named(&held.body, name))
        .filter(|held| held.body["status"] != "LOCKED" && held.body["status"] != "DELETED")
        .map(|held| Arc::make_mut(&mut held.body))
        .ok_or_else(Problem::not_found)
}

fn id(number: u32) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

fn next(serials: &mut u32) -> u32 {
    *serials += 1;
    *serials
}
