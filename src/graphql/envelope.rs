//! The envelope of a reply: data, errors, or both.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Error, Kind};
use crate::model::ServerError;

/// What a call gave: the value, and what the server had to say beside it.
///
/// The server sends warnings beside data (spec 7.2: a missing answer is reported, and the record saved all the same).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcome<T> {
    /// What was asked for.
    pub value: T,
    /// What the server said beside it; mostly empty.
    pub problems: Vec<ServerError>,
}

impl<T> Outcome<T> {
    /// The value, or an error if the server said anything was wrong.
    ///
    /// # Errors
    ///
    /// [`is_rejected`](Error::is_rejected) when there are problems; a change is carried out all the same, which
    /// [`may_have_applied`](Error::may_have_applied) says.
    pub fn strict(self) -> Result<T, Error> {
        if self.problems.is_empty() {
            return Ok(self.value);
        }
        let errors = self.problems;
        let error = Error::new(Kind::Rejected {
            status: 200,
            errors,
        });
        Err(error.with_may_have_applied(true))
    }

    /// Takes a part of the value.
    pub(crate) fn part<U>(
        self,
        operation: &str,
        part: impl FnOnce(T) -> Option<U>,
    ) -> Result<Outcome<U>, Error> {
        match part(self.value) {
            Some(value) => Ok(Outcome {
                value,
                problems: self.problems,
            }),
            None if self.problems.is_empty() => {
                Err(Error::protocol("the reply has no record").with_operation(operation))
            }
            None => {
                let errors = self.problems;
                let error = Error::new(Kind::Rejected {
                    status: 200,
                    errors,
                });
                Err(error.with_operation(operation))
            }
        }
    }
}

#[derive(Deserialize)]
struct Envelope<T> {
    #[serde(default = "Option::default")]
    data: Option<T>,
    #[serde(default)]
    errors: Option<Vec<ServerError>>,
}

/// Reads the body of a reply.
///
/// Which bodies are of the interface is decided by media type, status and body together (GraphQL over HTTP, draft of
/// 2026-08): `application/graphql-response+json` on every status, `application/json` on 2xx, and on other statuses
/// only with an `errors` array. `None` is a body that is not of the interface.
pub(crate) fn decode<T: DeserializeOwned>(
    status: u16,
    media_type: Option<&str>,
    body: &[u8],
) -> Option<Result<Outcome<T>, Error>> {
    let success = (200..=299).contains(&status);
    let strict = match media_type {
        Some("application/graphql-response+json") => false,
        Some("application/json") | None => !success,
        Some(_) => return None,
    };
    // One check of the whole body: serde_json would check text by text.
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(_) if strict => return None,
        Err(_) => {
            return Some(Err(unreadable(
                status,
                ".",
                "the body is not UTF-8".to_owned(),
            )));
        }
    };
    if !strict
        && let Ok(envelope) = serde_json::from_str::<Envelope<T>>(text)
        && envelope.errors.as_ref().is_none_or(Vec::is_empty)
    {
        let problems = Vec::new();
        let outcome = envelope.data.map(|value| Outcome { value, problems });
        return Some(outcome.ok_or_else(nothing));
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) if strict || text.trim().is_empty() => return None,
        Err(error) => return Some(Err(unreadable(status, ".", place(&error)))),
    };
    if !value.is_object() || (strict && !value["errors"].is_array()) {
        return None;
    }
    Some(lenient(status, value))
}

/// Takes the envelope apart, so that no part of it hides another.
fn lenient<T: DeserializeOwned>(status: u16, mut envelope: Value) -> Result<Outcome<T>, Error> {
    let problems: Vec<ServerError> = match envelope["errors"].take() {
        Value::Array(errors) => errors.into_iter().map(ServerError::from_value).collect(),
        Value::Null => Vec::new(),
        odd => vec![ServerError::from_value(odd)],
    };
    let data = envelope["data"].take();
    let empty = match &data {
        Value::Null => true,
        // Each field is null and the errors say why: nothing was given.
        Value::Object(fields) => !problems.is_empty() && fields.values().all(Value::is_null),
        _ => false,
    };
    if empty {
        if problems.is_empty() {
            return Err(nothing());
        }
        let errors = problems;
        return Err(Error::new(Kind::Rejected { status, errors }));
    }
    match serde_path_to_error::deserialize(data) {
        Ok(value) => Ok(Outcome { value, problems }),
        Err(error) => {
            let path = format!("data.{}", error.path());
            let detail = "a value of another type than expected".to_owned();
            Err(Error::new(Kind::Decode {
                status,
                path,
                detail,
                errors: problems,
            }))
        }
    }
}

fn nothing() -> Error {
    Error::protocol("the reply has neither data nor errors")
}

fn unreadable(status: u16, path: &str, detail: String) -> Error {
    Error::new(Kind::Decode {
        status,
        path: path.to_owned(),
        detail,
        errors: Vec::new(),
    })
}

/// Where the JSON breaks off; serde's own words would repeat the value.
fn place(error: &serde_json::Error) -> String {
    let what = if error.is_eof() {
        "it ends too early"
    } else {
        "it is not JSON"
    };
    format!("{what}, line {} column {}", error.line(), error.column())
}
