//! Whether a text has the form that its field wants (spec 2.1 to 2.3). Each returns the message when it has not.

use email_address::EmailAddress;

use super::excerpt::{ELLIPSIS, excerpt};
use super::{Expected, Rule};
use crate::model::{Day, Pic};

/// What is wrong with a text.
pub(super) type Complaint = (Rule, String, Option<Expected>);

const STATES: [&str; 8] = ["ACT", "NSW", "NT", "QLD", "SA", "TAS", "VIC", "WA"];

pub(super) fn pic(text: &str) -> Option<Complaint> {
    let message = || format!("{} is not a valid value for PIC", excerpt(text));
    (!Pic::has_format(text)).then(|| (Rule::PicFormat, message(), None))
}

/// Lengths count characters. There are never more characters than bytes, which settles nearly all.
pub(super) fn max_length(text: &str, max: usize) -> Option<Complaint> {
    let message = || {
        let text = excerpt(text);
        format!("String '{text}' exceeds maximum length of {max}.")
    };
    (text.len() > max && text.chars().count() > max).then(|| {
        (
            Rule::MaxLength,
            message(),
            Some(Expected::Characters { at_most: max }),
        )
    })
}

pub(super) fn postcode(text: &str) -> Option<Complaint> {
    let good =
        text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    (!good).then(|| (Rule::Postcode, no_match(text, "^[1-9][0-9]{3}$"), None))
}

pub(super) fn state(text: &str) -> Option<Complaint> {
    let message = || format!("Value \"{}\" is not defined in enum.", excerpt(text));
    (!STATES.contains(&text)).then(|| (Rule::State, message(), Some(states())))
}

fn states() -> Expected {
    let values = STATES.map(str::to_owned).into();
    Expected::OneOf { values }
}

pub(super) fn date(text: &str) -> Option<Complaint> {
    Day::parse(text)
        .is_err()
        .then(|| (Rule::Date, no_format(text, "date"), None))
}

pub(super) fn time(text: &str) -> Option<Complaint> {
    let good = match text.as_bytes() {
        [h1, h2, b':', m1, m2] => is_below([*h1, *h2], 24) && is_below([*m1, *m2], 60),
        _ => false,
    };
    let pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$";
    (!good).then(|| (Rule::Time, no_match(text, pattern), None))
}

/// Second 60 is none: RFC 3339 has it only in a leap second, and spec 2.3 does not speak of it.
pub(super) fn date_time(text: &str) -> Option<Complaint> {
    let good = text.split_once('T').is_some_and(|(day, time)| {
        let clock = match time.as_bytes() {
            [h1, h2, b':', m1, m2, b':', s1, s2] => {
                is_below([*h1, *h2], 24) && is_below([*m1, *m2], 60) && is_below([*s1, *s2], 60)
            }
            _ => false,
        };
        clock && Day::parse(day).is_ok()
    });
    (!good).then(|| (Rule::DateTime, no_format(text, "date-time"), None))
}

/// RFC 5321 without a domain literal, at a domain of at least two labels. assumed
pub(super) fn email(text: &str) -> Option<Complaint> {
    // The parts are judged one by one, because parsing the whole would copy it. A quoted local part may hold an @.
    let good = text.rsplit_once('@').is_some_and(|(local, domain)| {
        domain.contains('.')
            && !domain.starts_with('[')
            && EmailAddress::is_valid_local_part(local)
            && EmailAddress::is_valid_domain(domain)
    });
    (!good).then(|| (Rule::Email, no_format(text, "email"), None))
}

/// 6 to 15 digits (E.164 allows 15), with spaces, dashes, dots and brackets anywhere: six make a short national number,
/// such as 131114. After a plus comes the code of a country, so that there are 7 at least. assumed
pub(super) fn phone(text: &str) -> Option<Complaint> {
    let international = text.strip_prefix('+');
    let least = if international.is_some() { 7 } else { 6 };
    let rest = international.unwrap_or(text);
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    let good = (least..=15).contains(&digits)
        && rest
            .bytes()
            .all(|b| b.is_ascii_digit() || b" -().".contains(&b));
    (!good).then(|| (Rule::Phone, no_format(text, "phone"), None))
}

/// RFC 4648 section 4 with padding; public material also shows data URIs, which are therefore taken. assumed
pub(super) fn base64(text: &str) -> Option<Complaint> {
    let data = text
        .strip_prefix("data:image/")
        .and_then(|rest| rest.split_once(";base64,"))
        .map_or(text, |(_, data)| data)
        .as_bytes();
    let padding = data
        .iter()
        .rev()
        .take(2)
        .take_while(|b| **b == b'=')
        .count();
    let good = data.len().is_multiple_of(4)
        && data[..data.len() - padding]
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'));
    // A message repeats nothing of a signature.
    let message = || no_format(ELLIPSIS.encode_utf8(&mut [0; 4]), "base64");
    (!good).then(|| (Rule::Base64, message(), None))
}

fn is_below(digits: [u8; 2], limit: u8) -> bool {
    digits.iter().all(u8::is_ascii_digit) && (digits[0] - b'0') * 10 + (digits[1] - b'0') < limit
}

fn no_match(text: &str, pattern: &str) -> String {
    let text = excerpt(text);
    format!("String '{text}' does not match regex pattern '{pattern}'.")
}

fn no_format(text: &str, format: &str) -> String {
    let text = excerpt(text);
    format!("String '{text}' does not validate against format '{format}'.")
}
