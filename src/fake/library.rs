//! What never changes while the fake runs: questions, users, the PICs of accounts.

use serde_json::{Map, Value};

use super::graphql::{SharedSchema, bundled_schema};
use super::problem::Problem;
use super::rules;
use super::user::User;
use super::world::World;

pub(super) struct Library {
    question_list: Value,
    /// As the rules read them.
    questions: Vec<Value>,
    people: Vec<Value>,
    account_pics: Map<String, Value>,
    /// The address of the server, without a path.
    pub(super) base: String,
    /// What documents are validated against.
    pub(super) schema: SharedSchema,
}

impl Library {
    pub(super) fn of(world: &World, base: String) -> Self {
        Self {
            question_list: world.questions.clone(),
            questions: match world.questions["items"].as_array() {
                Some(questions) => rules::with_forms(questions, &[]),
                None => Vec::new(),
            },
            people: world.people.clone(),
            account_pics: world.pics.clone(),
            base,
            schema: bundled_schema(),
        }
    }

    /// The answer to the query `questions`.
    pub(super) fn question_list(&self) -> &Value {
        &self.question_list
    }

    /// The questions that stand under no other.
    pub(super) fn questions(&self) -> &[Value] {
        &self.questions
    }

    /// The questions of some forms, for the field `questions` of a consignment.
    pub(super) fn questions_of(&self, forms: &Value) -> Vec<Value> {
        rules::questions_of(self.questions(), forms)
    }

    pub(super) fn person(&self, user: User) -> &Value {
        self.people.get(user.index()).unwrap_or(&Value::Null)
    }

    /// Grants or withdraws an accreditation of all users; false when there is none of that name.
    pub(super) fn accredit(&mut self, name: &str, granted: bool) -> bool {
        self.people.iter_mut().all(|details| {
            let flag = details["accreditations"].get_mut(name);
            flag.map(|flag| *flag = granted.into()).is_some()
        })
    }

    /// The account of a user. assumed: another's account is refused like a missing permission.
    pub(super) fn account(&self, user: User, id: &str) -> Result<Account<'_>, Problem> {
        let details = self.person(user);
        details["accounts"]
            .as_array()
            .into_iter()
            .flatten()
            .find(|account| account["envdAccountId"] == id)
            .map(|account| Account {
                pic: self.account_pics.get(id).and_then(Value::as_str),
                program: account["accountType"].as_str().unwrap_or_default(),
                holder: details,
            })
            .ok_or_else(|| Problem::denied("The account is not one of the user's."))
    }
}

/// An account of the user who asks.
pub(super) struct Account<'a> {
    pic: Option<&'a str>,
    program: &'a str,
    holder: &'a Value,
}

impl<'a> Account<'a> {
    /// Section 5.10: only producers create consignments, from accounts of the LPA program.
    pub(super) fn may_create(&self) -> Result<(), Problem> {
        let producer = self.roles().any(|role| role == "Producer");
        if producer && self.program == "LPA" {
            return Ok(());
        }
        Err(Problem::denied(
            "Only the LPA account of a producer may create consignments.",
        ))
    }

    /// The PIC from which consignments of the account start.
    pub(super) fn origin_pic(&self) -> Option<&'a str> {
        self.pic.filter(|_| self.program == "LPA")
    }

    /// The flags of the user (2.8).
    pub(super) fn accreditations(&self) -> &'a Value {
        &self.holder["accreditations"]
    }

    pub(super) fn roles(&self) -> impl Iterator<Item = &'a str> {
        let roles = self.holder["roles"].as_array();
        roles.into_iter().flatten().filter_map(Value::as_str)
    }

    pub(super) fn holder(&self, field: &str) -> &'a str {
        self.holder[field].as_str().unwrap_or_default()
    }
}
