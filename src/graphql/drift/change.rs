//! One difference between two schemas.

use std::fmt;

use serde::Serialize;

/// What a difference does to a program that was written for the schema before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ChangeClass {
    /// Nothing.
    Safe,
    /// It runs, and may meet what it does not expect: a null, a new code, another default.
    Dangerous,
    /// What uses it fails.
    Breaking,
}

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// It is there no more.
    Removed,
    /// It was not there before.
    Added,
    /// It has another type, or is another kind of type.
    Retyped,
    /// It has another default.
    DefaultChanged,
    /// It is marked as deprecated.
    Deprecated,
}

/// One difference between the schema before and the schema after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SchemaChange {
    /// Where, as a schema coordinate: `Type`, `Type.field`, `Type.field(argument:)`, `Enum.VALUE`.
    pub coordinate: String,
    /// What differs.
    pub kind: ChangeKind,
    /// What it does to those that use it.
    pub class: ChangeClass,
    /// The type, kind or default before.
    pub before: Option<String>,
    /// The type, kind or default after.
    pub after: Option<String>,
    /// The operations of this crate that are touched, by their names in the specification, such as
    /// `createOrSaveConsignment`. Always empty for what is safe.
    pub operations: Vec<String>,
}

impl SchemaChange {
    /// Whether an operation of this crate fails because of it.
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.class == ChangeClass::Breaking && !self.operations.is_empty()
    }
}

impl fmt::Display for SchemaChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (
            self.before.as_deref().unwrap_or("none"),
            self.after.as_deref().unwrap_or("none"),
        );
        write!(f, "{} ", self.coordinate)?;
        match self.kind {
            ChangeKind::Removed => write!(f, "was removed (it was {before})"),
            ChangeKind::Added => write!(f, "was added ({after})"),
            ChangeKind::Retyped => write!(f, "was {before} and is {after}"),
            ChangeKind::DefaultChanged => write!(f, "had the default {before} and has {after}"),
            ChangeKind::Deprecated => f.write_str("is deprecated"),
        }
    }
}
