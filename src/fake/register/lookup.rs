//! `GET .../PICRegister/(PIC=<pic>)`.

use serde_json::json;
use url::form_urlencoded;

use super::{PAGE, Register};
use crate::fake::reply::Reply;

/// Answers a look-up; the last segment of the path comes as it was sent.
pub(in crate::fake) fn lookup(register: &Register, segment: &str) -> Option<Reply> {
    // "(PIC=QAZZ7777)" is a pair of a form, percent signs and all; the sign between them may be escaped too.
    let (name, value) = form_urlencoded::parse(segment.as_bytes()).next()?;
    let key = format!("{name}={value}");
    let pic = key
        .strip_prefix("(PIC=")?
        .trim_end_matches('=')
        .strip_suffix(')')?;
    let found = register.properties.iter().find(|property| {
        property["PIC"]
            .as_str()
            .is_some_and(|p| p.eq_ignore_ascii_case(pic))
    });
    Some(match found {
        Some(property) => register.envelope(0, PAGE, 1, &[property]),
        None => Reply::json(
            404,
            &json!({"Message": format!("No property has the PIC {pic}.")}),
        ),
    })
}
