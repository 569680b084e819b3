//! The internal representation of an error.

use std::borrow::Cow;

use serde_json::error::Category;

use super::ErrorKind;
use crate::model::ServerError;

/// What failed, with its data. Private: callers see an [`ErrorKind`].
#[derive(Clone, Default)]
pub(crate) enum Repr {
    /// A failure that this crate describes in one clause, such as a missing reply, or a reply that violates a rule.
    Said(ErrorKind, Cow<'static, str>),
    /// A reply that the interface does not define: an HTML page, an empty body, XML.
    #[default]
    Http,
    /// A reply with errors and without data.
    ErrorsOnly,
    /// A reply that does not fit the types at this path; `.` is the entire reply.
    Decode { path: String, detail: String },
}

/// The server errors in a reply, including those next to data that could not be decoded.
#[derive(Clone, Default)]
pub(crate) struct ServerErrors {
    pub(crate) first: Vec<ServerError>,
    /// The number of errors that were dropped.
    pub(crate) omitted: usize,
}

impl From<Vec<ServerError>> for ServerErrors {
    fn from(first: Vec<ServerError>) -> Self {
        Self { first, omitted: 0 }
    }
}

/// Why JSON could not be parsed. Omits the decoder's own text, which quotes the value.
///
/// `serde_json` exposes some reasons only in its text; the test below checks those.
pub(crate) fn json_fault(error: &serde_json::Error) -> &'static str {
    let text = error.to_string();
    match error.classify() {
        Category::Data if text.starts_with("duplicate field ") => "a duplicate key",
        Category::Data => "a value of another type than expected",
        Category::Eof => "it ends too early",
        // RFC 8259 section 8.2.
        _ if text.starts_with("lone leading surrogate")
            || text.starts_with("unexpected end of hex escape")
            || text.starts_with("invalid unicode code point") =>
        {
            "a lone surrogate in a string"
        }
        _ if text.starts_with("number out of range") => "a number out of range",
        _ if text.starts_with("recursion limit exceeded") => "lists or objects nested too deep",
        Category::Syntax | Category::Io => "it is not JSON",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[derive(serde::Deserialize)]
    struct Sample {
        #[allow(dead_code)] // OK because reading it is the question.
        pic: Option<Value>,
    }

    #[test]
    fn each_reason_has_its_words() {
        let deep = format!(r#"{{"pic": {}{}}}"#, "[".repeat(200), "]".repeat(200));
        for (json, reported) in [
            (r#"{"pic": 1, "pic": 2}"#, "duplicate key"),
            (r#"{"pic": "\ud83d"}"#, "surrogate"),
            (r#"{"pic": "\ude00 x"}"#, "surrogate"),
            (r#"{"pic": "\ud83d\ud83d"}"#, "surrogate"),
            (r#"{"pic": "\ud83d x"}"#, "surrogate"),
            (r#"{"pic": 1e999}"#, "out of range"),
            (deep.as_str(), "nested"),
            (r#"{"pic": 1"#, "too early"),
            (r#"{"pic": 1,}"#, "not JSON"),
            ("5", "another type"),
        ] {
            let error = serde_json::from_str::<Sample>(json).err().unwrap();
            assert!(json_fault(&error).contains(reported), "{json}: {error}");
        }
    }
}
