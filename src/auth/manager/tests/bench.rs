//! An identity provider, a store and a clock for the tests of the manager.

use std::collections::HashMap;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use tokio::sync::Semaphore;
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::auth::{
    Event, Events, MemoryStore, PendingLogin, Provider, ProviderBuilder, Record, TokenManager,
    TokenManagerBuilder, TokenSet, TokenStore, Version,
};
use crate::mock;
use crate::transport::Clock;

pub(super) const DAY: Duration = Duration::from_secs(86_400);
pub(super) const KEY: &str = "sam";

/// An identity provider that rotates: each refresh token is valid once, and a used one ends the session.
pub(super) struct Bench {
    pub(super) server: mock::Mock,
    pub(super) clock: Clock,
    pub(super) store: MemoryStore,
    pub(super) idp: Arc<Idp>,
}

#[derive(Default)]
pub(super) struct Idp {
    script: Mutex<Vec<ScriptedReply>>,
    state: Mutex<IdpState>,
}

#[derive(Default)]
struct IdpState {
    issued: u64,
    session_over: bool,
    forms: Vec<(String, HashMap<String, String>)>,
    nonce: String,
    sub: String,
    /// Whether the token before the current one is accepted too.
    overlap: bool,
    /// Revocations that are refused with 503.
    revocation_faults: u32,
}

/// How the endpoint handles its next request, instead of rotating in order.
pub(super) enum ScriptedReply {
    /// Responds with this and rotates nothing.
    Reply(ResponseTemplate),
    /// Rotates, but responds with this.
    RotateAndReply(ResponseTemplate),
    /// Signals that the request has arrived, and responds (in order, or with this) when the other end is dropped.
    Hold(Arc<Semaphore>, mpsc::Receiver<()>, Option<ResponseTemplate>),
}

pub(super) struct HeldRequest {
    arrived: Arc<Semaphore>,
    open: mpsc::Sender<()>,
}

impl HeldRequest {
    pub(super) async fn arrived(&self) {
        self.arrived.acquire().await.unwrap().forget();
    }

    pub(super) fn open(self) {
        drop(self.open);
    }
}

impl Idp {
    pub(super) fn next(&self, turn: ScriptedReply) {
        self.script.lock().unwrap().insert(0, turn);
    }

    pub(super) fn end_script(&self) {
        self.script.lock().unwrap().clear();
    }

    pub(super) fn hold(&self) -> HeldRequest {
        self.hold_and_reply(None)
    }

    pub(super) fn hold_and_reply(&self, response: Option<ResponseTemplate>) -> HeldRequest {
        let arrived = Arc::new(Semaphore::new(0));
        let (open, opened) = mpsc::channel();
        self.next(ScriptedReply::Hold(arrived.clone(), opened, response));
        HeldRequest { arrived, open }
    }

    pub(super) fn forms(&self, at: &str) -> Vec<HashMap<String, String>> {
        let state = self.state.lock().unwrap();
        let here = state.forms.iter().filter(|(path, _)| path == at);
        here.map(|(_, form)| form.clone()).collect()
    }

    pub(super) fn refreshes(&self) -> usize {
        self.forms("/oauth/token").len()
    }

    pub(super) fn revoked(&self) -> Vec<String> {
        let forms = self.forms("/oauth/revoke");
        forms.iter().map(|form| form["token"].clone()).collect()
    }

    pub(super) fn session_over(&self) -> bool {
        self.state.lock().unwrap().session_over
    }

    pub(super) fn log_in_as(&self, sub: &str, nonce: &str) {
        let mut state = self.state.lock().unwrap();
        sub.clone_into(&mut state.sub);
        nonce.clone_into(&mut state.nonce);
    }

    pub(super) fn allow_overlap(&self) {
        self.state.lock().unwrap().overlap = true;
    }

    pub(super) fn refuse_revocations(&self, times: u32) {
        self.state.lock().unwrap().revocation_faults = times;
    }

    fn revoke(&self) -> ResponseTemplate {
        let mut state = self.state.lock().unwrap();
        match state.revocation_faults.checked_sub(1) {
            Some(left) => {
                state.revocation_faults = left;
                ResponseTemplate::new(503)
            }
            None => ResponseTemplate::new(200),
        }
    }

    fn rotate(&self, form: &HashMap<String, String>) -> ResponseTemplate {
        let mut state = self.state.lock().unwrap();
        let current = format!("rt-{}", state.issued + 1);
        let is_login = form["grant_type"] != "refresh_token";
        let accepted = |token: &String| {
            *token == current || (state.overlap && *token == format!("rt-{}", state.issued))
        };
        if !is_login && (state.session_over || !accepted(&form["refresh_token"])) {
            state.session_over = true;
            let body = json!({"error": "invalid_grant", "error_description": "Unknown or invalid refresh token."});
            return ResponseTemplate::new(403).set_body_json(body);
        }
        state.issued += 1;
        let n = state.issued + 1;
        let mut body = json!({
            "access_token": format!("at-{n}"), "refresh_token": format!("rt-{n}"),
            "expires_in": 86_400, "token_type": "Bearer", "scope": "openid",
        });
        if is_login {
            let claims = json!({"sub": state.sub, "aud": "app", "exp": 4_000_000_000_u64, "nonce": state.nonce});
            body["id_token"] = json!(format!(
                "e30.{}.c2ln",
                URL_SAFE_NO_PAD.encode(claims.to_string())
            ));
        }
        ResponseTemplate::new(200).set_body_json(body)
    }
}

impl Respond for Idp {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let form: HashMap<_, _> = url::form_urlencoded::parse(&request.body)
            .into_owned()
            .collect();
        let path = request.url.path().to_owned();
        self.state
            .lock()
            .unwrap()
            .forms
            .push((path.clone(), form.clone()));
        if path == "/oauth/revoke" {
            return self.revoke();
        }
        if path == "/oauth/device/code" {
            return ResponseTemplate::new(200).set_body_json(device_codes());
        }
        let turn = self.script.lock().unwrap().pop();
        match turn {
            None => self.rotate(&form),
            Some(ScriptedReply::Reply(response)) => response,
            Some(ScriptedReply::RotateAndReply(response)) => {
                self.rotate(&form);
                response
            }
            Some(ScriptedReply::Hold(arrived, opened, response)) => {
                arrived.add_permits(1);
                // Ends with an error when the test drops the other end, which is the signal to continue.
                let _ = opened.recv();
                response.unwrap_or_else(|| self.rotate(&form))
            }
        }
    }
}

/// Shares the provider between the server and the test.
struct Endpoint(Arc<Idp>);

impl Respond for Endpoint {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        self.0.respond(request)
    }
}

impl Bench {
    pub(super) async fn new() -> Self {
        // A server of its own: a pooled one may still hold a request of an earlier test, and a refused connection ends in a
        // retry on a clock that stands still.
        let server = MockServer::builder().start().await;
        let idp = Arc::new(Idp::default());
        for endpoint in ["/oauth/token", "/oauth/revoke", "/oauth/device/code"] {
            let endpoint = Mock::given(path(endpoint)).respond_with(Endpoint(idp.clone()));
            endpoint.mount(&server).await;
        }
        Self {
            server: server.into(),
            clock: Clock::manual(UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
            store: MemoryStore::new(),
            idp,
        }
    }

    pub(super) fn provider(&self) -> ProviderBuilder {
        let base = self.server.uri();
        Provider::builder("app")
            .authorize_url(format!("{base}/authorize"))
            .token_url(format!("{base}/oauth/token"))
            .revoke_url(format!("{base}/oauth/revoke"))
            .device_authorization_url(format!("{base}/oauth/device/code"))
            .logout_url(format!("{base}/v2/logout"))
            .audience("https://api.example")
            .redirect_uri("https://app.example/cb")
            .clock(self.clock.clone())
    }

    pub(super) fn builder(&self) -> TokenManagerBuilder {
        let provider = self.provider().build().unwrap();
        // Longer than any test advances the clock.
        let patient = 30 * DAY;
        TokenManager::builder(provider)
            .store(self.store.clone())
            .account(KEY)
            .wait(patient)
    }

    pub(super) fn manager(&self) -> TokenManager {
        self.builder().build().unwrap()
    }

    /// Stores tokens with a lifetime of a day and this age.
    pub(super) async fn seed(&self, age: Duration) -> Version {
        let record = Record::new(tokens(self.clock.now() - age));
        self.store.swap(KEY, None, &record).await.unwrap().unwrap()
    }

    /// A manager with fresh tokens in use.
    pub(super) async fn running(&self) -> TokenManager {
        self.seed(Duration::ZERO).await;
        let manager = self.manager();
        assert_eq!(manager.access_token().await.unwrap().expose(), "at-1");
        manager
    }

    pub(super) async fn stored(&self) -> Option<TokenSet> {
        let stored = self.store.load(KEY).await.unwrap();
        stored.map(|stored| stored.record.tokens().clone())
    }

    pub(super) async fn stored_refresh_token(&self) -> Option<String> {
        let token = self.stored().await?.refresh_token?;
        Some(token.expose().to_owned())
    }
}

pub(super) fn tokens(issued_at: SystemTime) -> TokenSet {
    TokenSet {
        access_token: "at-1".into(),
        refresh_token: Some("rt-1".into()),
        id_token: None,
        subject: None,
        scopes: Vec::new(),
        issued_at,
        lifetime: DAY,
        generation: 1,
        logged_in_at: None,
        session_ends_at: None,
    }
}

/// Of a login on a device, for a minute, without an interval.
fn device_codes() -> serde_json::Value {
    json!({
        "device_code": "d-1", "user_code": "WDJB-MJHT",
        "verification_uri": "https://id.example/activate", "expires_in": 60,
    })
}

/// A login of this user at the identity provider, and its callback.
pub(super) fn callback(bench: &Bench, manager: &TokenManager, sub: &str) -> (PendingLogin, String) {
    let login = manager.provider().authorization().start().unwrap();
    callback_of(bench, login, sub)
}

/// As [`callback`], for a login with settings of its own.
pub(super) fn callback_of(bench: &Bench, login: PendingLogin, sub: &str) -> (PendingLogin, String) {
    let parameter = |name: &str| {
        let mut pairs = login.url().query_pairs();
        pairs.find(|(key, _)| key == name).unwrap().1.into_owned()
    };
    bench.idp.log_in_as(sub, &parameter("nonce"));
    let callback = format!(
        "https://app.example/cb?code=c-1&state={}",
        parameter("state")
    );
    (login, callback)
}

/// Advances the clock in small steps until the condition holds; returns by how much.
pub(super) async fn advance_until(bench: &Bench, condition: impl AsyncFn() -> bool) -> Duration {
    let start = bench.clock.boot();
    loop {
        // Tasks that are due at this time run before the clock is advanced.
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        if condition().await {
            return bench.clock.boot().saturating_sub(start);
        }
        bench.clock.advance(Duration::from_millis(100));
    }
}

/// The next event for which the condition holds.
pub(super) async fn event(events: &mut Events, wanted: impl Fn(&Event) -> bool) -> Event {
    loop {
        let event = events.next().await.unwrap();
        if wanted(&event) {
            return event;
        }
    }
}

/// The events so far, in short.
pub(super) fn events_so_far(events: &mut Events) -> Vec<String> {
    let next = || match events.0.try_recv().ok()? {
        Event::ReauthRequired { .. } => Some("ReauthRequired".to_owned()),
        event => Some(format!("{event:?}")),
    };
    std::iter::from_fn(next).collect()
}

/// Logs a user in, in a second of its own: two logins in one millisecond look the same.
pub(super) async fn log_in(bench: &Bench, manager: &TokenManager, sub: &str) {
    bench.clock.advance(Duration::from_secs(1));
    let (login, address) = callback(bench, manager, sub);
    manager.complete_login(login, &address).await.unwrap();
}
