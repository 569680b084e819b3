//! The identity provider: code flow with PKCE (section 5, RFC 6749, RFC 7636), and the manners of Auth0 (`guide::sources`).

mod authorize;
mod discovery;
mod issue;
mod logout;
mod parameters;
mod revoke;
mod token;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

use serde_json::Value;

pub(super) use self::authorize::{Consent, authorize};
pub(super) use self::discovery::{discovery, user_info};
pub(super) use self::logout::logout;
pub(super) use self::revoke::revoke;
pub(super) use self::token::token;
use super::user::User;

pub(super) const CLIENT_ID: &str = "fake-client";
pub(super) const AUDIENCE: &str = "https://fake.envd.example/";
/// Typically 24 hours (5.6).
const ACCESS_LIFETIME: Duration = Duration::from_secs(86_400);
/// Typically about 30 days (5.6).
const REFRESH_LIFETIME: Duration = Duration::from_secs(30 * 86_400);
/// RFC 6749 section 4.1.2 recommends at most ten minutes.
const CODE_LIFETIME: Duration = Duration::from_secs(600);

/// Everything that was issued.
pub(super) struct Provider {
    pub(super) issuer: String,
    pub(super) user: User,
    pub(super) access_lifetime: Duration,
    pub(super) refresh_lifetime: Duration,
    pub(super) code_lifetime: Duration,
    /// How long after its first use the newest retired refresh token still works.
    pub(super) overlap: Duration,
    /// What users do in the browser.
    pub(super) consent: Consent,
    pub(super) return_to: Vec<String>,
    /// How often the token endpoint was called.
    pub(super) token_requests: usize,
    codes: HashMap<String, Code>,
    access: HashMap<String, Access>,
    refresh: HashMap<String, Refresh>,
    revoked: HashSet<u64>,
    /// The newest generation of each family of which a refresh token was used.
    retired: HashMap<u64, u64>,
    people: Vec<Value>,
    /// Whether somebody is logged in in the browser.
    session: bool,
    issued: u64,
}

/// A login, from which all later tokens descend: the family that is revoked together.
#[derive(Clone)]
struct Login {
    family: u64,
    user: User,
    scope: String,
    audience: Option<String>,
    nonce: Option<String>,
}

struct Code {
    login: Login,
    redirect_uri: String,
    challenge: Option<String>,
    expires: SystemTime,
    used: bool,
}

struct Access {
    login: Login,
    expires: SystemTime,
}

struct Refresh {
    login: Login,
    expires: SystemTime,
    generation: u64,
    used: Option<SystemTime>,
}

impl Provider {
    pub(super) fn new(issuer: String, user: User, people: Vec<Value>) -> Self {
        Self {
            issuer,
            user,
            people,
            access_lifetime: ACCESS_LIFETIME,
            refresh_lifetime: REFRESH_LIFETIME,
            code_lifetime: CODE_LIFETIME,
            overlap: Duration::ZERO,
            consent: Consent::Given,
            session: false,
            retired: HashMap::new(),
            return_to: Vec::new(),
            token_requests: 0,
            codes: HashMap::new(),
            access: HashMap::new(),
            refresh: HashMap::new(),
            revoked: HashSet::new(),
            issued: 0,
        }
    }

    /// Whose token this is, if the endpoint takes it: known, for this audience, neither expired nor revoked.
    pub(super) fn user_of(&self, token: &str, now: SystemTime) -> Option<User> {
        let login = self.login_of(token, now)?;
        login.audience.is_some().then_some(login.user)
    }

    /// The login of a token that is known, and neither expired nor revoked.
    fn login_of(&self, token: &str, now: SystemTime) -> Option<&Login> {
        let access = self.access.get(token)?;
        let login = &access.login;
        let good = now < access.expires && !self.revoked.contains(&login.family);
        good.then_some(login)
    }

    /// The record of a user, which holds the claims about them.
    fn person(&self, user: User) -> &Value {
        self.people.get(user.index()).unwrap_or(&Value::Null)
    }

    /// The identity provider's id of a user.
    fn subject(&self, user: User) -> &str {
        self.person(user)["auth0Id"].as_str().unwrap_or_default()
    }

    /// Ends every login: no token that was issued works any longer.
    pub(super) fn revoke_all(&mut self) {
        self.access.clear();
        let families = self.refresh.values().map(|refresh| refresh.login.family);
        let families = families.chain(self.codes.values().map(|code| code.login.family));
        self.revoked.extend(families);
        self.session = false;
    }

    /// An access token without a login.
    pub(super) fn grant(&mut self, user: User, now: SystemTime) -> String {
        let login = Login {
            family: self.next(),
            user,
            scope: "openid profile email".to_owned(),
            audience: Some(AUDIENCE.to_owned()),
            nonce: None,
        };
        self.access_token(login, now)
    }

    /// Makes every access token invalid; refresh tokens live on.
    pub(super) fn expire_access_tokens(&mut self) {
        self.access.clear();
    }

    fn next(&mut self) -> u64 {
        self.issued += 1;
        self.issued
    }
}
