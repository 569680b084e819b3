//! Codes that the specification lists but leaves open: those that the schema types as plain strings, and those of the register.

use super::open_enum::open_enum;
use super::visible_text::trimmed;

open_enum! {
    /// The kind of answer that a question takes (spec 2.6; kinds missing in the specification are public: `location_4.4.0`,
    /// `guide::sources`).
    ///
    /// Part of a [`Question`](super::Question); see there for an example. The matching kind of form field is
    /// [`ItemKind`](crate::validate::ItemKind).
    QuestionType {
        /// A group that is answered once per row; its children carry the row number as `index`.
        Repeatable = "REPEATABLE",
        /// Exactly one of the acceptable answers.
        SingleChoice = "SINGLE_CHOICE",
        /// Any number of the acceptable answers.
        MultipleChoice = "MULTIPLE_CHOICE",
        /// Free text.
        String = "STRING",
        /// A number. Public, not confirmed.
        Number = "NUMBER",
        /// `True` or `False`. Public, not confirmed.
        Boolean = "BOOLEAN",
        /// An ISO 8601 date (yyyy-MM-dd). Public, not confirmed.
        Date = "DATE",
        /// A time (HH:mm). Public, not confirmed.
        DateTime = "DATE_TIME",
        /// A month; its format is unknown. Public, not confirmed.
        DateMonth = "DATE_MONTH",
        /// A heading that takes no answer. Public, not confirmed.
        Display = "DISPLAY",
        /// A picture. Public, not confirmed.
        Image = "IMAGE",
    }
}

open_enum! {
    /// The kind of rule for a question (spec 2.6).
    ///
    /// Part of a [`QuestionValidator`](super::QuestionValidator). See [`Question`](super::Question) for an example.
    ValidatorType {
        /// An answer is required.
        Required = "required",
        /// The earliest year allowed in the answer.
        MinYear = "minYear",
        /// The latest year allowed in the answer; `now` forbids future dates.
        MaxYear = "maxYear",
    }
}

open_enum! {
    /// The kind of an account (spec 2.8).
    ///
    /// Part of a [`UserAccount`](super::UserAccount). See [`UserDetails`](super::UserDetails) for an example.
    AccountType {
        /// An account of the Livestock Production Assurance program.
        Lpa = "LPA",
    }
}

open_enum! {
    /// The role of a user (spec 5.10).
    ///
    /// Users and single accounts have roles, and [`AccountClient::user_mappings`](crate::AccountClient::user_mappings) takes one.
    ///
    /// The specification names the roles in its text, but shows none on the wire. Only `AUTHVIEWER` has been seen (public:
    /// `OAuthSample`, `guide::sources`). assumed: the others use the names from the text, or codes of the same style
    /// (`PRODUCER`). Roles are decoded from both spellings, in any case, with or without spaces. Any other text is preserved.
    ///
    /// ```
    /// use envd_sdk::model::{Role, UserDetails};
    ///
    /// let user: UserDetails = serde_json::from_str(r#"{"roles": ["PRODUCER", "Authenticated Viewer"]}"#)?;
    /// assert_eq!(user.roles.unwrap_or_default(), [Role::Producer, Role::AuthenticatedViewer]);
    /// assert_eq!(Role::AuthenticatedViewer.as_str(), "AUTHVIEWER");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    Role reads other_spelling_of_role {
        /// The only role that may create consignments.
        Producer = "Producer",
        /// Receives livestock.
        Receiver = "Receiver",
        /// A saleyard or an agent.
        Facilitator = "Facilitator",
        /// Transports livestock.
        Transporter = "Transporter",
        /// Buys livestock.
        Buyer = "Buyer",
        /// May view a consignment; "Authenticated Viewer" in the specification.
        AuthenticatedViewer = "AUTHVIEWER",
    }
}

impl From<Role> for String {
    fn from(role: Role) -> Self {
        match role {
            Role::Unrecognized(text) => text,
            known => known.as_str().to_owned(),
        }
    }
}

/// The role with this name or code, ignoring case and spaces. assumed, see [`Role`].
fn other_spelling_of_role(text: &str) -> Option<Role> {
    let letters = || {
        text.chars()
            .filter(|c| !c.is_whitespace() && !matches!(c, '_' | '-'))
            .map(|c| c.to_ascii_lowercase())
    };
    let is = |name: &str| letters().eq(name.chars().map(|c| c.to_ascii_lowercase()));
    match Role::KNOWN.iter().find(|role| is(role.as_str())) {
        None if is("AuthenticatedViewer") => Some(Role::AuthenticatedViewer),
        found => found.cloned(),
    }
}

open_enum! {
    /// The state of a property in the register (spec 3.2). The wire format is `{ShortCode, Description}`.
    ///
    /// ```
    /// use envd_sdk::model::PropertyStatus;
    ///
    /// assert!(PropertyStatus::Active.is_active());
    /// assert!(!PropertyStatus::from("Blocked").is_active());
    /// ```
    PropertyStatus {
        /// In use; short code A.
        Active = "Active",
        /// Short code D.
        Disbanded = "Disbanded",
        /// Short code I.
        Inactive = "Inactive",
        /// Merged with another property; its short code is unknown.
        Amalgamated = "Amalgamated",
        /// Short code B.
        Blocked = "Blocked",
    }
}

impl PropertyStatus {
    /// Parses a short code or a name, in any case.
    pub(super) fn from_code(text: &str) -> Self {
        let text = trimmed(text);
        let is = |name: &str| text.eq_ignore_ascii_case(name);
        Self::KNOWN
            .iter()
            .find(|status| is(status.as_str()) || status.short_code().is_some_and(is))
            .cloned()
            .unwrap_or_else(|| Self::Unrecognized(text.to_owned()))
    }

    /// The short code; `None` for unknown states, and for [`Amalgamated`](Self::Amalgamated), for which no source gives a code.
    pub(super) fn short_code(&self) -> Option<&'static str> {
        match self {
            Self::Active => Some("A"),
            Self::Disbanded => Some("D"),
            Self::Inactive => Some("I"),
            Self::Blocked => Some("B"),
            Self::Amalgamated | Self::Unrecognized(_) => None,
        }
    }

    /// Whether the property is in use. An unknown state counts as not active.
    pub fn is_active(&self) -> bool {
        *self == Self::Active
    }
}

open_enum! {
    /// A species kept on a property (spec 2.10: C and S seen).
    ///
    /// For a consignment, see [`Species`](super::Species). See [`Property`](super::Property) for an example.
    SpeciesCode {
        /// Cattle. The meaning is inferred.
        Cattle = "C",
        /// Sheep. The meaning is inferred.
        Sheep = "S",
        /// Goats. assumed: code and meaning are inferred.
        Goats = "G",
    }
}

open_enum! {
    /// The use of a property (spec 4.2: PR, FL, SA, SY and AB are examples, with inferred meanings).
    ///
    /// ```
    /// use envd_sdk::model::{Property, PropertyTypeCode};
    ///
    /// let property: Property = serde_json::from_str(r#"{"PropertyTypes": [{"ShortCode": "SY"}]}"#)?;
    /// assert_eq!(property.property_types, [PropertyTypeCode::Saleyard]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    PropertyTypeCode {
        /// A farm.
        Property = "PR",
        /// A feedlot.
        Feedlot = "FL",
        /// A stock agent. This is the least certain meaning.
        StockAgent = "SA",
        /// A saleyard.
        Saleyard = "SY",
        /// An abattoir.
        Abattoir = "AB",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_written_as_the_wire_has_them_unknown_ones_too() {
        for role in Role::KNOWN {
            assert_eq!(&Role::from(role.as_str()), role);
        }
        let role: Role = serde_json::from_str("\"Auctioneer\"").unwrap();
        assert_eq!(role, Role::Unrecognized("Auctioneer".to_owned()));
        assert_eq!(serde_json::to_string(&role).unwrap(), "\"Auctioneer\"");
    }

    #[test]
    fn a_role_is_read_by_name_or_code_in_any_case_and_with_any_blanks() {
        let viewer = "AUTHVIEWER|AuthViewer|auth_viewer|Authenticated Viewer|AuthenticatedViewer|AUTHENTICATED_VIEWER";
        for (texts, role) in [
            ("Producer|PRODUCER| producer ", Role::Producer),
            ("Receiver|RECEIVER|receiver", Role::Receiver),
            ("Facilitator|FACILITATOR|facilitator", Role::Facilitator),
            ("Transporter|TRANSPORTER|transporter", Role::Transporter),
            ("Buyer|BUYER|buyer\t", Role::Buyer),
            (viewer, Role::AuthenticatedViewer),
        ] {
            for text in texts.split('|') {
                assert_eq!(Role::from(text), role, "{text}");
                assert_eq!(Role::from(text.to_owned()), role, "{text}");
            }
            assert_eq!(String::from(role.clone()), role.as_str());
        }
        for text in ["", " ", "Viewer", "Producers", " Auctioneer "] {
            assert_eq!(Role::from(text), Role::Unrecognized(text.to_owned()));
            assert_eq!(String::from(Role::from(text)), text);
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
        let none = PropertyStatus::Unrecognized(String::new());
        assert_eq!(PropertyStatus::from_code(""), none);
    }
}
