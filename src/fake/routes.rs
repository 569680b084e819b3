//! Dispatches each request to the interface that handles it.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::json;
use wiremock::{Request, Respond, ResponseTemplate};

use super::graphql::{self, ResolverContext};

use super::provider::{FakeProvider, Parameters};
use super::records::{PRINTS, Records};
use super::reference_data::ReferenceData;
use super::register::FakeRegister;
use super::reply::{FakeReply, accepts_gzip};
use super::script::{self, Log, ParsedRequest, Received, Scripts};
use crate::locked::lock;
use crate::profile::RegisterAuthentication;
use crate::transport::Clock;

/// The state of a fake. A single lock is sufficient, because the server creates one reply at a time.
pub(super) struct FakeState {
    pub(super) clock: Clock,
    pub(super) data: ReferenceData,
    pub(super) latency: Duration,
    pub(super) scripted_only: bool,
    pub(super) gzip: bool,
    pub(super) parts: Mutex<FakeParts>,
}

pub(super) struct FakeParts {
    pub(super) records: Records,
    pub(super) provider: FakeProvider,
    pub(super) register: FakeRegister,
    pub(super) scripts: Scripts,
    /// Requests to process after their reply was lost, each after this number of further requests.
    pub(super) late: Vec<(usize, Request)>,
    pub(super) log: Log,
}

impl FakeState {
    /// A panic under the lock must not cause follow-up panics that hide its cause.
    pub(super) fn parts(&self) -> MutexGuard<'_, FakeParts> {
        lock(&self.parts)
    }
}

/// The only responder of the server.
pub(super) struct Routes(pub(super) Arc<FakeState>);

impl Respond for Routes {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut reply = self.0.answer(request);
        let delay = reply.delivery.delay.saturating_add(self.0.latency);
        reply.delivery.delay = delay;
        reply.add_date(self.0.clock.now());
        let accepts = header(request, "accept-encoding").unwrap_or_default();
        if self.0.gzip && accepts_gzip(accepts) {
            reply.compress();
        }
        reply.into()
    }
}

impl FakeState {
    /// Creates the reply, and processes requests that were delayed until after it.
    fn answer(&self, request: &Request) -> FakeReply {
        self.parts().log.push(request);
        let (reply, late) = self.faulty_or_not(request);
        if script::is_graphql(request.url.path()) {
            for request in self.due_requests() {
                self.serve(&request);
            }
        }
        match late {
            Some(0) => drop(self.serve(request)),
            Some(further) => self.parts().late.push((further, request.clone())),
            None => {}
        }
        reply
    }

    /// Counts another request, and takes the delayed requests that are now due.
    fn due_requests(&self) -> Vec<Request> {
        let late = &mut self.parts().late;
        for (left, _) in late.iter_mut() {
            *left = left.saturating_sub(1);
        }
        let due = late.extract_if(.., |(left, _)| *left == 0);
        due.map(|(_, request)| request).collect()
    }

    /// Like [`scripted_or_real`](Self::scripted_or_real), with the fault from the function for every request. The lock is
    /// released while the function runs.
    fn faulty_or_not(&self, request: &Request) -> (FakeReply, Option<usize>) {
        let function = self.parts().scripts.every_request.clone();
        let fault = function.and_then(|function| function(&Received::of(request)));
        let Some(fault) = fault else {
            return self.scripted_or_real(request);
        };
        let mut late = fault.late;
        let reply = fault.apply(|| {
            let (reply, further) = self.scripted_or_real(request);
            late = further;
            reply
        });
        (reply, late)
    }

    /// The scripted or real reply, and the number of further requests by which processing is delayed. The lock is released
    /// while a function of the test runs.
    fn scripted_or_real(&self, request: &Request) -> (FakeReply, Option<usize>) {
        if !self.scripted_only && self.parts().scripts.is_empty() {
            return (self.serve(request), None);
        }
        let parsed = ParsedRequest::of(request);
        let step = self.parts().scripts.take(&parsed);
        let serve = || self.serve(request);
        match step {
            Some(step) => (step.reply(&parsed, serve), step.late()),
            None if self.scripted_only => (script::unscripted(&parsed).unwrap_or_else(serve), None),
            None => (serve(), None),
        }
    }

    pub(super) fn serve(&self, request: &Request) -> FakeReply {
        let now = self.clock.now();
        let mut parts = self.parts();
        let FakeParts {
            records,
            provider,
            register,
            ..
        } = &mut *parts;
        let path = request.url.path();
        let query = request.url.query().unwrap_or_default();
        let media_type = header(request, "content-type").unwrap_or_default();
        let authorization = header(request, "authorization");
        let bearer = authorization.and_then(bearer);
        let form = || Parameters::of_form(authorization, media_type, &request.body);
        match (request.method.as_str(), path) {
            ("POST", path) if script::is_graphql(path) => {
                let context = ResolverContext {
                    data: &self.data,
                    records,
                    now,
                    user: bearer.and_then(|token| provider.user_of(token, now)),
                };
                let mut reply = graphql::answer(media_type, &request.body, context);
                // graphql-over-http, section 6
                if header(request, "accept").is_some_and(|text| text.contains(NEW_MEDIA_TYPE)) {
                    reply.media_type = Some(NEW_MEDIA_TYPE.to_owned());
                }
                reply
            }
            ("GET", "/authorize") => provider.authorization(query, now),
            ("POST", "/oauth/token") => provider.token(&form(), now),
            ("POST", "/oauth/device/code") => provider.authorize_device(&form(), now),
            ("GET", "/activate") => provider.activate(query, now),
            ("POST", "/oauth/revoke") => provider.revocation(&form(), now),
            ("GET", "/v2/logout") => provider.logout(query),
            (
                "GET",
                "/.well-known/openid-configuration" | "/.well-known/oauth-authorization-server",
            ) => provider.discovery(),
            ("GET", "/.well-known/jwks.json") => provider.keys(),
            ("GET", path) if path.starts_with(PRINTS) => records
                .print(path, query)
                .unwrap_or_else(|| FakeReply::empty(401)),
            ("GET", path) => {
                let since = header(request, "if-modified-since");
                let rest = path.strip_prefix(REGISTER);
                // profile: register.authentication
                let credential = match &register.profile.authentication.value {
                    RegisterAuthentication::Header(name) => header(request, name),
                    _ => bearer,
                };
                rest.and_then(|rest| register.answer(rest, query, credential, since))
                    .unwrap_or_else(|| not_served(request))
            }
            _ => not_served(request),
        }
    }
}

const NEW_MEDIA_TYPE: &str = "application/graphql-response+json";
const REGISTER: &str = "/api/v2/PICRegister";

/// The reply for an unknown path or method, with a hint.
fn not_served(request: &Request) -> FakeReply {
    let call = format!("{} {}", request.method, request.url.path());
    let hint = "The fake serves POST /v2/graphql, GET /authorize, POST /oauth/token, POST /oauth/device/code, GET /activate, \
                POST /oauth/revoke, GET /v2/logout, GET /.well-known/openid-configuration, \
                GET /.well-known/oauth-authorization-server, GET /api/v2/PICRegister, the pdfUrl of a consignment and GET /api/v2/PICRegister/(PIC=<pic>).";
    FakeReply::json(
        404,
        &json!({"error": "not served by the fake", "call": call, "hint": hint}),
    )
}

fn header<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.headers.get(name)?.to_str().ok()
}

/// The token in a bearer header. The scheme is case-insensitive (RFC 9110 section 11.1).
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
