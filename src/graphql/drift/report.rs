//! The report: what differs, and what it breaks.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::compare::compare;
use super::{ChangeClass, Coverage, Introspection, SchemaChange, SchemaCoordinates};
use crate::model::OneLine;

/// How the schema of a server differs from the one that this crate was written for.
///
/// `Display` is a report for people; it can also be serialised.
///
/// ```
/// use envd_sdk::graphql::{SchemaCoordinates, SchemaDrift};
///
/// let bundled = SchemaCoordinates::bundled();
/// let drift = SchemaDrift::between(&bundled, &bundled);
/// assert!(drift.changes().is_empty() && !drift.breaks());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaDrift {
    coverage: Coverage,
    changes: Vec<SchemaChange>,
    unchecked: Vec<String>,
}

impl SchemaDrift {
    /// Compares two schemas. The operations are those of this crate, so `before` is mostly the bundled schema.
    #[must_use]
    pub fn between(before: &SchemaCoordinates, after: &SchemaCoordinates) -> Self {
        Self {
            coverage: Coverage::Whole,
            changes: compare(before, after),
            unchecked: Vec::new(),
        }
    }

    /// Compares the bundled schema with what a server showed of its own.
    #[must_use]
    pub fn of(live: &Introspection) -> Self {
        let mut bundled = SchemaCoordinates::bundled();
        let mut unchecked = Vec::new();
        match live.coverage() {
            Coverage::Whole => {}
            Coverage::TypeByType => {
                // Root types may have any name, and only a whole schema says which are the roots.
                for root in ["Mutation", "Query"] {
                    if live.schema().get(root).is_none() {
                        bundled.forget(root);
                        unchecked.push(root.to_owned());
                    }
                }
            }
            Coverage::Disabled => {
                unchecked = bundled.types().map(str::to_owned).collect();
                bundled = SchemaCoordinates::default();
            }
        }
        Self {
            coverage: live.coverage(),
            changes: compare(&bundled, live.schema()),
            unchecked,
        }
    }

    /// How much the server showed of its schema.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// All differences, in the order of their coordinates.
    #[must_use]
    pub fn changes(&self) -> &[SchemaChange] {
        &self.changes
    }

    /// The types of the bundled schema that could not be compared, because the server does not show them.
    #[must_use]
    pub fn unchecked(&self) -> &[String] {
        &self.unchecked
    }

    /// Whether an operation of this crate fails at this server. Without introspection it is not known to.
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.changes.iter().any(SchemaChange::breaks)
    }

    /// The operations of this crate that fail, by their names in the specification, in alphabetical order.
    #[must_use]
    pub fn broken_operations(&self) -> Vec<&str> {
        let breaks = self.changes.iter().filter(|change| change.breaks());
        let names: BTreeSet<&str> = breaks
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
                "The server does not show its schema as a whole; its types were asked for one by one.\n",
            )?,
            Coverage::Disabled => {
                return f.write_str("The server does not show its schema: introspection is disabled.\n");
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
            (n, broken) => writeln!(f, "{n} differences; operations that break: {broken} of 15.")?,
        }
        // What concerns the reader most comes first.
        section(
            f,
            "Breaks operations",
            self.changes.iter().filter(|c| c.breaks()),
        )?;
        let of = |class, used| {
            let all = self.changes.iter();
            all.filter(move |c| c.class == class && c.operations.is_empty() != used)
        };
        section(
            f,
            "Dangerous for operations",
            of(ChangeClass::Dangerous, true),
        )?;
        section(
            f,
            "Breaking, but used by no operation",
            of(ChangeClass::Breaking, false),
        )?;
        section(
            f,
            "Dangerous, but used by no operation",
            of(ChangeClass::Dangerous, false),
        )?;
        section(f, "Safe", of(ChangeClass::Safe, false))
    }
}

fn section<'a>(
    f: &mut fmt::Formatter<'_>,
    heading: &str,
    changes: impl Iterator<Item = &'a SchemaChange>,
) -> fmt::Result {
    let mut changes = changes.peekable();
    if changes.peek().is_none() {
        return Ok(());
    }
    write!(f, "\n{heading}:\n")?;
    for change in changes {
        writeln!(f, "  {change}")?;
        if !change.operations.is_empty() {
            writeln!(f, "    used by {}", change.operations.join(", "))?;
        }
    }
    Ok(())
}
