//! One difference between two schemas.

use std::fmt;

use serde::Serialize;

use crate::model::OneLine;

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
        // Names and defaults are what the server says they are.
        let (at, before, after) = (OneLine(&self.coordinate), OneLine(before), OneLine(after));
        match self.kind {
            ChangeKind::Removed => write!(f, "{at} was removed (it was {before})"),
            ChangeKind::Added => write!(f, "{at} was added ({after})"),
            ChangeKind::Retyped => write!(f, "{at} was {before} and is {after}"),
            ChangeKind::DefaultChanged => {
                write!(f, "{at} had the default {before} and has {after}")
            }
            ChangeKind::Deprecated => write!(f, "{at} is deprecated"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_the_server_forges_no_line() {
        let change = SchemaChange {
            coordinate: "Query.a\nSafe:\u{1b}[2J".to_owned(),
            kind: ChangeKind::Retyped,
            class: ChangeClass::Breaking,
            before: Some("Int".to_owned()),
            after: Some("\u{202e}".to_owned()),
            operations: Vec::new(),
        };
        assert_eq!(
            change.to_string(),
            r"Query.a\nSafe:\u{1b}[2J was Int and is \u{202e}"
        );
    }
}
