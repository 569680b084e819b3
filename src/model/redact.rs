//! Decides which values, names and texts may appear in `Debug`, errors and reports.
//!
//! Of the names that a server chooses (JSON keys, paths, codes), only known ones are shown: any other may be a value, personal
//! data or a forged log line.

// Without the client, little of this is used, and derived `Debug` impls do not count as use.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fmt::{self, Write};
use std::sync::LazyLock;

use serde_json::{Value, json};

use super::server_error::is_old_name;
use super::{Maybe, Property, PropertyContact, ServerError};

/// The elements of the schema in order, one coordinate per line: `Type.field String`, `Type.field(argument:) Int`.
const COORDINATES: &str = include_str!("coordinates.txt");

/// The fields of each object type of the schema, with their types.
pub(crate) static FIELDS: LazyLock<HashMap<&str, Vec<(&str, &str)>>> = LazyLock::new(|| {
    let mut fields: HashMap<_, Vec<_>> = HashMap::new();
    let lines = COORDINATES.lines().filter_map(|line| line.split_once(' '));
    for (coordinate, of) in lines.filter(|(_, of)| *of != "value") {
        if let Some((name, field)) = coordinate.split_once('.') {
            fields
                .entry(name)
                .or_default()
                .push((field, of.trim_end_matches('!')));
        }
    }
    fields
});

/// The names around records: the envelope of GraphQL, and of the register (spec 2.10).
const ENVELOPE: [&str; 12] = [
    "data",
    "errors",
    "extensions",
    "message",
    "path",
    "locations",
    "Value",
    "Offset",
    "Limit",
    "Total",
    "SubSet",
    "Message",
];

/// The codes of spec 7.2, and of GraphQL servers with recognised errors.
const CODES: &str = include_str!("known_codes.txt");

/// Register records with all fields.
static REGISTER: LazyLock<[Value; 2]> = LazyLock::new(|| {
    [
        json!(Property::default()),
        json!(PropertyContact::default()),
    ]
});

/// Whether a field, an argument or an operation has this name.
fn is_known(name: &str) -> bool {
    let in_schema = |line: &str| {
        let coordinate = line
            .split_once(' ')
            .map_or(line, |(coordinate, _)| coordinate);
        let Some((_, member)) = coordinate.split_once('.') else {
            return false;
        };
        let (field, argument) = member.split_once('(').unwrap_or((member, ""));
        field == name || argument.strip_suffix(":)") == Some(name)
    };
    ENVELOPE.contains(&name)
        || REGISTER.iter().any(|record| record.get(name).is_some())
        || is_old_name(name)
        || COORDINATES.lines().any(in_schema)
}

/// A list position or a question id. Longer numbers may be telephone numbers.
fn is_number(text: &str) -> bool {
    (1..=6).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())
}

/// Formats a path such as `data.consignments.edges[0].node`, with `[..]` for each unknown name.
pub(crate) fn shown_path(path: &str) -> String {
    let mut shown = String::new();
    for part in path.split(['.', '[']) {
        let (bare, is_index) = match part.strip_suffix(']') {
            Some(bare) => (bare, true),
            None => (part, false),
        };
        if part.is_empty() || (is_index && bare.is_empty()) {
            // Between `.` and `[`, or the empty brackets of an array field (spec 7.2).
            continue;
        }
        if is_number(bare) && is_index {
            shown.extend(["[", bare, "]"]);
        } else if is_number(bare) || (!is_index && is_known(bare)) {
            if !shown.is_empty() {
                shown.push('.');
            }
            shown.push_str(bare);
        } else if !shown.ends_with("[..]") {
            shown.push_str("[..]");
        }
    }
    shown
}

/// The code of an error, if it is known or a path of known names.
pub(crate) fn shown_code(code: &str) -> Option<&str> {
    let is_path = |code: &str| {
        let bare = code.strip_suffix("[]").unwrap_or(code);
        !bare.is_empty() && shown_path(bare) == bare && !is_number(bare)
    };
    (CODES.lines().any(|known| known == code) || is_path(code)).then_some(code)
}

/// The path of an error as text.
pub(super) struct ShownPath<'a>(pub(super) &'a ServerError);

impl fmt::Debug for ShownPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_path(&self.0.path().join(".")))
    }
}

/// Implements `Debug` for records: all fields, but no values of `hidden` fields, and only the `names` of maps.
macro_rules! redacted_debug {
    ($($record:ident { $($field:ident $(: $mode:ident)?),* })*) => {
        $(
            impl std::fmt::Debug for $record {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.debug_struct(stringify!($record))
                        $(.field(stringify!($field), redacted_debug!(@shown self.$field $(, $mode)?)))*
                        .finish()
                }
            }
        )*
    };
    (@shown $value:expr) => { &$value };
    (@shown $value:expr, hidden) => { &$crate::model::redact::Presence::hidden(&$value) };
    (@shown $value:expr, names) => { &$value.keys().collect::<Vec<_>>() };
}

pub(super) use redacted_debug;

/// Shows only whether there is a value.
pub(super) struct Hidden(&'static str);

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Whether a field is present, null or absent.
pub(super) trait Presence {
    fn hidden(&self) -> Hidden;
}

impl<T> Presence for Option<T> {
    fn hidden(&self) -> Hidden {
        Hidden(if self.is_some() { "[redacted]" } else { "null" })
    }
}

impl<T> Presence for Maybe<T> {
    fn hidden(&self) -> Hidden {
        Hidden(match self {
            Self::Absent => "absent",
            Self::Null => "null",
            Self::Value(_) => "[redacted]",
        })
    }
}

impl Presence for String {
    fn hidden(&self) -> Hidden {
        Hidden("[redacted]")
    }
}

/// A text as one line that cannot control a terminal. Control characters, including line ends, are escaped, and so are the
/// Unicode characters that change text direction (property `Bidi_Control`).
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            if is_control_or_direction(letter) {
                write!(f, "{}", letter.escape_default())?;
            } else {
                f.write_char(letter)?;
            }
        }
        Ok(())
    }
}

fn is_control_or_direction(letter: char) -> bool {
    // The line and paragraph separators at U+2028 also end lines.
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_interfaces_and_positions_are_shown() {
        for path in "data data.consignments.edges[0].node.origin.pic \
            data.createOrSaveConsignment.data.answers[12].questionId Value.SubSet[49].ContactDetails[0].LastName \
            answers.17.18 envdAccountId consignorPic programs"
            .split(' ')
        {
            assert_eq!(shown_path(path), path);
        }
    }

    #[test]
    fn names_that_a_server_chose_are_not() {
        for (path, shown) in [
            ("data.Sam Sample.pic", "data[..].pic"),
            ("data.extra[3].sam@example.com", "data[..][3][..]"),
            ("data.x\n2026-11-21 ERROR all lost", "data[..]"),
            ("data.\u{1b}[2Jaddress", "data[..]"),
            ("data.0491570006", "data[..]"),
            ("data[0491570006]", "data[..]"),
            ("data.[secret]", "data[..]"),
            ("eyJhbGciOi.eyJzdWIi.c2ln", "[..]"),
            // A type, and a word from a description.
            ("data.String", "data[..]"),
            ("data.livestock", "data[..]"),
            ("", ""),
        ] {
            assert_eq!(shown_path(path), shown, "{path:?}");
        }
    }

    #[test]
    fn codes_are_shown_if_they_are_known() {
        for code in "origin.pic|answers.17|programs|forms[]|Unauthorized|INVALID_VALUE".split('|') {
            assert_eq!(shown_code(code), Some(code));
        }
        for code in "|Sam|SAM_SAMPLE|0491|origin.Sam|a b|[]|.".split('|') {
            assert_eq!(shown_code(code), None, "{code:?}");
        }
    }

    #[test]
    fn control_characters_and_directions_are_escaped() {
        for (text, shown) in [
            ("Zoë's yards, 50 % \\n", "Zoë's yards, 50 % \\n"),
            ("a\r\n  error\tb", r"a\r\n  error\tb"),
            ("\u{1b}[2J\u{9b}\u{7f}\0", r"\u{1b}[2J\u{9b}\u{7f}\u{0}"),
            (
                "\u{202e}x\u{2066}\u{61c}\u{200f}",
                r"\u{202e}x\u{2066}\u{61c}\u{200f}",
            ),
            ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
        ] {
            assert_eq!(OneLine(text).to_string(), shown);
        }
    }
}
