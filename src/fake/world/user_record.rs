//! The users of a world.

use std::fmt;

use serde_json::{Map, Value, json};

/// One of the users of the fake's [`World`](super::World). In a world of your own they are counted from 0 with
/// [`User::Nth`]; the first one logs in unless [`FakeBuilder::user`](crate::fake::FakeBuilder::user) says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum User {
    /// Sam Sample, a producer and receiver with two accounts of the type LPA and one of another type; the first user of
    /// any world.
    #[default]
    Producer,
    /// A user with a login who is not registered with the service and has no account; the second user.
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

/// Builds a user: the record that `userDetails` returns (spec 2.8). A user without an account has not registered with the
/// service.
///
/// ```
/// use envd_sdk::fake::UserRecord;
///
/// let user = UserRecord::new("kim@example.com")
///     .name("Kim", "Example")
///     .role("Producer")
///     .accreditation("hRG", true)
///     .account("envd-7", "LPA", "QAZZ7777");
/// assert!(!format!("{user:?}").contains("kim"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct UserRecord {
    email: String,
    name: (String, String),
    roles: Vec<String>,
    accreditations: Map<String, Value>,
    accounts: Vec<(String, String, String)>,
}

impl UserRecord {
    /// A user with an email address, and without a name, roles, accreditations and accounts.
    pub fn new(email: impl Into<String>) -> Self {
        let names = ["lPA", "eU", "mSA", "eUGFHQB", "nFAS", "hRG"];
        let accreditations = names.map(|name| (name.to_owned(), Value::Bool(false)));
        Self {
            email: email.into(),
            name: Default::default(),
            roles: Vec::new(),
            accreditations: accreditations.into_iter().collect(),
            accounts: Vec::new(),
        }
    }

    /// First and last name.
    pub fn name(mut self, first: impl Into<String>, last: impl Into<String>) -> Self {
        self.name = (first.into(), last.into());
        self
    }

    /// Adds a role, such as `Producer` (spec 5.10).
    pub fn role(mut self, role: impl Into<String>) -> Self {
        self.roles.push(role.into());
        self
    }

    /// Grants or withdraws an accreditation by its wire name, such as `hRG`. Unless set, only `lPA` is granted, with an
    /// account of the type LPA. Forms of a program are refused without its accreditation (spec 1.3).
    pub fn accreditation(mut self, name: impl Into<String>, granted: bool) -> Self {
        self.accreditations.insert(name.into(), granted.into());
        self
    }

    /// Adds an account: its `envdAccountId`, its type, such as `LPA`, and its PIC. The first one is the default account.
    pub fn account(
        mut self,
        id: impl Into<String>,
        account_type: impl Into<String>,
        pic: impl Into<String>,
    ) -> Self {
        let account_type = account_type.into();
        if account_type == "LPA" {
            self = self.accreditation("lPA", true);
        }
        self.accounts.push((id.into(), account_type, pic.into()));
        self
    }

    /// The record, and the PICs of the accounts.
    pub(super) fn into_parts(self, number: usize) -> (Value, Map<String, Value>) {
        let accounts = self.accounts.iter().map(|(id, account_type, pic)| {
            json!({
                "envdAccountId": id,
                "accountLabel": format!("{account_type} account ({pic})"),
                "accountId": id.strip_prefix("envd-").unwrap_or(id),
                "accountType": account_type,
                "email": self.email,
                "properties": {},
            })
        });
        let details = json!({
            "auth0Id": format!("auth0|{number:024}"),
            "isNewUser": self.accounts.is_empty(),
            "email": self.email,
            "firstName": self.name.0,
            "lastName": self.name.1,
            "mobilePhone": "",
            "defaultAccount": self.accounts.first().map_or("", |(id, _, _)| id),
            "accounts": accounts.collect::<Vec<_>>(),
            "accreditations": self.accreditations,
            "roles": self.roles,
        });
        let pics = self
            .accounts
            .into_iter()
            .map(|(id, _, pic)| (id, Value::String(pic)));
        (details, pics.collect())
    }
}

impl fmt::Debug for UserRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserRecord")
            .field("roles", &self.roles)
            .field("accounts", &self.accounts.len())
            .finish_non_exhaustive()
    }
}
