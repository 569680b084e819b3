//! Events for a screen: declarations that changed.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::declaration::{Declaration, DeclarationState};

/// The number of changes that a receiver may be behind.
pub(super) const CAPACITY: usize = 1_024;

/// A declaration that was written to the store.
#[derive(Clone)]
pub(super) struct Written {
    /// Its state and the number of its late duplicates before the change; `None`: it is new, or was in the history.
    pub(super) before: Option<(DeclarationState, usize)>,
    pub(super) declaration: Declaration,
}

/// A stream of changed declarations, from [`Outbox::events`](super::Outbox::events). Each has the state after its change.
///
/// It contains every change that this process writes after the call, through every handle of the same outbox. Only a change by a
/// call whose future was dropped may be missing. For such changes, earlier ones, and those of other processes, use
/// [`Outbox::declarations`](super::Outbox::declarations). The events of the loop itself are [`OutboxEvent`](super::OutboxEvent)s.
///
/// See [`next`](Self::next) and [`Outbox::run`](super::Outbox::run) for an example.
pub struct DeclarationEvents(pub(super) broadcast::Receiver<Written>);

impl DeclarationEvents {
    /// Waits for the next change, and returns the declaration after it. `None` when all handles of the outbox are gone. The state may
    /// be the same as before: see [`next_state`](Self::next_state).
    ///
    /// A receiver that is more than 1,024 changes behind misses the oldest ones, but never the latest change of a declaration.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::DeclarationState;
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let mut events = outbox.events();
    /// outbox.save(input).await?;
    /// outbox.send().await?;
    /// for state in [DeclarationState::Queued, DeclarationState::Sending, DeclarationState::Confirmed] {
    ///     assert_eq!(events.next().await.map(|declaration| declaration.state), Some(state));
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no change is lost: the next call returns it.
    pub async fn next(&mut self) -> Option<Declaration> {
        Some(self.next_written().await?.declaration)
    }

    /// Like [`next`](Self::next), but skips changes that affect neither the [state](DeclarationState) nor the number of [late
    /// duplicates](Declaration::late_duplicates).
    ///
    /// ```
    /// # test_support::example(async {
    /// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::DeclarationState;
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let mut events = outbox.events();
    /// let written = outbox.save(input()).await?;
    /// outbox.edit(written.id, input()).await?;
    /// outbox.send().await?;
    /// for state in [DeclarationState::Queued, DeclarationState::Sending, DeclarationState::Confirmed] {
    ///     assert_eq!(events.next_state().await.map(|declaration| declaration.state), Some(state));
    /// }
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no change is lost: the next call returns it.
    pub async fn next_state(&mut self) -> Option<Declaration> {
        loop {
            let Written {
                before,
                declaration,
            } = self.next_written().await?;
            if before != Some((declaration.state, declaration.late_duplicates.len())) {
                return Some(declaration);
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

debug_shows!(DeclarationEvents);
