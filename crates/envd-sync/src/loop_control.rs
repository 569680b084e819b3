//! The loop of a replica or an outbox, and the handle that stops it.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use envd_sdk::auth::BoxFuture;
use futures_util::future::{Either, select};
use tokio::sync::{Notify, watch};

/// The callback for events.
pub(super) type OnEvent<E> = Box<dyn FnMut(&E) + Send>;

/// The work of a loop, until its handle stops it.
type Body<E> = Box<dyn FnOnce(LoopHandle, OnEvent<E>) -> BoxFuture<'static, ()> + Send>;

/// A loop that runs until it is stopped, from [`Replica::run`](crate::Replica::run) or [`Outbox::run`](crate::Outbox::run).
///
/// Await it, or spawn its future.
///
/// ```
/// # test_support::example(async {
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
/// let syncs = syncs.on_event(move |event| {
///     if let SyncEvent::Synced { report, next_at, .. } = event {
///         println!("{report}; next at {next_at}");
///         handle.stop();
///     }
/// });
/// tokio::spawn(syncs.into_future()).await?;
/// # Ok(()) });
/// ```
///
/// # Cancel safety
///
/// The loop may be dropped at any time; the next loop or call continues where it stopped. To end the loop of an outbox, prefer
/// [`stop`](LoopHandle::stop): it releases the [lease](crate::Outbox::lease), so other processes need not wait until the lease
/// ends.
#[must_use = "it does nothing until it is awaited"]
pub struct Loop<E> {
    body: Body<E>,
    on_event: OnEvent<E>,
    handle: LoopHandle,
}

/// Stops or wakes a [`Loop`]. Cheap to clone.
///
/// See [`Loop`] for an example.
#[derive(Clone, Debug)]
pub struct LoopHandle {
    stopped: Arc<watch::Sender<bool>>,
    wake: Arc<Notify>,
}

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitEnd {
    Elapsed,
    Woken,
    Stopped,
}

impl<E: 'static> Loop<E> {
    pub(super) fn new<F: Future<Output = ()> + Send + 'static>(
        body: impl FnOnce(LoopHandle, OnEvent<E>) -> F + Send + 'static,
    ) -> Self {
        Self {
            body: Box::new(|handle, on_event| Box::pin(body(handle, on_event))),
            on_event: Box::new(|_| {}),
            handle: LoopHandle {
                stopped: Arc::new(watch::Sender::new(false)),
                wake: Arc::default(),
            },
        }
    }

    /// Sets a callback for events; it must not block.
    pub fn on_event(mut self, report: impl FnMut(&E) + Send + 'static) -> Self {
        self.on_event = Box::new(report);
        self
    }

    /// A handle that stops or wakes the loop.
    #[must_use]
    pub fn handle(&self) -> LoopHandle {
        self.handle.clone()
    }
}

impl<E> IntoFuture for Loop<E> {
    type Output = ();
    type IntoFuture = BoxFuture<'static, ()>;

    fn into_future(self) -> Self::IntoFuture {
        (self.body)(self.handle, self.on_event)
    }
}

debug_shows!(Loop<E>, |it| handle: it.handle);

impl LoopHandle {
    /// Ends the loop without waiting for a request in flight.
    ///
    /// The next loop or call continues: a sync at the point where this one stopped, an outbox by checking the outcome of that
    /// request.
    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Ends the current wait, or else the next one, for example after a login or when reception returns.
    pub fn wake_now(&self) {
        self.wake.notify_one();
    }

    /// The output of a future; `None` if the loop was stopped first.
    pub(super) async fn unless_stopped<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut stopped = self.stopped.subscribe();
        let stopped = pin!(stopped.wait_for(|stopped| *stopped));
        match select(pin!(future), stopped).await {
            Either::Left((output, _)) => Some(output),
            Either::Right(_) => None,
        }
    }

    /// Waits until the time is over, or until the loop is woken or stopped.
    pub(super) async fn wait(&self, time: impl Future) -> WaitEnd {
        let time = pin!(time);
        let woken = pin!(self.wake.notified());
        match self.unless_stopped(select(time, woken)).await {
            Some(Either::Left(_)) => WaitEnd::Elapsed,
            Some(Either::Right(_)) => WaitEnd::Woken,
            None => WaitEnd::Stopped,
        }
    }
}
