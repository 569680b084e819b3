//! Codes that the specification names without closing the list; the schema has them as plain texts.

use super::open_enum::open_enum;

/// What kind of answer a question wants (spec 2.6; the kinds that the specification does not name are public: `location_4.4.0`, `guide::sources`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum QuestionType {
    /// A group that is answered once for each row; its children carry the row number as `index`.
    Repeatable,
    /// One of the acceptable answers.
    SingleChoice,
    /// Several of the acceptable answers.
    MultipleChoice,
    /// Free text.
    String,
    /// A number. Public, not confirmed.
    Number,
    /// `True` or `False`. Public, not confirmed.
    Boolean,
    /// An ISO 8601 date (yyyy-MM-dd). Public, not confirmed.
    Date,
    /// A time (HH:mm). Public, not confirmed.
    DateTime,
    /// A month; its form is not shown. Public, not confirmed.
    DateMonth,
    /// A heading without an answer. Public, not confirmed.
    Display,
    /// A picture. Public, not confirmed.
    Image,
    /// A type that this version of the crate does not know, as it was received.
    Unrecognized(String),
}
open_enum!(QuestionType {
    Repeatable = "REPEATABLE",
    SingleChoice = "SINGLE_CHOICE",
    MultipleChoice = "MULTIPLE_CHOICE",
    String = "STRING",
    Number = "NUMBER",
    Boolean = "BOOLEAN",
    Date = "DATE",
    DateTime = "DATE_TIME",
    DateMonth = "DATE_MONTH",
    Display = "DISPLAY",
    Image = "IMAGE",
});

/// The kind of a question's rule (spec 2.6).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ValidatorType {
    /// An answer must be given.
    Required,
    /// The year of the answer must not be before the parameter.
    MinYear,
    /// The year of the answer must not be after the parameter; `now` means no date in the future.
    MaxYear,
    /// A kind that this version of the crate does not know, as it was received.
    Unrecognized(String),
}
open_enum!(ValidatorType { Required = "required", MinYear = "minYear", MaxYear = "maxYear" });

/// The kind of an account (spec 2.8).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AccountType {
    /// An account of the Livestock Production Assurance program.
    Lpa,
    /// A kind that this version of the crate does not know, as it was received.
    Unrecognized(String),
}
open_enum!(AccountType { Lpa = "LPA" });

/// What a user may be (spec 5.10).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    /// The only role that may create consignments.
    Producer,
    /// Receives livestock.
    Receiver,
    /// A saleyard or an agent.
    Facilitator,
    /// Carries livestock.
    Transporter,
    /// Buys livestock.
    Buyer,
    /// May look at a consignment.
    AuthenticatedViewer,
    /// A role that this version of the crate does not know, as it was received.
    Unrecognized(String),
}
open_enum!(Role {
    Producer = "Producer",
    Receiver = "Receiver",
    Facilitator = "Facilitator",
    Transporter = "Transporter",
    Buyer = "Buyer",
    AuthenticatedViewer = "Authenticated Viewer",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_survive_a_round_trip() {
        let role: Role = serde_json::from_str("\"Auctioneer\"").unwrap();
        assert_eq!(role, Role::Unrecognized("Auctioneer".to_owned()));
        assert_eq!(serde_json::to_string(&role).unwrap(), "\"Auctioneer\"");
    }

    #[test]
    fn known_values_are_read_and_written_as_the_wire_has_them() {
        for role in Role::KNOWN {
            assert_eq!(&Role::from(role.as_str()), role);
        }
    }
}
