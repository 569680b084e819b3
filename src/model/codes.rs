//! Codes that the specification names in open lists: those that the schema has as plain texts, and those of the register.

use super::open_enum::open_enum;

/// What kind of answer a question takes (spec 2.6; the kinds that the specification does not name are public: `location_4.4.0`, `guide::sources`).
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

/// The state of a property in the register (spec 3.2). On the wire it is `{ShortCode, Description}`.
///
/// ```
/// use envd_sdk::model::PropertyStatus;
///
/// assert!(PropertyStatus::Active.is_active());
/// assert!(!PropertyStatus::from("Blocked").is_active());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PropertyStatus {
    /// In use; short code A.
    Active,
    /// Short code D.
    Disbanded,
    /// Short code I.
    Inactive,
    /// Merged with another; its short code is not shown.
    Amalgamated,
    /// Short code B.
    Blocked,
    /// A state that this version of the crate does not know, as it was received.
    Unrecognized(String),
}
open_enum!(PropertyStatus {
    Active = "Active",
    Disbanded = "Disbanded",
    Inactive = "Inactive",
    Amalgamated = "Amalgamated",
    Blocked = "Blocked",
});

impl PropertyStatus {
    /// Reads a short code or a name, in any case.
    pub(super) fn from_code(text: &str) -> Self {
        let text = text.trim();
        let is = |name: &str| text.eq_ignore_ascii_case(name);
        let status = Self::KNOWN
            .iter()
            .find(|status| is(status.as_str()) || status.short_code().is_some_and(is));
        status
            .cloned()
            .unwrap_or_else(|| Self::Unrecognized(text.to_owned()))
    }

    /// The short code; `None` for [`Amalgamated`](Self::Amalgamated), whose code is not shown, and for unknown states.
    pub(super) fn short_code(&self) -> Option<&'static str> {
        match self {
            Self::Active => Some("A"),
            Self::Disbanded => Some("D"),
            Self::Inactive => Some("I"),
            Self::Blocked => Some("B"),
            Self::Amalgamated | Self::Unrecognized(_) => None,
        }
    }

    /// Whether the property is in use. A state that is not known is not active.
    #[must_use]
    pub fn is_active(&self) -> bool {
        *self == Self::Active
    }
}

/// A species that is kept on a property (spec 2.10: C and S seen).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SpeciesCode {
    /// Cattle. The meaning is inferred.
    Cattle,
    /// Sheep. The meaning is inferred.
    Sheep,
    /// Goats. assumed: code and meaning are inferred.
    Goats,
    /// A code that this version of the crate does not know, as it was received.
    Unrecognized(String),
}
open_enum!(SpeciesCode { Cattle = "C", Sheep = "S", Goats = "G" });

/// What a property is used for (spec 4.2: PR, FL, SA, SY and AB are examples, their meanings are inferred).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PropertyTypeCode {
    /// A farm.
    Property,
    /// A feedlot.
    Feedlot,
    /// A stock agent; the least sure of the meanings.
    StockAgent,
    /// A saleyard.
    Saleyard,
    /// An abattoir.
    Abattoir,
    /// A code that this version of the crate does not know, as it was received.
    Unrecognized(String),
}
open_enum!(PropertyTypeCode {
    Property = "PR",
    Feedlot = "FL",
    StockAgent = "SA",
    Saleyard = "SY",
    Abattoir = "AB",
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

    #[test]
    fn a_status_is_read_by_short_code_or_name() {
        for status in PropertyStatus::KNOWN {
            assert_eq!(&PropertyStatus::from_code(status.as_str()), status);
            if let Some(code) = status.short_code() {
                assert_eq!(&PropertyStatus::from_code(code), status);
            }
            assert_eq!(status.is_active(), status.as_str() == "Active");
        }
        assert_eq!(
            PropertyStatus::from_code(""),
            PropertyStatus::Unrecognized(String::new())
        );
    }
}
