//! An identity provider, a store and a clock for the tests of the manager. Requests reach the provider without a network, so no
//! real time passes. Replies damaged in transit are in `network`.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use test_support::script::within;
use tokio::task::{JoinHandle, yield_now};

use crate::auth::store::{Gate, tokens};
use crate::auth::{
    AccessToken, Event, Events, MemoryStore, PendingLogin, Provider, ProviderBuilder, Record,
    TokenManager, TokenManagerBuilder, TokenSet, TokenStore, Version, Versioned,
};
use crate::error::{Error, Result};
use crate::fake::{InProcess, InProcessReply, NoReply};
use crate::transport::{Clock, HttpOptions};

pub(in crate::auth) const DAY: Duration = Duration::from_secs(86_400);
pub(in crate::auth) const SECOND: Duration = Duration::from_secs(1);
pub(in crate::auth) const KEY: &str = "sam";

/// An identity provider with rotation: each refresh token is valid once, and reusing one ends the session.
#[derive(Clone)]
pub(in crate::auth) struct Bench {
    pub(in crate::auth) clock: Clock,
    pub(in crate::auth) store: MemoryStore,
    pub(in crate::auth) idp: Arc<Idp>,
}

#[derive(Default)]
pub(in crate::auth) struct Idp(Mutex<IdpState>);

#[derive(Default)]
struct IdpState {
    script: VecDeque<ScriptedReply>,
    issued: u64,
    session_over: bool,
    forms: Vec<(String, HashMap<String, String>)>,
    nonce: String,
    sub: String,
    /// Whether the previous token is accepted too.
    overlap: bool,
    /// The number of revocations to refuse with 503.
    revocation_faults: u32,
}

/// How the token endpoint handles its next request.
struct ScriptedReply {
    rotates: bool,
    /// Replaces the tokens.
    reply: Option<Answer>,
    /// Changes to the tokens, by name: the prefix `claim.` changes the id token, `none` removes a field, and `date` is a
    /// header.
    changes: Vec<(String, String)>,
    gate: Gate,
}

type Answer = std::result::Result<InProcessReply, NoReply>;

/// A reply of the provider.
pub(in crate::auth) fn reply(status: u16, body: impl ToString) -> InProcessReply {
    InProcessReply::status(status).body("application/json", body.to_string())
}

pub(in crate::auth) fn error(status: u16, code: &str) -> InProcessReply {
    reply(status, json!({"error": code}))
}

impl Idp {
    fn state(&self) -> MutexGuard<'_, IdpState> {
        self.0.lock().unwrap()
    }

    /// Scripts the next request to the token endpoint: a reply instead of tokens, or changes to the tokens.
    pub(super) fn script(
        &self,
        rotates: bool,
        reply: Option<Answer>,
        changes: Vec<(String, String)>,
        is_held: bool,
    ) -> Gate {
        let gate = Gate::new(is_held);
        self.state().script.push_back(ScriptedReply {
            rotates,
            reply,
            changes,
            gate: gate.clone(),
        });
        gate
    }

    /// The next reply is this one, without rotating tokens.
    pub(in crate::auth) fn reply(&self, reply: InProcessReply) {
        self.script(false, Some(Ok(reply)), Vec::new(), false);
    }

    /// Holds back the reply to the next request.
    pub(in crate::auth) fn hold(&self) -> Gate {
        self.script(true, None, Vec::new(), true)
    }

    pub(in crate::auth) fn end_script(&self) {
        self.state().script.clear();
    }

    pub(in crate::auth) fn forms(&self, at: &str) -> Vec<HashMap<String, String>> {
        let state = self.state();
        let here = state.forms.iter().filter(|(path, _)| path == at);
        here.map(|(_, form)| form.clone()).collect()
    }

    /// The total number of requests.
    pub(in crate::auth) fn requests(&self) -> usize {
        self.state().forms.len()
    }

    pub(in crate::auth) fn refreshes(&self) -> usize {
        self.forms("/oauth/token").len()
    }

    pub(in crate::auth) fn revoked(&self) -> Vec<String> {
        let forms = self.forms("/oauth/revoke");
        forms.iter().map(|form| form["token"].clone()).collect()
    }

    pub(in crate::auth) fn session_over(&self) -> bool {
        self.state().session_over
    }

    pub(in crate::auth) fn log_in_as(&self, sub: &str, nonce: &str) {
        let mut state = self.state();
        sub.clone_into(&mut state.sub);
        nonce.clone_into(&mut state.nonce);
    }

    pub(in crate::auth) fn allow_overlap(&self) {
        self.state().overlap = true;
    }

    pub(in crate::auth) fn refuse_revocations(&self, times: u32) {
        self.state().revocation_faults = times;
    }

    /// Processes a request immediately. Returns the reply, and the gate that holds it back.
    fn process(&self, path: &str, form: HashMap<String, String>) -> (Answer, Gate) {
        let mut state = self.state();
        state.forms.push((path.to_owned(), form.clone()));
        let reply = match path {
            "/oauth/revoke" => match state.revocation_faults.checked_sub(1) {
                Some(left) => {
                    state.revocation_faults = left;
                    reply(503, "")
                }
                None => reply(200, ""),
            },
            // For a device login: valid for a minute, without an interval.
            "/oauth/device/code" => reply(
                200,
                json!({
                    "device_code": "d-1", "user_code": "WDJB-MJHT", "expires_in": 60,
                    "verification_uri": "https://id.example/activate",
                }),
            ),
            _ => {
                let Some(next) = state.script.pop_front() else {
                    return (Ok(state.rotate(&form, &[])), Gate::new(false));
                };
                let tokens = next.rotates.then(|| Ok(state.rotate(&form, &next.changes)));
                return (next.reply.or(tokens).unwrap(), next.gate);
            }
        };
        (Ok(reply), Gate::new(false))
    }
}

impl IdpState {
    fn rotate(
        &mut self,
        form: &HashMap<String, String>,
        changes: &[(String, String)],
    ) -> InProcessReply {
        let current = format!("rt-{}", self.issued + 1);
        let is_login = form["grant_type"] != "refresh_token";
        let accepted = |token: &String| {
            *token == current || (self.overlap && *token == format!("rt-{}", self.issued))
        };
        if !is_login && (self.session_over || !accepted(&form["refresh_token"])) {
            self.session_over = true;
            return error(403, "invalid_grant");
        }
        self.issued += 1;
        let mut body = renewed(self.issued + 1);
        let mut claims =
            json!({"sub": self.sub, "aud": "app", "exp": 4_000_000_000_u64, "nonce": self.nonce});
        let mut date = None;
        for (name, value) in changes {
            let json = || serde_json::from_str(value).unwrap_or(json!(value));
            match name.strip_prefix("claim.") {
                Some(claim) => claims[claim] = json(),
                None if name == "date" => date = Some(value),
                None => body[name] = json(),
            }
        }
        let has_claims = changes.iter().any(|(name, _)| name.starts_with("claim."));
        if body["id_token"].is_null() && (is_login || has_claims) {
            body["id_token"] = json!(id_token(&claims));
        }
        body.as_object_mut()
            .unwrap()
            .retain(|_, value| !value.is_null() && *value != json!("none"));
        let tokens = reply(200, body);
        match date {
            Some(date) => tokens.header("date", date),
            None => tokens,
        }
    }
}

/// Fake addresses of a provider without a network, on this clock.
pub(super) fn addressed(client: ProviderBuilder, clock: &Clock) -> ProviderBuilder {
    let base = "http://127.0.0.1:1";
    client
        .authorize_url(format!("{base}/authorize"))
        .token_url(format!("{base}/oauth/token"))
        .revoke_url(format!("{base}/oauth/revoke"))
        .device_authorization_url(format!("{base}/oauth/device/code"))
        .logout_url(format!("{base}/v2/logout"))
        .audience("https://api.example")
        .redirect_uri("https://app.example/cb")
        .clock(clock.clone())
}

/// The tokens of this generation, valid for a day.
pub(in crate::auth) fn renewed(n: u64) -> serde_json::Value {
    json!({
        "access_token": format!("at-{n}"), "refresh_token": format!("rt-{n}"),
        "expires_in": 86_400, "token_type": "Bearer", "scope": "openid",
    })
}

/// The signature is invalid.
pub(in crate::auth) fn id_token(claims: &serde_json::Value) -> String {
    format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

/// The claims of an id token from [`id_token`]; null for any other text.
pub(super) fn claims_of(id_token: &str) -> serde_json::Value {
    let claims = URL_SAFE_NO_PAD.decode(id_token.split('.').nth(1).unwrap_or_default());
    serde_json::from_slice(&claims.unwrap()).unwrap_or_default()
}

impl Bench {
    pub(in crate::auth) fn new() -> Self {
        Self {
            clock: Clock::manual(UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
            store: MemoryStore::new(),
            idp: Arc::default(),
        }
    }

    /// A bench with stored tokens that have expired.
    pub(in crate::auth) async fn expired() -> Self {
        let bench = Self::new();
        bench.seed(DAY).await;
        bench
    }

    /// A bench with fresh tokens, which the manager serves.
    pub(in crate::auth) async fn in_use() -> (Self, TokenManager) {
        let bench = Self::new();
        bench.seed(Duration::ZERO).await;
        let manager = bench.manager();
        assert_eq!(token(&manager).await, "at-1");
        (bench, manager)
    }

    fn http(&self) -> HttpOptions {
        let idp = self.idp.clone();
        HttpOptions::default().in_process(InProcess::new(move |request| {
            let form = url::form_urlencoded::parse(request.body()).into_owned();
            let (reply, gate) = idp.process(request.path(), form.collect());
            async move {
                // A reply takes several steps, and a caller may be dropped at each of them.
                yields(5).await;
                gate.pass().await;
                reply
            }
        }))
    }

    pub(in crate::auth) fn provider(&self) -> ProviderBuilder {
        self.provider_of(Provider::builder("app"))
    }

    /// Sets the addresses of this provider.
    pub(in crate::auth) fn provider_of(&self, client: ProviderBuilder) -> ProviderBuilder {
        addressed(client, &self.clock).http(self.http())
    }

    pub(in crate::auth) fn builder(&self) -> TokenManagerBuilder {
        self.builder_of(self.provider())
    }

    pub(in crate::auth) fn builder_of(&self, provider: ProviderBuilder) -> TokenManagerBuilder {
        // Longer than any test advances the clock.
        let patient = 30 * DAY;
        TokenManager::builder(provider.build().unwrap())
            .store(self.store.clone())
            .account(KEY)
            .timing(|it| it.wait = patient)
    }

    pub(in crate::auth) fn manager(&self) -> TokenManager {
        self.builder().build().unwrap()
    }

    pub(in crate::auth) fn manager_of(&self, provider: ProviderBuilder) -> TokenManager {
        self.builder_of(provider).build().unwrap()
    }

    pub(in crate::auth) fn manager_on(&self, store: impl TokenStore) -> TokenManager {
        self.builder().store(store).build().unwrap()
    }

    /// Stores tokens of this age, with a lifetime of one day.
    pub(in crate::auth) async fn seed(&self, age: Duration) -> Version {
        let mut tokens = tokens(1);
        tokens.issued_at = self.clock.now() - age;
        self.put(&Record::new(tokens)).await
    }

    /// Stores a record, replacing any other, as another process would.
    pub(in crate::auth) async fn put(&self, record: &Record) -> Version {
        let old = self.store.load(KEY).await.unwrap();
        let old = old.map(|stored| stored.version);
        self.store.swap(KEY, old, record).await.unwrap().unwrap()
    }

    /// Stores fresh tokens, as another process would.
    pub(in crate::auth) async fn put_tokens(&self, n: u64) {
        let mut newer = tokens(n);
        newer.issued_at = self.clock.now();
        self.put(&Record::new(newer)).await;
    }

    pub(in crate::auth) async fn record(&self) -> Versioned {
        self.store.load(KEY).await.unwrap().unwrap()
    }

    pub(in crate::auth) async fn stored(&self) -> Option<TokenSet> {
        let stored = self.store.load(KEY).await.unwrap();
        stored.map(|stored| stored.record.tokens().clone())
    }

    pub(in crate::auth) async fn stored_refresh_token(&self) -> Option<String> {
        let token = self.stored().await?.refresh_token?;
        Some(token.expose().to_owned())
    }

    /// Whether the account's lock is free.
    pub(in crate::auth) async fn lock_is_free(&self) -> bool {
        self.store.lock(KEY, Duration::ZERO).await.is_ok()
    }
}

/// The token being served.
pub(in crate::auth) async fn token(manager: &TokenManager) -> String {
    let called = within("a call", manager.access_token()).await;
    called.unwrap().expose().to_owned()
}

/// The error of a call.
pub(in crate::auth) async fn refusal(manager: &TokenManager) -> Error {
    within("a call", manager.access_token()).await.unwrap_err()
}

pub(in crate::auth) async fn needs_login(manager: &TokenManager) -> bool {
    refusal(manager).await.is_reauth_required()
}

/// Starts a call that runs concurrently with the test.
pub(in crate::auth) fn call(manager: &TokenManager) -> JoinHandle<Result<AccessToken>> {
    let manager = manager.clone();
    tokio::spawn(async move { within("a call", manager.access_token()).await })
}

/// Yields to other tasks.
pub(in crate::auth) async fn yields(times: usize) {
    for _ in 0..times {
        yield_now().await;
    }
}

/// Logs this user in at the identity provider. Returns the login and its callback.
pub(in crate::auth) fn callback(
    bench: &Bench,
    manager: &TokenManager,
    sub: &str,
) -> (PendingLogin, String) {
    let login = manager.provider().authorization().start();
    callback_of(bench, login.unwrap(), sub)
}

/// Like [`callback`], for a login with custom settings.
pub(super) fn callback_of(bench: &Bench, login: PendingLogin, sub: &str) -> (PendingLogin, String) {
    let parameter = |name: &str| {
        let mut pairs = login.url().query_pairs();
        pairs.find(|(key, _)| key == name).unwrap().1.into_owned()
    };
    bench.idp.log_in_as(sub, &parameter("nonce"));
    let state = parameter("state");
    let callback = format!("https://app.example/cb?code=c-1&state={state}");
    (login, callback)
}

/// Starts a login that runs concurrently with the test.
pub(super) fn begin_login(
    bench: &Bench,
    manager: &TokenManager,
    sub: &str,
) -> JoinHandle<Result<TokenSet>> {
    let (login, callback) = callback(bench, manager, sub);
    let manager = manager.clone();
    let login = async move { manager.complete_login(login, &callback).await };
    tokio::spawn(within("a login", login))
}

/// Logs a user in. Advances the clock first, because two logins in one millisecond look the same.
pub(super) async fn log_in(bench: &Bench, manager: &TokenManager, sub: &str) -> TokenSet {
    bench.clock.advance(SECOND);
    begin_login(bench, manager, sub).await.unwrap().unwrap()
}

/// Advances the clock in small steps until the condition holds. Returns the elapsed time.
pub(super) async fn advance_until(bench: &Bench, condition: impl AsyncFn() -> bool) -> Duration {
    let start = bench.clock.monotonic();
    let advance = async {
        loop {
            // Run due tasks before advancing the clock.
            yields(20).await;
            if condition().await {
                return bench.clock.monotonic().saturating_sub(start);
            }
            bench.clock.advance(SECOND / 10);
        }
    };
    within("a condition", advance).await
}

/// Waits for the next event with this name.
pub(super) async fn event(events: &mut Events, name: &str) -> Event {
    loop {
        let event = within(name, events.next()).await.unwrap();
        if format!("{event:?}").starts_with(name) {
            return event;
        }
    }
}

/// The result of a call whose first reply is lost. Then advances the clock by two seconds.
pub(super) async fn call_after_loss(bench: &Bench, manager: &TokenManager) -> Result<String> {
    let mut events = manager.events();
    let caller = call(manager);
    event(&mut events, "RotationAmbiguous").await;
    bench.clock.advance(2 * SECOND);
    let token = caller.await.unwrap()?;
    Ok(token.expose().to_owned())
}
