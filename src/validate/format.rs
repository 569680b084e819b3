//! The text formats of fields (spec 2.1 to 2.3), and the server's message about a text in a wrong format.

use std::borrow::Cow;

use email_address::EmailAddress;

use super::{Expected, Finding, Rule};
use crate::model::visible_text::{is_hidden, trimmed};
use crate::model::{Day, Jurisdiction, Pic};

/// The format of the text of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    /// The most characters (not bytes).
    MaxLength(usize),
    Pic,
    /// Four digits, 1000 to 9999.
    Postcode,
    State,
    /// yyyy-MM-dd
    Date,
    /// HH:mm
    Time,
    /// yyyy-MM-ddTHH:mm:ss
    DateTime,
    Email,
    Phone,
    Base64,
}

impl Format {
    /// The format of a field by the last part of its path; fields of the same name share a format.
    pub(super) fn of_field(name: &str) -> Option<Self> {
        Some(match name {
            "name" | "fullName" | "line1" => Self::MaxLength(300),
            "town" => Self::MaxLength(100),
            "certificateNumber" => Self::MaxLength(7),
            "pic" => Self::Pic,
            "state" => Self::State,
            "postcode" => Self::Postcode,
            "phone" => Self::Phone,
            "email" => Self::Email,
            "date" => Self::DateTime,
            "signature" => Self::Base64,
            "movementDate" => Self::Date,
            "movementTime" => Self::Time,
            _ => return None,
        })
    }

    pub(super) fn rule(self) -> Rule {
        match self {
            Self::MaxLength(_) => Rule::MaxLength,
            Self::Pic => Rule::PicFormat,
            Self::Postcode => Rule::Postcode,
            Self::State => Rule::State,
            Self::Date => Rule::Date,
            Self::Time => Rule::Time,
            Self::DateTime => Rule::DateTime,
            Self::Email => Rule::Email,
            Self::Phone => Rule::Phone,
            Self::Base64 => Rule::Base64,
        }
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            // A text has at most as many characters as bytes, so counting is rarely necessary.
            Self::MaxLength(max) => text.len() <= max || text.chars().count() <= max,
            Self::Pic => Pic::has_format(text),
            Self::Postcode => {
                matches!(text.as_bytes(), [b'1'..=b'9', rest @ ..]
                    if rest.len() == 3 && rest.iter().all(u8::is_ascii_digit))
            }
            Self::State => Jurisdiction::KNOWN
                .iter()
                .any(|state| state.as_str() == text),
            Self::Date => Day::parse(text).is_ok(),
            Self::Time => is_clock(text, &[24, 60]),
            // Second 60 is rejected: RFC 3339 has it only in a leap second, and spec 2.3 does not mention it.
            Self::DateTime => text.split_once('T').is_some_and(|(day, time)| {
                is_clock(time, &[24, 60, 60]) && Day::parse(day).is_ok()
            }),
            Self::Email => is_email(text),
            Self::Phone => is_phone(text),
            Self::Base64 => is_base64(text),
        }
    }

    /// The error about a text in a wrong format.
    pub(super) fn finding(self, code: String, text: &str) -> Finding {
        let value = match self {
            // A signature never appears in a message.
            Self::Base64 => Cow::Owned(ELLIPSIS.to_string()),
            _ => excerpt(text),
        };
        let no_match =
            |pattern| format!("String '{value}' does not match regex pattern '{pattern}'.");
        let no_format =
            |format| format!("String '{value}' does not validate against format '{format}'.");
        let message = match self {
            Self::MaxLength(max) => format!("String '{value}' exceeds maximum length of {max}."),
            Self::Pic => format!("{value} is not a valid value for PIC"),
            Self::Postcode => no_match("^[1-9][0-9]{3}$"),
            Self::State => format!("Value \"{value}\" is not defined in enum."),
            Self::Time => no_match("^([01][0-9]|2[0-3]):[0-5][0-9]$"),
            Self::Date => no_format("date"),
            Self::DateTime => no_format("date-time"),
            Self::Email => no_format("email"),
            Self::Phone => no_format("phone"),
            Self::Base64 => no_format("base64"),
        };
        let finding = Finding::field(self.rule(), code, message).expecting(self.expected(text));
        match self {
            Self::Base64 => finding,
            _ => finding.of_value(text),
        }
    }

    pub(super) fn expected(self, text: &str) -> Option<Expected> {
        let written = |corrected: Option<String>, example: &str| match corrected {
            Some(value) => Expected::Corrected { value },
            None => Expected::Example {
                value: example.to_owned(),
            },
        };
        Some(match self {
            Self::MaxLength(at_most) => Expected::Characters { at_most },
            Self::State => Expected::one_of(Jurisdiction::KNOWN),
            Self::Date => written(correct_date(text), "2026-11-20"),
            Self::Time => written(correct_time(text), "14:30"),
            Self::DateTime => written(correct_date_time(text), "2026-11-20T14:30:00"),
            Self::Email => written(self.correct_edges(text), "name@example.com"),
            Self::Phone => written(self.correct_edges(text), "0491 570 156"),
            Self::Pic | Self::Postcode => Expected::Corrected {
                value: self.correct_edges(text)?,
            },
            Self::Base64 => return None,
        })
    }

    /// The trimmed text, if that makes it valid.
    fn correct_edges(self, text: &str) -> Option<String> {
        let text = trimmed(text);
        self.accepts(text).then(|| text.to_owned())
    }
}

/// Whether a text consists of two-digit numbers separated by colons, each below its limit.
pub(super) fn is_clock(text: &str, limits: &[u8]) -> bool {
    let mut numbers = text.split(':');
    let in_limit = |limit: &u8| {
        let number = numbers.next().map(str::as_bytes);
        matches!(number, Some([tens @ b'0'..=b'9', ones @ b'0'..=b'9'])
            if (tens - b'0') * 10 + (ones - b'0') < *limit)
    };
    limits.iter().all(in_limit) && numbers.next().is_none()
}

/// The date that a text most likely means, as yyyy-MM-dd. The year may be first or last; if it is last, the day precedes the
/// month. A day beyond the end of a month becomes its last day.
fn correct_date(text: &str) -> Option<String> {
    let numbers: Option<Vec<u32>> = trimmed(text)
        .splitn(3, ['-', '/', '.', ' '])
        .map(|number| number.parse().ok().filter(|_| number.len() <= 4))
        .collect();
    let (year, month, day) = match *numbers?.as_slice() {
        [year, month, day] if year >= 1000 => (year, month, day),
        [day, month, year] if year >= 1000 => (year, month, day),
        _ => return None,
    };
    (1..=day.min(31))
        .rev()
        .filter(|_| day <= 31)
        .find_map(|day| Day::new(i32::try_from(year).ok()?, month, day))
        .map(|day| day.to_string())
}

/// The time that a text most likely means, as HH:mm.
fn correct_time(text: &str) -> Option<String> {
    let mut numbers = trimmed(text).split([':', '.']);
    let mut two_digits = || Some(format!("{:0>2}", numbers.next()?));
    let time = format!("{}:{}", two_digits()?, two_digits()?);
    is_clock(&time, &[24, 60]).then_some(time)
}

/// The date and time that a text most likely means. A text with a zone is not corrected: dropping the zone would move the time.
fn correct_date_time(text: &str) -> Option<String> {
    let (date, time) = trimmed(text).split_once(['T', ' '])?;
    let seconds = time.split([':', '.']).nth(2).unwrap_or("00");
    let corrected = format!(
        "{}T{}:{seconds:0>2}",
        correct_date(date)?,
        correct_time(time)?
    );
    Format::DateTime.accepts(&corrected).then_some(corrected)
}

/// RFC 5321 without domain literals; the domain has at least two labels. assumed
fn is_email(text: &str) -> bool {
    // The parts are checked separately, because parsing the entire address would copy it. A quoted local part may contain an @.
    text.rsplit_once('@').is_some_and(|(local, domain)| {
        domain.contains('.')
            && !domain.starts_with('[')
            && EmailAddress::is_valid_local_part(local)
            && EmailAddress::is_valid_domain(domain)
    })
}

/// 6 to 15 digits (E.164 allows 15), with spaces, dashes, dots and brackets anywhere. Short national numbers such as 131114 have
/// six. After a plus comes the country code, so at least 7. assumed
fn is_phone(text: &str) -> bool {
    let international = text.strip_prefix('+');
    let least = if international.is_some() { 7 } else { 6 };
    let rest = international.unwrap_or(text).as_bytes();
    let digits = rest.iter().filter(|b| b.is_ascii_digit()).count();
    let is_part = |b: &u8| b.is_ascii_digit() || b" -().".contains(b);
    (least..=15).contains(&digits) && rest.iter().all(is_part)
}

/// RFC 4648 section 4 with padding (spec 2.3). Public records have a data URI; an input made from such a record drops the prefix.
///
/// The crate base64 has only decoders: checking a signature with it would copy it.
fn is_base64(text: &str) -> bool {
    let bare = text.strip_suffix("==").or(text.strip_suffix('='));
    let is_digit = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    text.len().is_multiple_of(4) && bare.unwrap_or(text).bytes().all(is_digit)
}

/// Marks text that a message omits.
pub(super) const ELLIPSIS: char = '…';

/// The part of a value that a message may repeat: the first 60 characters, then an ellipsis if there are more. Invisible
/// characters are shown by code point; otherwise the value would look correct.
pub(super) fn excerpt(value: &str) -> Cow<'_, str> {
    if value.chars().any(is_hidden) {
        let shown = value.chars().take(60).map(|character| {
            if is_hidden(character) {
                format!("[U+{:04X}]", u32::from(character))
            } else {
                character.to_string()
            }
        });
        let end = value.chars().nth(60).map(|_| ELLIPSIS.to_string());
        return Cow::Owned(shown.chain(end).collect());
    }
    match value.char_indices().nth(60) {
        None => Cow::Borrowed(value),
        Some((end, _)) => Cow::Owned(format!("{}{ELLIPSIS}", value.split_at(end).0)),
    }
}
