//! The identity provider: code flow with PKCE (spec 5, RFC 6749, RFC 7636) and device flow (RFC 8628), with the behaviour of
//! Auth0 (`guide::sources`).

mod device;
mod endpoints;
mod signing;
mod token_endpoint;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use url::form_urlencoded;

use self::device::DeviceGrant;
use self::signing::{ALGORITHM, Signing};
pub(super) use self::token_endpoint::ClientCheck;
use super::instant::epoch_seconds;
use super::reply::FakeReply;
use super::world::{User, World};
use crate::transport::later;

pub(super) const CLIENT_ID: &str = "fake-client";
pub(super) const AUDIENCE: &str = "https://fake.envd.example/";
/// Auth0's default.
const ID_TOKEN_LIFETIME: Duration = Duration::from_secs(36_000);

/// Longer lifetimes are capped at a century, which a calendar can represent.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

/// The lifetimes of what the provider issues.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lifetimes {
    pub(super) access_token: Duration,
    pub(super) refresh_token: Duration,
    pub(super) code: Duration,
    /// How long after its first use the most recently used refresh token keeps working.
    pub(super) refresh_overlap: Duration,
}

impl Lifetimes {
    fn capped(self) -> Self {
        Self {
            access_token: self.access_token.min(LONGEST),
            refresh_token: self.refresh_token.min(LONGEST),
            code: self.code.min(LONGEST),
            refresh_overlap: self.refresh_overlap.min(LONGEST),
        }
    }
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            // Typically 24 hours, and about 30 days (spec 5.6).
            access_token: Duration::from_secs(86_400),
            refresh_token: Duration::from_secs(30 * 86_400),
            // RFC 6749 section 4.1.2 recommends at most ten minutes.
            code: Duration::from_secs(600),
            refresh_overlap: Duration::ZERO,
        }
    }
}

/// The settings of the provider, and everything it has issued.
#[derive(Default)]
pub(super) struct FakeProvider {
    pub(super) issuer: String,
    /// The user who logs in, unless the login names another one.
    pub(super) user: User,
    /// The access tokens of the fake's own clients.
    own_tokens: HashMap<User, String>,
    pub(super) lifetimes: Lifetimes,
    pub(super) client_check: ClientCheck,
    /// Whether the user cancels logins.
    pub(super) denies_logins: bool,
    /// Whether callbacks omit `iss`, contradicting the metadata.
    pub(super) omits_iss: bool,
    /// The addresses accepted as a return address at logout.
    pub(super) return_to: Vec<String>,
    /// The number of calls to the token endpoint.
    pub(super) token_requests: usize,
    /// Signs id tokens.
    pub(super) signing: Signing,
    world: Arc<World>,
    codes: HashMap<String, Code>,
    /// By device code.
    device_grants: HashMap<String, DeviceGrant>,
    /// With the expiry.
    pub(super) access_tokens: HashMap<String, (TokenFamily, SystemTime)>,
    refresh_tokens: HashMap<String, RefreshToken>,
    revoked_families: HashSet<u64>,
    /// The ids of accepted assertions.
    assertions: HashSet<String>,
    /// By family, the latest generation with a used refresh token.
    used_generations: HashMap<u64, u64>,
    /// Whether a user is logged in in the browser.
    has_session: bool,
    issued: u64,
}

/// A login. All tokens derived from it are one family, and are revoked together.
#[derive(Clone)]
pub(super) struct TokenFamily {
    family: u64,
    user: User,
    scope: String,
    audience: Option<String>,
    nonce: Option<String>,
}

struct Code {
    login: TokenFamily,
    redirect_uri: String,
    challenge: Option<String>,
    expires: SystemTime,
    is_used: bool,
}

struct RefreshToken {
    login: TokenFamily,
    expires: SystemTime,
    /// The number of refreshes since the login.
    generation: u64,
    first_use: Option<SystemTime>,
}

impl FakeProvider {
    pub(super) fn new(issuer: String, user: User, world: Arc<World>, lifetimes: Lifetimes) -> Self {
        Self {
            issuer,
            user,
            lifetimes: lifetimes.capped(),
            world,
            ..Self::default()
        }
    }

    /// The user of an access token for the service that is known, not expired and not revoked.
    pub(super) fn user_of(&self, token: &str, now: SystemTime) -> Option<User> {
        let (login, expires) = self.access_tokens.get(token)?;
        let is_valid = now < *expires && !self.revoked_families.contains(&login.family);
        (is_valid && login.audience.is_some()).then_some(login.user)
    }

    /// Revokes a token. A refresh token revokes all tokens of its login (RFC 7009 section 2.1).
    pub(super) fn revoke(&mut self, token: &str) {
        if let Some(refresh) = self.refresh_tokens.get(token) {
            self.revoked_families.insert(refresh.login.family);
        }
        self.access_tokens.remove(token);
    }

    /// Ends every login, and revokes all codes and tokens.
    pub(super) fn revoke_all(&mut self) {
        self.access_tokens.clear();
        self.refresh_tokens.clear();
        self.codes.clear();
        self.device_grants.clear();
        self.has_session = false;
    }

    /// Issues an access token without a login.
    pub(super) fn grant(&mut self, user: User, now: SystemTime) -> String {
        let login = TokenFamily {
            family: self.next_number(),
            user,
            scope: "openid profile email".to_owned(),
            audience: Some(AUDIENCE.to_owned()),
            nonce: None,
        };
        self.issue_access_token(login, now)
    }

    /// Makes this user, who already has an access token, the one who logs in.
    pub(super) fn seat(&mut self, user: User, now: SystemTime) {
        self.user = user;
        drop(self.own_token(user, now));
    }

    /// The access token that the fake's own clients use for a user. Replaced once it has expired, but not after it was revoked.
    pub(super) fn own_token(&mut self, user: User, now: SystemTime) -> String {
        let known = self.own_tokens.get(&user).filter(|token| {
            let issued = self.access_tokens.get(*token);
            issued.is_none_or(|(_, expires)| now < *expires)
        });
        if let Some(token) = known {
            return token.clone();
        }
        let token = self.grant(user, now);
        self.own_tokens.insert(user, token.clone());
        token
    }

    fn begin_login(&mut self, user: User, request: &Parameters) -> TokenFamily {
        let own = |name: &str| request.get(name).map(str::to_owned);
        TokenFamily {
            family: self.next_number(),
            user,
            scope: own("scope").unwrap_or_default(),
            audience: own("audience"),
            nonce: own("nonce"),
        }
    }

    /// The body of a successful token response.
    fn token_response(&mut self, login: TokenFamily, generation: u64, now: SystemTime) -> Value {
        let has_scope = |scope: &str| login.scope.split(' ').any(|granted| granted == scope);
        let is_openid = has_scope("openid");
        let is_offline = has_scope("offline_access");
        let mut body = json!({
            "access_token": self.issue_access_token(login.clone(), now),
            "token_type": "Bearer",
            "expires_in": self.lifetimes.access_token.as_secs(),
            "scope": login.scope,
        });
        if is_openid {
            body["id_token"] = self.id_token(&login, now).into();
        }
        if is_offline {
            let token = self.random_text("refresh");
            let refresh = RefreshToken {
                login,
                expires: later(now, self.lifetimes.refresh_token),
                generation,
                first_use: None,
            };
            body["refresh_token"] = token.as_str().into();
            self.refresh_tokens.insert(token, refresh);
        }
        body
    }

    fn issue_access_token(&mut self, login: TokenFamily, now: SystemTime) -> String {
        let expires = later(now, self.lifetimes.access_token);
        let mut token = self.random_text("opaque");
        // Without an audience, the token is opaque.
        if login.audience.is_some() {
            token = jwt(&json!({
                "iss": self.issuer,
                "sub": self.world.user_record(login.user)["auth0Id"],
                "aud": [AUDIENCE],
                "iat": epoch_seconds(now),
                "exp": epoch_seconds(expires),
                "scope": login.scope,
                "jti": token,
            }));
        }
        self.access_tokens.insert(token.clone(), (login, expires));
        token
    }

    fn id_token(&self, login: &TokenFamily, now: SystemTime) -> String {
        let user = self.world.user_record(login.user);
        let text = |field: &str| user[field].as_str().unwrap_or_default();
        let mut claims = json!({
            "iss": self.issuer,
            "aud": CLIENT_ID,
            "sub": text("auth0Id"),
            "iat": epoch_seconds(now),
            "exp": epoch_seconds(later(now, ID_TOKEN_LIFETIME)),
            "email": user["email"],
            "name": format!("{} {}", text("firstName"), text("lastName")),
        });
        if let Some(nonce) = &login.nonce {
            claims["nonce"] = nonce.as_str().into();
        }
        self.signing.jwt(&claims)
    }

    /// Generates a code or token.
    fn random_text(&mut self, kind: &str) -> String {
        let number = self.next_number();
        let random = fastrand::u64(..);
        format!("fake-{kind}-{number}-{random:016x}")
    }

    fn next_number(&mut self) -> u64 {
        self.issued += 1;
        self.issued
    }
}

/// Three parts like a signed JWT, with the algorithm "none".
fn jwt(claims: &Value) -> String {
    let header = json!({"alg": "none", "typ": "JWT"}).to_string();
    let parts = [header, claims.to_string(), "unsigned".to_owned()];
    parts.map(|part| URL_SAFE_NO_PAD.encode(part)).join(".")
}

fn error_reply(status: u16, error: &str, description: &str) -> FakeReply {
    let body = json!({"error": error, "error_description": description});
    FakeReply::json(status, &body)
}

/// The parameters of a request. If a name is repeated, the first value is used.
#[derive(Default)]
pub(super) struct Parameters {
    fields: HashMap<String, String>,
    authorization: Option<String>,
}

impl Parameters {
    fn of_query(query: &str) -> Self {
        let mut parameters = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let field = parameters.fields.entry(name.into_owned());
            field.or_insert(value.into_owned());
        }
        parameters
    }

    /// Parses a form or a JSON object: Auth0 accepts both.
    pub(super) fn of_form(authorization: Option<&str>, media_type: &str, body: &[u8]) -> Self {
        let mut parameters = Self::of_query(&String::from_utf8_lossy(body));
        if media_type.contains("json") {
            let body: Value = serde_json::from_slice(body).unwrap_or_default();
            let fields = body.as_object().into_iter().flatten();
            let texts = fields.filter_map(|(k, v)| Some((k.clone(), v.as_str()?.to_owned())));
            parameters.fields = texts.collect();
        }
        parameters.authorization = authorization.map(str::to_owned);
        parameters
    }

    /// The value of a parameter, unless empty.
    fn get(&self, name: &str) -> Option<&str> {
        let value = self.fields.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }
}
