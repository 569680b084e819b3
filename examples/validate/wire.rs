//! Reads parts of a document, with the path and the reason of an error.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

/// A part that cannot be read.
pub(crate) struct Unreadable {
    /// The path in the document; empty for the document itself.
    pub(crate) path: Vec<String>,
    pub(crate) reason: String,
}

impl Unreadable {
    pub(crate) fn new(path: &[&str], reason: impl Into<String>) -> Self {
        let path = path.iter().map(ToString::to_string).collect();
        let reason = reason.into();
        Self { path, reason }
    }

    /// The text is not JSON. The caller adds the line number.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let reason = text.split(" at line ").next().unwrap_or_default();
        Self::new(&[], format!("{reason}, in column {}", error.column()))
    }
}

/// Reads the value at the path `at`.
pub(crate) fn read<T: DeserializeOwned>(value: &Value, at: &[&str]) -> Result<T, Unreadable> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut unreadable = Unreadable::new(at, error.inner().to_string());
        let path = error.path().iter().filter_map(|segment| match segment {
            Segment::Seq { index } => Some(index.to_string()),
            Segment::Map { key } => Some(key.clone()),
            Segment::Enum { variant } => Some(variant.clone()),
            Segment::Unknown => None,
        });
        unreadable.path.extend(path);
        unreadable
    })
}

/// The list of questions itself, also if it is inside a reply.
pub(crate) fn question_list(mut questions: &Value) -> &Value {
    for name in ["data", "questions", "items"] {
        if let Some(inner) = questions.get(name) {
            questions = inner;
        }
    }
    questions
}
