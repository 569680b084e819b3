//! Who can log in.

use serde_json::Value;

use super::seed;

/// A user of the fake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum User {
    /// Sam Sample, a producer and receiver with two accounts of the type LPA and one of another type.
    #[default]
    Producer,
    /// Somebody who has a login but is not registered with the service, and so has no account.
    New,
    /// Dana Demo, a receiver without an account of the type LPA.
    Receiver,
}

impl User {
    /// The user as seeded.
    pub(super) fn details(self) -> Value {
        let text = match self {
            Self::Producer => seed::PRODUCER,
            Self::New => seed::NEW,
            Self::Receiver => seed::RECEIVER,
        };
        seed::json(text)["data"]["userDetails"].take()
    }

    /// The identity provider's id of the user.
    pub(super) fn subject(self) -> &'static str {
        match self {
            Self::Producer => "auth0|000000000000000000000001",
            Self::New => "auth0|000000000000000000000002",
            Self::Receiver => "auth0|000000000000000000000003",
        }
    }

    /// The default account; empty for a user who is not registered.
    pub(super) fn default_account(self) -> &'static str {
        match self {
            Self::Producer => "envd-100201",
            Self::New => "",
            Self::Receiver => "envd-100301",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_facts_about_users_are_those_of_their_details() {
        for user in [User::Producer, User::New, User::Receiver] {
            let details = user.details();
            assert_eq!(details["auth0Id"], user.subject());
            assert_eq!(details["defaultAccount"], user.default_account());
        }
    }
}
