//! The outbox handle: settings, and reads of declarations.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tokio::sync::Notify;

use super::compare::ServiceFields;
use super::decide::{Circumstances, is_before};
use super::declaration::{Declaration, DeclarationId, DeclarationState};
use super::events::DeclarationEvents;
use super::reading::{is_read, same_form};
use super::row::{Listing, Reason, Row};
use super::store::{OutboxStore, Transaction, seconds};
use crate::error::Result;
use crate::locked::lock;
use crate::replica::Replica;
use envd_sdk::AccountClient;
use envd_sdk::Clock;
use envd_sdk::model::{Day, Jurisdiction, Timestamp};

/// The declarations that the user wants the service to have, for one account over its [replica](crate::Replica). Cheap to clone:
/// clones share declarations and events, and each has its own settings.
///
/// A declaration is in the store when the call that writes it returns, with or without reception. [`send`](Self::send) sends
/// everything that is due, and [`run`](Self::run) sends continuously. Several processes may use one store; one of them sends at a
/// time. Within a process, create one outbox for each account and clone it: a second one behaves like another process.
///
/// Every setting has a default that suits most programs, so no program has to set any: `Outbox::new(&replica)` is enough.
///
/// The [module](crate::outbox) has an example.
#[derive(Clone)]
#[must_use]
pub struct Outbox {
    pub(super) shared: Arc<OutboxCore>,
    pub(super) reconcile_after: Duration,
    pub(super) lease: Duration,
    pub(super) not_after: Option<Timestamp>,
    pub(super) clock: Clock,
    user: Option<Arc<dyn Fn() -> Option<String> + Send + Sync>>,
}

/// The longest lease. If a lease seems to last longer, the clock was set back after it was written.
pub(super) const LONGEST_LEASE: Duration = Duration::from_secs(10 * 60);

/// The state that the clones of an outbox share.
pub(super) struct OutboxCore {
    pub(super) replica: Replica,
    pub(super) store: OutboxStore,
    /// Allows one pass at a time in this process.
    pub(super) passing: tokio::sync::Mutex<()>,
    memory: Mutex<Memory>,
    pub(super) written: Notify,
}

/// State of this process that is not stored.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) is_login_needed: bool,
    /// No request is sent before this time, after consecutive failures.
    pub(super) paused_until: Option<SystemTime>,
    /// Why no connection could be made when the pause began, if known.
    pub(super) trouble: Option<String>,
    pub(super) failures: u32,
    /// Whether the next pass retries everything, regardless of earlier failures.
    pub(super) retries_now: bool,
    /// The lease that this process took last.
    pub(super) lease: u64,
    /// The last complete list.
    pub(super) list: Option<Listing>,
    pub(super) duplicates_searched_at: Option<SystemTime>,
}

impl Memory {
    /// Resets the failures, because the service could be reached.
    pub(super) fn forget_failures(&mut self) {
        (self.is_login_needed, self.paused_until, self.failures) = (false, None, 0);
        self.trouble = None;
    }
}

impl Outbox {
    /// Creates an outbox for the replica's account, in the replica's store and with its settings. If a reply is lost, the outbox uses
    /// the replica to find out whether the record was created. This call sends and reads nothing.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sync::store::MemorySync;
    /// use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let replica = Replica::new(&account, MemorySync::new()); // Or `SqliteSync::open("farm.db")?`.
    /// let outbox = Outbox::new(&replica);
    /// assert!(outbox.declarations().await?.is_empty());
    /// # Ok(()) });
    /// ```
    pub fn new(replica: &Replica) -> Self {
        // profile: filledIn
        let filled_in = &replica.account().client().profile().filled_in.value;
        let paths = filled_in.iter();
        let paths = paths.map(|path| path.split('.').map(str::to_owned).collect());
        let fields = ServiceFields::named(paths, same_form).showing(is_read);
        Self {
            shared: Arc::new(OutboxCore {
                replica: replica.clone(),
                store: OutboxStore::new(replica.store.clone(), fields),
                passing: tokio::sync::Mutex::default(),
                memory: Mutex::default(),
                written: Notify::new(),
            }),
            reconcile_after: Duration::from_secs(60),
            lease: Duration::from_secs(10),
            not_after: None,
            clock: replica.clock.clone(),
            user: None,
        }
    }

    /// How long the service may take to carry out a request without a clear answer, in whole seconds; 60 seconds unless set (assumed),
    /// and at least one second. Set more if you see [late duplicates](Declaration::late_duplicates), and less in tests.
    ///
    /// The outbox searches for the request's record at once, after this time, and after as long again, before it
    /// [sends the request again](mod@crate::guide::outbox#searches-and-pauses).
    ///
    /// ```
    /// # test_support::example(async {
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
    /// let outbox = outbox.reconcile_after(Duration::from_secs(1));
    /// let declaration = outbox.save(input).await?;
    /// // The connection is lost before the server has seen the request, which the client cannot know.
    /// fake.on_operation("CreateOrSaveConsignment").fault(Fault::dropped_before());
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    /// let declaration = outbox.declaration(declaration.id).await?.ok_or("it is gone")?;
    /// assert_eq!(declaration.attempts, 2);
    /// # Ok(()) });
    /// ```
    pub fn reconcile_after(mut self, time: Duration) -> Self {
        self.reconcile_after = time.max(Duration::from_secs(1));
        self
    }

    /// The time after which another process takes over from a process that ended or hangs; 10 seconds unless set, at least 30
    /// milliseconds and at most 10 minutes. Set more if processes often stall for longer, which costs extra searches.
    ///
    /// During a request, the sending process renews its lease in the store three times in this period. Use the same lease in all
    /// processes of a store.
    pub fn lease(mut self, time: Duration) -> Self {
        self.lease = time.clamp(Duration::from_millis(30), LONGEST_LEASE);
        self
    }

    /// The clock that decides when something is due, and whose times are stored; the replica's clock unless set. Set it in tests, or to
    /// the clock of the database where several hosts share a store.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The latest time to send a declaration that this handle writes, after which the user is asked instead; none unless set. Set it
    /// where a late declaration is useless, for example to the departure of the truck.
    ///
    /// A movement in the past is a question even without it. If the instant cannot be parsed, every call that writes fails with
    /// [`Error::Usage`](crate::Error::Usage).
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::Reason;
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let written = outbox.clone().not_after("2020-01-15T05:00:00+10:00").save(input()).await?;
    /// outbox.send().await?;
    /// let late = outbox.declaration(written.id).await?.ok_or("it is gone")?;
    /// assert_eq!(late.reason, Some(Reason::NotAfterPassed));
    /// # Ok(()) });
    /// ```
    pub fn not_after(mut self, instant: impl Into<Timestamp>) -> Self {
        self.not_after = Some(instant.into());
        self
    }

    /// A function that returns the user who is logged in; none unless set. Set it on every handle that writes or sends if several
    /// people use the account on this device.
    ///
    /// Return the subject of the login, from [`TokenManager::subject`](envd_sdk::auth::TokenManager::subject), or a name from
    /// [`user_details`](envd_sdk::Client::user_details). The outbox stores it with everything that the user writes, and shows it to
    /// others. A change that one user wrote is not sent under the login of another: the outbox asks, with
    /// [`Reason::AnotherUser`](super::Reason::AnotherUser), and continues when the first user logs in again. Without the function, or
    /// while it returns `None`, as with a [`StaticToken`](envd_sdk::auth::StaticToken), nothing is checked.
    ///
    /// ```
    /// # test_support::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::{Decision, Reason};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// // With a manager: `outbox.user(move || manager.subject())`.
    /// let of_sam = outbox.clone().user(|| Some("sam".to_owned()));
    /// let of_pat = outbox.user(|| Some("pat".to_owned()));
    /// let written = of_sam.save(input).await?;
    /// of_pat.send().await?;
    /// let asked = of_pat.declaration(written.id).await?.ok_or("it is gone")?;
    /// assert_eq!((asked.reason, asked.writers), (Some(Reason::AnotherUser), vec!["sam".to_owned()]));
    /// of_pat.decide(written.id, Decision::SendAsMe).await?;
    /// assert_eq!(of_pat.send().await?.confirmed, 1);
    /// # Ok(()) });
    /// ```
    pub fn user(mut self, user: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.user = Some(Arc::new(user));
        self
    }

    fn current_user(&self) -> Option<String> {
        self.user.as_ref().and_then(|user| user())
    }

    /// The account of this outbox.
    #[must_use]
    pub fn account(&self) -> &AccountClient {
        self.shared.replica.account()
    }

    /// The replica that the outbox uses.
    pub fn replica(&self) -> &Replica {
        &self.shared.replica
    }

    /// The declarations that are not confirmed or discarded, by number. The others are in the [history](Self::history).
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn declarations(&self) -> Result<Vec<Declaration>> {
        self.store().load().await?;
        let rows = self.store().rows();
        let open = rows.iter().filter(|row| !row.is_over());
        Ok(open.map(|row| self.show(row)).collect())
    }

    /// One declaration, from the history too; `None`: no declaration has this number, or it was pruned.
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn declaration(&self, id: DeclarationId) -> Result<Option<Declaration>> {
        self.store().load().await?;
        let row = self.store().any_row(id.0).await?;
        Ok(row.map(|row| self.show(&row)))
    }

    /// The declaration with a [key](super::NewDeclaration::key), also one of the history; `None`: there is none, or it was pruned.
    ///
    /// ```
    /// # test_support::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// # use envd_sync::{Outbox, Replica};
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let written = outbox.submit(input).key("form-7f3a").await?;
    /// outbox.send().await?;
    /// let found = outbox.declaration_with_key("form-7f3a").await?.ok_or("it is gone")?;
    /// assert_eq!(found.id, written.id);
    /// assert!(outbox.declaration_with_key("form-0000").await?.is_none());
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) for what cannot be a key, [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn declaration_with_key(&self, key: &str) -> Result<Option<Declaration>> {
        self.store().load().await?;
        let Some(id) = self.store().with_key(key).await? else {
            return Ok(None);
        };
        self.declaration(DeclarationId(id)).await
    }

    /// Subscribes to changes of declarations from now on, for a screen. A declaration may change without a new state, so most programs
    /// wait for [`DeclarationEvents::next_state`].
    #[must_use]
    pub fn events(&self) -> DeclarationEvents {
        DeclarationEvents(self.store().events.subscribe())
    }

    pub(super) fn store(&self) -> &OutboxStore {
        &self.shared.store
    }

    pub(super) fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// A transaction over the state that this process knows.
    pub(super) fn draft(&self) -> Transaction<'_> {
        let reconcile_after = self.reconcile_after;
        let mut draft = self.store().draft(self.now(), reconcile_after);
        draft.user = self.current_user();
        draft
    }

    /// Changes the open rows. If another process was faster, applies the change again to the new state.
    pub(super) async fn change<T>(
        &self,
        mut change: impl FnMut(&mut Transaction<'_>) -> T,
    ) -> Result<T> {
        loop {
            let mut draft = self.draft();
            let result = change(&mut draft);
            if self.store().commit(draft).await? {
                return Ok(result);
            }
            self.store().learn().await?;
        }
    }

    /// Calls a pure function with the circumstances of a row.
    pub(super) fn with_circumstances<T>(
        &self,
        row: u64,
        judge: impl FnOnce(&Circumstances<'_>) -> T,
    ) -> T {
        let others = self.store().expecting(row);
        let others: Vec<&Row> = others.iter().map(Arc::as_ref).collect();
        // The day ends last in Western Australia.
        let today = Day::today_in(Jurisdiction::Wa, self.now()).to_string();
        judge(&Circumstances {
            now: seconds(self.now()),
            today: &today,
            service: &self.store().service(),
            open: &others,
            user: self.current_user().as_deref(),
        })
    }

    pub(super) fn with_memory<T>(&self, with: impl FnOnce(&mut Memory) -> T) -> T {
        with(&mut lock(&self.shared.memory))
    }

    /// The last complete list, from this process or from the store.
    pub(super) fn last_list(&self) -> Option<Listing> {
        let own = self.with_memory(|memory| memory.list.clone());
        own.or_else(|| self.store().head().list)
    }

    /// Lets the next pass retry everything, regardless of earlier failures.
    pub(super) fn forget_waits(&self) {
        self.with_memory(|memory| {
            memory.forget_failures();
            memory.retries_now = true;
        });
    }

    pub(super) fn time_until(&self, at: SystemTime) -> Duration {
        at.duration_since(self.now()).unwrap_or_default()
    }

    /// Whether the creation of another row goes first.
    pub(super) fn is_another_first(&self, row: &Row) -> bool {
        let others = self.store().expecting(row.id);
        others.iter().any(|other| is_before(other, row))
    }

    /// A declaration for display. Only this process knows why a queued one is not sent.
    pub(super) fn show(&self, row: &Arc<Row>) -> Declaration {
        let mut declaration = Declaration::of(row);
        if declaration.state != DeclarationState::Queued || declaration.reason.is_some() {
            return declaration;
        }
        let (is_login_needed, is_paused, trouble) = self.with_memory(|memory| {
            let is_paused = memory.paused_until.is_some();
            (memory.is_login_needed, is_paused, memory.trouble.clone())
        });
        declaration.reason = if is_login_needed {
            Some(Reason::LoginNeeded)
        } else if is_paused {
            declaration.trouble = trouble;
            Some(Reason::NoReception)
        } else if row.record.is_none() && self.is_another_first(row) {
            Some(Reason::WaitsForAnother)
        } else {
            None
        };
        declaration
    }
}

debug_shows!(Outbox, |it| account: it.account().id());
