//! Codes by which servers say that there were too many requests.

use crate::model::ServerError;

/// Whether an error says so. assumed: the specification shows no rate limits, these are the codes of other services.
pub(super) fn is_limit(error: &ServerError) -> bool {
    let extensions = |name: &str| error.extensions()?.get(name)?.as_str();
    let single = [
        error.code(),
        error.schema_code(),
        extensions("type"),
        extensions("classification"),
    ];
    let mut codes = single.into_iter().flatten().chain(error.schema_codes());
    codes.any(names_a_limit)
}

fn names_a_limit(code: &str) -> bool {
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
            assert!(is_limit(&error), "{extensions}");
        }
        for extensions in [json!({"code": "INVALID_VALUE"}), json!({}), json!([])] {
            let error =
                ServerError::from_value(json!({"extensions": extensions, "message": "429"}));
            assert!(!is_limit(&error), "{extensions}");
        }
    }
}
