//! Cookies, and the ids in them.

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HeaderName, SET_COOKIE};
use sha2::{Digest, Sha256};
use url::Url;

use super::pages::Problem;
use super::server;

/// The names and attributes of the cookies at an address.
///
/// On HTTPS the names begin with `__Host-`: a browser accepts such a cookie only with `Secure` and only for this host, so
/// neither plain HTTP nor a sibling domain can set it. Some browsers refuse `Secure` cookies over plain HTTP, even on loopback,
/// so the names have no prefix there.
pub(crate) struct Cookies {
    is_secure: bool,
}

impl Cookies {
    pub(crate) fn at(home: &Url) -> Self {
        let is_secure = home.scheme() == "https";
        Self { is_secure }
    }

    pub(crate) fn set(&self, name: &str, value: &str) -> (HeaderName, String) {
        (SET_COOKIE, self.cookie(name, value, ""))
    }

    pub(crate) fn forget(&self, name: &str) -> (HeaderName, String) {
        (SET_COOKIE, self.cookie(name, "", "; Max-Age=0"))
    }

    /// Hidden from scripts. `Lax`, because the callback comes from the identity provider's site and needs the login cookie.
    fn cookie(&self, name: &str, value: &str, more: &str) -> String {
        let name = self.name(name);
        let secure = if self.is_secure { "; Secure" } else { "" };
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{more}")
    }

    pub(crate) fn read(&self, headers: &HeaderMap, name: &str) -> Option<String> {
        let name = self.name(name);
        let cookies = headers.get_all(COOKIE).into_iter();
        let cookies = cookies.filter_map(|header| header.to_str().ok());
        let mut pairs = cookies
            .flat_map(|header| header.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = pairs.find(|(known, _)| *known == name)?;
        Some(value.to_owned())
    }

    fn name(&self, name: &str) -> String {
        let prefix = if self.is_secure { "__Host-" } else { "" };
        format!("{prefix}{name}")
    }
}

/// The value of a new cookie.
pub(crate) fn new_id() -> Result<String, Problem> {
    server::random_id().map_err(|_| Problem::NoRandomness)
}

/// SHA-256 of an id, used as the key on the server, so that a copy of its store reveals no cookie. Ids are long and random, so
/// the hash needs no secret.
pub(crate) fn hash(id: &str) -> String {
    let hash = Sha256::digest(id);
    hash.iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
