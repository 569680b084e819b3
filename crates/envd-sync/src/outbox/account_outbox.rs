//! The handle of an outbox, and its settings.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;

use super::compare::ServiceFields;
use super::entry::{Entry, EntryId, EntryState, Reason};
use super::events::{EntryEvents, EventSender};
use super::ordering::{Turns, is_next};
use super::outbox_store::{Draft, OutboxStore, Snapshot};
use super::stored::Stored;
use crate::error::Result;
use crate::locked::lock;
use crate::replica::{Replica, last_sequence};
use envd_sdk::Account;
use envd_sdk::Clock;
use envd_sdk::model::{ConsignmentId, Timestamp};

/// What is to be sent for an account, over its [replica](crate::Replica). Cheap to clone; clones share its entries and events, and each
/// has settings of its own.
///
/// An entry is in the store when the call that makes it returns, with or without reception. [`send`](Self::send) sends what
/// is due once, [`run`](Self::run) whenever it can be. Several processes may use one store: one of them sends at a time. Within
/// a process keep one outbox of an account and clone it: a second one counts as another process.
///
/// The [module](crate::outbox) has an example.
#[derive(Clone)]
#[must_use]
pub struct Outbox {
    pub(super) shared: Arc<Shared>,
    pub(super) settings: Settings,
}

/// How old the list may be when a creation is sent. Whatever appeared since could be taken for it if its reply is lost.
const FRESH: Duration = Duration::from_secs(60);

/// The longest lease, which was written before the clock was set back if it seems to end later.
pub(super) const LONGEST_LEASE: Duration = Duration::from_secs(10 * 60);

/// What the clones of an outbox share.
pub(super) struct Shared {
    pub(super) replica: Replica,
    pub(super) store: OutboxStore,
    events: EventSender,
    /// One pass at a time in this process.
    pub(super) passing: tokio::sync::Mutex<()>,
    pub(super) memory: Mutex<Memory>,
    pub(super) written: Notify,
}

/// What only this process knows. It is not stored, since it is over when the process is.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) is_login_needed: bool,
    /// Nothing is sent before, after failures in a row.
    pub(super) paused_until: Option<SystemTime>,
    pub(super) failures: u32,
    /// The next pass tries everything, whatever failed before.
    pub(super) retries_now: bool,
    /// The lease that this process took last.
    pub(super) lease: u64,
    /// When the last complete list was begun.
    pub(super) listed_at: Option<SystemTime>,
    pub(super) duplicates_looked_at: Option<SystemTime>,
    /// The replica as it was read last.
    pub(super) listed: Option<Listed>,
}

impl Memory {
    /// The service could be reached.
    pub(super) fn forget_failures(&mut self) {
        (self.is_login_needed, self.paused_until, self.failures) = (false, None, 0);
    }
}

/// The replica as it was when a sync had ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Listed {
    /// The version of its document.
    pub(super) version: u64,
    /// Its last change.
    pub(super) last: u64,
}

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) reconcile_after: Duration,
    pub(super) lease: Duration,
    pub(super) duplicate_watch: Duration,
    pub(super) not_after: Option<Timestamp>,
    pub(super) clock: Clock,
}

impl Outbox {
    /// What is to be sent for the replica's account, in the replica's store and with its settings. The outbox uses the replica to find
    /// out what became of a creation when its reply was lost. Nothing is sent and nothing is read yet.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sync::store::MemorySync;
    /// use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let replica = Replica::new(&account, MemorySync::new()); // Or `SqliteSync::open("farm.db")?`.
    /// let outbox = Outbox::new(&replica);
    /// assert!(outbox.entries().await?.is_empty());
    /// # Ok(()) });
    /// ```
    pub fn new(replica: &Replica) -> Self {
        let events = EventSender::new();
        Self {
            shared: Arc::new(Shared {
                replica: replica.clone(),
                store: OutboxStore::new(replica.account_store().clone(), events.clone()),
                events,
                passing: tokio::sync::Mutex::default(),
                memory: Mutex::default(),
                written: Notify::new(),
            }),
            settings: Settings {
                reconcile_after: Duration::from_secs(60),
                lease: Duration::from_secs(10),
                duplicate_watch: Duration::from_secs(24 * 60 * 60),
                not_after: None,
                clock: replica.clock_used().clone(),
            },
        }
    }

    /// How long a request without a clear answer may still be carried out: its record is looked for at once and after this
    /// time, and only then it is sent again; 60 seconds unless set (assumed). A service that carries a request out later than
    /// that makes a second draft, which is reported as a [late duplicate](Entry::late_duplicates).
    ///
    /// ```
    /// # equipment::example(async {
    /// use std::time::Duration;
    ///
    /// use envd_sdk::fake::Fault;
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let outbox = outbox.reconcile_after(Duration::from_millis(10));
    /// let entry = outbox.save(input).await?;
    /// // The connection is lost before the server has seen the request, which the client cannot know.
    /// fake.on_operation("CreateOrSaveConsignment").fault(Fault::dropped_before());
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    /// let entry = outbox.entry(entry.id).await?.ok_or("no entry")?;
    /// assert_eq!(entry.attempts.len(), 2);
    /// # Ok(()) });
    /// ```
    pub fn reconcile_after(mut self, time: Duration) -> Self {
        self.settings.reconcile_after = time;
        self
    }

    /// After what time another process takes over from one that ended or hangs; 10 seconds unless set, at least 30
    /// milliseconds and at most 10 minutes. While a request runs, the process that sends renews the lease in the store three times as often. All
    /// processes of a store should use the same.
    pub fn lease(mut self, time: Duration) -> Self {
        self.settings.lease = time.clamp(Duration::from_millis(30), LONGEST_LEASE);
        self
    }

    /// How long records that appear late are looked for, once an hour, after an entry of which a request may still be carried
    /// out came to its end; a day unless set.
    pub fn duplicate_watch(mut self, time: Duration) -> Self {
        self.settings.duplicate_watch = time;
        self
    }

    /// The clock that decides when something is due, and whose instants the store keeps; that of the client unless set.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.settings.clock = clock;
        self
    }

    /// The account whose outbox it is.
    #[must_use]
    pub fn account(&self) -> &Account {
        self.shared.replica.account()
    }

    /// The replica that the outbox uses.
    pub fn replica(&self) -> &Replica {
        &self.shared.replica
    }

    /// The entries that are not at their end, by number. Those that are at their end are in the
    /// [history](Self::history).
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn entries(&self) -> Result<Vec<Entry>> {
        let snapshot = self.store().load().await?;
        let turns = Turns::of(snapshot.entries());
        let shown = snapshot.live.values();
        Ok(shown
            .map(|entry| self.show(&snapshot, entry, turns.is_next(entry)))
            .collect())
    }

    /// One entry, also one of the history; `None`: there is none with this number, or it was pruned.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn entry(&self, id: EntryId) -> Result<Option<Entry>> {
        let snapshot = self.store().load().await?;
        if let Some(live) = self.show_live(&snapshot, id.0) {
            return Ok(Some(live));
        }
        let past = self.store().past(id.0).await?;
        Ok(past.map(|entry| Entry::of(&Arc::new(entry), |_| false)))
    }

    /// The entries that change from now on, for a screen. An entry may change without another state, so
    /// [`EntryEvents::next_state`] is what most programs wait for.
    #[must_use]
    pub fn events(&self) -> EntryEvents {
        self.shared.events.subscribe()
    }

    pub(super) fn store(&self) -> &OutboxStore {
        &self.shared.store
    }

    /// Changes the outbox: see [`OutboxStore::change`].
    pub(super) async fn change<T>(&self, change: impl FnMut(&mut Draft) -> Result<T>) -> Result<T> {
        self.store().change(self.timestamp(), change).await
    }

    /// Changes the outbox and an entry of its history: see [`OutboxStore::change_with_past`].
    pub(super) async fn change_with_past<T>(
        &self,
        id: u64,
        change: impl FnMut(&mut Draft, Option<Stored>) -> T,
    ) -> Result<T> {
        self.store()
            .change_with_past(self.timestamp(), id, change)
            .await
    }

    pub(super) fn now(&self) -> SystemTime {
        self.settings.clock.now()
    }

    pub(super) fn timestamp(&self) -> Timestamp {
        self.now().into()
    }

    /// The replica as it is in the store.
    pub(super) async fn listed(&self) -> Result<Listed> {
        let (version, last) = last_sequence(&self.store().store).await?;
        let listed = Listed { version, last };
        self.with_memory(|memory| memory.listed = Some(listed));
        Ok(listed)
    }

    /// Whether the replica holds the record.
    pub(super) async fn is_listed(&self, id: &ConsignmentId) -> Result<bool> {
        Ok(self.replica().consignment(id.clone()).await?.is_some())
    }

    /// What the service does with fields, as it was seen to do and as the profile says.
    pub(super) fn service_fields(&self, seen: ServiceFields) -> ServiceFields {
        seen.and_told(&self.account().client().profile().filled_in.value)
    }

    /// The next pass tries everything, whatever failed before.
    pub(super) fn forget_waits(&self) {
        self.with_memory(|memory| {
            memory.forget_failures();
            memory.retries_now = true;
        });
    }

    pub(super) fn with_memory<T>(&self, with: impl FnOnce(&mut Memory) -> T) -> T {
        with(&mut lock(&self.shared.memory))
    }

    /// Whether a complete list that was begun after the entry was written is recent, and no request failed since.
    pub(super) fn has_list_for(&self, entry: &Stored) -> bool {
        let (now, listed_at) = (self.now(), self.with_memory(|memory| memory.listed_at));
        let age = listed_at.and_then(|at| now.duration_since(at).ok());
        let is_later = listed_at >= entry.created_at.to_time();
        is_later && age.is_some_and(|age| age < FRESH)
    }

    /// One entry that is not at its end, as it is shown.
    pub(super) fn show_live(&self, snapshot: &Snapshot, id: u64) -> Option<Entry> {
        let stored = snapshot.live.get(&id)?;
        Some(self.show(snapshot, stored, is_next(snapshot.entries(), stored)))
    }

    /// An entry as it is shown, with what only this process knows: why one waits that could be sent.
    fn show(&self, snapshot: &Snapshot, stored: &Arc<Stored>, is_next: bool) -> Entry {
        let mut entry = Entry::of(stored, |id| snapshot.live.contains_key(&id));
        if entry.state == EntryState::Queued && entry.reason.is_none() {
            let memory = lock(&self.shared.memory);
            entry.reason = if !is_next {
                Some(Reason::WaitsForEarlier)
            } else if memory.is_login_needed {
                Some(Reason::LoginNeeded)
            } else {
                let waits = memory.paused_until.is_some() || stored.standing().tries > 0;
                waits.then_some(Reason::NoReception)
            };
        }
        entry
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox")
            .field("account", self.account().id())
            .finish_non_exhaustive()
    }
}
