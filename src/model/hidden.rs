//! How `Debug` shows what it must not show.

use std::fmt;

use super::Maybe;

/// Says only whether there is something.
pub(super) struct Hidden(Option<bool>);

impl Hidden {
    pub(super) fn of(field: &impl State) -> Self {
        Self(field.state())
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(true) => "[redacted]",
            Some(false) => "null",
            None => "absent",
        })
    }
}

/// Whether a field is there, null or absent.
pub(super) trait State {
    fn state(&self) -> Option<bool>;
}

impl<T> State for Option<T> {
    fn state(&self) -> Option<bool> {
        Some(self.is_some())
    }
}

impl<T> State for Maybe<T> {
    fn state(&self) -> Option<bool> {
        match self {
            Self::Absent => None,
            Self::Null => Some(false),
            Self::Value(_) => Some(true),
        }
    }
}

impl State for String {
    fn state(&self) -> Option<bool> {
        Some(true)
    }
}
