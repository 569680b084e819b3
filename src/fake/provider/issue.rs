//! Makes tokens.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::{AUDIENCE, Access, CLIENT_ID, Login, Provider, Refresh};
use crate::fake::base64::encode_url;
use crate::fake::instant::epoch_seconds;

/// Auth0's default.
const ID_LIFETIME: Duration = Duration::from_secs(36_000);

impl Provider {
    /// The body of a successful token response; the generation counts the refreshes since the login.
    pub(super) fn token_response(
        &mut self,
        login: Login,
        generation: u64,
        now: SystemTime,
    ) -> Value {
        let scopes: Vec<&str> = login.scope.split(' ').collect();
        let mut body = json!({
            "access_token": self.access_token(login.clone(), now),
            "token_type": "Bearer",
            "expires_in": self.access_lifetime.as_secs(),
            "scope": login.scope,
        });
        if scopes.contains(&"openid") {
            body["id_token"] = self.id_token(&login, now).into();
        }
        if scopes.contains(&"offline_access") {
            body["refresh_token"] = self.refresh_token(login, generation, now).into();
        }
        body
    }

    pub(super) fn access_token(&mut self, login: Login, now: SystemTime) -> String {
        let expires = now + self.access_lifetime;
        let number = self.next();
        let token = if login.audience.is_some() {
            jwt(&json!({
                "iss": self.issuer,
                "sub": self.subject(login.user),
                "aud": [AUDIENCE],
                "iat": epoch_seconds(now),
                "exp": epoch_seconds(expires),
                "scope": login.scope,
                "jti": format!("{number}-{:016x}", fastrand::u64(..)),
            }))
        } else {
            format!("fake-opaque-{number}-{:016x}", fastrand::u64(..))
        };
        self.access.insert(token.clone(), Access { login, expires });
        token
    }

    fn refresh_token(&mut self, login: Login, generation: u64, now: SystemTime) -> String {
        let token = format!("fake-refresh-{}-{:016x}", self.next(), fastrand::u64(..));
        let refresh = Refresh {
            login,
            expires: now + self.refresh_lifetime,
            generation,
            used: None,
        };
        self.refresh.insert(token.clone(), refresh);
        token
    }

    fn id_token(&self, login: &Login, now: SystemTime) -> String {
        let person = self.person(login.user);
        let mut claims = json!({
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": self.subject(login.user),
            "iat": epoch_seconds(now),
            "exp": epoch_seconds(now + ID_LIFETIME),
            "email": person["email"],
            "name": format!("{} {}", text(&person["firstName"]), text(&person["lastName"])),
        });
        if let Some(nonce) = &login.nonce {
            claims["nonce"] = nonce.as_str().into();
        }
        jwt(&claims)
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Three parts like a signed token, but honest about being none: there is no key to publish.
fn jwt(claims: &Value) -> String {
    let header = json!({"alg": "none", "typ": "JWT"}).to_string();
    let parts = [header, claims.to_string(), "unsigned".to_owned()];
    parts.map(|part| encode_url(part.as_bytes())).join(".")
}
