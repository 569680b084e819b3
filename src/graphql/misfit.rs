//! Finds where JSON does not fit the target type.

use serde::de::{DeserializeOwned, IgnoredAny};

use crate::error::{Error, ErrorCase, ReplyParts, ServerErrors, json_fault};
use crate::model::json_path::path_of;
use crate::model::{Edge, Position, json_text, reply_memory};

/// Where a text does not fit, and why.
#[derive(Debug)]
pub(crate) struct Misfit {
    /// For example `edges[3].node.heads`; empty if the entire text does not fit.
    pub(crate) path: String,
    pub(crate) detail: &'static str,
}

/// Decodes a text within the memory limit.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Misfit> {
    read_counted(text).map(|(value, _)| value)
}

/// Like [`read`], with the number of null list elements.
pub(super) fn read_counted<T: DeserializeOwned>(text: &str) -> Result<(T, usize), Misfit> {
    reply_memory::counted(text).map_err(|error| Misfit {
        path: path_of(text, &error),
        detail: json_fault(&error),
    })
}

/// The error for a record that does not fit.
pub(crate) fn unreadable_record(status: u16, path: String, detail: &str, record: &str) -> Error {
    let raw = reply_memory::value(record);
    let received = ReplyParts::new(status, None, record.as_bytes(), Some(raw));
    let error = Error::decode(received, path, detail, ServerErrors::default())
        .with_case(ErrorCase::UnreadableRecord);
    match json_text::from_str(record) {
        Ok(Edge::<IgnoredAny> {
            cursor: Some(cursor),
            ..
        }) => error.with_resume_from(Position::after(cursor)),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)] // OK because only the position of the failure matters.
    struct Described {
        heads: u8,
        pics: Option<Vec<String>>,
        by_name: Option<BTreeMap<String, Vec<Described>>>,
        status: Option<Stage>,
    }

    #[derive(Debug, Deserialize)]
    enum Stage {
        Draft,
    }

    #[test]
    fn the_path_is_that_of_the_value_that_does_not_fit() {
        for (text, path) in [
            ("5", ""),
            ("[]", ""),
            (r#"{"heads": "2"}"#, "heads"),
            (r#"{"heads": 300, "pics": []}"#, "heads"),
            (r#"{"heads": [1], "pics": []}"#, "heads"),
            (r#"{"heads": {"of": 1}}"#, "heads"),
            (r#"{"heads": null}"#, "heads"),
            (r#"{"heads": 1e999}"#, "heads"),
            (r#"{"heads": 1, "status": "SENT", "pics": []}"#, "status"),
            (r#"{"heads": 1, "pics": ["a", "b\"],[", 7]}"#, "pics[2]"),
            (r#"{"heads": 1, "pics": [ [], "b"]}"#, "pics[0]"),
            (r#"{"heads": 1, "pics": {}}"#, "pics"),
            // A missing field is a fault of its object.
            (r#"{"pics": ["a"]}"#, ""),
            (r#"{"heads": 1, "heads": 2, "heads": "x"}"#, "heads"),
            (r#"{"heads": 1, "byName": {"a": [{}, 1]}}"#, "byName.a[0]"),
            (
                "{\"heads\": 1,\n \"byName\":\n{\"\\u00e9 \\\"x\\\"\": [\n {\"heads\": 2}, {\"heads\": false}]}}",
                "byName.é \"x\"[1].heads",
            ),
        ] {
            assert_eq!(read::<Described>(text).unwrap_err().path, path, "{text}");
        }
    }
}
