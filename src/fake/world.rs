//! The initial data of a fake: the sample, or data built by a test.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A user of the fake's [`World`](super::World). In your own world, users are counted from 0 with [`User::Nth`]. The first one
/// logs in, unless [`FakeBuilder::user`](crate::fake::FakeBuilder::user) is set.
///
/// See [`FakeBuilder`](crate::fake::FakeBuilder) for an example.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum User {
    /// Sam Sample, a producer and receiver with two accounts of the type LPA and one of another type; the first user of any
    /// world.
    #[default]
    Producer,
    /// A user who can log in, but is not registered with the service and has no account; the second user.
    New,
    /// Dana Demo, a receiver without an account of the type LPA; the third user.
    Receiver,
    /// The user at this index of a [`World`](super::World), counted from 0.
    Nth(usize),
}

impl User {
    pub(in crate::fake) fn index(self) -> usize {
        match self {
            Self::Producer => 0,
            Self::New => 1,
            Self::Receiver => 2,
            Self::Nth(index) => index,
        }
    }
}

/// Builds a user: the record that `userDetails` returns (spec 2.8). A user without an account is not registered with the
/// service.
///
/// ```
/// use envd_sdk::fake::UserRecord;
///
/// let user = UserRecord::new("kim@example.com")
///     .name("Kim", "Example")
///     .role("Producer")
///     .account("envd-7", "LPA", "QAZZ7777");
/// assert!(!format!("{user:?}").contains("kim"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct UserRecord {
    pub(super) details: Value,
    /// The PICs of the accounts.
    pub(super) pics: Map<String, Value>,
}

impl UserRecord {
    /// A user with an email address, but without a name, roles, accreditations or accounts.
    pub fn new(email: impl Into<String>) -> Self {
        let details = json!({
            "isNewUser": true,
            "email": email.into(),
            "firstName": "",
            "lastName": "",
            "mobilePhone": "",
            "defaultAccount": "",
            "accounts": [],
            "accreditations": {
                "lPA": false, "eU": false, "mSA": false, "eUGFHQB": false, "nFAS": false, "hRG": false,
            },
            "roles": [],
        });
        let pics = Map::new();
        Self { details, pics }
    }

    /// A user from the record that `userDetails` returns. It does not include the PICs of the accounts: add each with
    /// [`pic`](Self::pic).
    pub fn from_details(details: impl Serialize) -> Self {
        Self {
            // `World::user` reports an invalid record.
            details: serde_json::to_value(details).unwrap_or_default(),
            pics: Map::new(),
        }
    }

    /// Sets first and last name.
    pub fn name(mut self, first: impl Into<String>, last: impl Into<String>) -> Self {
        self.details["firstName"] = first.into().into();
        self.details["lastName"] = last.into().into();
        self
    }

    /// Adds a role, such as `Producer` (spec 5.10).
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.push("roles", role.into().into());
        self
    }

    /// Adds an account: its `envdAccountId`, its type, such as `LPA`, and its PIC. The first one is the default account.
    ///
    /// An account of the type LPA grants the accreditation `lPA`. Forms of other programs require their own (spec 1.3), see
    /// [`FakeBuilder::accreditation`](crate::fake::FakeBuilder::accreditation).
    pub fn account(
        mut self,
        id: impl Into<String>,
        account_type: impl Into<String>,
        pic: impl Into<String>,
    ) -> Self {
        let id = id.into();
        let account_type = account_type.into();
        let pic = pic.into();
        let account = json!({
            "envdAccountId": id,
            "accountLabel": format!("{account_type} account ({pic})"),
            "accountId": id.strip_prefix("envd-").unwrap_or(&id),
            "accountType": account_type,
            "email": self.details["email"],
            "properties": {},
        });
        if account_type == "LPA" {
            self.details["accreditations"]["lPA"] = true.into();
        }
        if self.details["isNewUser"] == true {
            self.details["isNewUser"] = false.into();
            self.details["defaultAccount"] = id.as_str().into();
        }
        self.push("accounts", account);
        self.pic(id, pic)
    }

    /// Sets the PIC of an account, from which its consignments of the program LPA originate.
    pub fn pic(mut self, account: impl Into<String>, pic: impl Into<String>) -> Self {
        self.pics.insert(account.into(), pic.into().into());
        self
    }

    fn push(&mut self, list: &str, value: Value) {
        if let Some(list) = self.details[list].as_array_mut() {
            list.push(value);
        }
    }
}

// Shows only roles and a count, because the record contains personal data.
debug_shows!(UserRecord, |it| roles: it.details["roles"], accounts: it.pics.len());

const SAMPLE: &str = include_str!("seed/world.json");
const QUESTIONS: &str = include_str!("seed/questions.json");

/// The kind of a record.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Kind {
    Consignment,
    Template,
    Comment,
    UserMapping,
    Edec,
}

/// The initial users, accounts, consignments, questions and properties of a fake.
///
/// Records are any data that serializes to the wire format: types of this crate or JSON. The rules of the service are not
/// applied to them. [`FakeBuilder::start`](super::FakeBuilder::start) reports unusable data.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::fake::{Fake, UserRecord, World};
/// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
///
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let world = World::empty()
///     .user(UserRecord::new("kim@example.com").role("Producer").account("envd-7", "LPA", "QAZZ7777"))
///     .consignment("envd-7", input);
/// let fake = Fake::builder().world(world).start().await.unwrap();
/// assert_eq!(fake.account_id(), "envd-7");
/// # Ok(()) });
/// ```
#[derive(Clone)]
#[must_use]
pub struct World {
    pub(super) users: Vec<Value>,
    pub(super) pics: Map<String, Value>,
    pub(super) consignments: Arc<Vec<(String, Value)>>,
    pub(super) templates: Vec<(String, Value)>,
    pub(super) questions: Arc<Value>,
    pub(super) properties: Arc<Vec<Value>>,
    /// Postcodes by PIC. Records do not show them (spec 2.10), but searches can use them (spec 4.2).
    pub(super) postcodes: HashMap<String, String>,
    /// Records of the other kinds, each with its account.
    pub(super) other_records: Vec<(Kind, String, Value)>,
    problem: Option<String>,
}

impl Default for World {
    fn default() -> Self {
        Self::empty()
    }
}

impl World {
    /// The default world, described in [the documentation of the fake](crate::fake). All data is invented.
    pub fn sample() -> Self {
        static SAMPLE_READ: LazyLock<World> = LazyLock::new(|| {
            let mut sample = json(SAMPLE);
            World {
                users: part(&mut sample, "users"),
                pics: part(&mut sample, "pics"),
                consignments: Arc::new(part(&mut sample, "consignments")),
                templates: part(&mut sample, "templates"),
                properties: Arc::new(part(&mut sample, "properties")),
                postcodes: part(&mut sample, "postcodes"),
                other_records: part(&mut sample, "relatedRecords"),
                ..World::empty()
            }
        });
        SAMPLE_READ.clone()
    }

    /// Sample questions only; no users or records.
    pub fn empty() -> Self {
        Self {
            users: Vec::new(),
            pics: Map::new(),
            consignments: Arc::default(),
            templates: Vec::new(),
            questions: questions(),
            properties: Arc::default(),
            postcodes: HashMap::new(),
            other_records: Vec::new(),
            problem: None,
        }
    }

    /// Adds a user.
    pub fn user(mut self, user: UserRecord) -> Self {
        if let Some(mut details) = self.read("user", user.details).filter(Value::is_object) {
            let number = self.users.len() + 1;
            details["auth0Id"] = format!("auth0|{number:024}").into();
            self.users.push(details);
        }
        self.pics.extend(user.pics);
        self
    }

    /// Adds a consignment from its input (spec 2.1). The first is the oldest.
    pub fn consignment(mut self, account: impl Into<String>, input: impl Serialize) -> Self {
        if let Some(input) = self.read("consignment", input) {
            Arc::make_mut(&mut self.consignments).push((account.into(), input));
        }
        self
    }

    /// Adds a template from its input. The first is the oldest.
    pub fn template(mut self, account: impl Into<String>, input: impl Serialize) -> Self {
        if let Some(input) = self.read("template", input) {
            self.templates.push((account.into(), input));
        }
        self
    }

    /// Replaces the sample's questions (spec 2.6): a list, or an object with the list under `items`.
    pub fn questions(mut self, questions: impl Serialize) -> Self {
        if let Some(questions) = self.read("list of questions", questions) {
            let items = questions.get("items").unwrap_or(&questions);
            if items.is_array() {
                self.questions = Arc::new(json!({"items": items}));
            } else {
                self.note("expected a list of questions");
            }
        }
        self
    }

    /// Adds a property to the register (spec 2.10).
    pub fn property(mut self, property: impl Serialize) -> Self {
        if let Some(property) = self.read("property", property) {
            Arc::make_mut(&mut self.properties).push(property);
        }
        self
    }

    /// The record of a user.
    pub(super) fn user_record(&self, user: User) -> &Value {
        self.users.get(user.index()).unwrap_or(&Value::Null)
    }

    /// The user with this email address, ignoring case.
    pub(super) fn user_with_email(&self, email: &str) -> Option<User> {
        let mut users = self.users.iter().map(|user| user["email"].as_str());
        let found = users.position(|of| of.is_some_and(|of| of.eq_ignore_ascii_case(email)));
        found.map(User::Nth)
    }

    /// The user who has an account.
    pub(super) fn holder(&self, account: &str) -> Option<&Value> {
        self.users.iter().find(|user| {
            let mut accounts = user["accounts"].as_array().into_iter().flatten();
            accounts.any(|known| known["envdAccountId"] == account)
        })
    }

    /// Grants or withdraws an accreditation for all users. Returns false for an unknown name.
    pub(super) fn accredit(&mut self, name: &str, granted: bool) -> bool {
        self.users.iter_mut().all(|details| {
            let flag = details["accreditations"].get_mut(name);
            flag.map(|flag| *flag = granted.into()).is_some()
        })
    }

    /// Why the world is invalid.
    pub(super) fn problem(&self) -> Option<String> {
        let mut records = self.consignments.iter().chain(&self.templates);
        self.problem.clone().or_else(|| {
            let (account, _) = records.find(|(account, _)| self.holder(account).is_none())?;
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

    fn note(&mut self, problem: impl Into<String>) {
        self.problem.get_or_insert(problem.into());
    }
}

/// The questions of the sample, which most worlds share.
fn questions() -> Arc<Value> {
    static QUESTIONS_READ: LazyLock<Arc<Value>> =
        LazyLock::new(|| Arc::new(json(QUESTIONS)["data"]["questions"].take()));
    Arc::clone(&QUESTIONS_READ)
}

/// Parses one of the texts above.
fn json(text: &str) -> Value {
    // OK because the texts are part of the crate, and a test parses them all.
    serde_json::from_str(text).unwrap_or_default()
}

/// Takes a part of the sample.
fn part<T: DeserializeOwned + Default>(sample: &mut Value, name: &str) -> T {
    // OK for the same reason.
    serde_json::from_value(sample[name].take()).unwrap_or_default()
}

// Shows only counts, because records contain personal data.
debug_shows!(World, |it|
    users: it.users.len(),
    consignments: it.consignments.len(),
    templates: it.templates.len(),
    properties: it.properties.len(),
);
