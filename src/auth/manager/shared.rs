//! The state shared by a manager, its clones and its tasks: memory, store, provider and subscribers.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures_util::future::{Either, select};
use tokio::runtime::Handle;
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::decide::{RecordMeaning, backoff, compare};
use super::memory::{
    CachedTokens, ForeignMark, RefreshPolicy, RefreshState, Snapshot, State, Stop,
};
use super::report::{Event, LastFailure};
use crate::auth::failure::{no_tokens, reauth};
use crate::auth::store::{RecordClient, StoredMark};
use crate::auth::{
    AccessToken, Provider, Record, StoreError, StoreErrorKind, StoreGuard, TokenStore, Version,
    Versioned,
};
use crate::error::{Error, ErrorCase, Result};
use crate::locked::lock;
use crate::secret::Secret;
use crate::transport::{Clock, ClockReading, later};

/// The longest pause that a response can cause.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(3_600);

pub(in crate::auth) struct Shared {
    pub(in crate::auth) provider: Provider,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) key: Box<str>,
    pub(super) policy: Arc<RefreshPolicy>,
    /// The store's lock on the account: `None` unless a task holds it, or tokens are not stored yet. The mutex restricts it to
    /// one task at a time.
    pub(super) lock: Arc<tokio::sync::Mutex<Option<StoreGuard>>>,
    /// Distinguishes this manager's refresh marks from others.
    id: u64,
    /// Read without a lock, so that a hanging refresh never blocks readers.
    pub(super) snapshot: ArcSwapOption<Snapshot>,
    state: Mutex<State>,
    /// Notified of each login and logout.
    session_ended: Notify,
    /// Tasks that should not be interrupted. Closed from the start, so that `wait` returns as soon as it is empty.
    pub(super) tasks: TaskTracker,
    /// Created for the first subscriber: few accounts have one, and it is larger than everything else here.
    events: OnceLock<broadcast::Sender<Event>>,
}

/// The record in the store, and this manager's write count before the read.
pub(super) struct StoreRead {
    pub(super) stored: Option<Versioned>,
    writes: u64,
}

impl Shared {
    pub(super) fn new(
        provider: Provider,
        store: Arc<dyn TokenStore>,
        key: String,
        policy: Arc<RefreshPolicy>,
    ) -> Self {
        let tasks = TaskTracker::new();
        tasks.close();
        Self {
            provider,
            store,
            key: key.into(),
            policy,
            lock: Arc::default(),
            id: fastrand::u64(..),
            snapshot: ArcSwapOption::empty(),
            state: Mutex::default(),
            session_ended: Notify::new(),
            tasks,
            events: OnceLock::new(),
        }
    }

    /// Locked for a few lines at a time, never across an await.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(in crate::auth) fn clock(&self) -> &Clock {
        self.provider.clock()
    }

    pub(super) fn now(&self) -> ClockReading {
        self.clock().moment()
    }

    /// Reads the record in the store.
    pub(super) async fn load(&self) -> Result<StoreRead, StoreError> {
        let writes = self.state().writes;
        self.accept(self.store.load(&self.key).await?, writes)
    }

    /// Rejects a record that this manager cannot use.
    fn accept(&self, stored: Option<Versioned>, writes: u64) -> Result<StoreRead, StoreError> {
        let accept = |Versioned { version, record }| {
            let record = record.open()?.of_client(&self.client())?;
            Ok::<_, StoreError>(Versioned::new(version, record))
        };
        let stored = stored.map(accept).transpose()?;
        Ok(StoreRead { stored, writes })
    }

    fn client(&self) -> RecordClient {
        let provider = &self.provider.0;
        RecordClient {
            id: provider.client_id.clone(),
            token_url: provider.token_url.as_str().to_owned(),
        }
    }

    /// Takes the store's lock, and reads the record under it.
    pub(super) async fn lock_and_load(
        &self,
        wait: Duration,
    ) -> Result<(StoreGuard, StoreRead), StoreError> {
        let writes = self.state().writes;
        let (guard, stored) = self.store.lock_and_load(&self.key, wait).await?;
        Ok((guard, self.accept(stored, writes)?))
    }

    /// Replaces a version of the record with a record of this client.
    pub(super) async fn swap(
        &self,
        expected: Option<Version>,
        mut record: Record,
    ) -> Result<Option<Version>, StoreError> {
        record.client = Some(self.client());
        let swapped = self.store.swap(&self.key, expected, &record).await;
        self.state().writes += 1;
        swapped
    }

    /// Deletes this version of the record.
    pub(super) async fn remove(&self, expected: Version) -> Result<bool, StoreError> {
        let removed = self.store.remove(&self.key, expected).await;
        self.state().writes += 1;
        removed
    }

    /// The current token, if it can be served and is not of the generation to replace.
    pub(super) fn usable_token(&self, replaces: Option<u64>) -> Option<AccessToken> {
        let snapshot = self.snapshot.load();
        let usable = |snapshot: &&Arc<Snapshot>| {
            snapshot.is_usable(self.now()) && Some(snapshot.generation()) != replaces
        };
        Some(snapshot.as_ref().filter(usable)?.token.clone())
    }

    /// Caches and serves tokens.
    fn publish(&self, state: &mut State, cached: CachedTokens) -> Result<AccessToken> {
        let tokens = &cached.tokens;
        let now = self.now();
        let snapshot = Snapshot::new(tokens, now, &self.policy, cached.possibly_used)?;
        state.check_at = now.monotonic.saturating_add(self.policy.timing.store_check);
        if !snapshot.is_renewal_due(now) {
            snapshot.check_again(now, state.check_at);
        }
        state.last_generation = state.last_generation.max(tokens.generation);
        if tokens.subject.is_some() {
            state.account.clone_from(&tokens.subject);
        }
        state.refreshes.dead = None;
        state.cached = Some(cached);
        let token = snapshot.token.clone();
        self.snapshot.store(Some(Arc::new(snapshot)));
        Ok(token)
    }

    /// Keeps a failure for support.
    pub(in crate::auth) fn note_failure(&self, error: &Error) {
        // A session without a user is not a failure.
        if error.case() != ErrorCase::NoUser {
            let at = self.clock().now();
            let error = error.clone();
            self.state().last_failure = Some(LastFailure { at, error });
        }
    }

    pub(super) fn emit(&self, event: Event) {
        if let Some(events) = self.events.get() {
            // OK to ignore: there may be no subscriber.
            let _ = events.send(event);
        }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.events
            .get_or_init(|| broadcast::Sender::new(64))
            .subscribe()
    }

    /// Spawns a task that no caller can cancel.
    pub(in crate::auth) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<JoinHandle<T>> {
        let runtime = Handle::try_current()
            .map_err(|_| Error::config("the token manager must be used inside a tokio runtime"))?;
        Ok(self.tasks.spawn_on(task, &runtime))
    }

    /// Revokes a refresh token that arrived too late, if the user has logged out. After a login it is kept: revoking it may end
    /// all sessions of the user, including the new one.
    pub(super) async fn discard(&self, refresh_token: Option<&Secret>) {
        if self.state().cached.is_none() {
            self.revoke_unused(refresh_token).await;
        }
    }

    /// Revokes an unused refresh token, so that its session does not stay open.
    pub(in crate::auth) async fn revoke_unused(&self, refresh_token: Option<&Secret>) {
        if let Some(token) = refresh_token
            && let Err(error) = self.provider.revoke(token).await
        {
            tracing::debug!("an unused refresh token could not be revoked: {error}");
        }
    }
}

/// The period between two logins or logouts. Once it is over, tasks that began in it no longer change anything: their state,
/// tokens and failures belong to a session that has ended.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) shared: Arc<Shared>,
    number: u64,
    /// Identifies the refresh marks of this session. Marks of earlier sessions count as foreign.
    pub(super) owner: u64,
}

impl Session {
    pub(super) fn current(shared: &Arc<Shared>, state: &State) -> Self {
        Self {
            shared: shared.clone(),
            number: state.session,
            owner: shared.id.wrapping_add(state.session),
        }
    }

    /// Ends the current session and starts the next one.
    pub(super) fn begin(shared: &Arc<Shared>, state: &mut State) -> Self {
        state.session += 1;
        shared.session_ended.notify_waiters();
        state.refreshes = RefreshState::default();
        Self::current(shared, state)
    }

    /// The state, unless the session is over.
    pub(super) fn state(&self) -> Result<MutexGuard<'_, State>, Stop> {
        let state = self.shared.state();
        if state.session != self.number {
            return Err(Stop::Superseded);
        }
        Ok(state)
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().is_err()
    }

    /// Waits until the session is over.
    pub(super) async fn ended(&self) {
        loop {
            let mut ended = pin!(self.shared.session_ended.notified());
            // Enabled before checking the state, so that no notification is missed.
            ended.as_mut().enable();
            if self.is_over() {
                return;
            }
            ended.await;
        }
    }

    /// Awaits a future, unless the session ends first.
    pub(super) async fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Stop> {
        match select(pin!(self.ended()), pin!(work)).await {
            Either::Left(_) => Err(Stop::Superseded),
            Either::Right((done, _)) => Ok(done),
        }
    }

    pub(super) fn cached(&self) -> Result<CachedTokens, Stop> {
        let cached = self.state()?.cached.clone();
        cached.ok_or_else(|| no_tokens().into())
    }

    /// Reads the record in the store. A failure pauses refreshes, like that of a request.
    pub(super) async fn load_or_fail(&self) -> Result<StoreRead, Stop> {
        let read = self.shared.load().await;
        read.map_err(|error| self.store_failed(error))
    }

    /// Reconciles memory with the store. Other processes may have renewed the tokens, logged the user out, or logged in another
    /// one.
    pub(super) fn reconcile(&self, read: StoreRead) -> Result<(), Stop> {
        let state = &mut *self.state()?;
        if read.writes != state.writes {
            // A read that began before a write of this manager is outdated.
            return Ok(());
        }
        let meaning = compare(state, read.stored.as_ref().map(|stored| &stored.record));
        let Some(Versioned { version, record }) = read.stored else {
            state.refreshes.foreign_mark = None;
            state.login.get_or_insert_default();
            if meaning == RecordMeaning::LoggedOut {
                state.cached = None;
                state.account = None;
                self.shared.snapshot.store(None);
                self.shared.emit(Event::LoggedOut { elsewhere: true });
            }
            return match (&state.refreshes.dead, meaning) {
                (Some(error), _) => Err(Stop::Failed(error.clone())),
                (None, RecordMeaning::Unchanged) => Ok(()),
                (None, _) => Err(no_tokens().into()),
            };
        };
        let owner = record.refresh_mark.map(|mark| mark.owner);
        let is_foreign = owner.is_some_and(|owner| owner != Some(self.owner));
        let generation = record.tokens.generation;
        match meaning {
            RecordMeaning::Unchanged | RecordMeaning::Nobody | RecordMeaning::LoggedOut => {
                Err(no_tokens().into())
            }
            RecordMeaning::Same | RecordMeaning::Replaced => {
                let same = meaning == RecordMeaning::Same;
                if let Some(cached) = &mut state.cached {
                    cached.version = Some(version);
                    if same && cached.saved && owner.is_none() {
                        // The owner cleared its mark: the refresh token was not used.
                        cached.possibly_used = false;
                    }
                    cached.possibly_used |= same && is_foreign;
                }
                self.note_mark(state, version, same && is_foreign);
                let dead = state.refreshes.dead.clone();
                dead.map_or(Ok(()), |error| Err(Stop::Failed(error)))
            }
            RecordMeaning::Older => {
                self.note_mark(state, version, false);
                if let Some(cached) = &mut state.cached {
                    cached.version = Some(version);
                    cached.saved = false;
                    cached.base = Some(Arc::new(record.tokens));
                }
                tracing::warn!(generation, "the stored tokens are older than those in use");
                self.shared.emit(Event::OlderRecord { generation });
                Ok(())
            }
            RecordMeaning::AnotherUser => {
                // Another user's tokens are served only after a login or logout in this manager.
                state.cached = None;
                self.shared.snapshot.store(None);
                if state.note_login(&record.tokens) {
                    self.shared.emit(Event::UserReplaced { generation });
                }
                let reason = "another user has logged in under the account's key";
                Err(self.declare_dead(state, reauth(reason)))
            }
            RecordMeaning::Ended(ended) => {
                state.note_login(&record.tokens);
                self.note_mark(state, version, is_foreign);
                if let Some(cached) = &mut state.cached {
                    // The current access token is served until it expires.
                    cached.version = Some(version);
                    cached.saved = true;
                }
                Err(self.declare_dead(state, reauth(ended.reason())))
            }
            RecordMeaning::Newer => {
                let is_new_login = state.note_login(&record.tokens);
                self.note_mark(state, version, is_foreign);
                let is_first = state.cached.is_none();
                let cached = CachedTokens {
                    saved: true,
                    possibly_used: owner.is_some(),
                    ..CachedTokens::unsaved(record.tokens, Some(version))
                };
                self.shared.publish(state, cached)?;
                state.refreshes.pause = None;
                state.refreshes.failures = 0;
                if is_new_login {
                    tracing::debug!(generation, "a login in another process");
                    self.shared.emit(Event::LoggedIn {
                        generation,
                        elsewhere: true,
                    });
                } else if !is_first {
                    tracing::debug!(generation, "tokens of another process adopted");
                    self.shared.emit(Event::Adopted { generation });
                }
                Ok(())
            }
        }
    }

    /// Records when another process's mark on this version was first read.
    fn note_mark(&self, state: &mut State, version: Version, is_foreign: bool) {
        let since = self.shared.clock().monotonic();
        let known = state.refreshes.foreign_mark;
        let mark = known.filter(|mark| mark.version == version);
        let mark = mark.unwrap_or(ForeignMark { version, since });
        state.refreshes.foreign_mark = is_foreign.then_some(mark);
    }

    fn declare_dead(&self, state: &mut State, error: Error) -> Stop {
        if state.refreshes.dead.replace(error.clone()).is_none() {
            let error = error.clone();
            self.shared.emit(Event::ReauthRequired { error });
        }
        Stop::Failed(error)
    }

    /// Stores the cached tokens. The inner error is the store's; the outer one means that the tokens are obsolete.
    pub(super) async fn save(&self) -> Result<Result<(), StoreError>, Stop> {
        let mut last = StoreError::new(StoreErrorKind::LockTimeout, "the record keeps changing");
        for _ in 0..3 {
            let cached = self.cached()?;
            if cached.saved {
                return Ok(Ok(()));
            }
            let record = Record::new(cached.tokens.as_ref().clone());
            match self.shared.swap(cached.version, record).await {
                Ok(Some(version)) => {
                    let mut state = self.state()?;
                    state.refreshes.foreign_mark = None;
                    if let Some(cached) = &mut state.cached {
                        cached.version = Some(version);
                        cached.saved = true;
                        cached.base = None;
                    }
                    return Ok(Ok(()));
                }
                // Another process has written in between, and its record takes precedence.
                Ok(None) => match self.shared.load().await {
                    Ok(read) => self.reconcile(read)?,
                    Err(error) => last = error,
                },
                Err(error) => last = error,
            }
        }
        Ok(Err(last))
    }

    /// A mark for a refresh of these tokens that begins now.
    pub(super) fn mark(&self, cached: &CachedTokens, owner: Option<u64>) -> StoredMark {
        StoredMark {
            generation: cached.tokens.generation,
            at: self.shared.clock().now(),
            owner,
        }
    }

    /// Rewrites the record of the cached tokens, with this mark or without one; `None` if another process has changed it,
    /// because it took a lost lock, or logged in or out without the lock.
    pub(super) async fn rewrite(
        &self,
        cached: &CachedTokens,
        mark: Option<StoredMark>,
    ) -> Result<Option<Version>, StoreError> {
        let shared = &self.shared;
        let mut record = Record::new(cached.tokens.as_ref().clone());
        record.refresh_mark = mark;
        let version = shared.swap(cached.version, record).await?;
        if let (Some(_), Ok(mut state)) = (version, self.state()) {
            state.refreshes.foreign_mark = None;
            if let Some(cached) = &mut state.cached {
                cached.version = version;
            }
        }
        Ok(version)
    }

    /// Starts serving the cached tokens.
    pub(super) fn publish_cached(&self) -> Result<AccessToken, Stop> {
        let mut state = self.state()?;
        let Some(cached) = state.cached.clone() else {
            return Err(no_tokens().into());
        };
        // Compares generations, because a provider may reissue the same access token with a new lifetime.
        match &*self.shared.snapshot.load() {
            Some(snapshot) if snapshot.generation() == cached.tokens.generation => {
                Ok(snapshot.token.clone())
            }
            _ => Ok(self.shared.publish(&mut state, cached)?),
        }
    }

    /// The refresh token is dead. The current access token is served until it expires.
    pub(super) fn give_up(&self, error: Error) -> Stop {
        let Ok(mut state) = self.state() else {
            return Stop::Superseded;
        };
        if let Some(cached) = &mut state.cached {
            // There is nothing left to store.
            cached.saved = true;
        }
        tracing::debug!("the refresh token is dead");
        self.declare_dead(&mut state, error)
    }

    /// Keeps a failure, so that callers do not queue for the next one. The pause is at least `floor`.
    pub(super) fn fail(&self, error: Error, floor: Duration) -> Stop {
        let Ok(mut state) = self.state() else {
            return Stop::Superseded;
        };
        let failures = state.refreshes.failures.saturating_add(1);
        state.refreshes.failures = failures;
        let wait = backoff(failures, fastrand::f64()).max(floor.min(LONGEST_RETRY_AFTER));
        let now = self.shared.now();
        let error = error.with_retry_after(Some(wait));
        state.refreshes.pause = Some((now.monotonic.saturating_add(wait), error.clone()));
        tracing::debug!(failures, wait = ?wait, "refresh failed: {error}");
        self.shared.emit(Event::RefreshFailed {
            error: error.clone(),
            retry_at: later(now.wall, wait),
        });
        Stop::Failed(error)
    }

    pub(super) fn store_failed(&self, error: StoreError) -> Stop {
        self.fail(error.into(), Duration::ZERO)
    }
}
