//! Sends again and again.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::select;

use super::account_outbox::Outbox;
use super::report::OutboxReport;
use crate::error::Error;
use crate::loop_control::LoopControl;
use envd_sdk::auth::BoxFuture;

/// How often at least it is looked whether another process has written an entry, and whether the user has logged in again.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// What is called with each event.
type OnEvent = Box<dyn FnMut(&OutboxEvent) + Send>;

/// Sends until it is stopped, from [`Outbox::run`]. Await it, or spawn its future; dropping it at any time is safe.
///
/// See [`Outbox::run`] for an example.
#[must_use = "it does nothing until it is awaited"]
pub struct OutboxLoop {
    outbox: Outbox,
    on_event: OnEvent,
    handle: OutboxLoopHandle,
}

/// Stops or wakes an [`OutboxLoop`]. Cheap to clone.
///
/// See [`Outbox::run`] for an example.
#[derive(Clone, Debug)]
pub struct OutboxLoopHandle {
    control: LoopControl,
    /// The next pass tries what failed before its wait is over.
    retry_now: Arc<AtomicBool>,
}

/// What an [`OutboxLoop`] did.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// use envd_sync::outbox::OutboxEvent;
/// use envd_sync::store::MemorySync;
/// use envd_sync::{Outbox, Replica};
///
/// let sending = Outbox::new(&Replica::new(&account, MemorySync::new())).run();
/// let handle = sending.handle();
/// let stop = handle.clone();
/// let sending = sending.on_event(move |event| {
///     match event {
///         OutboxEvent::Passed { report, .. } => println!("{report}"),
///         other => println!("{other:?}"),
///     }
///     stop.stop();
/// });
/// sending.await;
/// # Ok(()) });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OutboxEvent {
    /// A pass ended: everything that could be sent now was.
    #[non_exhaustive]
    Passed {
        /// What it did, and what is left.
        report: OutboxReport,
    },
    /// The store failed. It is tried again.
    #[non_exhaustive]
    Failed {
        /// Why.
        error: Error,
    },
}

impl Outbox {
    /// Sends what is due now, whenever something becomes due, and at once what this process writes, until it is stopped.
    /// Failures do not end it.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::EntryState;
    /// use envd_sync::store::MemorySync;
    /// use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let outbox = Outbox::new(&Replica::new(&account, MemorySync::new()));
    /// let mut events = outbox.events();
    /// let sending = outbox.run();
    /// let handle = sending.handle();
    /// let sending = tokio::spawn(sending.into_future());
    ///
    /// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// outbox.save(ConsignmentInput::new([FormType::Lpac1], origin, destination)).await?;
    /// while let Some(entry) = events.next_state().await {
    ///     println!("entry {}: {}", entry.id, entry.state);
    ///     if entry.state == EntryState::Confirmed {
    ///         break;
    ///     }
    /// }
    /// handle.stop();
    /// sending.await?;
    /// # Ok(()) });
    /// ```
    pub fn run(&self) -> OutboxLoop {
        OutboxLoop {
            outbox: self.clone(),
            on_event: Box::new(|_| {}),
            handle: OutboxLoopHandle {
                control: LoopControl::new(),
                retry_now: Arc::default(),
            },
        }
    }
}

impl OutboxLoop {
    /// Is called after each pass. It must not block.
    pub fn on_event(mut self, report: impl FnMut(&OutboxEvent) + Send + 'static) -> Self {
        self.on_event = Box::new(report);
        self
    }

    /// A handle that stops or wakes it.
    #[must_use]
    pub fn handle(&self) -> OutboxLoopHandle {
        self.handle.clone()
    }

    async fn run(mut self) {
        let control = self.handle.control.clone();
        loop {
            if self.handle.retry_now.swap(false, Ordering::Relaxed) {
                self.outbox.forget_waits();
            }
            let pass = Box::pin(self.outbox.pass());
            let Some(result) = control.unless_stopped(pass).await else {
                // If it cannot be given up, it ends by itself.
                let _ = self.outbox.release_last_lease().await;
                return;
            };
            let wait = match result {
                Ok((report, due)) => {
                    (self.on_event)(&OutboxEvent::Passed { report });
                    due.at().map(|at| self.outbox.time_until(at))
                }
                Err(error) => {
                    (self.on_event)(&OutboxEvent::Failed { error });
                    None
                }
            };
            let wait = wait.unwrap_or(LOOK_EVERY).min(LOOK_EVERY);
            let slept = pin!(self.outbox.settings.clock.sleep(wait));
            let written = pin!(self.outbox.shared.written.notified());
            if control.wait(select(slept, written)).await.is_none() {
                return;
            }
        }
    }
}

impl IntoFuture for OutboxLoop {
    type Output = ();
    type IntoFuture = BoxFuture<'static, ()>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

debug_shows!(OutboxLoop, |it| outbox: it.outbox);

impl OutboxLoopHandle {
    /// Ends the loop, and does not wait for a request in flight: what became of it is looked for by the next loop or send,
    /// which need not wait for the lease of this one.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// Ends the wait, for example after a login or when there is reception again.
    pub fn send_now(&self) {
        self.retry_now.store(true, Ordering::Relaxed);
        self.control.wake();
    }
}
