//! What is searched for, and the check before it is sent.

use super::{FieldSearch, TextSearch};
use crate::error::{Error, Result};
use crate::model::Pic;

/// What is searched for: a [`TextSearch`] or a [`FieldSearch`], never both (spec 4.2).
#[derive(Clone, Debug)]
pub struct Terms(Either);

#[derive(Clone, Debug)]
enum Either {
    Text(TextSearch),
    Fields(FieldSearch),
}

/// The parameters by their names in the table of spec 4.2, and the size of a page.
pub(super) struct Query {
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) page_size: Option<u32>,
}

impl Terms {
    pub(super) fn query(&self, page_size: Option<u32>) -> Query {
        let fields = match &self.0 {
            Either::Text(search) => search.fields(),
            Either::Fields(search) => search.fields().to_vec(),
        };
        Query { fields, page_size }
    }
}

impl Query {
    /// Refuses what cannot be meant, and writes a PIC as [`Pic`] does.
    pub(super) fn checked(mut self) -> Result<Self> {
        if self.fields.is_empty() {
            return Err(Error::config("a search needs something to search for"));
        }
        if self.page_size == Some(0) {
            return Err(Error::config("a page needs at least one record"));
        }
        for (name, value) in &mut self.fields {
            match *name {
                "PIC" => match Pic::parse(value) {
                    Ok(pic) => *value = pic.into(),
                    Err(_) => return Err(Error::config("PIC must have 8 letters or digits")),
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
        Ok(self)
    }
}

impl From<TextSearch> for Terms {
    fn from(search: TextSearch) -> Self {
        Self(Either::Text(search))
    }
}

impl From<FieldSearch> for Terms {
    fn from(search: FieldSearch) -> Self {
        Self(Either::Fields(search))
    }
}

impl From<&TextSearch> for Terms {
    fn from(search: &TextSearch) -> Self {
        search.clone().into()
    }
}

impl From<&FieldSearch> for Terms {
    fn from(search: &FieldSearch) -> Self {
        search.clone().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(terms: impl Into<Terms>, page_size: Option<u32>) -> Result<Query> {
        terms.into().query(page_size).checked()
    }

    #[test]
    fn values_that_cannot_fit_are_refused_before_they_are_sent() {
        for bad in [
            FieldSearch::new(),
            FieldSearch::new().pic("QAZZ777"),
            FieldSearch::new().pic("QAZZ77777"),
            FieldSearch::new().pic("QAZZ-777"),
            FieldSearch::new().postcode("400"),
            FieldSearch::new().postcode("４０００"),
            FieldSearch::new().postcode("40000"),
            FieldSearch::new().town(" "),
            FieldSearch::new().status_code(""),
        ] {
            assert!(check(&bad, None).err().unwrap().is_config(), "{bad:?}");
        }
        assert!(check(TextSearch::new("\t"), None).is_err());
        assert!(check(TextSearch::new("x"), Some(0)).is_err());
        let good = FieldSearch::new().pic(" qazz7777").postcode("0800");
        let sent = check(&good, Some(1)).unwrap().fields;
        assert_eq!(
            sent,
            [
                ("PIC", "QAZZ7777".to_owned()),
                ("Postcode", "0800".to_owned())
            ]
        );
    }

    #[test]
    fn what_is_not_checked_stays_as_it_was_given() {
        let bad = Terms::from(FieldSearch::new().pic("qazz77777 ").postcode(""));
        let sent = bad.query(Some(0));
        assert_eq!(
            sent.fields,
            [
                ("PIC", "qazz77777 ".to_owned()),
                ("Postcode", String::new())
            ]
        );
        assert_eq!(sent.page_size, Some(0));
    }
}
