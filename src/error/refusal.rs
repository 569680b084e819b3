//! Which replies mean that a request was refused and not carried out.

use serde_json::Value;

use super::{BodyShape, Error, Received, Repr};
use crate::model::{Condition, ServerError};

impl Error {
    /// Whether the reply means that nothing was carried out.
    ///
    /// Either the status means it by its definition, whoever sends it: 401 ("the request has not been applied", RFC 9110 section
    /// 15.5.2), 413 (the request is not processed, section 15.5.14), 429 (RFC 6585 section 4). Or the service sends 400, 403 or 404
    /// in XML or in JSON with a message (spec 7.1). Or an error body of the interface on 2xx or 4xx names a reason that is known, in every error.
    /// A page with 403 or 404 does not count: a firewall that inspects replies answers so after the change was made.
    pub(crate) fn is_refusal(&self) -> bool {
        let errors = self.server_errors();
        // An error that is not kept may have any reason.
        let mut messages = errors.iter().map(ServerError::message);
        if self.errors().omitted > 0 || messages.any(says_internal) {
            return false;
        }
        match (self.http_status(), self.repr()) {
            (Some(401 | 413 | 429), _) => true,
            (Some(400 | 403 | 404), Repr::Http) => self.names_its_reason(),
            (Some(status @ (200..=299 | 400..=499)), Repr::Rejected) => {
                let named = status == 403 || errors.iter().all(names_reason);
                named && self.raw_data().is_none_or(|data| explains(errors, data))
            }
            _ => false,
        }
    }

    /// Whether a reply that is not GraphQL refuses as the service does: in XML, in JSON with a message, or by a header.
    fn names_its_reason(&self) -> bool {
        let message = self.server_message();
        let is_xml = self.received().map(Received::shape) == Some(BodyShape::Xml);
        let has_reason = is_xml || message.is_some() || self.body_excerpt() == Some("");
        let is_said = self.service_status().is_some();
        is_said && has_reason && !says_internal(&message.unwrap_or_default())
    }

    /// The same error, as the answer to a request that named no record.
    pub(crate) fn of_no_record(mut self) -> Self {
        mark_no_record_named(&mut self.parts().errors.first);
        self
    }
}

/// Marks errors as the answer to a request that named no record, so that none of them means "not found".
pub(crate) fn mark_no_record_named(errors: &mut [ServerError]) {
    for error in errors {
        error.no_record_named = true;
    }
}

fn says_internal(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    message.contains("internal server error")
}

/// Whether an error names a reason for which nothing is carried out: validation, token, permission, limit, schema.
fn names_reason(error: &ServerError) -> bool {
    // An error whose path goes into the result shows that there is one.
    if error.path().get(1).is_some_and(|name| name == "data") {
        return false;
    }
    match error.condition() {
        Condition::InvalidToken
        | Condition::AccessDenied
        | Condition::EmptyForms
        | Condition::UnknownForm
        | Condition::MixedSpecies
        | Condition::InvalidPic
        | Condition::PicNotAssociated
        | Condition::RequiredAnswerMissing
        | Condition::InvalidAnswerValue
        | Condition::OutsideAcceptableAnswers
        | Condition::Lpag2Rejected
        | Condition::Question185No
        | Condition::SchemaMismatch
        | Condition::InvalidVariable => true,
        Condition::FieldRule if names_field(error) => true,
        _ => is_rate_limit(error),
    }
}

/// Whether path and Code agree on a field (spec 7.2); a Code alone may be any word.
fn names_field(error: &ServerError) -> bool {
    let code = error.code().unwrap_or_default();
    let last = code.rsplit('.').next().unwrap_or_default();
    let field = last.strip_suffix("[]").unwrap_or(last);
    matches!(error.path(), [_, .., last] if last.trim_end_matches("[]") == field)
}

/// Whether the errors account for each field of the data: of two changes in one document, one may have been made.
fn explains(errors: &[ServerError], data: &Value) -> bool {
    let Some(fields) = data.as_object() else {
        return true;
    };
    let named = errors.iter().map(|error| error.path().first());
    let is_named = |field| named.clone().any(|name| name == Some(field));
    fields.len() <= 1 || fields.keys().all(is_named)
}

/// Whether an error means too many requests. assumed: the specification shows no rate limits, these are the codes of other
/// services.
pub(super) fn is_rate_limit(error: &ServerError) -> bool {
    let extensions = |name: &str| error.extensions()?.get(name);
    let single = ["code", "type", "classification"].map(extensions);
    let several = extensions("codes").and_then(Value::as_array);
    let single = single.into_iter().flatten();
    let mut codes = single
        .chain(several.into_iter().flatten())
        .filter_map(Value::as_str);
    error.code().is_some_and(is_rate_limit_code) || codes.any(is_rate_limit_code)
}

fn is_rate_limit_code(code: &str) -> bool {
    let letters: String = code
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_uppercase())
        .collect();
    matches!(
        letters.as_str(),
        "RATELIMIT" | "RATELIMITED" | "RATELIMITEXCEEDED" | "TOOMANYREQUESTS" | "THROTTLED" | "429"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_usual_codes_in_the_usual_places_are_known() {
        for extensions in [
            json!({"code": "RATE_LIMITED"}),
            json!({"codes": ["OTHER", "TOO_MANY_REQUESTS"]}),
            json!({"type": "RateLimitExceeded"}),
            json!({"data": {"Code": "Throttled"}}),
        ] {
            let error = ServerError::from_value(json!({"extensions": extensions}));
            assert!(is_rate_limit(&error), "{extensions}");
        }
        for extensions in [json!({"code": "INVALID_VALUE"}), json!({}), json!([])] {
            let error =
                ServerError::from_value(json!({"extensions": extensions, "message": "429"}));
            assert!(!is_rate_limit(&error), "{extensions}");
        }
    }
}
