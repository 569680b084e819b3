//! The handle of a replica, and its settings.

use std::sync::Arc;
use std::time::Duration;

use super::local_query::LocalQuery;
use super::sync_report::{ScanProgress, SyncReport};
use super::sync_run::SyncRun;
use super::sync_state::{DateEntry, FullReason, SyncState};
use super::{Changes, Depth, LocalRecord};
use crate::account_store::{AccountStore, VersionedDocument};
use crate::error::Result;
use crate::store::SyncStore;
use envd_sdk::AccountClient;
use envd_sdk::Clock;
use envd_sdk::model::ConsignmentId;

/// A local copy of the consignments of an account, in a [store](crate::store). Cheap to clone; clones share the copy.
///
/// [`sync`](Self::sync) brings it up to date. Several processes may sync over one store at the same time: they send more requests
/// than necessary, but the copy stays correct.
///
/// Every setting has a default that suits most programs, so no program has to set any: `Replica::new(&account, store)` is enough.
///
/// ```
/// # test_support::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// use envd_sdk::model::ConsignmentStatus;
/// use envd_sync::Replica;
/// use envd_sync::store::MemorySync;
///
/// let replica = Replica::new(&account, MemorySync::new()); // Or `SqliteSync::open("farm.db")?`.
/// println!("{}", replica.sync().await?);
/// // Answered from the copy, without a request.
/// let drafts = replica.consignments().status(ConsignmentStatus::Draft).list().await?;
/// assert!(!drafts.records.is_empty());
/// # Ok(()) });
/// ```
#[derive(Clone)]
#[must_use]
pub struct Replica {
    account: AccountClient,
    pub(crate) store: AccountStore,
    pub(super) overlap: Duration,
    pub(super) page_size: u32,
    pub(super) depth: Depth,
    pub(crate) clock: Clock,
    pub(super) on_progress: Option<OnProgress>,
    /// The profile's entry for the date that `fromDate` compares.
    pub(super) compared: DateEntry,
    horizon: Option<Duration>,
    retention: Option<Duration>,
    pub(super) reports_pruned: bool,
}

/// The callback for progress, called after each page.
type OnProgress = Arc<dyn Fn(&ScanProgress) + Send + Sync>;

impl Replica {
    /// A copy of the account's consignments in a store, which may also hold other accounts; this sends and reads nothing yet.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sync::Replica;
    /// use envd_sync::store::MemorySync;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let replica = Replica::new(&account, MemorySync::new());
    /// let report = replica.sync().await?;
    /// assert!(report.appeared > 0);
    /// println!("{report}");
    /// assert_eq!(replica.sync().await?.appeared, 0);
    /// # Ok(()) });
    /// ```
    pub fn new(account: &AccountClient, store: impl SyncStore) -> Self {
        Self {
            account: account.clone(),
            store: AccountStore::new(Arc::new(store), account.id().as_str()),
            overlap: Duration::from_secs(10 * 60),
            page_size: 100,
            depth: Depth::Summary,
            clock: account.client().clock().clone(),
            on_progress: None,
            // profile: lists.comparedDate
            compared: account.client().profile().lists.compared_date.clone(),
            horizon: None,
            retention: None,
            reports_pruned: false,
        }
    }

    /// How much earlier than the watermark an incremental scan starts (`fromDate`); 10 minutes unless set.
    ///
    /// Set more if the list shows saved records later than that; each sync then reads the records of that time again.
    pub fn overlap(mut self, overlap: Duration) -> Self {
        self.overlap = overlap;
        self
    }

    /// How far back a full scan reads the list; as far as the [`retention`](Self::retention), or the entire list, unless set. Set it for
    /// an account with so many records that the daily full scan takes too long, such as a saleyard's.
    ///
    /// The time counts back from the latest change that the service has shown. A record whose last change is older is not copied.
    /// If the copy already holds it, it stays there: it is not read again and not reported as gone. Unless the profile says that
    /// `fromDate` compares the time of the last change, a scan reads all pages anyway.
    ///
    /// With a horizon the copy is incomplete: a record that it lacks may just be older.
    ///
    /// ```
    /// # test_support::example(async {
    /// # use std::time::Duration;
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// use envd_sync::Replica;
    /// use envd_sync::store::MemorySync;
    ///
    /// let days = |days: u64| Duration::from_secs(days * 24 * 60 * 60);
    /// // A saleyard: the list is read 30 days back, and records are kept for a year.
    /// let replica = Replica::new(&account, MemorySync::new()).horizon(days(30)).retention(days(365));
    /// replica.sync().await?;
    /// # Ok(()) });
    /// ```
    pub fn horizon(mut self, time: Duration) -> Self {
        self.horizon = Some(time);
        self
    }

    /// After each full scan, removes the records whose last change is older than this; none unless set. Set it if the copy must not
    /// grow forever.
    ///
    /// It is also the default of the [`horizon`](Self::horizon). Records within the horizon are never removed. Consumers receive no
    /// change for removed records unless [`report_pruned`](Self::report_pruned) is set. If a removed record changes later, it
    /// appears again.
    pub fn retention(mut self, time: Duration) -> Self {
        self.retention = Some(time);
        self
    }

    /// Delivers removals by [`retention`](Self::retention) to consumers, as [`Pruned`](super::ChangeKind::Pruned); off unless called.
    /// Call it if a consumer keeps a copy of its own that must shrink too.
    pub fn report_pruned(mut self) -> Self {
        self.reports_pruned = true;
        self
    }

    /// The name of the account in the store; its id unless set. Set it in a program that writes declarations before it knows the account.
    ///
    /// Each account needs its own name.
    ///
    /// ```
    /// # test_support::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let client = fake.client().build()?;
    /// use envd_sync::store::MemorySync;
    /// use envd_sync::{Outbox, Replica};
    ///
    /// let store = MemorySync::new();
    /// let unknown = Replica::new(&client.account(""), store.clone()).stored_as("first");
    /// Outbox::new(&unknown).save(input).await?;
    ///
    /// // Later, when the account is known.
    /// let outbox = Outbox::new(&Replica::new(&client.account(fake.account_id()), store).stored_as("first"));
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    /// # Ok(()) });
    /// ```
    pub fn stored_as(mut self, name: impl Into<String>) -> Self {
        self.store.account = name.into().into();
        self
    }

    /// How many records a page holds at most; 100 unless set, and at least 1. Set less on a line where a page of 100 takes too long.
    pub fn page_size(mut self, records: u32) -> Self {
        self.page_size = records.max(1);
        self
    }

    /// How much of each record is copied; [`Depth::Summary`] unless set. Set [`Depth::Full`] if the program needs answers without
    /// reception.
    pub fn depth(mut self, depth: Depth) -> Self {
        self.depth = depth;
        self
    }

    /// The clock that decides when a full scan is due; the client's clock unless set. Set it in tests, or to the clock of the database
    /// where several hosts share a store.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// A callback that runs after each page of a scan; none unless set. Set it to show the progress of a long first sync. It must not
    /// block.
    pub fn on_progress(mut self, report: impl Fn(&ScanProgress) + Send + Sync + 'static) -> Self {
        self.on_progress = Some(Arc::new(report));
        self
    }

    /// Brings the copy up to date by an incremental or a full scan.
    ///
    /// A scan is incremental if the client's profile says that `fromDate` compares the time of the last change
    /// ([`Lists::compared_date`](envd_sdk::profile::Lists)). The first sync is full in any case, and so is one per day, to check
    /// the incremental scans. An interrupted scan continues at the page where it stopped.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time. Pages that were written stay, and the next sync continues after them; only the report
    /// is lost.
    ///
    /// # Errors
    ///
    /// As [`Pager::next_page`](envd_sdk::Pager::next_page), and [`Error::Store`](crate::Error::Store) when the store fails. Pages
    /// that were written stay, and the next sync continues after them.
    pub async fn sync(&self) -> Result<SyncReport> {
        SyncRun::new(self).await?.run(None).await
    }

    /// As [`sync`](Self::sync), with a full scan; continues an interrupted full scan.
    ///
    /// # Cancel safety
    ///
    /// As [`sync`](Self::sync). Once a page is written, the next sync of either kind continues the full scan.
    ///
    /// # Errors
    ///
    /// As [`sync`](Self::sync).
    pub async fn sync_full(&self) -> Result<SyncReport> {
        SyncRun::new(self)
            .await?
            .run(Some(FullReason::Requested))
            .await
    }

    /// Queries the copy, as of the last sync, by status, species, PIC, number and days; sends no request.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentStatus, Day};
    /// use envd_sync::Replica;
    /// use envd_sync::store::{MemorySync, Order};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let replica = Replica::new(&account, MemorySync::new());
    /// replica.sync().await?;
    ///
    /// let drafts = replica.consignments().status(ConsignmentStatus::Draft);
    /// println!("{} drafts", drafts.count().await?);
    ///
    /// let mut moving = replica.consignments()
    ///     .movement_from(Day::parse("2026-11-01")?)
    ///     .order(Order::LastUpdated)
    ///     .page_size(5);
    /// loop {
    ///     let page = moving.list().await?;
    ///     for record in &page.records {
    ///         println!("{:?} {:?}", record.number(), record.summary()?.movement_date);
    ///     }
    ///     match page.next {
    ///         Some(next) => moving = moving.after(next),
    ///         None => break,
    ///     }
    /// }
    /// # Ok(()) });
    /// ```
    pub fn consignments(&self) -> LocalQuery {
        LocalQuery::new(self.store.clone())
    }

    /// The record with this id, if the copy holds it; to find a record by its number, use [`LocalQuery::number`].
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store).
    pub async fn consignment(&self, id: impl Into<ConsignmentId>) -> Result<Option<LocalRecord>> {
        let rows = self.store.rows(&[id.into().into()]).await?;
        Ok(rows.first().map(LocalRecord::of).transpose()?)
    }

    /// The changes of the copy for a named consumer, whose position is kept in the store.
    ///
    /// A new name starts with everything that the copy holds.
    #[must_use]
    pub fn changes(&self, consumer: impl Into<String>) -> Changes {
        Changes::new(self.store.clone(), consumer.into())
    }

    /// The account that is copied.
    #[must_use]
    pub fn account(&self) -> &AccountClient {
        &self.account
    }

    /// Whether a clean full scan lists all records, so that an unlisted one is deleted or hidden.
    pub(crate) fn lists_everything(&self) -> bool {
        self.listed_back().is_none()
    }

    /// How far back the list is read. Without a horizon it is the retention, so pruned records are not listed again.
    pub(super) fn listed_back(&self) -> Option<Duration> {
        self.horizon.or(self.retention)
    }

    /// How far back rows are kept. At least the horizon, so listed records are not pruned.
    pub(super) fn kept_back(&self) -> Option<Duration> {
        self.retention
            .max(self.horizon.filter(|_| self.retention.is_some()))
    }

    /// The state of the scans. A refutation of another entry of the profile is dropped.
    pub(super) async fn load(&self) -> Result<VersionedDocument<SyncState>> {
        let mut state = SyncState::load(&self.store).await?;
        let refuted = &mut state.value.refuted;
        refuted.take_if(|refuted| refuted.entry != self.compared);
        Ok(state)
    }
}

debug_shows!(Replica, |it| account: it.account.id());
