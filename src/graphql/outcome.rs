//! What a call gave.

use serde_json::Value;

use crate::error::{Error, Kind};
use crate::model::ServerError;

/// What a call gave: the value, and what the server had to say beside it.
///
/// The server sends warnings beside data (spec 7.1: a 201 may carry them; 7.2: a missing answer is reported, and the
/// record saved all the same).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// What was asked for.
    pub value: T,
    /// What the server said beside it; mostly empty.
    pub problems: Vec<ServerError>,
    pub(super) status: u16,
    pub(super) extensions: Option<Value>,
}

impl<T> Outcome<T> {
    /// The HTTP status of the reply, such as 201 for a record that was created (spec 7.1).
    #[must_use]
    pub fn http_status(&self) -> u16 {
        self.status
    }

    /// The `extensions` beside data and errors, as they were received; servers put timings and the like there.
    #[must_use]
    pub fn extensions(&self) -> Option<&Value> {
        self.extensions.as_ref()
    }

    /// The value, or an error if the server said anything was wrong.
    ///
    /// # Errors
    ///
    /// [`is_rejected`](Error::is_rejected) when there are problems; a change is carried out all the same, which
    /// [`may_have_applied`](Error::may_have_applied) says.
    pub fn strict(self) -> Result<T, Error> {
        if self.problems.is_empty() {
            return Ok(self.value);
        }
        Err(rejected(self.status, self.problems).with_may_have_applied(true))
    }

    /// Takes a part of the value.
    pub(crate) fn part<U>(
        self,
        operation: &str,
        part: impl FnOnce(T) -> Option<U>,
    ) -> Result<Outcome<U>, Error> {
        match part(self.value) {
            Some(value) => Ok(Outcome {
                value,
                problems: self.problems,
                status: self.status,
                extensions: self.extensions,
            }),
            None if self.problems.is_empty() => {
                Err(Error::protocol("the reply has no record").with_operation(operation))
            }
            None => Err(rejected(self.status, self.problems).with_operation(operation)),
        }
    }
}

fn rejected(status: u16, errors: Vec<ServerError>) -> Error {
    Error::new(Kind::Rejected { status, errors })
}
