//! A user of a world of one's own.

use std::fmt;

use serde_json::{Map, Value, json};

/// A user: the record that `userDetails` returns (spec 2.8), put together. Without an account, the user is one who has not
/// registered with the service.
///
/// ```
/// use envd_sdk::fake::Person;
///
/// let person = Person::new("kim@example.com")
///     .name("Kim", "Example")
///     .role("Producer")
///     .accreditation("hRG", true)
///     .account("envd-7", "LPA", "QAZZ7777");
/// assert!(!format!("{person:?}").contains("kim"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct Person {
    email: String,
    name: (String, String),
    roles: Vec<String>,
    accreditations: Map<String, Value>,
    accounts: Vec<(String, String, String)>,
}

impl Person {
    /// Somebody with an address for mail, and with nothing else.
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

    /// Grants or withdraws an accreditation by its wire name, such as `hRG`. None is granted unless set, but for `lPA`,
    /// which comes with an account of the type LPA. Forms of other programs are refused without theirs (spec 1.3).
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

impl fmt::Debug for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Person")
            .field("roles", &self.roles)
            .field("accounts", &self.accounts.len())
            .finish_non_exhaustive()
    }
}
