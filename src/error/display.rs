//! The words of the error. What the server or the user wrote is not repeated here.

use std::fmt;

use super::{AuthProblem, Error, Kind};
use crate::model::known_names::{shown_code, shown_path};
use crate::model::{Condition, ServerError};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = self.operation() {
            write!(f, "{operation}: ")?;
        }
        self.kind().fmt(f)?;
        if self.attempts() > 1 {
            write!(f, " ({} attempts)", self.attempts())?;
        }
        if self.may_have_applied() {
            f.write_str("; the change may have been carried out")?;
        }
        Ok(())
    }
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

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(what) | Self::Protocol(what) | Self::AccountChoice(what) => {
                f.write_str(what)
            }
            Self::Stalled(what) => f.write_str(what),
            Self::Transport(failure) => f.write_str(failure.what),
            Self::Http {
                status,
                media_type,
                excerpt,
            } => {
                // Refusals come as JSON (spec 7.1); of other bodies it is said what they are.
                if *status >= 400 && excerpt.trim_start().starts_with(['{', '[']) {
                    let media_type = plain(media_type.as_deref());
                    return write!(f, "the server refused with HTTP {status} ({media_type})");
                }
                let what = told_apart(excerpt, media_type.as_deref());
                write!(f, "the server answered HTTP {status} with {what}")
            }
            Self::Rejected { status, errors } => rejected(f, *status, errors),
            // The reply as a whole: its end is missing, or it is no JSON.
            Self::Decode { path, detail, .. } if path == "." => {
                write!(f, "the reply does not have the expected shape: {detail}")
            }
            Self::Decode { path, detail, .. } => write!(
                f,
                "the reply does not have the expected shape at {}: {detail}",
                shown_path(path)
            ),
            Self::NotRegistered => {
                f.write_str("the user is not registered with the service; register on its website")
            }
            Self::Auth(problem) => problem.fmt(f),
        }
    }
}

/// What a body that is not of the interface is: by its first characters, whatever it claims to be.
fn told_apart(excerpt: &str, media_type: Option<&str>) -> String {
    let start = excerpt.trim_start_matches('\u{feff}').trim_start();
    let begins = |word: &str| {
        let head = start.as_bytes().get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
    };
    if start.is_empty() {
        "an empty body".to_owned()
    } else if begins("<!doctype html") || begins("<html") {
        "an HTML page".to_owned()
    } else if begins("<?xml") {
        "an XML document".to_owned()
    } else {
        let media_type = plain(media_type);
        format!("a body that is not of the interface ({media_type})")
    }
}

/// Whoever answered wrote it: only what looks like a media type is repeated.
fn plain(media_type: Option<&str>) -> &str {
    let media_type = media_type.filter(|text| {
        let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+' | b'-' | b'.');
        text.len() <= 80 && text.bytes().all(fine)
    });
    media_type.unwrap_or("no media type")
}

/// Names the places, not the messages: those repeat what was entered.
fn rejected(f: &mut fmt::Formatter<'_>, status: u16, errors: &[ServerError]) -> fmt::Result {
    match errors.len() {
        1 => f.write_str("the server refused: ")?,
        n => write!(f, "the server refused with {n} errors: ")?,
    }
    for (i, error) in errors.iter().take(3).enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        match error.condition() {
            Condition::Other => f.write_str("another reason")?,
            condition => write!(f, "{condition:?}")?,
        }
        if let Some(code) = error.code().and_then(shown_code) {
            write!(f, " at {code}")?;
        }
    }
    if errors.len() > 3 {
        f.write_str(", ...")?;
    }
    write!(f, " (HTTP {status})")
}

/// The codes of errors, for traces: schema codes, field paths, and where there is neither the name of the condition.
pub(crate) fn codes(errors: &[ServerError]) -> String {
    let codes = errors.iter().take(5).map(|error| {
        let code = error.schema_code().or_else(|| error.code());
        code.and_then(shown_code)
            .map_or_else(|| format!("{:?}", error.condition()), str::to_owned)
    });
    codes.collect::<Vec<_>>().join(",")
}

impl fmt::Display for AuthProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTokens => f.write_str("nobody is logged in"),
            Self::ReauthRequired { reason } => write!(f, "the user has to log in again: {reason}"),
            Self::InteractionRequired { code } => write!(
                f,
                "the identity provider wants to see the user again ({code})"
            ),
            Self::Misconfigured { code } => write!(
                f,
                "the identity provider does not accept the client's settings ({code})"
            ),
            Self::LoginRefused { code } => write!(f, "the login was refused ({code})"),
            Self::Unavailable { what } => write!(f, "no token could be had for now: {what}"),
            Self::Store => f.write_str("the token store failed"),
            Self::StoreUnreachable => f.write_str("the server of the token store does not answer"),
            Self::LockTimeout => f.write_str("another process holds the lock on the stored tokens"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn neither_display_nor_debug_repeats_the_servers_message() {
        let error = Error::new(Kind::Rejected {
            status: 200,
            errors: vec![ServerError::from_value(json!({
                "message": "Answer: Maybe is not valid. Acceptable answers are: Yes, No",
                "extensions": {"data": {"Code": "answers.17", "Description": "Maybe"}}
            }))],
        })
        .with_operation("createOrSaveConsignment");
        assert_eq!(
            error.to_string(),
            "createOrSaveConsignment: the server refused: OutsideAcceptableAnswers at answers.17 (HTTP 200)"
        );
        assert!(!format!("{error:?}").contains("Maybe"));
    }

    #[test]
    fn what_has_no_name_or_no_place_is_told_without() {
        let said = |kind| Error::new(kind).to_string();
        let rejected = Kind::Rejected {
            status: 200,
            errors: vec![ServerError::from_value(json!({"message": "No"}))],
        };
        assert_eq!(
            said(rejected),
            "the server refused: another reason (HTTP 200)"
        );
        let cut = Kind::Decode {
            status: 200,
            path: ".".to_owned(),
            detail: "it ends too early".to_owned(),
            errors: Vec::new(),
        };
        assert_eq!(
            said(cut),
            "the reply does not have the expected shape: it ends too early"
        );
    }

    #[test]
    fn names_and_codes_that_a_server_chose_are_not_shown() {
        let chosen = [
            "Sam Sample, 0491",
            "SamSample0491",
            "eyJhbGciOi.eyJzdWIi.c2ln",
            "pic\n2026-11-21 ERROR lost",
        ];
        for chosen in chosen {
            let errors = vec![ServerError::from_value(
                json!({"message": "", "extensions": {"data": {"Code": chosen}, "code": chosen}}),
            )];
            assert_eq!(codes(&errors), "FieldRule");
            let decode = Kind::Decode {
                status: 200,
                path: format!("data.{chosen}[3].pic"),
                detail: "a value of another type".to_owned(),
                errors: errors.clone(),
            };
            let status = 200;
            for kind in [decode, Kind::Rejected { status, errors }] {
                let error = Error::new(kind);
                let shown = format!("{error} {error:?} {:?}", error.server_errors());
                for part in ["Sam", "0491", "eyJ", "\n", "ERROR"] {
                    assert!(!shown.contains(part), "{shown}");
                }
            }
        }
        let error = Error::new(Kind::Decode {
            status: 200,
            path: "data.extra.Sam[3].pic".to_owned(),
            detail: "a value of another type".to_owned(),
            errors: Vec::new(),
        });
        assert!(
            error.to_string().contains(" at data[..][3].pic: "),
            "{error}"
        );
        assert_eq!(error.json_path(), Some("data.extra.Sam[3].pic"));
    }
}
