//! Changes of state, for a screen.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::entry::{Entry, EntryState};

/// How many changes a receiver may be behind.
const CAPACITY: usize = 1_024;

/// An entry that was written.
#[derive(Clone)]
pub(super) struct Written {
    /// Its state before; `None`: it is new.
    pub(super) before: Option<EntryState>,
    pub(super) entry: Entry,
}

#[derive(Clone)]
pub(super) struct EventSender(broadcast::Sender<Written>);

impl EventSender {
    pub(super) fn new() -> Self {
        Self(broadcast::Sender::new(CAPACITY))
    }

    pub(super) fn has_listeners(&self) -> bool {
        self.0.receiver_count() > 0
    }

    pub(super) fn send(&self, written: Written) {
        // OK to ignore: nobody listens.
        let _ = self.0.send(written);
    }

    pub(super) fn subscribe(&self) -> EntryEvents {
        EntryEvents(self.0.subscribe())
    }
}

/// The entries that change, from [`Outbox::events`](super::Outbox::events), each as it is after the change.
///
/// It has the changes that this process writes after the call, also those by other handles of the same outbox. For what is
/// there, and what other processes write, ask [`Outbox::entries`](super::Outbox::entries). What the loop did as a whole is an
/// [`OutboxEvent`](super::OutboxEvent).
///
/// See [`next`](Self::next) and [`Outbox::run`](super::Outbox::run) for an example.
pub struct EntryEvents(broadcast::Receiver<Written>);

impl EntryEvents {
    /// The next entry that changed, as it is after the change; waits for one. `None` when all handles of the outbox are gone.
    /// The same state may come again: see [`next_state`](Self::next_state).
    ///
    /// A receiver that is more than 1,024 changes behind misses the oldest ones, never the latest of an entry.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::EntryState;
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let mut events = outbox.events();
    /// outbox.save(input).await?;
    /// outbox.send().await?;
    /// for state in [EntryState::Queued, EntryState::Sending, EntryState::Confirmed] {
    ///     assert_eq!(events.next().await.map(|entry| entry.state), Some(state));
    /// }
    /// # Ok(()) });
    /// ```
    pub async fn next(&mut self) -> Option<Entry> {
        Some(self.next_written().await?.entry)
    }

    /// As [`next`](Self::next), without the changes that leave an entry in its [state](EntryState).
    ///
    /// ```
    /// # equipment::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::EntryState;
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let mut events = outbox.events();
    /// let entry = outbox.save(input()).await?;
    /// outbox.edit(entry.id, input()).await?;
    /// outbox.send().await?;
    /// for state in [EntryState::Queued, EntryState::Sending, EntryState::Confirmed] {
    ///     assert_eq!(events.next_state().await.map(|entry| entry.state), Some(state));
    /// }
    /// # Ok(()) });
    /// ```
    pub async fn next_state(&mut self) -> Option<Entry> {
        loop {
            let Written { before, entry } = self.next_written().await?;
            if before != Some(entry.state) {
                return Some(entry);
            }
        }
    }

    async fn next_written(&mut self) -> Option<Written> {
        loop {
            match self.0.recv().await {
                Ok(written) => return Some(written),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

debug_shows!(EntryEvents);
