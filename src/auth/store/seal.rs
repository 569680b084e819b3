//! What stands in a record that is encrypted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An encrypted record: the text, and which key it takes.
#[derive(Clone, Serialize, Deserialize)]
pub struct Seal {
    key_id: String,
    text: String,
}

impl Seal {
    /// Puts an encrypted record and the id of its key together.
    #[must_use]
    pub fn new(key_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            key_id: key_id.into(),
            text: text.into(),
        }
    }

    /// Which key it takes. Stored in the clear.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The encrypted record, in whatever text the wrapper writes.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seal")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}
