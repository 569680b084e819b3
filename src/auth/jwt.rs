//! Reads the claims of a JSON Web Token. Signatures are not checked here.
//!
//! In the code flow the TLS connection to the token endpoint vouches for the id token (OIDC Core 3.1.3.7,
//! point 6). Claims of an access token serve to plan its renewal only, never to decide what it allows.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use zeroize::Zeroizing;

use super::failure::login_refused;
use crate::error::Result;
use crate::secret::Secret;

/// Clocks of farm computers are often minutes off.
const LEEWAY: Duration = Duration::from_secs(300);

#[derive(Deserialize, Default)]
#[serde(default)]
pub(super) struct Claims {
    iss: Option<String>,
    pub(super) sub: Option<String>,
    aud: Audience,
    azp: Option<String>,
    exp: Option<f64>,
    iat: Option<f64>,
    nonce: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Default for Audience {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Audience {
    fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

/// What an id token of a login must say.
pub(super) struct Expected<'a> {
    pub(super) issuer: Option<&'a str>,
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a Secret,
    pub(super) subject: Option<&'a str>,
    pub(super) now: SystemTime,
}

impl Claims {
    pub(super) fn read(token: &str) -> Option<Self> {
        let mut parts = token.split('.');
        let payload = parts.nth(1)?;
        // A signature must follow, be it empty; five parts would be an encrypted token.
        parts.next()?;
        if parts.next().is_some() {
            return None;
        }
        let json = Zeroizing::new(base64url(payload)?);
        serde_json::from_slice(&json).ok()
    }

    /// The checks of OIDC Core 3.1.3.7 that need no key.
    pub(super) fn check(&self, expected: &Expected<'_>) -> Result<()> {
        if expected
            .issuer
            .is_some_and(|issuer| self.iss.as_deref() != Some(issuer))
        {
            return Err(login_refused("id_token_issuer"));
        }
        let audiences = self.aud.all();
        if !audiences.iter().any(|aud| aud == expected.client_id) {
            return Err(login_refused("id_token_audience"));
        }
        let azp_is_us = self.azp.as_deref().map(|azp| azp == expected.client_id);
        if azp_is_us == Some(false) || (audiences.len() > 1 && azp_is_us.is_none()) {
            return Err(login_refused("id_token_authorized_party"));
        }
        let unexpired = self
            .exp
            .and_then(moment)
            .and_then(|exp| exp.checked_add(LEEWAY))
            .is_some_and(|exp| exp > expected.now);
        if !unexpired {
            return Err(login_refused("id_token_expired"));
        }
        if !expected
            .nonce
            .matches(self.nonce.as_deref().unwrap_or_default())
        {
            return Err(login_refused("id_token_nonce"));
        }
        if self.sub.as_deref().unwrap_or_default().is_empty() {
            return Err(login_refused("id_token_subject"));
        }
        if expected.subject.is_some() && expected.subject != self.sub.as_deref() {
            return Err(login_refused("unexpected_subject"));
        }
        Ok(())
    }

    /// How long the token lives, for planning. Both ends by the server's clock if it tells both.
    pub(super) fn lifetime(&self, now: SystemTime) -> Option<Duration> {
        let start = self.iat.and_then(moment).unwrap_or(now);
        let life = moment(self.exp?)?.duration_since(start).ok()?;
        (!life.is_zero()).then_some(life)
    }
}

fn moment(seconds: f64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// RFC 4648 section 5, with or without padding.
fn base64url(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    if text.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.chunks(4) {
        let mut bits = 0_u32;
        for &byte in group {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'-' => 62,
                b'_' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        out.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_000_000)
    }

    fn check(claims: Value) -> Result<()> {
        let claims: Claims = serde_json::from_value(claims).unwrap();
        claims.check(&Expected {
            issuer: Some("https://id.example/"),
            client_id: "app",
            nonce: &Secret::new("n-1"),
            subject: Some("user"),
            now: now(),
        })
    }

    fn good() -> Value {
        json!({"iss": "https://id.example/", "sub": "user", "aud": "app", "exp": 1_000_100, "nonce": "n-1"})
    }

    #[test]
    fn claims_are_read_from_the_middle_part() {
        // {"sub":"1234567890","exp":1516239022}
        let claims =
            Claims::read("e30.eyJzdWIiOiIxMjM0NTY3ODkwIiwiZXhwIjoxNTE2MjM5MDIyfQ.sig").unwrap();
        assert_eq!(claims.sub.as_deref(), Some("1234567890"));
        for bad in [
            "",
            "a.b",
            "e30.!!.sig",
            "e30.e30.a.b.c",
            "e30.eyJ.sig",
            "opaque",
        ] {
            assert!(Claims::read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_claims_of_a_right_token_pass() {
        check(good()).unwrap();
        let mut many = good();
        many["aud"] = json!(["app", "other"]);
        many["azp"] = json!("app");
        check(many).unwrap();
    }

    /// Row 45.
    #[test]
    fn each_wrong_claim_is_refused() {
        for (claim, wrong) in [
            ("iss", json!("https://id.example")),
            ("aud", json!("other")),
            ("aud", json!(["app", "other"])),
            ("azp", json!("other")),
            ("exp", json!(999_000)),
            ("exp", Value::Null),
            ("nonce", json!("n-2")),
            ("nonce", Value::Null),
            ("sub", json!("")),
            ("sub", json!("another")),
            ("sub", Value::Null),
        ] {
            let mut claims = good();
            claims[claim] = wrong.clone();
            assert!(
                check(claims).unwrap_err().is_login_refused(),
                "{claim}: {wrong}"
            );
        }
    }

    #[test]
    fn a_lifetime_is_by_the_servers_clock_when_it_tells_both_ends() {
        let life = |claims| {
            serde_json::from_value::<Claims>(claims)
                .unwrap()
                .lifetime(now())
        };
        assert_eq!(
            life(json!({"iat": 5_000, "exp": 5_060})),
            Some(Duration::from_secs(60))
        );
        assert_eq!(
            life(json!({"exp": 1_000_030})),
            Some(Duration::from_secs(30))
        );
        for useless in [
            json!({}),
            json!({"exp": 10}),
            json!({"exp": -1}),
            json!({"exp": 1e300}),
        ] {
            assert_eq!(life(useless), None);
        }
    }
}
