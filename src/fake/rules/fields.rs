//! Fields of the consignment, its parties and the declaration (spec 2.1 to 2.3).
//!
//! The specification states two messages (7.2). The others follow their wording.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, PAD};
use serde_json::Value;

use crate::fake::instant;
use crate::fake::problem::Problem;

const PARTIES: [&str; 4] = ["origin", "destination", "owner", "consignee"];
const STATES: [&str; 8] = ["ACT", "NSW", "NT", "QLD", "SA", "TAS", "VIC", "WA"];

pub(super) fn of_consignment(input: &Value, account_pic: Option<&str>) -> Vec<Problem> {
    let mut problems = of_parties(input, &["origin", "destination"]);
    problems.extend(foreign_origin(&input["origin"]["pic"], account_pic));
    problems.extend(of_declaration(&input["declaration"]));
    problems.extend(text(input, "", "movementDate", |day| {
        instant::parse_day(day)
            .is_none()
            .then(|| wrong_format(day, "date"))
    }));
    problems.extend(text(input, "", "movementTime", |time| {
        (!is_clock_time(time)).then(|| wrong_pattern(time, "^([01][0-9]|2[0-3]):[0-5][0-9]$"))
    }));
    problems
}

/// The problems of all parties. Those in `pic_required` must have a PIC.
pub(super) fn of_parties(input: &Value, pic_required: &[&str]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in PARTIES {
        let party = &input[name];
        if party["pic"].is_null() && pic_required.contains(&name) {
            let message = "invalid type, expected String but got Null";
            problems.push(Problem::field(&format!("{name}.pic"), message));
        }
        problems.extend(text(party, name, "pic", |pic| {
            (!is_pic(pic)).then(|| format!("{pic} is not a valid value for PIC"))
        }));
        problems.extend(text(party, name, "name", |text| too_long(text, 300)));
        problems.extend(of_address(&party["address"], &format!("{name}.address")));
    }
    problems
}

fn foreign_origin(pic: &Value, account_pic: Option<&str>) -> Option<Problem> {
    let (pic, account_pic) = (pic.as_str()?, account_pic?);
    let foreign = is_pic(pic) && !pic.eq_ignore_ascii_case(account_pic);
    foreign.then(|| Problem::field("consignorPic", format!("{pic} is not associated with user")))
}

fn of_address(address: &Value, at: &str) -> Vec<Problem> {
    [
        text(address, at, "line1", |line| too_long(line, 300)),
        text(address, at, "postcode", |code| {
            (!is_postcode(code)).then(|| wrong_pattern(code, "^[1-9][0-9]{3}$"))
        }),
        text(address, at, "state", |state| {
            (!STATES.contains(&state)).then(|| format!("Value \"{state}\" is not defined in enum."))
        }),
        text(address, at, "town", |town| too_long(town, 100)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn of_declaration(declaration: &Value) -> Vec<Problem> {
    let at = "declaration";
    let mut problems = of_address(&declaration["address"], "declaration.address");
    let format = |name: &str, kind: &'static str, good: fn(&str) -> bool| {
        text(declaration, at, name, |value| {
            (!good(value)).then(|| wrong_format(value, kind))
        })
    };
    problems.extend(text(declaration, at, "fullName", |name| {
        too_long(name, 300)
    }));
    problems.extend(text(declaration, at, "certificateNumber", |number| {
        too_long(number, 7)
    }));
    problems.extend(format("email", "email", is_email));
    problems.extend(format("phone", "phone", is_phone));
    problems.extend(format("date", "date-time", instant::is_date_time));
    problems.extend(format("signature", "base64", is_signature));
    problems
}

/// Checks a text field, if it is there.
fn text(
    parent: &Value,
    at: &str,
    name: &str,
    check: impl FnOnce(&str) -> Option<String>,
) -> Option<Problem> {
    let message = check(parent[name].as_str()?)?;
    let code = if at.is_empty() {
        name.to_owned()
    } else {
        format!("{at}.{name}")
    };
    Some(Problem::field(&code, message))
}

fn too_long(text: &str, max: usize) -> Option<String> {
    (text.chars().count() > max)
        .then(|| format!("String '{text}' exceeds maximum length of {max}."))
}

fn wrong_pattern(text: &str, pattern: &str) -> String {
    format!("String '{text}' does not match regex pattern '{pattern}'.")
}

fn wrong_format(text: &str, format: &str) -> String {
    format!("String '{text}' does not validate against format '{format}'.")
}

/// Eight letters or digits (spec 1.6 and 8).
fn is_pic(pic: &str) -> bool {
    pic.len() == 8 && pic.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_postcode(code: &str) -> bool {
    code.len() == 4 && code.bytes().all(|byte| byte.is_ascii_digit()) && code >= "1000"
}

fn is_clock_time(time: &str) -> bool {
    instant::is_time(time, "%H:%M")
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let labels = || domain.split('.');
    !local.is_empty()
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !text.contains(char::is_whitespace)
        && labels().count() > 1
        && labels()
            .all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'))
}

/// Six to fifteen digits (131114 is an Australian number), at least seven after a plus, with the usual separators. assumed
fn is_phone(text: &str) -> bool {
    let (rest, least) = match text.strip_prefix('+') {
        Some(international) => (international, 7),
        None => (text, 6),
    };
    let digits = rest.chars().filter(char::is_ascii_digit).count();
    (least..=15).contains(&digits)
        && rest
            .chars()
            .all(|c| c.is_ascii_digit() || " ()-.".contains(c))
}

/// Base64 (RFC 4648 section 4), also as a data URI, which public material shows. assumed
fn is_signature(text: &str) -> bool {
    // Whether the unused bits of the last digit must be zero is not stated.
    const LENIENT: GeneralPurpose =
        GeneralPurpose::new(&STANDARD, PAD.with_decode_allow_trailing_bits(true));
    let data = text
        .strip_prefix("data:image/")
        .and_then(|rest| rest.split_once(";base64,"));
    LENIENT.decode(data.map_or(text, |(_, data)| data)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(check: fn(&str) -> bool, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(check(text), "{text}");
        }
        for text in bad {
            assert!(!check(text), "{text}");
        }
    }

    #[test]
    fn texts_are_checkd_by_their_form() {
        check(
            is_pic,
            &["QAZZ7777", "qazz7777"],
            &["", "QAZZ777", "QAZZ77777", "QAZZ-777", "QÄZZ777"],
        );
        check(
            is_postcode,
            &["1000", "9999"],
            &["0999", "10000", "100", "4a99", ""],
        );
        check(
            is_clock_time,
            &["00:00", "23:59"],
            &["24:00", "12:60", "9:05", "09:05:00", "ab:cd"],
        );
        check(
            is_email,
            &["a@b.co", "a.b+c@x-y.example"],
            &["a", "@b.co", "a@b", "a @b.co", "a@b..co", ".a@b.co"],
        );
        check(
            is_phone,
            &[
                "0491570156",
                "+61491570156",
                "(07) 5550 1234",
                "131114",
                "13 11 14",
            ],
            &[
                "call me",
                "",
                "+",
                "12345",
                "+131114",
                "13 TAXI",
                "1234567890123456",
                "07+5550123",
            ],
        );
        check(
            is_signature,
            &[
                "Zm9v",
                "Zg==",
                "Zm8=",
                "Zm9=",
                "data:image/png;base64,Zm9v",
                "",
            ],
            &[
                "not base64!",
                "Zm9",
                "Zg=",
                "Z===",
                "Zm9v\n",
                "====",
                "Zg==Zg==",
            ],
        );
    }

    #[test]
    fn lengths_count_characters_and_not_bytes() {
        assert_eq!(too_long(&"ü".repeat(7), 7), None);
        assert!(too_long(&"u".repeat(8), 7).is_some());
    }
}
