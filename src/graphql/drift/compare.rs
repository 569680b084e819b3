//! What differs between two schemas.

use std::collections::{BTreeMap, BTreeSet};

use super::coordinates::{Element, Role, parent};
use super::{ChangeClass, ChangeKind, SchemaChange, SchemaCoordinates, wire_type};

/// The coordinates that each operation of this crate uses, by the operation's name in the specification.
pub(super) fn used() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let lines = include_str!("used.txt").lines();
    lines
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.collect()))
        })
        .collect()
}

/// All differences, in the order of their coordinates. What stands below something that came or went is not told again.
pub(super) fn compare(before: &SchemaCoordinates, after: &SchemaCoordinates) -> Vec<SchemaChange> {
    let used = used();
    let all: BTreeSet<&String> = before.0.keys().chain(after.0.keys()).collect();
    let mut changes = Vec::new();
    for coordinate in all {
        let there = |schema: &SchemaCoordinates| {
            parent(coordinate).is_none_or(|parent| schema.0.contains_key(parent))
        };
        let found: &[Found] = match (before.0.get(coordinate), after.0.get(coordinate)) {
            (Some(old), Some(new)) => &both(before.role(coordinate), old, new),
            (Some(old), None) if there(after) => &[removed(old)],
            (None, Some(new)) if there(before) => &[added(after.role(coordinate), new)],
            _ => &[],
        };
        let role = if before.0.contains_key(coordinate) {
            before.role(coordinate)
        } else {
            after.role(coordinate)
        };
        for found in found {
            changes.push(SchemaChange {
                coordinate: coordinate.clone(),
                kind: found.kind,
                class: found.class,
                before: found.before.clone(),
                after: found.after.clone(),
                operations: touched(coordinate, role, found, &used),
            });
        }
    }
    changes
}

struct Found {
    kind: ChangeKind,
    class: ChangeClass,
    before: Option<String>,
    after: Option<String>,
}

fn removed(old: &Element) -> Found {
    Found {
        kind: ChangeKind::Removed,
        class: ChangeClass::Breaking,
        before: Some(old.text.clone()),
        after: None,
    }
}

fn added(role: Role, new: &Element) -> Found {
    let demanded = new.text.ends_with('!') && new.default.is_none();
    let class = match role {
        Role::Argument | Role::InputField if demanded => ChangeClass::Breaking,
        // The server may behave differently where nothing is sent; a new code is one that no program knows.
        Role::Argument | Role::InputField | Role::EnumValue => ChangeClass::Dangerous,
        Role::Type | Role::Field => ChangeClass::Safe,
    };
    Found {
        kind: ChangeKind::Added,
        class,
        before: None,
        after: Some(new.text.clone()),
    }
}

fn both(role: Role, old: &Element, new: &Element) -> Vec<Found> {
    let mut found = Vec::new();
    if old.text != new.text {
        let class = match role {
            Role::Field => wire_type::read(&old.text, &new.text),
            Role::Argument | Role::InputField => wire_type::sent(&old.text, &new.text),
            Role::Type | Role::EnumValue => ChangeClass::Breaking,
        };
        found.push(Found {
            kind: ChangeKind::Retyped,
            class,
            before: Some(old.text.clone()),
            after: Some(new.text.clone()),
        });
    }
    if old.default != new.default {
        found.push(Found {
            kind: ChangeKind::DefaultChanged,
            class: ChangeClass::Dangerous,
            before: old.default.clone(),
            after: new.default.clone(),
        });
    }
    if new.deprecated && !old.deprecated {
        found.push(Found {
            kind: ChangeKind::Deprecated,
            class: ChangeClass::Dangerous,
            before: None,
            after: None,
        });
    }
    found
}

/// The operations that use a coordinate, or to which something is added.
fn touched(
    coordinate: &str,
    role: Role,
    found: &Found,
    used: &BTreeMap<&'static str, BTreeSet<&'static str>>,
) -> Vec<String> {
    if found.class == ChangeClass::Safe {
        return Vec::new();
    }
    // Values of enums are not named in documents: whoever uses the enum may meet any of them.
    let by_parent = found.kind == ChangeKind::Added || role == Role::EnumValue;
    let wanted = match parent(coordinate) {
        Some(parent) if by_parent => parent,
        _ => coordinate,
    };
    let operations = used.iter().filter(|(_, used)| used.contains(wanted));
    operations.map(|(name, _)| (*name).to_owned()).collect()
}
