//! The search by words.

use std::fmt;

/// A search for words in PIC, property name, last name, town and state (spec 4.2, `SearchText`).
///
/// It cannot be combined with the fields of a [`FieldSearch`](super::FieldSearch).
///
/// ```
/// use envd_sdk::register::TextSearch;
///
/// let search = TextSearch::new("sampleton yards");
/// ```
#[derive(Clone)]
#[must_use]
#[doc(alias = "SearchText")]
pub struct TextSearch(String);

impl TextSearch {
    /// Searches for these words.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        vec![("SearchText", self.0.clone())]
    }
}

/// What somebody searches for may be the name of a person.
impl fmt::Debug for TextSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextSearch([redacted])")
    }
}
