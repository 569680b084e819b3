//! What a manager, its clones and its tasks share.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::sync::{Notify, broadcast};

use super::Event;
use super::counters::Counts;
use super::lease::Slot;
use super::notice::until;
use super::refresh_task::Completion;
use super::snapshot::{Moment, Snapshot};
use super::work::Tasks;
use crate::auth::{Provider, Record, StoreError, TokenSet, TokenStore, Version, Versioned};
use crate::error::{Error, Result};
use crate::transport::Clock;

pub(super) struct Shared {
    pub(super) provider: Provider,
    pub(super) store: Arc<dyn TokenStore>,
    pub(super) key: Box<str>,
    pub(super) policy: Arc<Policy>,
    /// The lock of the account, while this manager has it.
    pub(super) slot: Slot,
    /// By which the marks of this manager are told from those of others.
    id: u64,
    /// Read without a lock: a refresh that hangs never stops a reader.
    pub(super) snapshot: ArcSwapOption<Snapshot>,
    state: Mutex<State>,
    /// Tells running tasks that what they do is of the past.
    turned: Notify,
    pub(super) counts: Counts,
    /// Tasks that should not be cut off.
    pub(super) work: Tasks,
    /// Made when somebody asks for it: for most of many accounts nobody does, and it is larger than all the rest.
    events: OnceLock<broadcast::Sender<Event>>,
}

#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) wait: Duration,
    pub(super) lock_wait: Duration,
    pub(super) background: bool,
    pub(super) strict: bool,
    pub(super) margin: Duration,
    pub(super) between_forced: Duration,
    /// Computed from the provider's time-out unless set.
    pub(super) mark_wait: Option<Duration>,
    pub(super) store_check: Duration,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            // As long as one request to the token endpoint may take.
            wait: Duration::from_secs(30),
            lock_wait: Duration::from_secs(30),
            background: true,
            strict: false,
            // Clocks a little off, and the time that a request takes.
            margin: Duration::from_secs(30),
            // A server that refuses every token must not make every call a refresh.
            between_forced: Duration::from_secs(30),
            mark_wait: None,
            store_check: Duration::from_secs(60),
        }
    }
}

#[derive(Default)]
pub(super) struct State {
    /// Counts logins and logouts.
    pub(super) epoch: u64,
    /// Counts logouts alone: a login that one overtakes is over, while of two logins the later one counts.
    pub(super) logouts: u64,
    pub(super) held: Option<Held>,
    /// Whose tokens these are; kept when they are dead, so that nobody is handed another user's.
    pub(super) account: Option<String>,
    /// Why the held tokens cannot be renewed ever.
    pub(super) dead: Option<Error>,
    pub(super) pause: Option<Pause>,
    /// Failures in a row.
    pub(super) failures: u32,
    /// When a token that the server refused was last renewed.
    pub(super) forced_at: Option<Duration>,
    pub(super) refresh: Option<(u64, Completion)>,
    pub(super) refreshes: u64,
    /// Whether a task stores the held tokens later.
    pub(super) saving: bool,
    /// Whether the store is being read in the background.
    pub(super) checking: bool,
    /// The mark of another process on the held tokens.
    pub(super) mark: Option<ForeignMark>,
    /// The marked version that the application has declared abandoned.
    pub(super) abandoned: Option<Version>,
    /// Counts the writes of this manager: what was read before one says nothing after it.
    pub(super) writes: u64,
    /// After a shutdown no refresh starts.
    pub(super) closed: bool,
    pub(super) last_generation: u64,
}

/// Tokens in memory.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) tokens: Arc<TokenSet>,
    /// The version of the record that they replace or that holds them.
    pub(super) version: Option<Version>,
    /// Whether the store has them.
    pub(super) saved: bool,
    /// Whether their refresh token was sent and no answer came.
    pub(super) doubtful: bool,
    /// The stored tokens from which a refresh made these; `None` for those of a login, and for stored ones.
    pub(super) base: Option<Arc<TokenSet>>,
}

/// Another process began to refresh the held tokens, and no answer is stored.
#[derive(Clone, Copy)]
pub(super) struct ForeignMark {
    pub(super) version: Version,
    /// When it was first read.
    pub(super) since: Duration,
}

/// What the store had, and how often this manager had written before it was read.
pub(super) struct StoreRead {
    pub(super) stored: Option<Versioned>,
    pub(super) writes: u64,
}

impl StoreRead {
    pub(super) fn new(stored: Option<Versioned>, writes: u64) -> Result<Self, StoreError> {
        let opened = stored.map(|Versioned { version, record }| {
            let record = record.open()?;
            Ok(Versioned::new(version, record))
        });
        Ok(Self {
            stored: opened.transpose()?,
            writes,
        })
    }
}

/// A failure that stands for further ones until it is time to try again.
#[derive(Clone)]
pub(super) struct Pause {
    pub(super) until: Duration,
    pub(super) error: Error,
}

/// Why a task ended without tokens.
pub(super) enum Stop {
    /// A login or a logout came in between.
    Superseded,
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Shared {
    pub(super) fn new(
        provider: Provider,
        store: Arc<dyn TokenStore>,
        key: String,
        policy: Arc<Policy>,
    ) -> Self {
        Self {
            provider,
            store,
            key: key.into(),
            policy,
            slot: Slot::default(),
            id: fastrand::u64(..),
            snapshot: ArcSwapOption::empty(),
            state: Mutex::default(),
            turned: Notify::new(),
            counts: Counts::default(),
            work: Tasks::default(),
            events: OnceLock::new(),
        }
    }

    /// Held for a few lines at a time, never across a wait.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, unless the epoch of the asking task is over.
    pub(super) fn state_in(&self, epoch: u64) -> Result<MutexGuard<'_, State>, Stop> {
        let state = self.state();
        if state.epoch == epoch {
            Ok(state)
        } else {
            Err(Stop::Superseded)
        }
    }

    /// What the store has.
    pub(super) async fn stored(&self) -> Result<StoreRead, StoreError> {
        let writes = self.state().writes;
        StoreRead::new(self.store.load(&self.key).await?, writes)
    }

    /// Writes the record in the place of a version.
    pub(super) async fn swap(
        &self,
        expected: Option<Version>,
        record: &Record,
    ) -> Result<Option<Version>, StoreError> {
        let swapped = self.store.swap(&self.key, expected, record).await;
        self.state().writes += 1;
        swapped
    }

    /// Identifies the marks that this manager writes. Those from before a login or a logout count as foreign.
    pub(super) fn owner(&self, epoch: u64) -> u64 {
        self.id.wrapping_add(epoch)
    }

    /// Whether tokens in memory are not stored.
    pub(super) fn has_unsaved(&self) -> bool {
        self.state().has_unsaved()
    }

    pub(super) fn clock(&self) -> &Clock {
        self.provider.clock()
    }

    pub(super) fn now(&self) -> Moment {
        Moment::now(self.clock())
    }

    pub(super) fn emit(&self, event: Event) {
        self.counts.note(&event);
        if let Some(events) = self.events.get() {
            // OK to ignore: it only says that nobody listens.
            let _ = events.send(event);
        }
    }

    pub(super) fn listen(&self) -> broadcast::Receiver<Event> {
        let events = self.events.get_or_init(|| broadcast::Sender::new(64));
        events.subscribe()
    }

    /// Ends the epoch: running tasks are of the past from here on.
    pub(super) fn turn(&self, state: &mut State) -> u64 {
        state.epoch += 1;
        state.refresh = None;
        state.dead = None;
        state.pause = None;
        state.failures = 0;
        state.forced_at = None;
        state.mark = None;
        state.abandoned = None;
        self.turned.notify_waiters();
        state.epoch
    }

    /// Waits until the epoch is over.
    pub(super) async fn superseded(&self, epoch: u64) {
        until(&self.turned, || self.state().epoch != epoch).await;
    }

    /// Puts tokens into use.
    pub(super) fn publish(&self, state: &mut State, held: Held) -> Result<Arc<Snapshot>> {
        let snapshot = Arc::new(Snapshot::new(
            &held.tokens,
            self.now(),
            &self.policy,
            held.doubtful,
        )?);
        state.last_generation = state.last_generation.max(held.tokens.generation);
        if held.tokens.subject.is_some() {
            state.account.clone_from(&held.tokens.subject);
        }
        state.dead = None;
        state.held = Some(held);
        self.snapshot.store(Some(snapshot.clone()));
        Ok(snapshot)
    }
}

impl State {
    pub(super) fn has_unsaved(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.saved)
    }
}
