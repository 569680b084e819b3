//! Requests to the device authorization endpoint (RFC 8628 sections 3.1 and 3.2), and polls of the token endpoint (section
//! 3.4).

use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::issued::{Issued, seconds};
use super::refusal::{Grant, Refusal};
use super::{post, send};
use crate::auth::failure::{error_code, login_error, misconfigured, unavailable, unreachable};
use crate::auth::{Provider, secret_json};
use crate::error::{Error, ErrorKind, Result};
use crate::model::reply_memory;
use crate::secret::Secret;
use crate::transport::{Reply, parse_endpoint};

/// RFC 8628 section 3.2: without `interval`, clients must wait 5 seconds. Also replaces 0, which would mean polling without a
/// pause.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(5);

/// Longer times are capped, so that sums cannot overflow.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);

/// The codes issued by a device authorization endpoint.
pub(in crate::auth) struct DeviceCodes {
    pub(in crate::auth) device_code: Secret,
    pub(in crate::auth) user_code: Secret,
    pub(in crate::auth) verification_url: Url,
    pub(in crate::auth) verification_url_complete: Option<Url>,
    pub(in crate::auth) expires_in: Duration,
    pub(in crate::auth) interval: Duration,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DeviceFields {
    #[serde(with = "secret_json::option")]
    device_code: Option<Secret>,
    #[serde(with = "secret_json::option")]
    user_code: Option<Secret>,
    verification_uri: Option<String>,
    /// The field name in drafts of the RFC, which Google still uses.
    verification_url: Option<String>,
    verification_uri_complete: Option<String>,
    #[serde(deserialize_with = "reply_memory::any_value")]
    expires_in: Value,
    #[serde(deserialize_with = "reply_memory::any_value")]
    interval: Value,
    #[serde(deserialize_with = "reply_memory::any_value")]
    error: Value,
    #[serde(deserialize_with = "reply_memory::any_value")]
    error_description: Value,
}

/// Requests the codes for a login. `fields` excludes the client's credentials.
pub(in crate::auth) async fn authorize_device(
    provider: &Provider,
    url: &Url,
    fields: &[(&str, &str)],
) -> Result<DeviceCodes> {
    let request = post(&provider.0, url, fields).await?;
    let reply = provider.0.http.send(request).await.map_err(|error| {
        if error.kind() == ErrorKind::Config {
            // The server does not accept the client certificate.
            return error;
        }
        unreachable("device authorization", error)
    })?;
    read_reply(&reply, provider.clock().now())
}

/// Requests the tokens for a login that the user may have confirmed (RFC 8628 section 3.4).
pub(in crate::auth) async fn poll(
    provider: &Provider,
    device_code: &Secret,
) -> Result<Issued, Refusal> {
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
        ("device_code", device_code.expose()),
    ];
    let request = post(&provider.0, &provider.0.token_url, &fields).await;
    send(provider, Grant::DeviceCode, request).await
}

fn read_reply(reply: &Reply, now: SystemTime) -> Result<DeviceCodes> {
    let fields: Option<DeviceFields> = secret_json::from_json(&reply.body);
    let code = fields.as_ref().and_then(|fields| fields.error.as_str());
    match (code.map(error_code), fields) {
        (None, Some(fields)) if (200..=299).contains(&reply.status) => fields.into_codes(),
        (code, fields) => {
            let fields = fields.as_ref();
            let description = fields.and_then(|fields| fields.error_description.as_str());
            let error = reply.with_wait(refusal(code.as_deref(), reply.status), now);
            Err(error.with_error_description(description))
        }
    }
}

/// RFC 8628 section 3.1 refers to RFC 6749 section 5.2.
fn refusal(code: Option<&str>, status: u16) -> Error {
    match (code, status) {
        (Some("too_many_requests" | "slow_down"), _) | (_, 429) => {
            unavailable("the device authorization endpoint is busy")
        }
        (_, 500..) | (None, 408) => {
            unavailable("the device authorization endpoint has a transient failure")
        }
        (Some(code), _) => login_error(code),
        // Redirects are not followed: that would send the client's secret to an address that is not configured.
        (None, 300..=399) => misconfigured("redirect"),
        (None, 200..=299) => {
            unavailable("the reply of the device authorization endpoint is not readable")
        }
        (None, _) => unavailable("a proxy before the device authorization endpoint refused"),
    }
}

impl DeviceFields {
    fn into_codes(self) -> Result<DeviceCodes> {
        let text = |field: Option<Secret>| field.filter(|text| !text.is_empty());
        let missing = |name: &str| {
            Error::protocol(format!(
                "the device authorization endpoint issued no usable {name}"
            ))
        };
        let address = self.verification_uri.or(self.verification_url);
        let expires_in = seconds(&self.expires_in, LONGEST).filter(|time| !time.is_zero());
        let interval = seconds(&self.interval, LONGEST).filter(|time| !time.is_zero());
        Ok(DeviceCodes {
            device_code: text(self.device_code).ok_or_else(|| missing("device_code"))?,
            user_code: text(self.user_code).ok_or_else(|| missing("user_code"))?,
            verification_url: address
                .and_then(|address| page(&address))
                .ok_or_else(|| missing("verification_uri"))?,
            // Only a shortcut: otherwise the user enters the code.
            verification_url_complete: self
                .verification_uri_complete
                .and_then(|address| page(&address)),
            expires_in: expires_in.ok_or_else(|| missing("expires_in"))?,
            interval: interval.unwrap_or(DEFAULT_INTERVAL),
        })
    }
}

/// The address of a page where the user enters a password. Rejects addresses that run a script, open a file or use plain HTTP.
fn page(address: &str) -> Option<Url> {
    parse_endpoint("verification_uri", address).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::error::tests::assert_fails;
    use crate::transport::header::HeaderMap;

    fn read(status: u16, body: &Value) -> Result<DeviceCodes> {
        let reply = Reply {
            status,
            headers: HeaderMap::from_iter([("retry-after".parse().unwrap(), "7".parse().unwrap())]),
            body: body.to_string().into(),
        };
        read_reply(&reply, SystemTime::UNIX_EPOCH)
    }

    /// The example of RFC 8628 section 3.2.
    fn example() -> Value {
        json!({
            "device_code": "GmRhmhcxhwAzkoEqiMEg_DnyEysNkuNhszIySk9eS",
            "user_code": "WDJB-MJHT",
            "verification_uri": "https://example.com/device",
            "verification_uri_complete": "https://example.com/device?user_code=WDJB-MJHT",
            "expires_in": 1800,
            "interval": 5
        })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut body = example();
        body[name] = value;
        body
    }

    #[test]
    fn rfc_8628_3_2_the_example_is_read() {
        let codes = read(200, &example()).unwrap();
        assert!(codes.device_code.expose().starts_with("GmRhmh"));
        assert_eq!(codes.user_code.expose(), "WDJB-MJHT");
        assert_eq!(codes.verification_url.path(), "/device");
        let complete = codes.verification_url_complete.unwrap();
        assert_eq!(complete.query(), Some("user_code=WDJB-MJHT"));
        assert_eq!(codes.expires_in, Duration::from_secs(1_800));
        assert_eq!(codes.interval, Duration::from_secs(5));
    }

    #[test]
    fn rfc_8628_3_2_without_an_interval_it_is_five_seconds() {
        let longest = LONGEST.as_secs();
        for (interval, seconds) in [
            (Value::Null, 5),
            (json!(0), 5),
            (json!(-1), 5),
            (json!("often"), 5),
            (json!(1), 1),
            (json!("7"), 7),
            (json!(1e18), longest),
        ] {
            let codes = read(200, &with("interval", interval.clone())).unwrap();
            assert_eq!(codes.interval.as_secs(), seconds, "{interval}");
        }
    }

    #[test]
    fn rfc_8628_3_2_a_reply_without_a_required_field_names_it() {
        for (name, value) in [
            ("device_code", Value::Null),
            ("device_code", json!("")),
            ("user_code", Value::Null),
            ("verification_uri", Value::Null),
            ("verification_uri", json!("http://example.com/device")),
            ("verification_uri", json!("javascript:alert(1)")),
            ("verification_uri", json!("https://sam:pw@example.com/")),
            ("expires_in", Value::Null),
            ("expires_in", json!(0)),
        ] {
            let read = read(200, &with(name, value));
            assert_fails(read, &format!("Protocol: {name} & !WDJB"));
        }
    }

    #[test]
    fn an_unsafe_shortcut_is_left_out_and_the_older_name_of_the_address_is_read() {
        let unsafe_shortcut = with("verification_uri_complete", json!("file:///etc/passwd"));
        let codes = read(200, &unsafe_shortcut).unwrap();
        assert_eq!(codes.verification_url_complete, None);
        let mut older = with("verification_url", json!("https://example.com/older"));
        older.as_object_mut().unwrap().remove("verification_uri");
        assert_eq!(read(200, &older).unwrap().verification_url.path(), "/older");
    }

    #[test]
    fn rfc_8628_3_1_errors_are_those_of_rfc_6749_5_2() {
        for (status, code, kind) in [
            (400, "unauthorized_client", ErrorKind::Config),
            (401, "invalid_client", ErrorKind::Config),
            (400, "invalid_scope", ErrorKind::Config),
            (403, "access_denied", ErrorKind::LoginRefused),
            (403, "consent_required", ErrorKind::ReauthRequired),
            (429, "too_many_requests", ErrorKind::TokenUnavailable),
            (500, "access_denied", ErrorKind::TokenUnavailable),
        ] {
            let error = read(status, &json!({"error": code})).err().unwrap();
            assert_eq!(error.kind(), kind, "{status} {code}");
            let busy = (kind == ErrorKind::TokenUnavailable).then_some(Duration::from_secs(7));
            assert_eq!(error.retry_after(), busy, "{status} {code}");
            assert_eq!(error.is_retryable(), busy.is_some());
        }
        let page = |status| read(status, &json!("<html>")).err().unwrap();
        for status in [200, 403, 408, 429, 503] {
            assert!(page(status).is_retryable(), "{status}");
        }
        assert!(page(302).kind() == ErrorKind::Config);
        let described = json!({"error": "access_denied", "error_description": "Sam is blocked"});
        let described = read(403, &described).err().unwrap();
        assert_eq!(described.server_message().unwrap(), "Sam is blocked");
    }
}
