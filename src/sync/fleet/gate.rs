//! When the requests of a host's accounts are sent: the limits of the host and of the fleet, the lease, and `Retry-After`.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::sync::watch;

use super::pace::Pace;
use super::tables::Tables;
use crate::auth::BoxFuture;
use crate::error::{Error, Failure, Kind, Result, Unsent};
use crate::model::AccountId;
use crate::send::{Backpressure, Gate};
use crate::transport::Clock;

/// After how many accounts in a row with one outcome it counts as that of all accounts of the host.
const ACCOUNTS_FOR_ALL: usize = 3;

/// How long a host claims nothing that counts as cut off from the service.
const CUT_OFF_WAIT: Duration = Duration::from_secs(10);

/// How long it is waited for a further part of the budget when there is none, or the database fails.
const BUDGET_WAIT: Duration = Duration::from_millis(100);
const FAILED_WAIT: Duration = Duration::from_secs(1);

/// The gate of a host, which all of its accounts share.
pub(super) struct HostGate {
    clock: Clock,
    /// The limit of this host.
    pace: Option<Mutex<Pace>>,
    budget: Option<Budget>,
    /// One request at a time is considered, in the order of coming.
    turn: tokio::sync::Mutex<()>,
    /// Until when the leases of this host are sure to last, on the clock since boot.
    held_until: watch::Sender<Duration>,
    is_closed: watch::Sender<bool>,
    pause: Backpressure,
    /// The accounts that were told to wait since a request last was answered in another way.
    refused: Mutex<Streak>,
    /// The accounts that got no reply since one last came, and until when the host is cut off, on the clock since boot.
    unanswered: Mutex<(Streak, Duration)>,
    waiting: AtomicU32,
}

/// What this host has of the fleet's limit.
pub(super) struct Budget {
    tables: Arc<Tables>,
    per_second: f64,
    drawn: Mutex<Pace>,
}

/// Accounts in a row whose requests had the same outcome.
#[derive(Default)]
struct Streak(HashSet<AccountId>);

impl Streak {
    /// Adds an account; returns whether the outcome counts as that of all accounts.
    fn extend(&mut self, account: &AccountId) -> bool {
        self.0.insert(account.clone());
        self.0.len() >= ACCOUNTS_FOR_ALL
    }
}

/// The gate of an account.
pub(super) struct AccountGate {
    host: Arc<HostGate>,
    account: AccountId,
    pause: Backpressure,
}

impl HostGate {
    pub(super) fn new(clock: Clock, per_second: Option<f64>, budget: Option<Budget>) -> Self {
        Self {
            clock,
            pace: per_second.map(|limit| Mutex::new(Pace::endless(limit))),
            budget,
            turn: tokio::sync::Mutex::default(),
            held_until: watch::Sender::new(Duration::ZERO),
            is_closed: watch::Sender::new(false),
            pause: Backpressure::default(),
            refused: Mutex::default(),
            unanswered: Mutex::default(),
            waiting: AtomicU32::new(0),
        }
    }

    /// The gate of one account.
    pub(super) fn account(self: &Arc<Self>, account: AccountId) -> AccountGate {
        AccountGate {
            host: Arc::clone(self),
            account,
            pause: Backpressure::default(),
        }
    }

    /// The leases of this host are sure to last until then, on the clock since boot.
    pub(super) fn hold_until(&self, until: Duration) {
        self.held_until.send_replace(until);
    }

    /// No request is sent any more.
    pub(super) fn close(&self) {
        self.is_closed.send_replace(true);
    }

    /// How long the service has told all accounts to wait.
    pub(super) fn paused_for(&self) -> Option<Duration> {
        self.pause.left(&self.clock).map(|(left, _)| left)
    }

    /// How long this host claims nothing because it gets no replies. Other hosts may get them, so that is no failure of the
    /// accounts.
    pub(super) fn cut_off_for(&self) -> Option<Duration> {
        let left = lock(&self.unanswered).1.saturating_sub(self.clock.boot());
        Some(left).filter(|left| !left.is_zero())
    }

    pub(super) fn is_closed(&self) -> bool {
        *self.is_closed.borrow()
    }

    async fn enter(&self) -> Result<()> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _count = Count(&self.waiting);
        let mut closed = self.is_closed.subscribe();
        let closed = pin!(closed.wait_for(|closed| *closed));
        match select(closed, pin!(self.pass())).await {
            Either::Left(_) => Err(stopping()),
            Either::Right(_) => Ok(()),
        }
    }

    async fn pass(&self) {
        let _turn = self.turn.lock().await;
        loop {
            self.wait_until_held().await;
            let now = self.clock.boot();
            let Some(for_fleet) = self
                .budget
                .as_ref()
                .map_or(Some(Duration::ZERO), |budget| lock(&budget.drawn).wait(now))
            else {
                self.draw().await;
                continue;
            };
            let for_host = self.pace.as_ref().and_then(|pace| lock(pace).wait(now));
            let wait = for_fleet.max(for_host.unwrap_or_default());
            if wait.is_zero() {
                break;
            }
            self.clock.sleep(wait).await;
        }
        // Without an await since the check, so that a moment is used by a request or not at all.
        let paces = [
            self.pace.as_ref(),
            self.budget.as_ref().map(|budget| &budget.drawn),
        ];
        for pace in paces.into_iter().flatten() {
            lock(pace).take();
        }
    }

    /// A host that was suspended comes here with leases that may be over: nothing is sent before they are prolonged.
    async fn wait_until_held(&self) {
        let mut held = self.held_until.subscribe();
        // OK to ignore: the sender lives in `self`.
        let _ = held.wait_for(|until| self.clock.boot() < *until).await;
    }

    async fn draw(&self) {
        let Some(budget) = &self.budget else {
            return;
        };
        let waiting = self.waiting.load(Ordering::Relaxed);
        if let Some(wait) = budget.draw(&self.clock, waiting).await {
            self.clock.sleep(wait).await;
        }
    }
}

impl Budget {
    pub(super) fn new(tables: Arc<Tables>, per_second: f64) -> Self {
        Self {
            tables,
            per_second,
            drawn: Mutex::new(Pace::of(per_second, Duration::ZERO, 0)),
        }
    }

    /// Draws for as many requests as wait, or were sent with the last part; returns how long to wait if there is nothing.
    async fn draw(&self, clock: &Clock, waiting: u32) -> Option<Duration> {
        // A quarter of a second is enough for a statement, and does not keep others waiting.
        let most = (self.per_second / 4.0).max(self.per_second.min(8.0)).ceil();
        let wanted = f64::from(waiting.max(lock(&self.drawn).used)).clamp(1.0, most.max(1.0));
        let time = Duration::from_secs_f64(wanted / self.per_second);
        match self.tables.draw(time).await {
            Ok(Some(ahead)) => {
                let first = (clock.boot() + ahead).saturating_sub(time);
                // OK because `wanted` is a small whole number or cut to one.
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let number = wanted as u32;
                *lock(&self.drawn) = Pace::of(self.per_second, first, number);
                None
            }
            Ok(None) => Some(BUDGET_WAIT),
            Err(error) => {
                tracing::warn!(
                    "the limit of the fleet cannot be read, so nothing is sent: {error}"
                );
                Some(FAILED_WAIT)
            }
        }
    }
}

impl AccountGate {
    /// How long the service has told the account to wait, or all of them.
    pub(super) fn paused_for(&self) -> Option<Duration> {
        self.paused().map(|(left, _)| left)
    }

    fn paused(&self) -> Option<(Duration, Error)> {
        let clock = &self.host.clock;
        let all = self.host.pause.left(clock);
        let own = self.pause.left(clock);
        all.into_iter().chain(own).max_by_key(|(left, _)| *left)
    }
}

impl Gate for AccountGate {
    fn enter(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.host.enter())
    }

    fn refusal(&self) -> Option<Error> {
        if self.host.is_closed() {
            return Some(stopping());
        }
        let (left, refusal) = self.paused()?;
        Some(refusal.with_retry_after(Some(left)))
    }

    /// Maintenance (HTTP 503, spec 7.1) is for all. HTTP 429 is for one account, until several in a row are told so.
    ///
    /// assumed: the spec shows no limits of requests, so it is not known what they count.
    fn note(&self, result: Result<(), &Error>) {
        let host = &*self.host;
        let mut unanswered = lock(&host.unanswered);
        if result.is_err_and(Error::is_transport) {
            if unanswered.0.extend(&self.account) {
                unanswered.1 = host.clock.boot() + CUT_OFF_WAIT;
            }
            return;
        }
        *unanswered = Default::default();
        drop(unanswered);
        let told = result.err().filter(|error| error.retry_after().is_some());
        let Some(error) = told.filter(|error| matches!(error.http_status(), Some(429 | 503)))
        else {
            *lock(&host.refused) = Streak::default();
            return;
        };
        if error.http_status() == Some(503) {
            host.pause.note(&host.clock, 503, error);
            return;
        }
        self.pause.note(&host.clock, 429, error);
        if lock(&host.refused).extend(&self.account) {
            host.pause.note(&host.clock, 429, error);
        }
    }
}

/// Not sent, and not counted as a failure of the service.
fn stopping() -> Error {
    Error::new(Kind::Transport(Failure {
        what: "this host of the fleet is stopping",
        timeout: false,
        unsent: Unsent::Surely,
        refused_locally: false,
    }))
}

struct Count<'a>(&'a AtomicU32);

impl Drop for Count<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
