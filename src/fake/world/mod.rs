//! What there is when the fake starts: the sample, a folder of JSON, or what a test puts together.

mod folder;
mod person;
mod reading;

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

pub use self::person::Person;
use self::reading::{accounts_of, properties_of, questions_of};
use super::seed;

/// The users, accounts, consignments, questions and properties that a fake starts with.
///
/// Records are handed in as anything that writes the wire shape: types of this crate or JSON. They are taken as they are;
/// the rules of the service are for what comes later. What cannot be used is told by
/// [`FakeBuilder::start`](super::FakeBuilder::start).
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use envd_sdk::fake::{Fake, Person, World};
/// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
///
/// let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// let world = World::empty()
///     .user(Person::new("kim@example.com").role("Producer").account("envd-7", "LPA", "QAZZ7777"))
///     .consignment("envd-7", input);
/// let fake = Fake::builder().world(world).start().await.unwrap();
/// assert_eq!(fake.account_id(), "envd-7");
/// # });
/// ```
#[derive(Clone)]
#[must_use]
pub struct World {
    pub(super) people: Vec<Value>,
    pub(super) pics: Map<String, Value>,
    pub(super) consignments: Vec<(String, Value)>,
    pub(super) templates: Vec<(String, Value)>,
    pub(super) questions: Value,
    pub(super) properties: Vec<Value>,
    /// From PIC to postcode: records do not show it (2.10), but they can be found by it (4.2).
    pub(super) postcodes: HashMap<String, String>,
    pub(super) is_sample: bool,
    problem: Option<String>,
}

impl World {
    /// The questions of the sample, and nothing and nobody else.
    pub fn empty() -> Self {
        Self {
            people: Vec::new(),
            pics: Map::new(),
            consignments: Vec::new(),
            templates: Vec::new(),
            questions: seed::json(seed::QUESTIONS)["data"]["questions"].take(),
            properties: Vec::new(),
            postcodes: HashMap::new(),
            is_sample: false,
            problem: None,
        }
    }

    /// The world that [the page of the fake](super) describes, with which a fake starts unless told otherwise.
    pub fn sample() -> Self {
        let mut world = Self::empty();
        for text in [seed::PRODUCER, seed::NEW, seed::RECEIVER] {
            world
                .people
                .push(seed::json(text)["data"]["userDetails"].take());
        }
        if let Value::Object(pics) = seed::json(seed::ACCOUNT_PICS) {
            world.pics = pics;
        }
        for text in seed::CONSIGNMENTS {
            let mut seed = seed::json(text);
            let account = seed["envdAccountId"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            world.consignments.push((account, seed["input"].take()));
        }
        world.properties = properties_of(seed::json(seed::PROPERTIES)).unwrap_or_default();
        let postcodes = world.properties.iter().filter_map(|property| {
            let state = property["RegisteredState"].as_str()?;
            let (_, postcode) = seed::POSTCODES.iter().find(|(name, _)| *name == state)?;
            Some((property["PIC"].as_str()?.to_owned(), (*postcode).to_owned()))
        });
        world.postcodes = postcodes.collect();
        world.is_sample = true;
        world
    }

    /// Adds a user.
    pub fn user(mut self, person: Person) -> Self {
        let number = self.people.len() + 1;
        let (details, pics) = person.into_parts(number);
        self.pics.extend(pics);
        self.people.push(details);
        self
    }

    /// Adds a user by the record that `userDetails` returns (spec 2.8). The PICs of the accounts are not in it: see
    /// [`account_pic`](Self::account_pic).
    pub fn user_details(mut self, details: impl Serialize) -> Self {
        if let Some(details) = self.read("user", details) {
            self.people.push(details);
        }
        self
    }

    /// The PIC of an account.
    pub fn account_pic(mut self, account: impl Into<String>, pic: impl Into<String>) -> Self {
        self.pics.insert(account.into(), Value::String(pic.into()));
        self
    }

    /// Adds a consignment by its input (spec 2.1). The first is the oldest.
    pub fn consignment(mut self, account: impl Into<String>, input: impl Serialize) -> Self {
        if let Some(input) = self.read("consignment", input) {
            self.consignments.push((account.into(), input));
        }
        self
    }

    /// Adds a template by its input. The first is the oldest.
    pub fn template(mut self, account: impl Into<String>, input: impl Serialize) -> Self {
        if let Some(input) = self.read("template", input) {
            self.templates.push((account.into(), input));
        }
        self
    }

    /// The questions (spec 2.6), in place of those of the sample: a list, or the reply that holds it.
    pub fn questions(mut self, questions: impl Serialize) -> Self {
        if let Some(questions) = self.read("list of questions", questions) {
            match questions_of(questions) {
                Ok(questions) => self.questions = questions,
                Err(why) => self.note(why),
            }
        }
        self
    }

    /// Adds a property to the register (spec 2.10).
    pub fn property(mut self, property: impl Serialize) -> Self {
        if let Some(property) = self.read("property", property) {
            self.properties.push(property);
        }
        self
    }

    /// The postcode of a property, by which a search finds it (spec 4.2). The record of a property has no field for it.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// use envd_sdk::fake::{Fake, World};
    /// use envd_sdk::register::{FieldSearch, Register};
    ///
    /// let property = serde_json::json!({"PIC": "QZZZ0001", "Town": "Roma"});
    /// let world = World::sample().property(property).property_postcode("QZZZ0001", "4455");
    /// let fake = Fake::builder().world(world).start().await.unwrap();
    /// let register = Register::builder(fake.register_url()).build().unwrap();
    /// let mut pages = register.search(FieldSearch::new().postcode("4455"));
    /// let found = pages.next_page().await.unwrap().unwrap();
    /// assert_eq!(found.records.len(), 1);
    /// # });
    /// ```
    pub fn property_postcode(
        mut self,
        pic: impl Into<String>,
        postcode: impl Into<String>,
    ) -> Self {
        self.postcodes.insert(pic.into(), postcode.into());
        self
    }

    /// Who has an account.
    pub(super) fn holder(&self, account: &str) -> Option<&Value> {
        let mut people = self.people.iter();
        people.find(|person| accounts_of(person).any(|id| id == account))
    }

    /// What makes the world unusable.
    pub(super) fn problem(&self) -> Option<String> {
        let records = self.consignments.iter().chain(&self.templates);
        let mut orphans = records.filter(|(account, _)| self.holder(account).is_none());
        self.problem.clone().or_else(|| {
            let (account, _) = orphans.next()?;
            Some(format!(
                "a record belongs to the account {account}, which no user has"
            ))
        })
    }

    fn read(&mut self, kind: &str, record: impl Serialize) -> Option<Value> {
        match serde_json::to_value(record) {
            Ok(record) if record.is_object() || record.is_array() => return Some(record),
            Ok(_) => self.note(format!("a {kind} is not a JSON object")),
            Err(_) => self.note(format!("a {kind} cannot be written as JSON")),
        }
        None
    }

    fn note(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }
}

impl Default for World {
    fn default() -> Self {
        Self::sample()
    }
}

/// Counts only: the records hold personal data.
impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("users", &self.people.len())
            .field("consignments", &self.consignments.len())
            .field("templates", &self.templates.len())
            .field("properties", &self.properties.len())
            .finish_non_exhaustive()
    }
}
