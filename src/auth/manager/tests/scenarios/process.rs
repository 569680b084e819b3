//! A process of the scenarios: its manager, the faults of its store and signer, and its calls.

use std::error::Error as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use test_support::script::listed;
use tokio::task::JoinHandle;

use super::{measured, span, times};
use crate::auth::manager::shared::Shared;
use crate::auth::manager::tests::bench::{Bench, DAY, SECOND, callback_of, yields};
use crate::auth::store::{Gate, HookedStore, StoreCall};
use crate::auth::{
    AccessToken, AssertionSigner, BoxFuture, Event, Events, PendingLogin, Provider, SessionState,
    StoreError, StoreErrorKind, TokenManager, TokenSet, TokenSource,
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
    begun: Vec<(String, Vec<JoinHandle<Outcomes>>)>,
    got: Outcomes,
    polls: Vec<String>,
}

/// The faults of the store and the signer, and the calls that reached them.
#[derive(Default)]
struct Faults {
    /// Call names, their fault, and the number of calls affected.
    rules: Mutex<Vec<(String, String, usize)>>,
    manager: OnceLock<Weak<Shared>>,
    loads: AtomicUsize,
    locks: AtomicUsize,
    /// Each access token written, with the one being served at that time.
    writes: Mutex<Vec<String>>,
}

impl Faults {
    /// The fault for the next call with one of these names.
    fn next(&self, names: &[&str]) -> Option<String> {
        let take = |rules: &mut Vec<(String, String, usize)>| {
            let mut rules = rules.iter_mut();
            let (_, how, left) = rules.find(|it| names.contains(&&*it.0) && it.2 > 0)?;
            *left -= 1;
            Some(how.clone())
        };
        let how = take(&mut self.rules.lock().unwrap());
        assert!(how.as_deref() != Some("panic"), "planned");
        how
    }

    fn meet(&self, bench: &Bench, call: StoreCall<'_>) -> Result<(), StoreError> {
        use StoreErrorKind as Kind;
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
        let Some(how) = self.next(names) else {
            return Ok(());
        };
        match &*how {
            "logout" => drop(manager.unwrap().logout(None)),
            "suspend" => bench.clock.advance(DAY),
            kind => {
                let kinds = [
                    [Kind::Denied, Kind::Full, Kind::Insecure, Kind::LockTimeout],
                    [
                        Kind::Missing,
                        Kind::NewerVersion,
                        Kind::Other,
                        Kind::Unreachable,
                    ],
                    [
                        Kind::Unreadable,
                        Kind::Unsupported,
                        Kind::Other,
                        Kind::Other,
                    ],
                ];
                let kind = kinds
                    .as_flattened()
                    .iter()
                    .find(|it| format!("{it:?}") == kind);
                return Err(StoreError::new(*kind.unwrap(), "planned"));
            }
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

/// The actions of a process, described by the words of a step.
async fn work(manager: TokenManager, bench: Bench, words: String) -> Outcomes {
    let words: Vec<&str> = words.split(' ').collect();
    let option = |name: &str| {
        let mut options = words.iter().filter_map(|it| it.split_once('='));
        Some(options.find(|it| it.0 == name)?.1)
    };
    let authorization = || {
        let login = manager.provider().authorization();
        match option("expected") {
            Some(user) => login.expected_subject(user),
            None => login,
        }
    };
    let token = |token: AccessToken| token.expose().to_owned();
    let user = |tokens: TokenSet| tokens.subject().unwrap().to_owned();
    let outcome = match words[..] {
        ["call"] => manager.access_token().await.map(token),
        ["use"] => {
            let called = manager.access_token().await.map(token);
            assert!(manager.flush(DAY).await);
            called
        }
        ["renew", number] => {
            let rejected = AccessToken::new("refused").unwrap();
            let rejected = rejected.numbered(number.parse().unwrap());
            manager.renew(&rejected).await.map(token)
        }
        ["login", name, ..] => {
            let login = authorization().start().unwrap().to_secret_json();
            // Like a web application that stores the login in between.
            let login = PendingLogin::from_secret_json(manager.provider(), &login).unwrap();
            let (login, callback) = callback_of(&bench, login, name);
            if let Some(nonce) = option("nonce") {
                bench.idp.log_in_as(name, nonce);
            }
            manager.complete_login(login, &callback).await.map(user)
        }
        ["device", name, ..] => {
            bench.idp.log_in_as(name, "of no request");
            let login = authorization().start_device().await.unwrap();
            manager.complete_device_login(login).await.map(user)
        }
        ["logout", ref to @ ..] => {
            let report = manager.logout(to.first().copied()).await;
            if !report.problems.is_empty() {
                return report.problems.into_iter().map(Err).collect();
            }
            let at = report.url.filter(|_| !to.is_empty());
            Ok(at.map_or("out".to_owned(), |at| format!("out at {}", at.path())))
        }
        ["shutdown", limit] => Ok(manager.shutdown(span(limit)).await.to_string()),
        _ => panic!("{words:?} is no step"),
    };
    vec![outcome]
}

impl Process {
    pub(super) fn new(bench: &Bench, options: &[&str]) -> Self {
        let faults = Arc::new(Faults::default());
        let meet = faults.clone();
        let world = bench.clone();
        let mut store = HookedStore::new(&bench.store, move |call| meet.meet(&world, call));
        let options = options
            .iter()
            .map(|it| it.split_once('=').unwrap_or((it, "")));
        let option = |name: &str| Some(options.clone().find(|it| it.0 == name)?.1);
        let client = Provider::builder(option("client").unwrap_or("app"));
        let mut provider = bench.provider_of(client);
        if let Some(path) = option("token-url") {
            provider = provider.token_url(format!("http://127.0.0.1:1{path}"));
        }
        if let Some(overlap) = option("overlap") {
            provider = provider.rotation_overlap(span(overlap));
        }
        if option("signing").is_some() {
            let key = Key(faults.clone());
            provider = provider.issuer("https://id.example/").private_key_jwt(key);
        }
        if option("checked").is_some() {
            provider = provider.id_token_check(|it| {
                let claims: Value = it.claims()?;
                assert!(claims["panics"].is_null(), "planned");
                let forged = claims.get("forged");
                forged.map_or(Ok(()), |_| Err("the signature is wrong".into()))
            });
        }
        if option("fragile").is_some() {
            store = store.with_fragile_lock();
        }
        let mut builder = bench
            .builder_of(provider)
            .store(store.clone())
            .strict(option("strict").is_some())
            .background(option("eager").is_none())
            .timing(|it| {
                it.wait = option("wait").map_or(it.wait, span);
                it.lock_wait = option("lock-wait").map_or(it.lock_wait, span);
                it.expiry_margin = option("margin").map_or(it.expiry_margin, span);
            });
        if let Some(account) = option("account") {
            builder = builder.account(account);
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
    pub(super) async fn end(&mut self, kind: Option<&&str>) {
        let is_it = |(begun, _): &(String, _)| kind.is_none_or(|kind| kind == begun);
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

    fn gate(&self, calls: &str) -> &Gate {
        if calls == "loads" {
            &self.store.loaded
        } else {
            &self.store.removing
        }
    }

    pub(super) async fn act(&mut self, bench: &Bench, words: &[&str]) {
        let (words, repeated) = times(words);
        match *words {
            ["begins", ref words @ ..] => {
                let work = || work(self.manager().clone(), bench.clone(), words.join(" "));
                let calls = (0..repeated.unwrap_or(1)).map(|_| tokio::spawn(work()));
                let calls = calls.collect();
                self.begun.push((words[0].to_owned(), calls));
                yields(1).await;
            }
            ["ends", ref kind @ ..] => self.end(kind.first()).await,
            ["gives", "up"] => {
                for call in self.begun.pop().unwrap().1 {
                    call.abort();
                    assert!(call.await.unwrap_err().is_cancelled());
                }
            }
            // Runs only the part before the first await.
            ["leaves"] => drop(self.manager().logout(None)),
            ["drops"] => self.manager = None,
            ["flush"] => assert!(self.manager().flush(DAY).await),
            ["hears", name] => loop {
                let event = self.events.next().await;
                let text = |event| event_text(&event, bench.clock.now());
                self.heard = event.map_or("end".to_owned(), text);
                if self.heard.starts_with(name) {
                    break;
                }
            },
            ["polls", "to", "the", "end"] => {
                while !self.has_ended() {
                    self.poll(bench).await;
                }
                self.end(None).await;
            }
            ["polls"] => self.poll(bench).await,
            ["store", "works"] => self.faults.rules.lock().unwrap().clear(),
            ["store", "holds", calls] => self.gate(calls).close(),
            ["store", "held", calls] => self.gate(calls).arrived().await,
            ["store", "opens", calls] => self.gate(calls).open(),
            ["store", calls, how] | [calls @ "signer", how] => {
                let left = repeated.unwrap_or(usize::MAX);
                let rule = (calls.to_owned(), how.to_owned(), left);
                self.faults.rules.lock().unwrap().push(rule);
            }
            ref words => {
                let (words, time, pause) = match *words {
                    [ref words @ .., "for", time, "every", pause] => {
                        (words, span(time), span(pause))
                    }
                    // Two logins in one millisecond look the same.
                    _ if words[0] == "login" => (words, SECOND, SECOND),
                    _ => (words, Duration::ZERO, Duration::ZERO),
                };
                let end = bench.clock.monotonic() + time;
                let mut left = repeated.unwrap_or(1);
                self.got.clear();
                while left > 0 {
                    bench.clock.advance(pause);
                    let done = work(self.manager().clone(), bench.clone(), words.join(" "));
                    self.got.extend(done.await);
                    left -= usize::from(bench.clock.monotonic() >= end);
                }
            }
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

    pub(super) async fn see(&mut self, bench: &Bench, words: &[&str]) -> String {
        let what = words[0];
        let expected = words[1..].join(" ");
        let now = bench.clock.now();
        // Part of a long text.
        let part = |text: String| {
            if text.contains(&expected) {
                expected.clone()
            } else {
                text
            }
        };
        match what {
            "gets" => {
                let text = |it: &Result<String>| it.as_ref().map_or_else(kinds, Clone::clone);
                let mut all: Vec<_> = self.got.iter().map(text).collect();
                all.dedup();
                listed(all)
            }
            "says" => part(listed(self.errors().map(Error::report))),
            "omits" => {
                let shown = |it: &Error| format!("{it:?} {}", it.report());
                let shown = listed(self.errors().map(shown));
                (if shown.contains(&expected) {
                    &shown
                } else {
                    &expected
                })
                .clone()
            }
            "retryable" => listed(self.errors().map(|it| it.is_retryable().to_string())),
            "retry" => {
                let left = self.retry_after().unwrap();
                measured(left.as_secs_f64(), "s", &expected)
            }
            "report" => part(self.report(now).await),
            "out" => {
                let called = self.manager().access_token().await;
                let is_refused = called.is_err_and(|error| error.is_reauth_required());
                let is_out = self.report(now).await.starts_with("LoggedOut - - unstored");
                (is_refused && is_out).to_string()
            }
            "current" => current(self.manager.as_ref()),
            "generation" => self.manager().current().unwrap().generation().to_string(),
            "user" => self.manager().subject().unwrap_or("none".to_owned()),
            "heard" => self.heard.clone(),
            "events" => {
                let next = || Some(event_text(&self.events.0.try_recv().ok()?, now));
                listed(std::iter::from_fn(next))
            }
            "loads" => self.faults.loads.swap(0, Ordering::SeqCst).to_string(),
            "locks" => self.faults.locks.load(Ordering::SeqCst).to_string(),
            "writes" => listed(std::mem::take(&mut *self.faults.writes.lock().unwrap())),
            "faults" => {
                let rules = self.faults.rules.lock().unwrap();
                rules.iter().map(|it| it.2).sum::<usize>().to_string()
            }
            "ended" => {
                yields(20).await;
                self.has_ended().to_string()
            }
            "idle" => self.manager().flush(Duration::ZERO).await.to_string(),
            "polls" => self.polls.join(" "),
            _ => panic!("{words:?} cannot be seen"),
        }
    }
}
