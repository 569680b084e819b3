//! A search that was checked.

use crate::error::{Error, Result};

/// The parameters by their names in the table of spec 4.2, and the size of a page.
#[derive(Clone)]
pub(super) struct Query {
    pub(super) fields: Vec<(&'static str, String)>,
    pub(super) page_size: Option<u32>,
}

impl Query {
    pub(super) fn new(fields: Vec<(&'static str, String)>, page_size: Option<u32>) -> Result<Self> {
        if fields.is_empty() {
            return Err(Error::config("a search needs something to search for"));
        }
        if let Some((name, _)) = fields.iter().find(|(_, value)| value.trim().is_empty()) {
            return Err(Error::config(format!("{name} must not be empty")));
        }
        if page_size == Some(0) {
            return Err(Error::config("a page needs at least one record"));
        }
        Ok(Self { fields, page_size })
    }
}
