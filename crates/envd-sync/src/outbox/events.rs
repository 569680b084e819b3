//! Changes of declarations, for a screen.

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::declaration::{Declaration, DeclarationState};

/// How many changes a receiver may be behind.
pub(super) const CAPACITY: usize = 1_024;

/// A declaration that was written.
#[derive(Clone)]
pub(super) struct Written {
    /// Its state before, and how many late duplicates it had; `None`: it is new, or came from the history.
    pub(super) before: Option<(DeclarationState, usize)>,
    pub(super) declaration: Declaration,
}

/// The declarations that change, from [`Outbox::events`](super::Outbox::events), each as it is after the change.
///
/// It has the changes that this process writes after the call, also those by other handles of the same outbox. For what is
/// there, and what other processes write, use [`Outbox::declarations`](super::Outbox::declarations). What the loop did as a whole
/// is an [`OutboxEvent`](super::OutboxEvent).
///
/// See [`next`](Self::next) and [`Outbox::run`](super::Outbox::run) for an example.
pub struct DeclarationEvents(pub(super) broadcast::Receiver<Written>);

impl DeclarationEvents {
    /// The next declaration that changed, as it is after the change; waits for one. `None` when all handles of the outbox are gone.
    /// The same state may come again: see [`next_state`](Self::next_state).
    ///
    /// A receiver that is more than 1,024 changes behind misses the oldest ones, never the latest of a declaration.
    ///
    /// ```
    /// # equipment::example(async {
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
    pub async fn next(&mut self) -> Option<Declaration> {
        Some(self.next_written().await?.declaration)
    }

    /// As [`next`](Self::next), without the changes that leave a declaration in its [state](DeclarationState) and find no
    /// [late duplicate](Declaration::late_duplicates).
    ///
    /// ```
    /// # equipment::example(async {
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
