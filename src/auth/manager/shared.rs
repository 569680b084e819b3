//! What a manager, its clones and its tasks share.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use arc_swap::ArcSwapOption;
use tokio::runtime::Handle;
use tokio::sync::{Notify, broadcast};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::policy::RefreshPolicy;
use super::snapshot::Snapshot;
use super::state::{CachedTokens, State};
use super::{Event, LastFailure};
use crate::auth::{
    AccessToken, Provider, Record, StoreError, StoreGuard, TokenStore, Version, Versioned,
};
use crate::error::{AuthProblem, Error, Kind, Result};
use crate::locked::lock;
use crate::secret::Secret;
use crate::transport::{Clock, Moment};

pub(super) struct Shared {
    pub(super) provider: Provider,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) key: Box<str>,
    pub(super) policy: Arc<RefreshPolicy>,
    /// The store's lock of the account: empty unless a task holds it, or tokens are not stored yet. The mutex lets one task
    /// at a time use it.
    pub(super) lock: Arc<tokio::sync::Mutex<Option<StoreGuard>>>,
    /// Distinguishes the refresh marks of this manager from those of others.
    pub(super) id: u64,
    /// Read without a lock: a refresh that hangs never stops a reader.
    pub(super) snapshot: ArcSwapOption<Snapshot>,
    state: Mutex<State>,
    /// Notified when an epoch ends.
    pub(super) epoch_ended: Notify,
    /// Tasks that should not be cut off. Closed from the start, so that `wait` returns whenever it is empty.
    pub(super) tasks: TaskTracker,
    /// Made for the first subscriber: few accounts have one, and it is larger than everything else here.
    events: OnceLock<broadcast::Sender<Event>>,
}

/// What the store had, and how often this manager had written before it was read.
pub(super) struct StoreRead {
    pub(super) stored: Option<Versioned>,
    pub(super) writes: u64,
}

impl StoreRead {
    pub(super) fn new(stored: Option<Versioned>, writes: u64) -> Result<Self, StoreError> {
        let open = |stored: Versioned| {
            let record = stored.record.open()?;
            Ok::<_, StoreError>(Versioned::new(stored.version, record))
        };
        let stored = stored.map(open).transpose()?;
        Ok(Self { stored, writes })
    }
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
            epoch_ended: Notify::new(),
            tasks,
            events: OnceLock::new(),
        }
    }

    /// Locked for a few lines at a time, never across an await.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(super) fn clock(&self) -> &Clock {
        self.provider.clock()
    }

    pub(super) fn now(&self) -> Moment {
        self.clock().moment()
    }

    /// Reads the record in the store.
    pub(super) async fn load(&self) -> Result<StoreRead, StoreError> {
        let writes = self.state().writes;
        StoreRead::new(self.store.load(&self.key).await?, writes)
    }

    /// Writes a record in the place of a version.
    pub(super) async fn swap(
        &self,
        expected: Option<Version>,
        record: &Record,
    ) -> Result<Option<Version>, StoreError> {
        let swapped = self.store.swap(&self.key, expected, record).await;
        self.state().writes += 1;
        swapped
    }

    /// Deletes the record of a version.
    pub(super) async fn remove(&self, expected: Version) -> Result<bool, StoreError> {
        let removed = self.store.remove(&self.key, expected).await;
        self.state().writes += 1;
        removed
    }

    /// The current token, if it can be served and is not the one to be replaced.
    pub(super) fn usable_token(&self, replaces: Option<u64>) -> Option<AccessToken> {
        let snapshot = self.snapshot.load();
        let usable = |snapshot: &&Arc<Snapshot>| {
            snapshot.is_usable(self.now()) && Some(snapshot.generation()) != replaces
        };
        Some(snapshot.as_ref().filter(usable)?.token.clone())
    }

    /// Caches tokens and serves them.
    pub(super) fn publish(&self, state: &mut State, cached: CachedTokens) -> Result<Arc<Snapshot>> {
        let tokens = &cached.tokens;
        let renew_now = cached.possibly_used;
        let snapshot = Arc::new(Snapshot::new(tokens, self.now(), &self.policy, renew_now)?);
        state.last_generation = state.last_generation.max(tokens.generation);
        if tokens.subject.is_some() {
            state.account.clone_from(&tokens.subject);
        }
        state.dead = None;
        state.cached = Some(cached);
        self.snapshot.store(Some(snapshot.clone()));
        Ok(snapshot)
    }

    /// Remembers a failure for support.
    pub(super) fn note_failure(&self, error: &Error) {
        // A session without a user is no failure.
        if !matches!(error.kind(), Kind::Auth(AuthProblem::NoTokens)) {
            let at = self.clock().now();
            let error = error.clone();
            self.state().last_failure = Some(LastFailure { at, error });
        }
    }

    pub(super) fn emit(&self, event: Event) {
        if let Some(events) = self.events.get() {
            // OK to ignore: there is no subscriber.
            let _ = events.send(event);
        }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.events
            .get_or_init(|| broadcast::Sender::new(64))
            .subscribe()
    }

    /// Runs a task that no caller can cancel.
    pub(super) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Result<JoinHandle<T>> {
        let runtime = Handle::try_current()
            .map_err(|_| Error::config("the token manager must be used inside a tokio runtime"))?;
        Ok(self.tasks.spawn_on(task, &runtime))
    }

    /// Revokes a refresh token that came too late, if the user has logged out. After a login it is left alone: revoking it
    /// may end all sessions of the user, the new one included.
    pub(super) async fn discard(&self, refresh_token: Option<&Secret>) {
        let logged_out = self.state().cached.is_none();
        if let Some(token) = refresh_token.filter(|_| logged_out)
            && let Err(error) = self.provider.revoke(token).await
        {
            tracing::debug!("a late refresh token could not be revoked: {error}");
        }
    }
}
