//! Types of fields and arguments, and what a change of one does.

use super::ChangeClass;

/// A type as GraphQL writes it, such as `[Comment!]!`.
enum WireType<'a> {
    Named(&'a str),
    List(Box<Self>),
    NonNull(Box<Self>),
}

impl<'a> WireType<'a> {
    fn parse(text: &'a str) -> Self {
        if let Some(inner) = text.strip_suffix('!') {
            return Self::NonNull(Self::parse(inner).into());
        }
        match text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
        {
            Some(inner) => Self::List(Self::parse(inner).into()),
            None => Self::Named(text),
        }
    }
}

/// What it does to a reader that a field has another type.
pub(super) fn read(before: &str, after: &str) -> ChangeClass {
    output(&WireType::parse(before), &WireType::parse(after))
}

/// What it does to a sender that an argument or a field of an input has another type.
pub(super) fn sent(before: &str, after: &str) -> ChangeClass {
    input(&WireType::parse(before), &WireType::parse(after))
}

fn output(before: &WireType<'_>, after: &WireType<'_>) -> ChangeClass {
    use WireType::{List, Named, NonNull};
    match (before, after) {
        (NonNull(before), NonNull(after)) | (List(before), List(after)) => output(before, after),
        // Our records read null everywhere; the code that uses them may not expect it.
        (NonNull(before), after) => output(before, after).max(ChangeClass::Dangerous),
        (before, NonNull(after)) => output(before, after),
        (Named(before), Named(after)) if before == after => ChangeClass::Safe,
        _ => ChangeClass::Breaking,
    }
}

fn input(before: &WireType<'_>, after: &WireType<'_>) -> ChangeClass {
    use WireType::{List, Named, NonNull};
    match (before, after) {
        (NonNull(before), NonNull(after)) | (List(before), List(after)) => input(before, after),
        (NonNull(before), after) => input(before, after),
        (Named(before), Named(after)) if before == after => ChangeClass::Safe,
        _ => ChangeClass::Breaking,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::ChangeClass::{Breaking, Dangerous, Safe};

    #[test]
    fn a_reader_minds_new_nulls_and_a_sender_minds_new_demands() {
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
            assert_eq!(read(before, after), to_read, "{before} {after}");
            assert_eq!(sent(before, after), to_send, "{before} {after}");
        }
    }
}
