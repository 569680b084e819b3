//! The second way through a reply: each part is read by itself, so that none hides another.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Outcome;
use super::envelope::Body;
use super::problems::{Problems, problems};
use crate::error::{Error, json_fault};
use crate::model::{Condition, ServerError};

/// The parts of a reply. A duplicate is refused: either may be the one that was meant.
#[derive(Deserialize)]
struct Parts<'a> {
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    errors: Option<&'a RawValue>,
    #[serde(borrow, default)]
    extensions: Option<&'a RawValue>,
}

/// Reads a reply that has errors, or whose data does not fit; `None` when it is not of the interface.
pub(super) fn salvage<T: DeserializeOwned>(
    body: &Body<'_>,
    text: &str,
) -> Option<Result<Outcome<T>, Error>> {
    // Raw texts: one number that no type can hold must not spoil what stands beside it.
    let Parts {
        data,
        errors,
        extensions,
    } = match serde_json::from_str(text) {
        Ok(parts) => parts,
        Err(_) if body.doubtful => return None,
        Err(error) => {
            return Some(Err(body.unreadable(".", place(&error), Vec::new(), None)));
        }
    };
    if body.doubtful && !errors.is_some_and(|raw| raw.get().starts_with('[')) {
        return None;
    }
    let Problems { first, omitted } = errors.map(problems).unwrap_or_default();
    let (problems, body) = (first, &Body { omitted, ..*body });
    Some(match data {
        None if problems.is_empty() => Err(body.nothing()),
        None => Err(body.rejected(problems, None)),
        Some(data) => judge(body, data, problems, extensions.map(value)),
    })
}

/// Data is there; whether it holds anything, and whether it fits.
fn judge<T: DeserializeOwned>(
    body: &Body<'_>,
    data: &RawValue,
    problems: Vec<ServerError>,
    extensions: Option<Value>,
) -> Result<Outcome<T>, Error> {
    if !problems.is_empty() {
        // A refused token may come with an empty list where a null is not allowed.
        let refused = problems
            .iter()
            .any(|problem| problem.condition() == Condition::InvalidToken);
        let data = value(data);
        if is_void(&data, refused) {
            return Err(body.rejected(problems, Some(data)));
        }
    }
    let mut reader = serde_json::Deserializer::from_str(data.get());
    match serde_path_to_error::deserialize(&mut reader) {
        Ok(value) => Ok(Outcome {
            value,
            problems,
            unreadable: Vec::new(),
            omitted: body.omitted,
            status: body.status,
            extensions,
            change: false,
        }),
        Err(error) => {
            let path = match error.path().to_string().as_str() {
                "." => "data".to_owned(),
                path => format!("data.{path}"),
            };
            let detail = json_fault(error.inner());
            Err(body.unreadable(&path, detail, problems, Some(value(data))))
        }
    }
}

/// Nothing but nulls, or nothing at all.
pub(super) fn is_void(data: &Value, empty_lists_too: bool) -> bool {
    match data {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(|field| is_void(field, empty_lists_too)),
        Value::Array(items) => empty_lists_too && items.is_empty(),
        _ => false,
    }
}

/// JSON that no [`Value`] can hold (too deep, a number too large) stays as its text.
pub(super) fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().into())
}

/// Where the JSON breaks off.
fn place(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    format!("{}, line {line} column {column}", json_fault(error))
}
