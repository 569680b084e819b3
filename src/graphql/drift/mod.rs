//! Compares the live schema with the bundled schema.
//!
//! Both schemas become tables of coordinates (`Query.comments(envdAccountId:)` and its type), the tables are compared, and
//! each difference is joined with the operations of this crate that use the coordinate. The table of the bundled schema
//! and the coordinates of each operation are written by `tests/codegen`.

mod compare;
mod schema_table;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

pub(crate) use self::schema_table::introspections;

use self::compare::compare;
use self::schema_table::SchemaTable;
use super::catalogue::CATALOGUE;
use crate::model::OneLine;

/// What a difference does to a program that was written for the schema before.
///
/// Of a [`SchemaChange`]. See [`Client::schema_drift`](crate::Client::schema_drift) for an example.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ChangeKind {
    Removed,
    Added,
    Retyped,
    DefaultChanged,
    Deprecated,
}

/// How much of its schema a server showed.
///
/// From [`SchemaDrift::coverage`]. See [`Client::schema_drift`](crate::Client::schema_drift) for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Coverage {
    /// All of it.
    Whole,
    /// Introspection is disabled, but the server showed the types of this crate one by one.
    TypeByType,
    /// Nothing: introspection is disabled.
    Disabled,
}

/// One difference between the bundled schema and the schema of a server.
///
/// From [`SchemaDrift::changes`]. See [`Client::schema_drift`](crate::Client::schema_drift) for an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SchemaChange {
    /// Where, as a schema coordinate: `Type`, `Type.field`, `Type.field(argument:)`, `Enum.VALUE`.
    pub coordinate: String,
    kind: ChangeKind,
    /// What it does to those that use it.
    pub class: ChangeClass,
    /// The type, kind or default in the bundled schema; `None` for what was added.
    pub before: Option<String>,
    /// The type, kind or default at the server; `None` for what was removed.
    pub after: Option<String>,
    /// The operations of this crate that are affected, by their names in the specification, such as
    /// `createOrSaveConsignment`. Always empty for a safe change.
    pub operations: Vec<String>,
}

impl SchemaChange {
    fn breaks(&self) -> bool {
        self.class == ChangeClass::Breaking && !self.operations.is_empty()
    }
}

impl fmt::Display for SchemaChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The server chooses the names and defaults.
        let [at, before, after] = [
            Some(&self.coordinate),
            self.before.as_ref(),
            self.after.as_ref(),
        ]
        .map(|text| OneLine(text.map_or("none", String::as_str)));
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

/// The differences between the schema of a server and the bundled schema, from
/// [`Client::schema_drift`](crate::Client::schema_drift).
///
/// `Display` is a report for people; it can also be serialised.
///
/// See [`Client::schema_drift`](crate::Client::schema_drift) for an example.
#[doc(alias = "introspection")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaDrift {
    coverage: Coverage,
    changes: Vec<SchemaChange>,
    unchecked: Vec<String>,
}

impl SchemaDrift {
    /// From the `data` of the reply to one of the [`introspections`]; `None` when it shows no schema.
    pub(crate) fn read(coverage: Coverage, data: &Value) -> Option<Self> {
        let mut bundled = SchemaTable::bundled();
        let mut unchecked = Vec::new();
        let live = if coverage == Coverage::Whole {
            SchemaTable::read_whole(data)?
        } else {
            let live = SchemaTable::read_types(data)?;
            // Root types may have any name, and only a whole schema marks the roots.
            for root in ["Mutation", "Query"] {
                if !live.contains(root) {
                    bundled.remove_type(root);
                    unchecked.push(root.to_owned());
                }
            }
            live
        };
        Some(Self {
            coverage,
            changes: compare(&bundled, &live),
            unchecked,
        })
    }

    /// For a server that shows nothing of its schema.
    pub(crate) fn disabled() -> Self {
        Self {
            coverage: Coverage::Disabled,
            changes: Vec::new(),
            unchecked: SchemaTable::bundled().types().map(str::to_owned).collect(),
        }
    }

    /// How much the server showed of its schema.
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// All differences, in the order of their coordinates.
    pub fn changes(&self) -> &[SchemaChange] {
        &self.changes
    }

    /// The types of the bundled schema that could not be compared, because the server does not show them.
    pub fn unchecked(&self) -> &[String] {
        &self.unchecked
    }

    /// Whether an operation of this crate fails at this server; false when the server does not show its schema.
    pub fn breaks(&self) -> bool {
        self.changes.iter().any(SchemaChange::breaks)
    }

    /// The operations of this crate that fail, by their names in the specification, in alphabetical order.
    pub fn broken_operations(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self
            .changes
            .iter()
            .filter(|change| change.breaks())
            .flat_map(|change| change.operations.iter().map(String::as_str))
            .collect();
        names.into_iter().collect()
    }
}

impl fmt::Display for SchemaDrift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.coverage {
            Coverage::Whole => {}
            Coverage::TypeByType => f.write_str(
                "The server does not show its schema as a whole; its types were read one by one.\n",
            )?,
            Coverage::Disabled => {
                return f.write_str(
                    "The server does not show its schema: introspection is disabled.\n",
                );
            }
        }
        if !self.unchecked.is_empty() {
            let names = self.unchecked.join(", ");
            writeln!(f, "Not compared: {}.", OneLine(&names))?;
        }
        match (self.changes.len(), self.broken_operations().len()) {
            (0, _) => return f.write_str("The schema of the server is the bundled one.\n"),
            (1, 0) => f.write_str("1 difference; it breaks no operation.\n")?,
            (n, 0) => writeln!(f, "{n} differences; they break no operation.")?,
            (n, broken) => writeln!(
                f,
                "{n} differences; documents that break: {broken} of {}.",
                CATALOGUE.len()
            )?,
        }
        // The most important first.
        for (heading, class, used) in [
            ("Breaks operations", ChangeClass::Breaking, true),
            ("Dangerous for operations", ChangeClass::Dangerous, true),
            (
                "Breaking, but used by no operation",
                ChangeClass::Breaking,
                false,
            ),
            (
                "Dangerous, but used by no operation",
                ChangeClass::Dangerous,
                false,
            ),
            ("Safe", ChangeClass::Safe, false),
        ] {
            let mut heading = Some(heading);
            let in_section = |change: &&SchemaChange| {
                change.class == class && change.operations.is_empty() != used
            };
            for change in self.changes.iter().filter(in_section) {
                if let Some(heading) = heading.take() {
                    write!(f, "\n{heading}:\n")?;
                }
                writeln!(f, "  {change}")?;
                if used {
                    writeln!(f, "    used by {}", change.operations.join(", "))?;
                }
            }
        }
        Ok(())
    }
}
