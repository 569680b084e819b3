//! The search by fields.

use std::fmt;

use crate::model::{PropertyStatus, PropertyTypeCode};

/// A search for properties of which each given field fits (spec 4.2).
///
/// Values are checked when the search is sent; [`Search::unchecked`](super::Search::unchecked) sends them as they are.
///
/// ```
/// use envd_sdk::model::PropertyStatus;
/// use envd_sdk::register::FieldSearch;
///
/// let search = FieldSearch::new()
///     .town("sampleton")
///     .state("QLD")
///     .status(PropertyStatus::Active)
///     .pic_type("SY");
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct FieldSearch {
    fields: Vec<(&'static str, String)>,
}

impl FieldSearch {
    /// A search for nothing yet; at least one field must be set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The property identification code, exact: 8 letters or digits.
    #[doc(alias = "PIC")]
    pub fn pic(self, pic: impl Into<String>) -> Self {
        self.field("PIC", pic.into())
    }

    /// The manager's first name, fuzzy.
    #[doc(alias = "FirstName")]
    pub fn first_name(self, name: impl Into<String>) -> Self {
        self.field("FirstName", name.into())
    }

    /// The manager's last name, fuzzy.
    #[doc(alias = "LastName")]
    pub fn last_name(self, name: impl Into<String>) -> Self {
        self.field("LastName", name.into())
    }

    /// The name of the firm, fuzzy.
    #[doc(alias = "BusinessName")]
    pub fn business_name(self, name: impl Into<String>) -> Self {
        self.field("BusinessName", name.into())
    }

    /// The name of the property, fuzzy.
    #[doc(alias = "PropertyName")]
    pub fn property_name(self, name: impl Into<String>) -> Self {
        self.field("PropertyName", name.into())
    }

    /// The code of a brand, fuzzy.
    #[doc(alias = "Brand")]
    pub fn brand(self, code: impl Into<String>) -> Self {
        self.field("Brand", code.into())
    }

    /// The town, fuzzy.
    #[doc(alias = "Town")]
    pub fn town(self, name: impl Into<String>) -> Self {
        self.field("Town", name.into())
    }

    /// The code of the state or territory, exact, such as `QLD`.
    #[doc(alias = "State")]
    pub fn state(self, code: impl Into<String>) -> Self {
        self.field("State", code.into())
    }

    /// The postcode, exact: four digits.
    #[doc(alias = "Postcode")]
    pub fn postcode(self, digits: impl Into<String>) -> Self {
        self.field("Postcode", digits.into())
    }

    /// The state of the property in the register, exact. It is sent by name, which every state has.
    #[doc(alias = "PICStatus")]
    pub fn status(self, status: PropertyStatus) -> Self {
        self.field("PICStatus", status.as_str().to_owned())
    }

    /// The state of the property by its short code, such as `A`: for a code that the specification does not show, as that
    /// of [`Amalgamated`](PropertyStatus::Amalgamated).
    pub fn status_code(self, code: impl Into<String>) -> Self {
        self.field("PICStatus", code.into())
    }

    /// What the property is used for, exact, as a short code such as `FL`.
    #[doc(alias = "PICType")]
    pub fn pic_type(self, code: impl Into<PropertyTypeCode>) -> Self {
        self.field("PICType", code.into().as_str().to_owned())
    }

    /// A field that is set again has its last value.
    fn field(mut self, name: &'static str, value: String) -> Self {
        self.fields.retain(|(set, _)| *set != name);
        self.fields.push((name, value));
        self
    }

    pub(super) fn fields(&self) -> &[(&'static str, String)] {
        &self.fields
    }
}

/// What somebody searches for may be the name of a person.
impl fmt::Debug for FieldSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.fields.iter().map(|(name, _)| name);
        f.debug_struct("FieldSearch")
            .field("fields", &names.collect::<Vec<_>>())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_the_names_of_the_specification() {
        let search = FieldSearch::new()
            .pic("QAZZ7777")
            .first_name("a")
            .last_name("b")
            .business_name("c")
            .property_name("d")
            .brand("e")
            .town("f")
            .state("QLD")
            .postcode("4000")
            .status(PropertyStatus::Amalgamated)
            .pic_type(PropertyTypeCode::Feedlot)
            .town("g");
        let sent: Vec<String> = search
            .fields()
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            sent.join(" "),
            "PIC=QAZZ7777 FirstName=a LastName=b BusinessName=c PropertyName=d Brand=e State=QLD Postcode=4000 \
             PICStatus=Amalgamated PICType=FL Town=g"
        );
    }

    #[test]
    fn a_status_is_sent_by_name_or_by_code_the_last_that_was_set() {
        let search = FieldSearch::new()
            .status(PropertyStatus::Active)
            .status_code("M");
        assert_eq!(search.fields(), [("PICStatus", "M".to_owned())]);
    }

    #[test]
    fn debug_hides_what_is_searched_for() {
        let search = FieldSearch::new().last_name("hidden");
        assert!(!format!("{search:?}").contains("hidden"));
    }
}
