//! Which part answers which call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use wiremock::{Request, Respond, ResponseTemplate};

use super::graphql::{self, Documents, Scene};
use super::library::Library;
use super::provider::{self, Consent, Provider};
use super::register::{self, Register};
use super::reply::Reply;
use super::world::World;
use crate::transport::Clock;

/// Everything that the fake holds. One lock for all of it: replies are made one at a time anyway.
pub(super) struct State {
    pub(super) clock: Clock,
    pub(super) library: Library,
    pub(super) parts: Mutex<Parts>,
}

pub(super) struct Parts {
    pub(super) world: World,
    pub(super) provider: Provider,
    pub(super) register: Register,
    pub(super) documents: Documents,
}

impl State {
    /// A test that panicked under the lock must not hide its reason behind others.
    pub(super) fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Hands each request to its part.
pub(super) struct Routes(pub(super) Arc<State>);

impl Respond for Routes {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        self.0.answer(request).into()
    }
}

impl State {
    fn answer(&self, request: &Request) -> Reply {
        let now = self.clock.now();
        let mut parts = self.parts();
        let parts = &mut *parts;
        let query = request.url.query().unwrap_or_default();
        let media_type = header(request, "content-type").unwrap_or_default();
        let bearer = header(request, "authorization").and_then(bearer);
        match (request.method.as_str(), request.url.path()) {
            ("POST", "/v2/graphql" | "/graphql") => {
                let user = bearer.and_then(|token| parts.provider.user_of(token, now));
                let scene = Scene {
                    library: &self.library,
                    world: &mut parts.world,
                    now,
                    user,
                };
                graphql::answer(&mut parts.documents, media_type, &request.body, scene)
            }
            ("GET", "/authorize") => {
                let answer = provider::authorize(&mut parts.provider, query, Consent::Given, now);
                match answer {
                    Ok(back) => Reply::redirect(back.as_str()),
                    Err(why) => {
                        let body = json!({"error": "invalid_request", "error_description": why});
                        Reply::json(400, &body)
                    }
                }
            }
            ("POST", "/oauth/token") => {
                provider::token(&mut parts.provider, media_type, &request.body, now)
            }
            ("POST", "/oauth/revoke") => {
                provider::revoke(&mut parts.provider, media_type, &request.body)
            }
            ("GET", "/v2/logout") => provider::logout(&parts.provider, query),
            ("GET", path) if path.starts_with(REGISTER) => {
                let register = &parts.register;
                let since = header(request, "if-modified-since");
                let rest = path[REGISTER.len()..].trim_start_matches('/');
                register
                    .before(bearer, since)
                    .unwrap_or_else(|| match rest {
                        "" => register::search(register, query),
                        segment => register::lookup(register, segment)
                            .unwrap_or_else(|| unscripted(request)),
                    })
            }
            _ => unscripted(request),
        }
    }
}

const REGISTER: &str = "/api/v2/PICRegister";

/// A call that the fake does not know says so, with a hint.
fn unscripted(request: &Request) -> Reply {
    let call = format!("{} {}", request.method, request.url.path());
    let hint = "The fake serves POST /v2/graphql, GET /authorize, POST /oauth/token, POST /oauth/revoke, \
                GET /v2/logout, GET /api/v2/PICRegister and GET /api/v2/PICRegister/(PIC=<pic>).";
    Reply::json(
        404,
        &json!({"error": "not served by the fake", "call": call, "hint": hint}),
    )
}

fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.headers.get(name)?.to_str().ok()
}

/// The scheme is read without regard to case (RFC 9110 section 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
