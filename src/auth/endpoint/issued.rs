//! Decodes a reply with tokens leniently.

use std::time::{Duration, SystemTime};

use serde::Deserialize;
use serde_json::Value;

use crate::auth::id_token::Claims;
use crate::auth::secret_json;
use crate::auth::token_set::{LONGEST, TokenSet, from_ms, to_ms};
use crate::model::reply_memory;
use crate::secret::Secret;
use crate::transport::{Clock, later};

/// Ten years. Longer sessions are capped, so that sums cannot overflow.
const LONGEST_SESSION: Duration = Duration::from_secs(10 * 365 * 86_400);

/// The lifetime of an opaque token with `expires_in` 0. Providers mean either "immediately" or "never". This is long enough to
/// avoid a refresh per call, and short enough for either meaning.
const SHORTEST: Duration = Duration::from_secs(60);

/// The issued tokens (RFC 6749 section 5.1).
pub(in crate::auth) struct Issued {
    pub(in crate::auth) access_token: Secret,
    /// `None` also for an empty string: the old one stays valid (RFC 6749 section 6).
    pub(in crate::auth) refresh_token: Option<Secret>,
    pub(in crate::auth) id_token: Option<Secret>,
    scopes: Option<Vec<String>>,
    expires_in: Option<Duration>,
    session: Option<Duration>,
    server_time: Option<SystemTime>,
}

/// The raw fields, including those of an error, which some providers send with status 200.
#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct ReplyFields {
    #[serde(with = "secret_json::option")]
    access_token: Option<Secret>,
    #[serde(with = "secret_json::option")]
    refresh_token: Option<Secret>,
    #[serde(with = "secret_json::option")]
    id_token: Option<Secret>,
    token_type: Option<String>,
    #[serde(deserialize_with = "reply_memory::any_value")]
    scope: Value,
    #[serde(deserialize_with = "reply_memory::any_value")]
    expires_in: Value,
    #[serde(deserialize_with = "reply_memory::any_value")]
    refresh_token_expires_in: Value,
    /// Keycloak's name for the session lifetime; 0 if the session never ends.
    #[serde(deserialize_with = "reply_memory::any_value")]
    refresh_expires_in: Value,
    #[serde(deserialize_with = "reply_memory::any_value")]
    pub(super) error: Value,
    #[serde(deserialize_with = "reply_memory::any_value")]
    pub(super) error_description: Value,
}

impl ReplyFields {
    /// Whether the access token requires another scheme (RFC 6749 section 7.1). A missing type means Bearer.
    pub(super) fn is_foreign(&self) -> bool {
        let scheme = self.token_type.as_deref();
        scheme.is_some_and(|scheme| !scheme.eq_ignore_ascii_case("bearer"))
    }

    /// `server_time`: the time of the reply on the server's clock, which may differ from ours by minutes.
    pub(super) fn into_issued(self, server_time: Option<SystemTime>) -> Option<Issued> {
        if self.is_foreign() {
            return None;
        }
        let text = |text: Option<Secret>| text.filter(|text| !text.is_empty());
        // A token must fit into a header (RFC 6750 section 2.1).
        let sendable = |token: &Secret| token.expose().bytes().all(|b| b.is_ascii_graphic());
        let access_token = text(self.access_token).filter(sendable)?;
        Some(Issued {
            access_token,
            refresh_token: text(self.refresh_token),
            id_token: text(self.id_token),
            scopes: scopes(&self.scope),
            expires_in: seconds(&self.expires_in, LONGEST),
            session: seconds(&self.refresh_token_expires_in, LONGEST_SESSION)
                .or_else(|| seconds(&self.refresh_expires_in, LONGEST_SESSION))
                .filter(|session| !session.is_zero()),
            server_time,
        })
    }
}

impl Issued {
    /// The first tokens of a login, or the successors of `old`. `asked_at` is the time before the request was sent.
    pub(in crate::auth) fn into_set(
        self,
        old: Option<&TokenSet>,
        asked_at: SystemTime,
        default_lifetime: Duration,
    ) -> TokenSet {
        let lifetime = self
            .expires_in
            .filter(|lifetime| !lifetime.is_zero())
            .or_else(|| {
                let now = self.server_time.unwrap_or(asked_at);
                Claims::read(self.access_token.expose())?.lifetime(now)
            })
            .unwrap_or_else(|| match self.expires_in {
                Some(_) => SHORTEST.min(default_lifetime),
                None => default_lifetime,
            });
        let subject = self.subject();
        // A stated session end belongs to one refresh token: the next token may have another.
        let same = self.refresh_token.is_none();
        let stated = self.session.map(|session| later(asked_at, session));
        TokenSet {
            access_token: self.access_token,
            refresh_token: self.refresh_token.or_else(|| old?.refresh_token.clone()),
            id_token: self.id_token.or_else(|| old?.id_token.clone()),
            subject: subject.or_else(|| old?.subject.clone()),
            scopes: self
                .scopes
                .or_else(|| Some(old?.scopes.clone()))
                .unwrap_or_default(),
            issued_at: asked_at,
            lifetime: lifetime.min(LONGEST),
            generation: old.map_or(0, |old| old.generation).saturating_add(1),
            logged_in_at: match old {
                Some(old) => old.logged_in_at,
                None => from_ms(to_ms(asked_at)),
            },
            session_ends_at: stated.or_else(|| old.filter(|_| same)?.session_ends_at),
        }
    }

    /// The time of the reply: on the provider's clock if the reply has it, otherwise on ours.
    pub(in crate::auth) fn server_time_or(&self, ours: &Clock) -> SystemTime {
        self.server_time.unwrap_or_else(|| ours.now())
    }

    /// The user of these tokens, if the reply has an id token.
    pub(in crate::auth) fn subject(&self) -> Option<String> {
        Claims::read(self.id_token.as_ref()?.expose())?.sub
    }
}

/// Accepts an integer, a float or a string. Zero below one second.
pub(super) fn seconds(value: &Value, longest: Duration) -> Option<Duration> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    if seconds < 1.0 {
        return Some(Duration::ZERO);
    }
    // Huge numbers are capped, and NaN fails the comparison.
    (seconds >= 1.0).then(|| Duration::from_secs_f64(seconds.min(longest.as_secs_f64())))
}

/// Accepts a string with spaces (RFC 6749 section 3.3), or a list.
fn scopes(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(text.split_whitespace().map(str::to_owned).collect()),
        Value::Array(list) => list
            .iter()
            .map(|scope| scope.as_str().map(str::to_owned))
            .collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const HOUR: Duration = Duration::from_secs(3_600);

    /// Decodes a reply with this server time.
    fn issued(reply: Value, server: Option<SystemTime>) -> Issued {
        let fields: ReplyFields = serde_json::from_value(reply).unwrap();
        fields.into_issued(server).unwrap()
    }

    fn set(reply: Value, old: Option<&TokenSet>) -> TokenSet {
        let issued = issued(reply, None);
        issued.into_set(old, SystemTime::UNIX_EPOCH, HOUR)
    }

    /// Row 41.
    #[test]
    fn lifetimes_are_read_from_what_servers_send() {
        for (expires_in, seconds) in [
            (json!(86_400), 86_400),
            (json!(86_400.0), 86_400),
            (json!("86400"), 86_400),
            (json!("86400.0"), 86_400),
            (json!(10), 10),
            (json!(1e18), LONGEST.as_secs()),
            (json!("inf"), LONGEST.as_secs()),
            (json!("NaN"), 3_600),
            // Already expired by its own account: served for a minute, so that not every call causes a refresh.
            (json!(0), 60),
            (json!("0"), 60),
            (json!(-5), 60),
            (json!(1e-9), 60),
            (json!("soon"), 3_600),
            (json!([]), 3_600),
            (Value::Null, 3_600),
        ] {
            let set = set(json!({"access_token": "a", "expires_in": expires_in}), None);
            assert_eq!(set.lifetime.as_secs(), seconds, "{expires_in}");
        }
    }

    #[test]
    fn without_a_lifetime_the_claims_of_the_token_count() {
        // {"iat":1000,"exp":1090}
        let jwt = "e30.eyJpYXQiOjEwMDAsImV4cCI6MTA5MH0.s";
        for reply in [
            json!({"access_token": jwt}),
            json!({"access_token": jwt, "expires_in": 0}),
        ] {
            assert_eq!(set(reply, None).lifetime, Duration::from_secs(90));
        }
    }

    #[test]
    fn a_lifetime_of_zero_is_never_longer_than_the_default() {
        let issued = issued(json!({"access_token": "opaque", "expires_in": 0}), None);
        let default = Duration::from_secs(20);
        let set = issued.into_set(None, SystemTime::UNIX_EPOCH, default);
        assert_eq!(set.lifetime, default);
    }

    /// Row 40.
    #[test]
    fn without_a_lifetime_the_end_is_compared_with_the_servers_clock() {
        // {"exp":1060}. The server's clock is at 1000; ours is not read.
        let jwt = "e30.eyJleHAiOjEwNjB9.s";
        let server = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000);
        let issued = issued(json!({"access_token": jwt}), Some(server));
        let ours = SystemTime::UNIX_EPOCH + Duration::from_secs(700);
        let set = issued.into_set(None, ours, HOUR);
        assert_eq!(set.lifetime, Duration::from_secs(60));
        assert_eq!(set.expires_at(), ours + Duration::from_secs(60));
    }

    #[test]
    fn the_end_of_the_session_is_that_of_the_refresh_token_if_the_provider_tells() {
        let days = |days: u64| Some(SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400));
        let with = |name: &str, value: Value| json!({"refresh_token": "r2", (name): value});
        let both = |value: Value| json!({"refresh_token": "r2", "refresh_expires_in": 172_800, "refresh_token_expires_in": value});
        let first = json!({"access_token": "a", "refresh_token": "r1", "refresh_token_expires_in": "2592000"});
        let first = set(first, None);
        assert_eq!(first.session_ends_at, days(30));
        for (fields, end) in [
            (json!({}), days(30)),
            (json!({"refresh_token": "r2"}), None),
            (with("refresh_token_expires_in", json!(86_400)), days(1)),
            (with("refresh_token_expires_in", json!(1e18)), days(3_650)),
            (with("refresh_token_expires_in", json!(0)), None),
            // Keycloak's name. Its offline tokens never expire.
            (with("refresh_expires_in", json!("86400")), days(1)),
            (with("refresh_expires_in", json!(0)), None),
            (with("refresh_expires_in", Value::Null), None),
            // The other name is more common, and takes precedence.
            (both(86_400.into()), days(1)),
            (both(0.into()), None),
            (both(Value::Null), days(2)),
        ] {
            let said = fields.to_string();
            let mut next = fields;
            next["access_token"] = "b".into();
            assert_eq!(set(next, Some(&first)).session_ends_at, end, "{said}");
        }
    }

    #[test]
    fn scopes_come_as_text_or_list() {
        for scope in [json!("openid email"), json!(["openid", "email"])] {
            let set = set(json!({"access_token": "a", "scope": scope}), None);
            assert_eq!(set.scopes, ["openid", "email"]);
        }
    }

    /// Row 21.
    #[test]
    fn a_refresh_token_that_is_missing_or_empty_keeps_the_old_one() {
        let old = set(json!({"access_token": "a", "refresh_token": "r1"}), None);
        for reply in [
            json!({"access_token": "b"}),
            json!({"access_token": "b", "refresh_token": ""}),
            json!({"access_token": "b", "refresh_token": null}),
        ] {
            let next = set(reply, Some(&old));
            assert!(next.refresh_token.unwrap().matches("r1"));
            assert_eq!(next.generation, 2);
        }
        let other = json!({"access_token": "b", "refresh_token": "r2"});
        let next = set(other, Some(&old));
        assert!(next.refresh_token.unwrap().matches("r2"));
    }

    #[test]
    fn a_token_that_is_not_bearer_is_none() {
        for reply in [
            json!({}),
            json!({"access_token": ""}),
            json!({"access_token": "a b"}),
            json!({"access_token": "a", "token_type": "DPoP"}),
        ] {
            let fields: ReplyFields = serde_json::from_value(reply).unwrap();
            assert!(fields.into_issued(None).is_none());
        }
        set(json!({"access_token": "a", "token_type": "bearer"}), None);
    }
}
