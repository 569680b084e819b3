//! Reads parts of a line, and tells where one cannot be read.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

/// Reads a value, or tells where it cannot be read, from `at` on.
pub(crate) fn read<T: DeserializeOwned>(value: &Value, at: &[&str]) -> Result<T, Vec<String>> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut path = path(at);
        path.extend(error.path().iter().filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { variant } => Some(variant.clone()),
            Segment::Unknown => None,
        }));
        path
    })
}

pub(crate) fn path(names: &[&str]) -> Vec<String> {
    names.iter().map(ToString::to_string).collect()
}

/// The list itself, whatever part of a reply stands around it.
pub(crate) fn question_list(mut questions: &Value) -> &Value {
    for name in ["data", "questions", "items"] {
        if let Some(inner) = questions.get(name) {
            questions = inner;
        }
    }
    questions
}
