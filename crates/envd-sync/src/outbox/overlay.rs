//! The local copy with the waiting declarations on top.

use std::collections::HashMap;

use super::declaration::{Declaration, Wanted};
use super::outbox::Outbox;
use crate::error::Result;
use crate::replica::{LocalPage, LocalPosition, LocalRecord};
use envd_sdk::model::ConsignmentId;

/// A page of the local copy with the waiting declarations, from [`Outbox::with_waiting`].
///
/// See [`Outbox::with_waiting`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WaitingPage {
    /// New declarations that are not confirmed, the latest first. They have no record in the local copy yet.
    pub new: Vec<Declaration>,
    /// The records of the page.
    pub records: Vec<RecordWithWaiting>,
    /// The next page of the query; `None`: this is the last one.
    pub next: Option<LocalPosition>,
}

/// A record of the local copy, with its declaration unless that is confirmed or discarded.
///
/// See [`Outbox::with_waiting`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordWithWaiting {
    /// The record as the local copy has it.
    pub record: LocalRecord,
    /// The declaration that is waiting to change the record; `None`: no change is waiting.
    pub waiting: Option<Declaration>,
}

impl Outbox {
    /// Adds the waiting declarations to a page of the local copy, and marks the records that they change. Sends no request.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, ConsignmentStatus, FormType, PartyInput};
    /// use envd_sync::store::MemorySync;
    /// use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let replica = Replica::new(&account, MemorySync::new());
    /// replica.sync().await?;
    /// let outbox = Outbox::new(&replica);
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// outbox.save(ConsignmentInput::new([FormType::Lpac1], origin, destination)).await?;
    ///
    /// let drafts = replica.consignments().status(ConsignmentStatus::Draft).list().await?;
    /// let screen = outbox.with_waiting(drafts).await?;
    /// assert_eq!(screen.new.len(), 1);
    /// assert!(screen.records.iter().all(|record| record.waiting.is_none()));
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn with_waiting(&self, page: LocalPage) -> Result<WaitingPage> {
        let mut new = Vec::new();
        let mut waiting: HashMap<ConsignmentId, Declaration> = HashMap::new();
        for declaration in self.declarations().await? {
            match &declaration.consignment {
                Some(id) => drop(waiting.insert(id.clone(), declaration)),
                None if declaration.wanted == Wanted::Delete => {}
                None => new.push(declaration),
            }
        }
        new.reverse();
        let records = page.records.into_iter().map(|record| {
            let waiting = record.id().and_then(|id| waiting.remove(&id));
            RecordWithWaiting { record, waiting }
        });
        Ok(WaitingPage {
            new,
            records: records.collect(),
            next: page.next,
        })
    }
}
