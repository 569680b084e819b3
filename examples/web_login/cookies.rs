//! Cookies, and the ids in them.

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HeaderName, SET_COOKIE};

use super::pages::Problem;

/// Hidden from scripts, and not sent with requests from other sites. On `https` add `Secure`.
const ATTRIBUTES: &str = "Path=/; HttpOnly; SameSite=Lax";

pub(crate) fn set(name: &str, value: &str) -> [(HeaderName, String); 1] {
    [(SET_COOKIE, format!("{name}={value}; {ATTRIBUTES}"))]
}

pub(crate) fn forget(name: &str) -> [(HeaderName, String); 1] {
    [(SET_COOKIE, format!("{name}=; Max-Age=0; {ATTRIBUTES}"))]
}

pub(crate) fn read(headers: &HeaderMap, name: &str) -> Option<String> {
    let cookies = headers.get(COOKIE)?.to_str().ok()?;
    let mut pairs = cookies.split("; ").filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(known, _)| *known == name)?;
    Some(value.to_owned())
}

/// 128 random bits.
pub(crate) fn new_id() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Problem::NoRandomness)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}
