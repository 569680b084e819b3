//! Fields of the consignment, its parties and the declaration (spec 2.1 to 2.3).
//!
//! The specification states two messages (7.2). The others follow their wording.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, PAD};
use serde_json::Value;

use self::FieldRule::{Format, MaxLength, Pattern};
use crate::fake::instant;
use crate::fake::problem::ErrorItem;

const PARTIES: [&str; 4] = ["origin", "destination", "owner", "consignee"];
const STATES: [&str; 8] = ["ACT", "NSW", "NT", "QLD", "SA", "TAS", "VIC", "WA"];

/// The rule of a text field.
enum FieldRule {
    Pic,
    State,
    MaxLength(usize),
    Pattern(&'static str, fn(&str) -> bool),
    Format(&'static str, fn(&str) -> bool),
}

const CONSIGNMENT: [(&str, FieldRule); 2] = [
    ("movementDate", Format("date", is_day)),
    (
        "movementTime",
        Pattern("^([01][0-9]|2[0-3]):[0-5][0-9]$", is_clock_time),
    ),
];
const PARTY: [(&str, FieldRule); 2] = [("pic", FieldRule::Pic), ("name", MaxLength(300))];
const ADDRESS: [(&str, FieldRule); 4] = [
    ("line1", MaxLength(300)),
    ("postcode", Pattern("^[1-9][0-9]{3}$", is_postcode)),
    ("state", FieldRule::State),
    ("town", MaxLength(100)),
];
const DECLARATION: [(&str, FieldRule); 6] = [
    ("fullName", MaxLength(300)),
    ("certificateNumber", MaxLength(7)),
    ("email", Format("email", is_email)),
    ("phone", Format("phone", is_phone)),
    ("date", Format("date-time", instant::is_date_time)),
    ("signature", Format("base64", is_signature)),
];

pub(super) fn of_consignment(input: &Value, account_pic: Option<&str>) -> Vec<ErrorItem> {
    let mut problems = of_parties(input, &["origin", "destination"]);
    problems.extend(foreign_origin(&input["origin"]["pic"], account_pic));
    let declaration = &input["declaration"];
    problems.extend(check(
        &declaration["address"],
        "declaration.address.",
        &ADDRESS,
    ));
    problems.extend(check(declaration, "declaration.", &DECLARATION));
    problems.extend(check(input, "", &CONSIGNMENT));
    problems
}

/// The problems of all parties. The parties in `pic_required` must have a PIC.
pub(super) fn of_parties(input: &Value, pic_required: &[&str]) -> Vec<ErrorItem> {
    let mut problems = Vec::new();
    for name in PARTIES {
        let party = &input[name];
        if party["pic"].is_null() && pic_required.contains(&name) {
            let message = "invalid type, expected String but got Null";
            problems.push(ErrorItem::field(&format!("{name}.pic"), message));
        }
        problems.extend(check(party, &format!("{name}."), &PARTY));
        let address = format!("{name}.address.");
        problems.extend(check(&party["address"], &address, &ADDRESS));
    }
    problems
}

fn foreign_origin(pic: &Value, account_pic: Option<&str>) -> Option<ErrorItem> {
    let pic = pic.as_str()?;
    let account_pic = account_pic?;
    let is_foreign = is_pic(pic) && !pic.eq_ignore_ascii_case(account_pic);
    is_foreign
        .then(|| ErrorItem::field("consignorPic", format!("{pic} is not associated with user")))
}

/// Checks those text fields of an object that are present. Their codes start with the prefix.
fn check(
    object: &Value,
    prefix: &str,
    rules: &[(&str, FieldRule)],
) -> impl Iterator<Item = ErrorItem> {
    rules.iter().filter_map(move |(name, rule)| {
        let message = rule.violation(object[name].as_str()?)?;
        Some(ErrorItem::field(&format!("{prefix}{name}"), message))
    })
}

impl FieldRule {
    fn violation(&self, text: &str) -> Option<String> {
        let (is_valid, message) = match self {
            Self::Pic => (is_pic(text), format!("{text} is not a valid value for PIC")),
            Self::State => (
                STATES.contains(&text),
                format!("Value \"{text}\" is not defined in enum."),
            ),
            MaxLength(max) => (
                text.chars().count() <= *max,
                format!("String '{text}' exceeds maximum length of {max}."),
            ),
            Pattern(pattern, is_valid) => (
                is_valid(text),
                format!("String '{text}' does not match regex pattern '{pattern}'."),
            ),
            Format(format, is_valid) => (
                is_valid(text),
                format!("String '{text}' does not validate against format '{format}'."),
            ),
        };
        (!is_valid).then_some(message)
    }
}

/// Eight letters or digits (spec 1.6 and 8).
fn is_pic(pic: &str) -> bool {
    pic.len() == 8 && pic.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_postcode(code: &str) -> bool {
    code.len() == 4 && code.bytes().all(|byte| byte.is_ascii_digit()) && code >= "1000"
}

fn is_day(text: &str) -> bool {
    instant::parse_day(text).is_some()
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

/// Six to fifteen digits (131114 is a valid Australian number), at least seven after a plus sign, with the usual separators.
/// assumed
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

/// Base64 (RFC 4648 section 4; spec 2.3).
fn is_signature(text: &str) -> bool {
    // The specification does not state whether the unused bits of the last digit must be zero.
    const LENIENT: GeneralPurpose =
        GeneralPurpose::new(&STANDARD, PAD.with_decode_allow_trailing_bits(true));
    LENIENT.decode(text).is_ok()
}
