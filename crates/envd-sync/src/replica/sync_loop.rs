//! Syncs again and again.

use std::time::Duration;

use super::{Replica, SyncReport};
use crate::error::{Error, Result};
use crate::loop_control::LoopControl;
use envd_sdk::auth::BoxFuture;
use envd_sdk::model::Timestamp;

/// The wait after a first failure. It doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// The longest wait after failures, unless the interval is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);

/// How often at least a user's new login is noticed. Without a login nothing is sent.
const LOGIN_WAIT: Duration = Duration::from_secs(60);

/// What is called with each event.
type OnEvent = Box<dyn FnMut(&SyncEvent) + Send>;

/// Syncs until it is stopped, from [`Replica::run`]. Await it, or spawn its future; dropping it at any time is safe.
///
/// ```
/// # equipment::example(async {
/// use envd_sync::Replica;
/// use envd_sync::replica::SyncEvent;
/// use envd_sync::store::MemorySync;
/// use std::time::Duration;
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// let replica = Replica::new(&account, MemorySync::new());
/// let syncs = replica.run(Duration::from_secs(5 * 60));
/// let handle = syncs.handle();
/// let stop = handle.clone();
/// let syncs = syncs.on_event(move |event| {
///     if let SyncEvent::Synced { report, next_at, .. } = event {
///         println!("{report}; next at {next_at}");
///         stop.stop();
///     }
/// });
/// tokio::spawn(syncs.into_future()).await?;
/// # Ok(()) });
/// ```
#[must_use = "it does nothing until it is awaited"]
pub struct SyncLoop {
    replica: Replica,
    interval: Duration,
    random: fastrand::Rng,
    on_event: OnEvent,
    control: LoopControl,
    /// How many syncs in a row failed.
    failures: u32,
}

/// Stops or wakes a [`SyncLoop`]. Cheap to clone.
///
/// See [`SyncLoop`] for an example.
#[derive(Clone, Debug)]
pub struct SyncLoopHandle(LoopControl);

/// What a [`SyncLoop`] did. Each event says when the next sync begins, on the clock of the replica.
///
/// See [`SyncLoop`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SyncEvent {
    /// A sync ended.
    #[non_exhaustive]
    Synced {
        /// What it did.
        report: SyncReport,
        /// When the next one begins.
        next_at: Timestamp,
    },
    /// A sync failed. What it had written stays.
    #[non_exhaustive]
    Failed {
        /// Why.
        error: Error,
        /// When the next one begins: later after each failure, and not before the service allows it.
        next_at: Timestamp,
    },
    /// Nothing is sent until the user has logged in again.
    #[non_exhaustive]
    LoginNeeded {
        /// Why.
        error: Error,
        /// When the login is looked for again.
        next_at: Timestamp,
    },
}

impl Replica {
    /// Syncs now and after each interval, until it is stopped. Failures do not end it.
    pub fn run(&self, interval: Duration) -> SyncLoop {
        SyncLoop {
            replica: self.clone(),
            interval,
            random: fastrand::Rng::new(),
            on_event: Box::new(|_| {}),
            control: LoopControl::new(),
            failures: 0,
        }
    }
}

impl SyncLoop {
    /// Is called after each sync. It must not block.
    pub fn on_event(mut self, report: impl FnMut(&SyncEvent) + Send + 'static) -> Self {
        self.on_event = Box::new(report);
        self
    }

    /// Makes the random part of the waits the same each time, for tests.
    pub fn seed(mut self, seed: u64) -> Self {
        self.random = fastrand::Rng::with_seed(seed);
        self
    }

    /// A handle that stops or wakes it.
    #[must_use]
    pub fn handle(&self) -> SyncLoopHandle {
        SyncLoopHandle(self.control.clone())
    }

    async fn run(mut self) {
        let control = self.control.clone();
        while let Some(result) = control.unless_stopped(Box::pin(self.replica.sync())).await {
            let wait = self.wait_after(&result);
            self.tell(result, wait);
            let slept = self.replica.clock.sleep(wait);
            if control.wait(slept).await.is_none() {
                return;
            }
        }
    }

    fn tell(&mut self, result: Result<SyncReport>, wait: Duration) {
        let now = self.replica.clock.now();
        let next_at = Timestamp::from(now.checked_add(wait).unwrap_or(now));
        let event = match result {
            Ok(report) => SyncEvent::Synced { report, next_at },
            Err(error) if error.is_reauth_required() => SyncEvent::LoginNeeded { error, next_at },
            Err(error) => SyncEvent::Failed { error, next_at },
        };
        (self.on_event)(&event);
    }

    fn wait_after(&mut self, result: &Result<SyncReport>) -> Duration {
        let Err(error) = result else {
            self.failures = 0;
            return self.jittered(self.interval);
        };
        if error.is_reauth_required() {
            return self.jittered(self.interval.min(LOGIN_WAIT));
        }
        self.failures = self.failures.saturating_add(1);
        let doubled = 2_u32.saturating_pow(self.failures - 1);
        let wait = FIRST_WAIT
            .min(self.interval)
            .saturating_mul(doubled)
            .min(LONGEST_WAIT.max(self.interval));
        let now = self.replica.clock.now();
        let request = error.client();
        let at = request.and_then(envd_sdk::Error::retry_at);
        let at = at.and_then(|at| at.duration_since(now).ok());
        // Not before the service allows it, so the random part only adds to that.
        let told = request.and_then(envd_sdk::Error::retry_after);
        let told = told.max(at).unwrap_or_default();
        self.jittered(wait)
            .max(told.saturating_add(self.jittered(told) / 10))
    }

    /// Many programs that start at the same time must not ask at the same time.
    fn jittered(&mut self, wait: Duration) -> Duration {
        let seconds = wait.as_secs_f64() * (0.8 + 0.4 * self.random.f64());
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

impl IntoFuture for SyncLoop {
    type Output = ();
    type IntoFuture = BoxFuture<'static, ()>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

debug_shows!(SyncLoop, |it| replica: it.replica, interval: it.interval);

impl SyncLoopHandle {
    /// Ends the loop, also a sync that is running: the next one continues where it stopped.
    pub fn stop(&self) {
        self.0.stop();
    }

    /// Ends the wait, for example after a login.
    pub fn sync_now(&self) {
        self.0.wake();
    }
}
