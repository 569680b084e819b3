//! The loop that sends until it is stopped.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::select;

use super::outbox::Outbox;
use super::report::OutboxReport;
use crate::error::Error;
use crate::loop_control::{Loop, WaitEnd};

/// The longest pause of the loop: after it, a pass checks whether another process has written something, or the user has logged in
/// again.
const CHECK_EVERY: Duration = Duration::from_secs(60);

/// An event of the loop that [`Outbox::run`] starts.
///
/// ```
/// # test_support::example(async {
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
    /// A pass ended. It sent everything that could be sent.
    #[non_exhaustive]
    Passed {
        /// The result of the pass, with the number of declarations that still wait.
        report: OutboxReport,
    },
    /// The store failed. The loop tries again.
    #[non_exhaustive]
    Failed {
        /// The error of the store.
        error: Error,
    },
}

impl Outbox {
    /// Sends what is due now, then whatever becomes due, until it is stopped. A declaration that this process writes is sent at once.
    /// Failures do not end the loop.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::DeclarationState;
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
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// outbox.save(ConsignmentInput::new([FormType::Lpac1], origin, destination)).await?;
    /// while let Some(one) = events.next_state().await {
    ///     println!("{}: {}", one.id, one.sentence());
    ///     if one.state == DeclarationState::Confirmed {
    ///         break;
    ///     }
    /// }
    /// handle.stop();
    /// sending.await?;
    /// # Ok(()) });
    /// ```
    pub fn run(&self) -> Loop<OutboxEvent> {
        let outbox = self.clone();
        Loop::new(async move |handle, mut on_event| {
            loop {
                let Some(result) = handle.unless_stopped(Box::pin(outbox.pass())).await else {
                    break;
                };
                let wait = match result {
                    Ok((report, next)) => {
                        on_event(&OutboxEvent::Passed { report });
                        next.at().map(|at| outbox.time_until(at))
                    }
                    Err(error) => {
                        on_event(&OutboxEvent::Failed { error });
                        None
                    }
                };
                let wait = wait.unwrap_or(CHECK_EVERY).min(CHECK_EVERY);
                let slept = pin!(outbox.clock.sleep(wait));
                let written = pin!(outbox.shared.written.notified());
                match handle.wait(select(slept, written)).await {
                    WaitEnd::Elapsed => {}
                    WaitEnd::Woken => outbox.forget_waits(),
                    WaitEnd::Stopped => return,
                }
            }
            // If the release fails, the lease expires.
            let _ = outbox.release_last_lease().await;
        })
    }
}
