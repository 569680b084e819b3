//! The identity provider: code flow with PKCE (section 5, RFC 6749, RFC 7636), and the manners of Auth0 (facts F.2).

mod authorize;
mod issue;
mod logout;
mod parameters;
mod revoke;
mod token;

use std::collections::{HashMap, HashSet};
use std::time::{Duration, SystemTime};

pub(super) use self::authorize::{Consent, authorize};
pub(super) use self::logout::logout;
pub(super) use self::revoke::revoke;
pub(super) use self::token::token;
use super::user::User;

pub(super) const CLIENT_ID: &str = "fake-client";
pub(super) const AUDIENCE: &str = "https://fake.envd.example/";
/// Typically about 30 days (5.6).
const REFRESH_LIFETIME: Duration = Duration::from_secs(30 * 86_400);
/// RFC 6749 section 4.1.2 recommends at most ten minutes.
const CODE_LIFETIME: Duration = Duration::from_secs(600);

/// Everything that was issued.
pub(super) struct Provider {
    pub(super) issuer: String,
    pub(super) user: User,
    pub(super) access_lifetime: Duration,
    pub(super) return_to: Vec<String>,
    /// How often the token endpoint was called.
    pub(super) token_requests: usize,
    codes: HashMap<String, Code>,
    access: HashMap<String, Access>,
    refresh: HashMap<String, Refresh>,
    revoked: HashSet<u64>,
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
    used: bool,
}

impl Provider {
    pub(super) fn new(issuer: String, user: User, access_lifetime: Duration) -> Self {
        Self {
            issuer,
            user,
            access_lifetime,
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
        let access = self.access.get(token)?;
        let login = &access.login;
        let good = now < access.expires
            && login.audience.is_some()
            && !self.revoked.contains(&login.family);
        good.then_some(login.user)
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
