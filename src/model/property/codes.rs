//! The codes of the register; none of its lists is closed.

use crate::model::open_enum::open_enum;

/// The state of a property in the register (spec 3.2). On the wire it is `{ShortCode, Description}`.
///
/// ```
/// use envd_sdk::model::PropertyStatus;
///
/// assert_eq!(PropertyStatus::from_code("B"), PropertyStatus::Blocked);
/// assert_eq!(PropertyStatus::from_code("amalgamated"), PropertyStatus::Amalgamated);
/// assert!(PropertyStatus::Active.is_active());
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
    #[must_use]
    pub fn from_code(text: &str) -> Self {
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
    #[must_use]
    pub fn short_code(&self) -> Option<&'static str> {
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
