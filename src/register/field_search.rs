//! The search by fields.

use std::fmt;

use super::query::Query;
use crate::error::{Error, Result};
use crate::model::{Pic, PropertyStatus, PropertyTypeCode};

/// A search for properties of which each given field fits (spec 4.2).
///
/// Values are checked when the search is sent.
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
    page_size: Option<u32>,
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

    /// What the property is used for, exact, as a short code such as `FL`.
    #[doc(alias = "PICType")]
    pub fn pic_type(self, code: impl Into<PropertyTypeCode>) -> Self {
        self.field("PICType", code.into().as_str().to_owned())
    }

    /// The number of records of a page, at least 1; the register's choice unless set. The register may give fewer.
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = Some(records);
        self
    }

    /// A field that is set again has its last value.
    fn field(mut self, name: &'static str, value: String) -> Self {
        self.fields.retain(|(set, _)| *set != name);
        self.fields.push((name, value));
        self
    }

    pub(super) fn query(&self) -> Result<Query> {
        for (name, value) in &self.fields {
            match *name {
                "PIC" if !Pic::has_format(value) => {
                    return Err(Error::config("PIC must have 8 letters or digits"));
                }
                "Postcode" if value.len() != 4 || !value.bytes().all(|b| b.is_ascii_digit()) => {
                    return Err(Error::config("Postcode must have four digits"));
                }
                _ => {}
            }
        }
        Query::new(self.fields.clone(), self.page_size)
    }
}

/// What somebody searches for may be the name of a person.
impl fmt::Debug for FieldSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.fields.iter().map(|(name, _)| name);
        f.debug_struct("FieldSearch")
            .field("fields", &names.collect::<Vec<_>>())
            .field("page_size", &self.page_size)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_fit_are_refused_before_they_are_sent() {
        for bad in [
            FieldSearch::new(),
            FieldSearch::new().pic("QAZZ777"),
            FieldSearch::new().pic("QAZZ-777"),
            FieldSearch::new().postcode("400"),
            FieldSearch::new().postcode("４０００"),
            FieldSearch::new().postcode("40000"),
            FieldSearch::new().town(" "),
            FieldSearch::new().town("x").page_size(0),
        ] {
            assert!(bad.query().err().unwrap().is_config(), "{bad:?}");
        }
        assert!(
            FieldSearch::new()
                .pic("qazz7777")
                .postcode("0800")
                .query()
                .is_ok()
        );
    }

    #[test]
    fn parameters_have_the_names_of_the_specification() {
        let query = FieldSearch::new()
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
            .town("g")
            .query()
            .unwrap();
        let sent: Vec<String> = query
            .fields
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
    fn debug_hides_what_is_searched_for() {
        let search = FieldSearch::new().last_name("hidden");
        assert!(!format!("{search:?}").contains("hidden"));
    }
}
