//! What a call brings.

use crate::error::{Error, Result};

/// The value of a call, and what is known of the request that brought it.
pub(crate) struct Exchanged<T> {
    pub(crate) value: T,
    /// The JSON of the value, if the call keeps it.
    pub(crate) json: Option<Box<str>>,
    /// How often the request was sent.
    pub(crate) attempts: u32,
}

impl<T> Exchanged<T> {
    /// A value that comes without a request of its own.
    pub(crate) fn new(value: T) -> Self {
        Self {
            value,
            json: None,
            attempts: 0,
        }
    }

    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Exchanged<U> {
        Exchanged {
            value: change(self.value),
            json: self.json,
            attempts: self.attempts,
        }
    }

    pub(crate) fn try_map<U>(self, change: impl FnOnce(T) -> Result<U>) -> Result<Exchanged<U>> {
        let attempts = self.attempts;
        let value = change(self.value).map_err(|error| error.with_attempts(attempts))?;
        Ok(Exchanged {
            value,
            json: self.json,
            attempts,
        })
    }

    /// An error that was found in the value.
    pub(super) fn failed(self, error: Error) -> Error {
        error.with_attempts(self.attempts)
    }
}
