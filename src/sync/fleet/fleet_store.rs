//! A store that tells the fleet what its users write.

use std::fmt;
use std::sync::Arc;

use super::account_fleet::{Fleet, Shared};
use crate::sync::store::{
    Batch, ChangeRange, ChangeRow, Document, Query, Row, StoreFuture, SyncStore,
};

/// The store of a fleet for the programs that write entries, from [`Fleet::store`]. Cheap to clone.
///
/// ```
/// use envd_sdk::sync::fleet::Fleet;
/// use envd_sdk::sync::outbox::Outbox;
///
/// /// The outbox of a web server: it writes, and the hosts of the fleet send.
/// fn outbox(fleet: &Fleet, account: &envd_sdk::Account) -> Outbox {
///     account.outbox(fleet.store())
/// }
/// # let _ = outbox;
/// ```
#[derive(Clone)]
pub struct FleetStore(Arc<Shared>);

impl Fleet {
    /// The store of the accounts, for outboxes of programs that are not hosts of the fleet, such as a web server: what is
    /// written over it is sent by a host at once.
    ///
    /// What is written over the store itself is sent when the account is due next.
    #[must_use]
    pub fn store(&self) -> FleetStore {
        FleetStore(Arc::clone(&self.shared))
    }
}

impl SyncStore for FleetStore {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        self.0.store.documents(account, prefix)
    }

    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        self.0.store.rows(account, ids)
    }

    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        self.0.store.query(account, query)
    }

    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        self.0.store.count(account, query)
    }

    fn changes<'a>(
        &'a self,
        account: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        self.0.store.changes(account, range, limit)
    }

    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        self.0.store.commit(account, batch)
    }

    /// Makes the account due, if the fleet serves it, and wakes the hosts.
    fn announce<'a>(&'a self, account: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let accounts = [account.to_owned()];
            self.0.tables.announce(&accounts).await
        })
    }
}

impl fmt::Debug for FleetStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetStore").finish_non_exhaustive()
    }
}
