//! The messages of errors. They never quote text from the server or the user.

use std::fmt;

use super::report::start_of;
use super::{BodyShape, Error, ErrorKind, ReplyParts, Repr};
use crate::model::redact::{shown_code, shown_path};
use crate::model::{Condition, OneLine, ServerError};

/// The maximum length of a message, in bytes.
const LONGEST: usize = 299;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut end = String::new();
        if self.attempts() > 1 {
            end = format!(" ({} attempts)", self.attempts());
        }
        if self.may_have_applied() {
            end.push_str("; the change may have been carried out");
        }
        let what = match self.operation() {
            Some(operation) => format!("{operation}: {}", Clause(self)),
            None => Clause(self).to_string(),
        };
        // The suffix is short and tells the reader what to do, so it is never truncated.
        write_bounded(f, &what, LONGEST - end.len())?;
        f.write_str(&end)
    }
}

/// Writes a text without control characters, truncated to `limit` bytes.
fn write_bounded(f: &mut fmt::Formatter<'_>, text: &str, limit: usize) -> fmt::Result {
    const CUT: &str = "...";
    let text = OneLine(text).to_string();
    if text.len() <= limit {
        return f.write_str(&text);
    }
    f.write_str(start_of(&text, limit - CUT.len()))?;
    f.write_str(CUT)
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Error");
        debug.field("message", &self.to_string());
        if let Some(source) = std::error::Error::source(self) {
            debug.field("source", &source.to_string());
        }
        debug.finish()
    }
}

/// Describes what happened in this layer.
struct Clause<'a>(&'a Error);

impl fmt::Display for Clause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.repr() {
            Repr::Said(kind, what) => match self.0.http_status() {
                Some(status) if *kind != ErrorKind::Protocol => write!(f, "{what} (HTTP {status})"),
                _ => f.write_str(what),
            },
            Repr::Http => other_reply(f, self.0),
            Repr::ErrorsOnly => rejected(f, self.0),
            // Nothing in the reply could be parsed: it is truncated, or not JSON.
            Repr::Decode { path, detail } if path == "." => {
                write!(f, "the reply does not have the expected shape: {detail}")
            }
            Repr::Decode { path, detail } => write!(
                f,
                "the reply does not have the expected shape at {}: {detail}",
                shown_path(path)
            ),
        }
    }
}

/// Describes a reply that the interface does not define.
fn other_reply(f: &mut fmt::Formatter<'_>, error: &Error) -> fmt::Result {
    let status = error.http_status().unwrap_or_default();
    let excerpt = error.body_excerpt().unwrap_or_default();
    let media_type = known_type(error.media_type());
    if matches!(status, 300..=303 | 305..=399) {
        let target = error.redirect().unwrap_or("without a Location");
        return write!(
            f,
            "the server answered HTTP {status}, a redirect {target}; redirects are not followed"
        );
    }
    if let Some(encoding) = error.encoding() {
        return write!(
            f,
            "the server answered HTTP {status} with a body in {encoding}, which was not requested"
        );
    }
    // Refusals are JSON (spec 7.1). For any other body, the message describes the kind of body.
    if status >= 400 && excerpt.trim_start().starts_with(['{', '[']) {
        return write!(
            f,
            "the server refused with HTTP {status} ({media_type}); see Error::report()"
        );
    }
    let what = match error.received().map(ReplyParts::shape) {
        None | Some(BodyShape::Empty) => "an empty body",
        Some(BodyShape::Page) => "an HTML page",
        Some(BodyShape::Xml) => "an XML document",
        Some(BodyShape::Json | BodyShape::Other) => {
            let what = "an unexpected body";
            return write!(
                f,
                "the server answered HTTP {status} with {what} ({media_type})"
            );
        }
    };
    write!(f, "the server answered HTTP {status} with {what}")
}

/// Media types that may be shown. The server chooses the header, so an unknown value might be anything, such as a token.
const MEDIA_TYPES: &str = include_str!("media_types.txt");

fn known_type(media_type: Option<&str>) -> &'static str {
    let Some(media_type) = media_type else {
        return "no media type";
    };
    let mut known = MEDIA_TYPES.lines();
    known
        .find(|known| *known == media_type)
        .unwrap_or("another media type")
}

/// Names conditions and codes, not messages, because messages quote what the user entered.
fn rejected(f: &mut fmt::Formatter<'_>, error: &Error) -> fmt::Result {
    let status = error.http_status().unwrap_or_default();
    let errors = error.server_errors();
    match errors.len() {
        1 => f.write_str("the server refused: ")?,
        n => write!(f, "the server refused with {n} errors: ")?,
    }
    for (i, error) in errors.iter().take(3).enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        match error.condition() {
            Condition::Other => f.write_str("an unclassified error")?,
            condition => write!(f, "{condition:?}")?,
        }
        if let Some(code) = error.code().and_then(shown_code) {
            write!(f, " at {code}")?;
        }
    }
    if errors.len() > 3 {
        f.write_str(", ...")?;
    }
    write!(f, " (HTTP {status}); see Error::report()")
}

/// The codes of errors, for traces: the schema code, else the field path, else the name of the condition.
pub(crate) fn codes(errors: &[ServerError]) -> String {
    let codes = errors.iter().take(5).map(|error| {
        let code = error.schema_code().or_else(|| error.code());
        code.and_then(shown_code)
            .map_or_else(|| format!("{:?}", error.condition()), str::to_owned)
    });
    codes.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rejected(errors: Vec<ServerError>) -> Error {
        Error::rejected(ReplyParts::status_only(200), errors.into())
    }

    fn decode(path: &str, detail: &str, errors: Vec<ServerError>) -> Error {
        let received = ReplyParts::status_only(200);
        Error::decode(received, path.to_owned(), detail, errors.into())
    }

    #[test]
    fn neither_display_nor_debug_repeats_the_servers_message() {
        let error = rejected(vec![ServerError::from_value(json!({
            "message": "Answer: Maybe is not valid. Acceptable answers are: Yes, No",
            "extensions": {"data": {"Code": "answers.17", "Description": "Maybe"}}
        }))])
        .with_operation("createOrSaveConsignment");
        let said = "createOrSaveConsignment: the server refused: OutsideAcceptableAnswers at answers.17 (HTTP 200); see Error::report()";
        assert_eq!(error.to_string(), said);
        assert!(!format!("{error:?}").contains("Maybe"));
    }

    #[test]
    fn an_error_without_a_code_or_a_path_has_a_text() {
        let unnamed = ServerError::from_value(json!({"message": "No"}));
        let said = "the server refused: an unclassified error (HTTP 200); see Error::report()";
        assert_eq!(rejected(vec![unnamed]).to_string(), said);
        let said = "the reply does not have the expected shape: it ends too early";
        assert_eq!(
            decode("", "it ends too early", Vec::new()).to_string(),
            said
        );
    }

    #[test]
    fn names_and_codes_that_a_server_chose_are_not_shown() {
        let chosen =
            "Sam Sample, 0491|SamSample0491|eyJhbGciOi.eyJzdWIi.c2ln|pic\n2026-11-21 ERROR lost";
        for chosen in chosen.split('|') {
            let extensions = json!({"data": {"Code": chosen}, "code": chosen});
            let error = json!({"message": "", "extensions": extensions});
            let errors = vec![ServerError::from_value(error)];
            assert_eq!(codes(&errors), "FieldRule");
            let path = format!("data.{chosen}[3].pic");
            let decode = decode(&path, "a value of another type", errors.clone());
            for error in [decode, rejected(errors)] {
                let shown = format!("{error} {error:?} {:?}", error.server_errors());
                for part in ["Sam", "0491", "eyJ", "\n", "ERROR"] {
                    assert!(!shown.contains(part), "{shown}");
                }
            }
        }
        let error = decode("data.extra.Sam[3].pic", "of another type", Vec::new());
        let shown = error.to_string();
        assert!(shown.contains(" at data[..][3].pic: "), "{shown}");
        assert_eq!(error.json_path(), Some("data.extra.Sam[3].pic"));
    }

    #[test]
    fn the_text_stays_short_and_on_one_line() {
        let long = "Täg\n".repeat(200);
        let data = json!({"Code": "declaration.certificateNumber"});
        let error = json!({"message": "", "extensions": {"data": data}});
        let errors = vec![ServerError::from_value(error); 2_000];
        let path = vec!["createOrSaveConsignment"; 50].join(".");
        for error in [
            Error::config(long.clone()),
            rejected(errors),
            decode(&path, "a value of another type than expected", Vec::new()),
        ] {
            let error = error
                .with_operation(&long)
                .with_attempts(u32::MAX)
                .with_may_have_applied(true);
            let shown = error.to_string();
            assert!(shown.len() < 300, "{} {shown}", shown.len());
            assert!(shown.ends_with("(4294967295 attempts); the change may have been carried out"));
            assert!(!shown.contains('\n') && shown.contains("..."), "{shown}");
        }
    }
}
