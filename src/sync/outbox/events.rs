//! Changes of state, for a screen.

use std::fmt;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::entry::Entry;

/// How many changes a receiver may be behind.
const CAPACITY: usize = 1_024;

#[derive(Clone)]
pub(super) struct EventSender(broadcast::Sender<Entry>);

impl EventSender {
    pub(super) fn new() -> Self {
        Self(broadcast::Sender::new(CAPACITY))
    }

    pub(super) fn send(&self, entry: Entry) {
        // OK to ignore: nobody listens.
        let _ = self.0.send(entry);
    }

    pub(super) fn subscribe(&self) -> OutboxEvents {
        OutboxEvents(self.0.subscribe())
    }
}

/// The entries that change, from [`Outbox::events`](super::Outbox::events), each as it is after the change.
///
/// Only changes that this process writes are told, and only those after the call. For all that is there, ask
/// [`Outbox::entries`](super::Outbox::entries).
pub struct OutboxEvents(broadcast::Receiver<Entry>);

impl OutboxEvents {
    /// The next entry that changed; `None` when all handles of the outbox are gone.
    ///
    /// A receiver that is more than 1,024 changes behind misses the oldest ones, never the latest of an entry.
    pub async fn next(&mut self) -> Option<Entry> {
        loop {
            match self.0.recv().await {
                Ok(entry) => return Some(entry),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

impl fmt::Debug for OutboxEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboxEvents").finish_non_exhaustive()
    }
}
