//! The search by words.

use std::fmt;

use super::query::Query;
use crate::error::Result;

/// A search for words in PIC, property name, last name, town and state (spec 4.2, `SearchText`).
///
/// It cannot be combined with the fields of a [`FieldSearch`](super::FieldSearch).
///
/// ```
/// use envd_sdk::register::TextSearch;
///
/// let search = TextSearch::new("sampleton yards").page_size(50);
/// ```
#[derive(Clone)]
#[must_use]
pub struct TextSearch {
    text: String,
    page_size: Option<u32>,
}

impl TextSearch {
    /// Searches for these words.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            page_size: None,
        }
    }

    /// The number of records of a page, at least 1; the register's choice unless set. The register may give fewer.
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = Some(records);
        self
    }

    pub(super) fn query(&self) -> Result<Query> {
        Query::new(vec![("SearchText", self.text.clone())], self.page_size)
    }
}

/// What somebody searches for may be the name of a person.
impl fmt::Debug for TextSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextSearch")
            .field("page_size", &self.page_size)
            .finish_non_exhaustive()
    }
}
