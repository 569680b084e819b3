//! Which part answers which call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use wiremock::{Request, Respond, ResponseTemplate};

use super::graphql::{self, Documents, Scene};
use super::ledger::Ledger;
use super::library::Library;
use super::provider::{self, Provider};
use super::register::{self, Register};
use super::reply::Reply;
use super::script::{Called, Log, Plan};
use crate::transport::Clock;

/// Everything that the fake holds. One lock for all of it: replies are made one at a time anyway.
pub(super) struct State {
    pub(super) clock: Clock,
    pub(super) library: Library,
    pub(super) latency: Duration,
    pub(super) scripted_only: bool,
    pub(super) parts: Mutex<Parts>,
}

pub(super) struct Parts {
    pub(super) ledger: Ledger,
    pub(super) provider: Provider,
    pub(super) register: Register,
    pub(super) documents: Documents,
    pub(super) plan: Plan,
    pub(super) log: Log,
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
        let reply = self.0.answer(request).held(self.0.latency);
        let bodiless = request.method.as_str() == "HEAD";
        if bodiless { reply.bodiless() } else { reply }.into()
    }
}

impl State {
    /// The script's answer, else the real one. The lock is free while a test's own function runs.
    fn answer(&self, request: &Request) -> Reply {
        let called = {
            let mut parts = self.parts();
            parts.log.push(request);
            let looked_at = self.scripted_only || !parts.plan.is_empty();
            looked_at.then(|| Called::of(request))
        };
        let Some(called) = called else {
            return self.serve(request);
        };
        let step = self.parts().plan.take(&called);
        match step {
            Some(step) => step.answer(&called, || self.serve(request)),
            None if self.scripted_only => {
                called.unscripted().unwrap_or_else(|| self.serve(request))
            }
            None => self.serve(request),
        }
    }

    fn serve(&self, request: &Request) -> Reply {
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
                    ledger: &mut parts.ledger,
                    now,
                    user,
                };
                let reply = graphql::answer(&mut parts.documents, media_type, &request.body, scene);
                // graphql-over-http, section 6: the new media type for those who ask for it.
                let accept = header(request, "accept").unwrap_or_default();
                if accept.contains(NEW_MEDIA_TYPE) {
                    reply.typed(NEW_MEDIA_TYPE)
                } else {
                    reply
                }
            }
            ("GET", "/authorize") => {
                let consent = parts.provider.consent;
                let answer = provider::authorize(&mut parts.provider, query, consent, now);
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
            ("GET", "/v2/logout") => provider::logout(&mut parts.provider, query),
            ("GET", "/.well-known/openid-configuration") => provider::discovery(&parts.provider),
            ("GET", "/.well-known/jwks.json") => Reply::json(200, &json!({"keys": []})),
            ("GET" | "POST", "/userinfo") => provider::user_info(&parts.provider, bearer, now),
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

const NEW_MEDIA_TYPE: &str = "application/graphql-response+json";
const REGISTER: &str = "/api/v2/PICRegister";

/// A call that the fake does not know says so, with a hint.
fn unscripted(request: &Request) -> Reply {
    let call = format!("{} {}", request.method, request.url.path());
    let hint = "The fake serves POST /v2/graphql, GET /authorize, POST /oauth/token, POST /oauth/revoke, \
                GET /v2/logout, GET /userinfo, GET /.well-known/openid-configuration, GET /api/v2/PICRegister and GET /api/v2/PICRegister/(PIC=<pic>).";
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
