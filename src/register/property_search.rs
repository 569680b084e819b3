//! The parameters of a search, and their checks.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::model::{Pic, PropertyStatus, PropertyTypeCode};

const TEXT: &str = "SearchText";
const STATUS: &str = "PICStatus";

/// A search for properties, by words or by fields that must all match (spec 4.2).
///
/// Values are checked before the search is sent; [`unchecked`](Self::unchecked) sends them unchanged.
///
/// ```
/// use envd_sdk::model::PropertyStatus;
/// use envd_sdk::register::PropertySearch;
///
/// let by_words = PropertySearch::text("sampleton yards").page_size(50);
/// let by_fields = PropertySearch::new()
///     .town("sampleton")
///     .state("QLD")
///     .status(PropertyStatus::Active)
///     .pic_type("SY");
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct PropertySearch {
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) page_size: Option<u32>,
    unchecked: bool,
}

impl PropertySearch {
    /// An empty search; set at least one field.
    pub fn new() -> Self {
        Self::default()
    }

    /// Searches for words in PIC, property name, last name, town and state. It cannot be combined with fields.
    #[doc(alias = "SearchText")]
    pub fn text(words: impl Into<String>) -> Self {
        let mut search = Self::default();
        search.set(TEXT, words.into());
        search
    }

    /// The number of records on a page, at least 1; the register's default unless set. It may send fewer.
    #[doc(alias = "pagesize")]
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = Some(records);
        self
    }

    /// Sends all values unchanged, even if the specification does not allow them, such as a postcode of three digits.
    pub fn unchecked(mut self) -> Self {
        self.unchecked = true;
        self
    }

    /// The property identification code, exact: 8 letters or digits.
    #[doc(alias = "PIC")]
    pub fn pic(mut self, pic: impl Into<String>) -> Self {
        self.set("PIC", pic.into());
        self
    }

    /// The manager's first name, fuzzy.
    #[doc(alias = "FirstName")]
    pub fn first_name(mut self, name: impl Into<String>) -> Self {
        self.set("FirstName", name.into());
        self
    }

    /// The manager's last name, fuzzy.
    #[doc(alias = "LastName")]
    pub fn last_name(mut self, name: impl Into<String>) -> Self {
        self.set("LastName", name.into());
        self
    }

    /// The name of the firm, fuzzy.
    #[doc(alias = "BusinessName")]
    pub fn business_name(mut self, name: impl Into<String>) -> Self {
        self.set("BusinessName", name.into());
        self
    }

    /// The name of the property, fuzzy.
    #[doc(alias = "PropertyName")]
    pub fn property_name(mut self, name: impl Into<String>) -> Self {
        self.set("PropertyName", name.into());
        self
    }

    /// The code of a brand, fuzzy.
    #[doc(alias = "Brand")]
    pub fn brand(mut self, code: impl Into<String>) -> Self {
        self.set("Brand", code.into());
        self
    }

    /// The town, fuzzy.
    #[doc(alias = "Town")]
    pub fn town(mut self, name: impl Into<String>) -> Self {
        self.set("Town", name.into());
        self
    }

    /// The code of the state or territory, exact, such as `QLD`.
    #[doc(alias = "State")]
    pub fn state(mut self, code: impl Into<String>) -> Self {
        self.set("State", code.into());
        self
    }

    /// The postcode, exact: four digits.
    #[doc(alias = "Postcode")]
    pub fn postcode(mut self, digits: impl Into<String>) -> Self {
        self.set("Postcode", digits.into());
        self
    }

    /// The state of the property in the register, exact. It is sent by name, or as the code from the
    /// [profile](super::RegisterBuilder::profile) if there is one.
    #[doc(alias = "PICStatus")]
    pub fn status(mut self, status: PropertyStatus) -> Self {
        self.set(STATUS, status.as_str().to_owned());
        self
    }

    /// The use of the property, exact, as a short code such as `FL`.
    #[doc(alias = "PICType")]
    pub fn pic_type(mut self, code: impl Into<PropertyTypeCode>) -> Self {
        self.set("PICType", code.into().as_str().to_owned());
        self
    }

    /// Setting a field again replaces its value.
    fn set(&mut self, name: &'static str, value: String) {
        self.fields.retain(|(set, _)| *set != name);
        self.fields.push((name, value));
    }

    /// The search to send, with the PIC normalized by [`Pic`] and the register's status codes. Fails if a value cannot match
    /// anything.
    pub(super) fn checked(&self, status_codes: &BTreeMap<String, String>) -> Result<Self> {
        let mut search = self.clone();
        for (_, status) in search.fields.iter_mut().filter(|(name, _)| *name == STATUS) {
            // profile: register.statusCodes
            if let Some(code) = status_codes.get(status) {
                status.clone_from(code);
            }
        }
        if self.unchecked {
            return Ok(search);
        }
        if search.fields.is_empty() {
            return Err(Error::config("a search needs at least one field"));
        }
        if search.fields.len() > 1 && search.fields.iter().any(|(name, _)| *name == TEXT) {
            return Err(Error::config(format!(
                "{TEXT} cannot be combined with other fields"
            )));
        }
        if search.page_size == Some(0) {
            return Err(Error::config("page_size must be at least 1"));
        }
        for (name, value) in &mut search.fields {
            match *name {
                "PIC" => match Pic::parse(value) {
                    Ok(pic) => *value = pic.into(),
                    Err(error) => return Err(Error::config(format!("the field PIC: {error}"))),
                },
                "Postcode" if value.len() != 4 || !value.bytes().all(|b| b.is_ascii_digit()) => {
                    return Err(Error::config("Postcode must have four digits"));
                }
                _ if value.trim().is_empty() => {
                    return Err(Error::config(format!("{name} must not be empty")));
                }
                _ => {}
            }
        }
        Ok(search)
    }
}

// Omits the values, which may include people's names.
debug_shows!(PropertySearch, |it|
    fields: it.fields.iter().map(|(name, _)| name).collect::<Vec<_>>(),
    page_size: it.page_size,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::tests::assert_fails;

    fn shown(search: &PropertySearch) -> String {
        let fields = search.fields.iter();
        let fields: Vec<_> = fields
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        fields.join(" ")
    }

    #[test]
    fn parameters_have_the_names_of_the_specification() {
        let search = PropertySearch::new()
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
        assert_eq!(
            shown(&search),
            "PIC=QAZZ7777 FirstName=a LastName=b BusinessName=c PropertyName=d Brand=e State=QLD Postcode=4000 \
             PICStatus=Amalgamated PICType=FL Town=g"
        );
    }

    #[test]
    fn a_status_is_sent_by_name_or_by_the_code_of_the_profile() {
        let codes = BTreeMap::from([("Amalgamated".to_owned(), "M".to_owned())]);
        for (status, sent) in [
            (PropertyStatus::Amalgamated, "M"),
            (PropertyStatus::Active, "Active"),
        ] {
            let search = PropertySearch::new().status(status).checked(&codes);
            assert_eq!(search.unwrap().fields, [(STATUS, sent.to_owned())]);
        }
    }

    #[test]
    fn debug_hides_the_values() {
        let search = PropertySearch::new().last_name("hidden");
        assert!(!format!("{search:?}").contains("hidden"));
    }

    #[test]
    fn values_that_cannot_match_are_refused_before_they_are_sent() {
        for bad in [
            PropertySearch::new(),
            PropertySearch::new().pic("QAZZ777"),
            PropertySearch::new().pic("QAZZ77777"),
            PropertySearch::new().pic("QAZZ-777"),
            PropertySearch::new().postcode("400"),
            PropertySearch::new().postcode("４０００"),
            PropertySearch::new().postcode("40000"),
            PropertySearch::new().town(" "),
            PropertySearch::new().status(PropertyStatus::from("")),
            PropertySearch::text("\t"),
            PropertySearch::text("x").page_size(0),
            PropertySearch::text("x").town("y"),
        ] {
            assert_fails(bad.checked(&BTreeMap::new()), "Config");
        }
        let good = PropertySearch::new().pic(" qazz7777").postcode("0800");
        let sent = good.checked(&BTreeMap::new()).unwrap();
        assert_eq!(shown(&sent), "PIC=QAZZ7777 Postcode=0800");
    }

    #[test]
    fn unchecked_values_are_sent_as_given() {
        let bad = PropertySearch::text("x").pic("qazz77777 ").postcode("");
        let sent = bad.page_size(0).unchecked().checked(&BTreeMap::new());
        let sent = sent.unwrap();
        assert_eq!(shown(&sent), "SearchText=x PIC=qazz77777  Postcode=");
        assert_eq!(sent.page_size, Some(0));
    }
}
