//! What differs between two schemas.

use std::collections::{BTreeMap, BTreeSet};

use super::schema_table::{Element, Role, SchemaTable, parent};
use super::{ChangeClass, ChangeKind, SchemaChange};

/// The coordinates that each operation of this crate uses, by the operation's name in the specification.
type Used = BTreeMap<&'static str, BTreeSet<&'static str>>;

fn used() -> Used {
    include_str!("used.txt")
        .lines()
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
    let (old, new) = (before.0.get(coordinate), after.0.get(coordinate));
    if (old.is_none() && !has_parent(before)) || (new.is_none() && !has_parent(after)) {
        return Vec::new();
    }
    differences(role, old, new)
        .into_iter()
        .map(|(kind, class, before, after)| SchemaChange {
            coordinate: coordinate.to_owned(),
            kind,
            class,
            before: before.cloned(),
            after: after.cloned(),
            operations: affected_operations(coordinate, role, kind, class, used),
        })
        .collect()
}

/// What differs, with the type, kind or default before and after.
type Difference<'a> = (
    ChangeKind,
    ChangeClass,
    Option<&'a String>,
    Option<&'a String>,
);

fn differences<'a>(
    role: Role,
    old: Option<&'a Element>,
    new: Option<&'a Element>,
) -> Vec<Difference<'a>> {
    let (old_text, new_text) = (old.map(|old| &old.text), new.map(|new| &new.text));
    let (Some(old), Some(new)) = (old, new) else {
        let (kind, class) = match new {
            None => (ChangeKind::Removed, ChangeClass::Breaking),
            Some(new) => (ChangeKind::Added, class_of_added(role, new)),
        };
        return vec![(kind, class, old_text, new_text)];
    };
    let mut found = Vec::new();
    if old.text != new.text {
        let class = class_of_type(&old.text, &new.text, role == Role::Sent);
        found.push((ChangeKind::Retyped, class, old_text, new_text));
    }
    let class = ChangeClass::Dangerous;
    if old.default != new.default {
        let (old, new) = (old.default.as_ref(), new.default.as_ref());
        found.push((ChangeKind::DefaultChanged, class, old, new));
    }
    if new.deprecated && !old.deprecated {
        found.push((ChangeKind::Deprecated, class, None, None));
    }
    found
}

fn class_of_added(role: Role, new: &Element) -> ChangeClass {
    let is_required = new.text.ends_with('!') && new.default.is_none();
    match role {
        Role::Sent if is_required => ChangeClass::Breaking,
        // The server may behave differently when the value is not sent; programs do not handle a new code.
        Role::Sent | Role::EnumValue => ChangeClass::Dangerous,
        Role::Read => ChangeClass::Safe,
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
    used.iter()
        .filter(|(_, used)| used.contains(wanted))
        .map(|(name, _)| (*name).to_owned())
        .collect()
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
