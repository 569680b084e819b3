//! A process of the scenarios: its manager, the faults of its store and signer, and its calls.

use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use test_support::script::{Times, Vocabulary, listed};
use tokio::task::JoinHandle;

use super::measured;
use super::words::{
    Call, CallKind, EventName, Fault, HeldCalls, Login, LoginSetting, PacedCall, ProcessOption,
    ProcessSees, ProcessStep, SignerFault, Span,
};
use crate::auth::manager::shared::Shared;
use crate::auth::manager::tests::bench::{Bench, DAY, SECOND, callback_of, yields};
use crate::auth::store::{Gate, HookedStore, StoreCall};
use crate::auth::{
    AccessToken, AssertionSigner, BoxFuture, Event, Events, LoginRequest, PendingLogin, Provider,
    SessionState, StoreError, TokenManager, TokenSet, TokenSource,
};
use crate::error::{Error, Result};

/// The results of calls: a token, a user, or an error.
type Outcomes = Vec<Result<String>>;

pub(super) struct Process {
    manager: Option<TokenManager>,
    events: Events,
    heard: String,
    store: HookedStore,
    faults: Arc<Faults>,
    /// Running calls, the latest last.
    begun: Vec<(&'static str, Vec<JoinHandle<Outcomes>>)>,
    got: Outcomes,
    polls: Vec<String>,
}

/// The faults of the store and the signer, and the calls that reached them.
#[derive(Default)]
struct Faults {
    /// Call names, their fault, and the number of calls affected.
    rules: Mutex<Vec<(&'static str, Fault, usize)>>,
    manager: OnceLock<Weak<Shared>>,
    loads: AtomicUsize,
    locks: AtomicUsize,
    /// Each access token written, with the one being served at that time.
    writes: Mutex<Vec<String>>,
}

impl Faults {
    /// The fault for the next call with one of these names.
    fn next(&self, names: &[&str]) -> Option<Fault> {
        let take = |rules: &mut Vec<(&str, Fault, usize)>| {
            let mut rules = rules.iter_mut();
            let (_, fault, left) = rules.find(|it| names.contains(&it.0) && it.2 > 0)?;
            *left -= 1;
            Some(*fault)
        };
        let fault = take(&mut self.rules.lock().unwrap());
        assert!(fault != Some(Fault::Panic), "planned");
        fault
    }

    fn meet(&self, bench: &Bench, call: StoreCall<'_>) -> Result<(), StoreError> {
        let manager = self.manager.get().and_then(Weak::upgrade).map(TokenManager);
        let names: &[&str] = match call {
            StoreCall::Load => {
                self.loads.fetch_add(1, Ordering::SeqCst);
                &["loads", "reads"]
            }
            StoreCall::Lock => {
                self.locks.fetch_add(1, Ordering::SeqCst);
                &["reads"]
            }
            StoreCall::Remove => &["removals"],
            StoreCall::Swap(new) => {
                let written = new.tokens().access_token().expose();
                let text = format!("{written}:{}", current(manager.as_ref()));
                self.writes.lock().unwrap().push(text);
                let is_new = new.tokens().generation() > 1;
                &["writes", "saves"][..=usize::from(is_new)]
            }
        };
        let Some(fault) = self.next(names) else {
            return Ok(());
        };
        match fault.kind() {
            Some(kind) => return Err(StoreError::new(kind, "planned")),
            None if fault == Fault::LogOut => drop(manager.unwrap().logout(None)),
            None => bench.clock.advance(DAY),
        }
        Ok(())
    }
}

/// A key that signs, or fails as scripted.
#[derive(Clone)]
struct Key(Arc<Faults>);

impl AssertionSigner for Key {
    fn alg(&self) -> &'static str {
        "ES256"
    }

    fn sign<'a>(
        &'a self,
        _: &'a [u8],
    ) -> BoxFuture<'a, std::result::Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>>> {
        Box::pin(async move {
            match self.0.next(&["signer"]) {
                Some(_) => Err("the module is locked".into()),
                None => Ok(vec![7; 64]),
            }
        })
    }
}

fn current(manager: Option<&TokenManager>) -> String {
    let token = manager.and_then(TokenSource::current);
    token.map_or("none".to_owned(), |token| token.expose().to_owned())
}

/// The kind of an error, and that of the underlying store error.
fn kinds(error: &Error) -> String {
    let below = error.source();
    let below = below.and_then(|it| it.downcast_ref::<StoreError>());
    let below = below.map_or(String::new(), |it| format!(" {:?}", it.kind()));
    format!("{:?}{below}", error.kind())
}

/// For example `LoggedIn 2 elsewhere`.
fn event_text(event: &Event, now: SystemTime) -> String {
    let shown = format!("{event:?}");
    let mut text = shown.split(' ').next().unwrap().to_owned();
    if let Some(number) = shown.split("generation: ").nth(1) {
        text.extend([" ", number.split([' ', ',']).next().unwrap()]);
    }
    if let Event::RefreshFailed { retry_at, .. } = event {
        let left = retry_at.duration_since(now).unwrap().as_secs();
        text.extend([" ", &left.to_string(), "s"]);
    }
    text + if shown.contains("elsewhere: true") {
        " elsewhere"
    } else {
        ""
    }
}

/// Starts a login with these settings.
fn authorization(manager: &TokenManager, settings: &[LoginSetting]) -> LoginRequest {
    let mut login = manager.provider().authorization();
    for setting in settings {
        if let LoginSetting::Expected(user) = setting {
            login = login.expected_subject(user.phrase());
        }
    }
    login
}

/// Makes a call.
async fn work(manager: TokenManager, bench: Bench, call: Call) -> Outcomes {
    let token = |token: AccessToken| token.expose().to_owned();
    let user = |tokens: TokenSet| tokens.subject().unwrap().to_owned();
    let outcome = match call {
        Call::Token => manager.access_token().await.map(token),
        Call::Use => {
            let called = manager.access_token().await.map(token);
            assert!(manager.flush(DAY).await);
            called
        }
        Call::Renew(number) => {
            let rejected = AccessToken::new("refused").unwrap();
            let rejected = rejected.numbered(number);
            manager.renew(&rejected).await.map(token)
        }
        Call::LogIn(Login {
            user: name,
            settings,
        }) => {
            let login = authorization(&manager, &settings).start();
            let login = login.unwrap().to_secret_json();
            // Like a web application that stores the login in between.
            let login = PendingLogin::from_secret_json(manager.provider(), &login).unwrap();
            let (login, callback) = callback_of(&bench, login, name.phrase());
            for setting in &settings {
                if let LoginSetting::Nonce(nonce) = setting {
                    bench.idp.log_in_as(name.phrase(), nonce);
                }
            }
            manager.complete_login(login, &callback).await.map(user)
        }
        Call::LogInByDevice(Login {
            user: name,
            settings,
        }) => {
            bench.idp.log_in_as(name.phrase(), "of no request");
            let login = authorization(&manager, &settings).start_device();
            let login = login.await.unwrap();
            manager.complete_device_login(login).await.map(user)
        }
        Call::LogOut(to) => {
            let report = manager.logout(to.as_ref().map(Vocabulary::phrase)).await;
            if !report.problems.is_empty() {
                return report.problems.into_iter().map(Err).collect();
            }
            let at = report.url.filter(|_| to.is_some());
            Ok(at.map_or("out".to_owned(), |at| format!("out at {}", at.path())))
        }
        Call::Shutdown(Span(limit)) => Ok(manager.shutdown(limit).await.to_string()),
    };
    vec![outcome]
}

impl Process {
    pub(super) fn new(bench: &Bench, options: &[ProcessOption]) -> Self {
        let faults = Arc::new(Faults::default());
        let meet = faults.clone();
        let world = bench.clone();
        let mut store = HookedStore::new(&bench.store, move |call| meet.meet(&world, call));
        let client = options.iter().find_map(|option| match option {
            ProcessOption::Client(client) => Some(client.as_str()),
            _ => None,
        });
        let mut provider = bench.provider_of(Provider::builder(client.unwrap_or("app")));
        for option in options {
            match option {
                ProcessOption::TokenUrl(path) => {
                    provider = provider.token_url(format!("http://127.0.0.1:1{path}"));
                }
                ProcessOption::Overlap(Span(time)) => provider = provider.rotation_overlap(*time),
                ProcessOption::Signing => {
                    let key = Key(faults.clone());
                    provider = provider.issuer("https://id.example/").private_key_jwt(key);
                }
                ProcessOption::Checked => {
                    provider = provider.id_token_check(|it| {
                        let claims: Value = it.claims()?;
                        assert!(claims["panics"].is_null(), "planned");
                        let forged = claims.get("forged");
                        forged.map_or(Ok(()), |_| Err("the signature is wrong".into()))
                    });
                }
                ProcessOption::Fragile => store = store.with_fragile_lock(),
                // Below, with the manager.
                ProcessOption::Client(_)
                | ProcessOption::Account(_)
                | ProcessOption::Strict
                | ProcessOption::Eager
                | ProcessOption::Wait(_)
                | ProcessOption::LockWait(_)
                | ProcessOption::Margin(_) => {}
            }
        }
        let mut builder = bench.builder_of(provider).store(store.clone());
        for option in options {
            builder = match option {
                ProcessOption::Account(account) => builder.account(account),
                ProcessOption::Strict => builder.strict(true),
                ProcessOption::Eager => builder.background(false),
                ProcessOption::Wait(Span(time)) => builder.timing(|it| it.wait = *time),
                ProcessOption::LockWait(Span(time)) => builder.timing(|it| it.lock_wait = *time),
                ProcessOption::Margin(Span(time)) => builder.timing(|it| it.expiry_margin = *time),
                _ => builder,
            };
        }
        let manager = builder.build().unwrap();
        faults.manager.set(Arc::downgrade(&manager.0)).unwrap();
        Self {
            events: manager.events(),
            manager: Some(manager),
            heard: String::new(),
            store,
            faults,
            begun: Vec::new(),
            got: Vec::new(),
            polls: Vec::new(),
        }
    }

    fn manager(&self) -> &TokenManager {
        self.manager.as_ref().unwrap()
    }

    fn errors(&self) -> impl Iterator<Item = &Error> {
        self.got.iter().filter_map(|it| it.as_ref().err())
    }

    /// The wait before the next call, according to the last error.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        self.errors().last()?.retry_after()
    }

    /// Waits for the most recent task, or the most recent of this kind.
    pub(super) async fn end(&mut self, kind: Option<CallKind>) {
        let is_it = |(begun, _): &(&str, _)| kind.as_ref().is_none_or(|it| it.phrase() == *begun);
        let at = self.begun.iter().rposition(is_it).unwrap();
        self.got.clear();
        for call in self.begun.remove(at).1 {
            self.got.extend(call.await.unwrap());
        }
    }

    fn has_ended(&self) -> bool {
        let mut begun = self.begun.iter().flat_map(|(_, calls)| calls);
        begun.all(JoinHandle::is_finished)
    }

    /// Advances the clock by seconds until a device login polls, and waits for the reply.
    async fn poll(&mut self, bench: &Bench) {
        let polls = bench.idp.refreshes();
        let is_busy = |it: &Self| bench.clock.sleepers() == 0 && !it.has_ended();
        while is_busy(self) {
            yields(1).await;
        }
        let start = bench.clock.monotonic();
        while bench.idp.refreshes() == polls && bench.clock.sleepers() > 0 {
            bench.clock.advance(SECOND);
            yields(5).await;
        }
        let passed = bench.clock.monotonic().saturating_sub(start);
        while is_busy(self) {
            yields(1).await;
        }
        self.polls.push(passed.as_secs().to_string());
    }

    fn gate(&self, calls: &HeldCalls) -> &Gate {
        match calls {
            HeldCalls::Loads => &self.store.loaded,
            HeldCalls::Removals => &self.store.removing,
        }
    }

    /// Plans a fault for this number of calls, or for all.
    fn plan(&self, calls: &'static str, fault: Fault, times: Option<Times>) {
        let left = times.map_or(usize::MAX, |Times(times)| times);
        let mut rules = self.faults.rules.lock().unwrap();
        rules.push((calls, fault, left));
    }

    /// Waits for an event.
    async fn hear(&mut self, bench: &Bench, name: &EventName) {
        loop {
            let event = self.events.next().await;
            let text = |event| event_text(&event, bench.clock.now());
            self.heard = event.map_or("end".to_owned(), text);
            if self.heard.starts_with(name.phrase()) {
                return;
            }
        }
    }

    pub(super) async fn act(&mut self, bench: &Bench, step: ProcessStep) {
        match step {
            ProcessStep::With(options) => *self = Self::new(bench, &options),
            ProcessStep::Begins(call, times) => {
                let times = times.map_or(1, |Times(times)| times);
                let work = || work(self.manager().clone(), bench.clone(), call.clone());
                let calls = (0..times).map(|_| tokio::spawn(work())).collect();
                self.begun.push((call.phrase(), calls));
                yields(1).await;
            }
            ProcessStep::Ends(kind) => self.end(kind).await,
            ProcessStep::UntilEnded => self.end(None).await,
            ProcessStep::GivesUp => {
                for call in self.begun.pop().unwrap().1 {
                    call.abort();
                    assert!(call.await.unwrap_err().is_cancelled());
                }
            }
            // Runs only the part before the first await.
            ProcessStep::Leaves => drop(self.manager().logout(None)),
            ProcessStep::Drops => self.manager = None,
            ProcessStep::Flush => assert!(self.manager().flush(DAY).await),
            ProcessStep::Hears(name) => self.hear(bench, &name).await,
            ProcessStep::PollsToTheEnd => {
                while !self.has_ended() {
                    self.poll(bench).await;
                }
                self.end(None).await;
            }
            ProcessStep::Polls => self.poll(bench).await,
            ProcessStep::StoreWorks => self.faults.rules.lock().unwrap().clear(),
            ProcessStep::StoreHolds(calls) => self.gate(&calls).close(),
            ProcessStep::StoreHeld(calls) => self.gate(&calls).arrived().await,
            ProcessStep::StoreOpens(calls) => self.gate(&calls).open(),
            ProcessStep::StoreFails(calls, fault, times) => {
                self.plan(calls.phrase(), fault, times);
            }
            ProcessStep::SignerFails(SignerFault::Fail, times) => {
                self.plan("signer", Fault::Other, times);
            }
            ProcessStep::SignerFails(SignerFault::Panic, times) => {
                self.plan("signer", Fault::Panic, times);
            }
        }
    }

    /// Makes a call as often, or for as long, as the step says.
    pub(super) async fn call(&mut self, bench: &Bench, paced: PacedCall) {
        let PacedCall { call, pace, times } = paced;
        let (time, pause) = match (pace, &call) {
            (Some(pace), _) => pace,
            // Two logins in one millisecond look the same.
            (None, Call::LogIn(_)) => (SECOND, SECOND),
            (None, _) => (Duration::ZERO, Duration::ZERO),
        };
        let end = bench.clock.monotonic() + time;
        let mut left = times;
        self.got.clear();
        while left > 0 {
            bench.clock.advance(pause);
            let done = work(self.manager().clone(), bench.clone(), call.clone());
            self.got.extend(done.await);
            left -= usize::from(bench.clock.monotonic() >= end);
        }
    }

    /// The session as support sees it: the state, the user, the generation, whether it is stored; then, relative to now, the
    /// times of the login, the renewal, the ends of token and session, and the mark; then failures and reasons.
    async fn report(&self, now: SystemTime) -> String {
        let session = self.manager().inspect().await;
        let or_none = |text: Option<String>| text.unwrap_or("-".to_owned());
        let from_now = |time: SystemTime| match time.duration_since(now) {
            Ok(later) => format!("{}s", later.as_secs()),
            Err(earlier) => format!("-{}s", earlier.duration().as_secs()),
        };
        let ends = [session.access_token_ends_at, session.session_ends_at];
        let began = [
            session.logged_in_at,
            session.renewed_at,
            session.refresh_began_at,
        ];
        let times = [began[0], began[1], ends[0], ends[1], began[2]];
        let failure = session.last_failure.map(|it| it.error);
        let failure = failure.map(|it| kinds(&it) + ": " + &it.report());
        let state = format!("{:?}", session.state);
        let why = match session.state {
            SessionState::NeedsLogin { reason } => reason.report(),
            SessionState::BackingOff { until }
                if self.retry_after().map(|left| now + left) == Some(until) =>
            {
                "until retry".to_owned()
            }
            _ => String::new(),
        };
        format!(
            "{} {} {} {} {}, failure {}, unread {}, {why}",
            state.split(' ').next().unwrap(),
            or_none(session.subject),
            or_none(session.generation.map(|it| it.to_string())),
            if session.is_stored {
                "stored"
            } else {
                "unstored"
            },
            times.map(|it| or_none(it.map(from_now))).join(" "),
            or_none(failure),
            or_none(session.store_error.map(|it| kinds(&it))),
        )
    }

    pub(super) async fn see(
        &mut self,
        bench: &Bench,
        sees: &ProcessSees,
        expected: &str,
    ) -> String {
        let now = bench.clock.now();
        // Part of a long text.
        let part = |text: String| {
            if text.contains(expected) {
                expected.to_owned()
            } else {
                text
            }
        };
        match sees {
            ProcessSees::Gets => {
                let text = |it: &Result<String>| it.as_ref().map_or_else(kinds, Clone::clone);
                let mut all: Vec<_> = self.got.iter().map(text).collect();
                all.dedup();
                listed(all)
            }
            ProcessSees::Says => part(listed(self.errors().map(Error::report))),
            ProcessSees::Omits(text) => {
                let shown = |it: &Error| format!("{it:?} {}", it.report());
                let shown = listed(self.errors().map(shown));
                if shown.contains(text.phrase()) {
                    shown
                } else {
                    String::new()
                }
            }
            ProcessSees::Retryable => listed(self.errors().map(|it| it.is_retryable().to_string())),
            ProcessSees::Retry => {
                let left = self.retry_after().unwrap();
                measured(left.as_secs_f64(), "s", expected)
            }
            ProcessSees::Report => part(self.report(now).await),
            ProcessSees::Out => {
                let called = self.manager().access_token().await;
                let is_refused = called.is_err_and(|error| error.is_reauth_required());
                let is_out = self.report(now).await.starts_with("LoggedOut - - unstored");
                (is_refused && is_out).to_string()
            }
            ProcessSees::Current => current(self.manager.as_ref()),
            ProcessSees::Generation => self.manager().current().unwrap().generation().to_string(),
            ProcessSees::User => self.manager().subject().unwrap_or("none".to_owned()),
            ProcessSees::Heard => self.heard.clone(),
            ProcessSees::Events => {
                let next = || Some(event_text(&self.events.0.try_recv().ok()?, now));
                listed(std::iter::from_fn(next))
            }
            ProcessSees::Loads => self.faults.loads.swap(0, Ordering::SeqCst).to_string(),
            ProcessSees::Locks => self.faults.locks.load(Ordering::SeqCst).to_string(),
            ProcessSees::Writes => listed(std::mem::take(&mut *self.faults.writes.lock().unwrap())),
            ProcessSees::Faults => {
                let rules = self.faults.rules.lock().unwrap();
                rules.iter().map(|it| it.2).sum::<usize>().to_string()
            }
            ProcessSees::Ended => {
                yields(20).await;
                self.has_ended().to_string()
            }
            ProcessSees::Idle => self.manager().flush(Duration::ZERO).await.to_string(),
            ProcessSees::Polls => self.polls.join(" "),
        }
    }
}
