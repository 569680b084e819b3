//! Reads of the copy, without a request.

use super::local_query::{self, LocalQuery};
use super::{LocalRecord, Replica};
use crate::error::Result;
use crate::model::ConsignmentId;

impl Replica {
    /// A query of the copy: by status, species, PIC, number, days. It sends nothing, and shows what the last sync found.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentStatus, Day};
    /// use envd_sdk::sync::store::{MemorySync, Order};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let replica = account.replica(MemorySync::new());
    /// replica.sync().await?;
    ///
    /// let drafts = replica.consignments().status(ConsignmentStatus::Draft);
    /// println!("{} drafts", drafts.count().await?);
    ///
    /// let mut moving = replica.consignments()
    ///     .movement_from(Day::parse("2026-11-01")?)
    ///     .order(Order::LastUpdated)
    ///     .page_size(5);
    /// loop {
    ///     let page = moving.list().await?;
    ///     for record in &page.records {
    ///         println!("{:?} {:?}", record.number(), record.summary()?.movement_date);
    ///     }
    ///     match page.next {
    ///         Some(next) => moving = moving.after(next),
    ///         None => break,
    ///     }
    /// }
    /// # Ok(()) });
    /// ```
    pub fn consignments(&self) -> LocalQuery {
        LocalQuery::new(self.shared_store(), self.key().into())
    }

    /// The record with this id, if the copy holds it. A number is no id here: see [`LocalQuery::number`].
    ///
    /// # Errors
    ///
    /// [`is_store`](crate::Error::is_store).
    pub async fn consignment(&self, id: impl Into<ConsignmentId>) -> Result<Option<LocalRecord>> {
        local_query::get(self.store(), self.key(), id.into()).await
    }
}
