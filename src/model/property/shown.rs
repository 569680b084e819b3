//! Whether `Debug` shows people and firms.

use std::fmt;

use crate::model::hidden::Hidden;

/// Writes a record's fields, the personal ones as they are or hidden.
pub(super) trait Fields {
    fn fields(&self, f: &mut fmt::Formatter<'_>, show: bool) -> fmt::Result;
}

/// A record of which `Debug` shows everything.
pub(super) struct Shown<'a, T>(pub(super) &'a T);

impl<T: Fields> fmt::Debug for Shown<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fields(f, true)
    }
}

/// A personal field.
#[allow(clippy::ref_option)] // OK because records hold the field so, and hiding it asks only whether it is there.
pub(super) fn personal(field: &Option<String>, show: bool) -> Personal<'_> {
    Personal { field, show }
}

pub(super) struct Personal<'a> {
    field: &'a Option<String>,
    show: bool,
}

impl fmt::Debug for Personal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.show {
            self.field.fmt(f)
        } else {
            Hidden::of(self.field).fmt(f)
        }
    }
}
