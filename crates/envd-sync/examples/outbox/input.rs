//! Reads inputs and records from files.

use std::fs;
use std::path::Path;

use envd_sdk::model::{Consignment, ConsignmentInput, ConsignmentStatus, Maybe, WithExtra};
use serde_json::{Map, Value};

use super::cli::{Failure, Unusable};

/// An input, and whether it is to be submitted.
pub(crate) struct Input {
    pub(crate) input: WithExtra<ConsignmentInput>,
    pub(crate) is_submitted: bool,
}

/// Reads an input (spec 2.1). The status `SUBMITTED` only requests a submit, and is not saved.
pub(crate) fn input(file: &Path) -> Result<Input, Failure> {
    let fields: Map<String, Value> = json(file)?;
    let read: ConsignmentInput = serde_json::from_value(Value::Object(fields.clone()))
        .map_err(|error| unusable(file, error))?;
    let kept = serde_json::to_value(&read)?;
    let is_submitted = read.status.value() == Some(&ConsignmentStatus::Submitted);
    let mut input = WithExtra::from(read).map(|mut input| {
        if is_submitted {
            input.status = Maybe::Absent;
        }
        input
    });
    for (name, value) in &fields {
        match kept.get(name) {
            // A field that this program does not know is sent unchanged.
            None => input = input.extra(name.clone(), value),
            Some(kept) => {
                if let Some(path) = left_out(value, kept) {
                    let problem = format!("{name}{path} has no place in an input");
                    return Err(Unusable::new(file, problem).into());
                }
            }
        }
    }
    Ok(Input {
        input,
        is_submitted,
    })
}

/// Reads a record in the format of the service.
pub(crate) fn record(file: &Path) -> Result<Consignment, Failure> {
    json(file)
}

fn json<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, Failure> {
    let text = fs::read(file).map_err(|error| unusable(file, error))?;
    serde_json::from_slice(&text).map_err(|error| unusable(file, error))
}

fn unusable(file: &Path, error: impl std::fmt::Display) -> Failure {
    Unusable::new(file, error).into()
}

/// The path of a value that would be lost.
fn left_out(given: &Value, kept: &Value) -> Option<String> {
    match (given, kept) {
        (Value::Object(given), Value::Object(kept)) => given.iter().find_map(|(name, value)| {
            let kept = kept.get(name).unwrap_or(&Value::Null);
            left_out(value, kept).map(|path| format!(".{name}{path}"))
        }),
        (Value::Array(given), Value::Array(kept)) if given.len() == kept.len() => {
            let mut pairs = given.iter().zip(kept).enumerate();
            pairs.find_map(|(at, (value, kept))| {
                left_out(value, kept).map(|path| format!("[{at}]{path}"))
            })
        }
        (Value::Null, _) => None,
        (given, kept) => (given != kept).then(String::new),
    }
}
