//! What differs between two schemas.

use std::collections::{BTreeMap, BTreeSet};

use super::schema_table::{Role, SchemaTable, parent};
use super::{ChangeClass, ChangeKind, SchemaChange};

/// The coordinates that each operation of this crate uses, by the operation's name in the specification.
type Used = BTreeMap<&'static str, BTreeSet<&'static str>>;

fn used() -> Used {
    let lines = include_str!("used.txt").lines();
    lines
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.collect()))
        })
        .collect()
}

/// All differences, in the order of their coordinates. What is below an added or removed element is not listed again.
pub(super) fn compare(before: &SchemaTable, after: &SchemaTable) -> Vec<SchemaChange> {
    let used = used();
    let all: BTreeSet<&String> = before.0.keys().chain(after.0.keys()).collect();
    all.into_iter()
        .flat_map(|coordinate| changes_at(coordinate, before, after, &used))
        .collect()
}

fn changes_at(
    coordinate: &str,
    before: &SchemaTable,
    after: &SchemaTable,
    used: &Used,
) -> Vec<SchemaChange> {
    let table = if before.contains(coordinate) {
        before
    } else {
        after
    };
    let role = table.role(coordinate);
    let has_parent =
        |table: &SchemaTable| parent(coordinate).is_none_or(|parent| table.contains(parent));
    let change = |kind, class, before: Option<&String>, after: Option<&String>| SchemaChange {
        coordinate: coordinate.to_owned(),
        kind,
        class,
        before: before.cloned(),
        after: after.cloned(),
        operations: affected_operations(coordinate, role, kind, class, used),
    };
    match (before.0.get(coordinate), after.0.get(coordinate)) {
        (Some(old), Some(new)) => {
            let mut changes = Vec::new();
            if old.text != new.text {
                let class = class_of_type(&old.text, &new.text, role == Role::Sent);
                let (old, new) = (Some(&old.text), Some(&new.text));
                changes.push(change(ChangeKind::Retyped, class, old, new));
            }
            if old.default != new.default {
                let (kind, class) = (ChangeKind::DefaultChanged, ChangeClass::Dangerous);
                changes.push(change(
                    kind,
                    class,
                    old.default.as_ref(),
                    new.default.as_ref(),
                ));
            }
            if new.deprecated && !old.deprecated {
                changes.push(change(
                    ChangeKind::Deprecated,
                    ChangeClass::Dangerous,
                    None,
                    None,
                ));
            }
            changes
        }
        (Some(old), None) if has_parent(after) => {
            vec![change(
                ChangeKind::Removed,
                ChangeClass::Breaking,
                Some(&old.text),
                None,
            )]
        }
        (None, Some(new)) if has_parent(before) => {
            let is_required = new.text.ends_with('!') && new.default.is_none();
            let class = match role {
                Role::Sent if is_required => ChangeClass::Breaking,
                // The server may behave differently where nothing is sent; no program knows a new code.
                Role::Sent | Role::EnumValue => ChangeClass::Dangerous,
                Role::Read => ChangeClass::Safe,
            };
            vec![change(ChangeKind::Added, class, None, Some(&new.text))]
        }
        _ => Vec::new(),
    }
}

/// What another type does to those that read a field, or that send an argument or a field of an input.
fn class_of_type(before: &str, after: &str, sent: bool) -> ChangeClass {
    let inside_list = |text: &str| Some(text.strip_prefix('[')?.strip_suffix(']')?.to_owned());
    match (before.strip_suffix('!'), after.strip_suffix('!')) {
        (Some(before), Some(after)) => class_of_type(before, after, sent),
        (Some(before), None) if sent => class_of_type(before, after, sent),
        // Our records read null everywhere; the code that uses them may not expect it.
        (Some(before), None) => class_of_type(before, after, sent).max(ChangeClass::Dangerous),
        (None, Some(_)) if sent => ChangeClass::Breaking,
        (None, Some(after)) => class_of_type(before, after, sent),
        (None, None) => match (inside_list(before), inside_list(after)) {
            (Some(before), Some(after)) => class_of_type(&before, &after, sent),
            _ if before == after => ChangeClass::Safe,
            _ => ChangeClass::Breaking,
        },
    }
}

/// The operations that use a coordinate, or to which something is added.
fn affected_operations(
    coordinate: &str,
    role: Role,
    kind: ChangeKind,
    class: ChangeClass,
    used: &Used,
) -> Vec<String> {
    if class == ChangeClass::Safe {
        return Vec::new();
    }
    // Documents do not name the values of enums: what uses the enum may receive any of them.
    let by_parent = kind == ChangeKind::Added || role == Role::EnumValue;
    let wanted = match parent(coordinate) {
        Some(parent) if by_parent => parent,
        _ => coordinate,
    };
    let operations = used.iter().filter(|(_, used)| used.contains(wanted));
    operations.map(|(name, _)| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::ChangeClass::{Breaking, Dangerous, Safe};
    use super::*;

    #[test]
    fn a_new_null_is_dangerous_to_read_and_a_new_requirement_breaks_what_is_sent() {
        for (before, after, to_read, to_send) in [
            ("Int", "Int", Safe, Safe),
            ("Int", "Int!", Safe, Breaking),
            ("Int!", "Int", Dangerous, Safe),
            ("[Int]", "[Int!]!", Safe, Breaking),
            ("[Int!]!", "[Int]", Dangerous, Safe),
            ("[Int!]", "[Int]", Dangerous, Safe),
            ("Int", "[Int]", Breaking, Breaking),
            ("Int!", "String!", Breaking, Breaking),
            ("[[Int]]", "[Int]", Breaking, Breaking),
        ] {
            let class = |sent| class_of_type(before, after, sent);
            assert_eq!(
                (class(false), class(true)),
                (to_read, to_send),
                "{before} {after}"
            );
        }
    }
}
