//! The users of a world.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// One of the users of the fake's [`World`](super::World). In a world of your own they are counted from 0 with
/// [`User::Nth`]; the first one logs in unless [`FakeBuilder::user`](crate::fake::FakeBuilder::user) says otherwise.
///
/// See [`FakeBuilder`](crate::fake::FakeBuilder) for an example.
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
    /// A user with an email address, and without a name, roles, accreditations and accounts.
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

    /// A user by the record that `userDetails` returns. The PICs of the accounts are not in it: add each with
    /// [`pic`](Self::pic).
    pub fn from_details(details: impl Serialize) -> Self {
        Self {
            // `World::user` reports what is no record.
            details: serde_json::to_value(details).unwrap_or_default(),
            pics: Map::new(),
        }
    }

    /// First and last name.
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
    /// An account of the type LPA grants the accreditation `lPA`. Forms of other programs need theirs (spec 1.3), see
    /// [`FakeBuilder::accreditation`](crate::fake::FakeBuilder::accreditation).
    pub fn account(
        mut self,
        id: impl Into<String>,
        account_type: impl Into<String>,
        pic: impl Into<String>,
    ) -> Self {
        let (id, account_type, pic) = (id.into(), account_type.into(), pic.into());
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

    /// The PIC of an account: where its consignments of the program LPA come from.
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

// Roles and a count only: the record contains personal data.
debug_shows!(UserRecord, |it| roles: it.details["roles"], accounts: it.pics.len());
