//! Fields that this version of the crate does not know.

use std::fmt;

use serde_json::{Map, Value};

/// Usually none: then it costs a null pointer.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Unknown(Option<Box<Map<String, Value>>>);

impl Unknown {
    pub(super) fn keep(&mut self, name: String, value: Value) {
        self.0.get_or_insert_default().insert(name, value);
    }

    pub(super) fn get(&self) -> Option<&Map<String, Value>> {
        self.0.as_deref()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.get().into_iter().flatten()
    }
}

/// The names only: what the values are, nobody knows.
impl fmt::Debug for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|(name, _)| name))
            .finish()
    }
}
