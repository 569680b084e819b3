//! What the headers of a reply say about time.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// `Retry-After` (seconds or an HTTP date, RFC 9110 section 10.2.3), else `x-ratelimit-reset` (seconds since 1970, as Auth0 sends it).
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let until = |at: SystemTime| at.duration_since(now).unwrap_or_default();
    if let Some(wait) = text(RETRY_AFTER.as_str()) {
        if !wait.is_empty() && wait.bytes().all(|b| b.is_ascii_digit()) {
            // A number that no integer holds is the longest wait, not none.
            let seconds = wait.parse().unwrap_or(u64::MAX);
            return Some(Duration::from_secs(seconds));
        }
        if let Ok(date) = httpdate::parse_http_date(wait) {
            return Some(until(date));
        }
    }
    let reset = text("x-ratelimit-reset")?.parse().ok()?;
    Some(until(
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(reset))?,
    ))
}

/// The time by the server's own clock (RFC 9110 section 6.6.1).
pub(crate) fn server_time(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn seconds_dates_and_auth0s_reset_are_read() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (name, value, seconds) in [
            ("retry-after", "120", Some(120)),
            ("retry-after", "Sun, 06 Nov 1994 08:50:37 GMT", Some(60)),
            ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            (
                "retry-after",
                "0000000000000000000000000000000000000007",
                Some(7),
            ),
            (
                "retry-after",
                "9999999999999999999999999999999999999999",
                Some(u64::MAX),
            ),
            ("retry-after", "", None),
            ("retry-after", "-1", None),
            ("retry-after", "+1", None),
            ("retry-after", "soon", None),
            ("x-ratelimit-reset", "784111787", Some(10)),
            ("x-ratelimit-reset", "18446744073709551615", None),
        ] {
            assert_eq!(
                retry_after(&headers(name, value), now),
                seconds.map(Duration::from_secs),
                "{name}: {value}"
            );
        }
    }
}
