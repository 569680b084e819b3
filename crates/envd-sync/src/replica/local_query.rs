//! Queries of the copy.

use super::LocalRecord;
use super::local_record::instant_key;
use crate::account_store::AccountStore;
use crate::error::{Error, Result};
use crate::given_instant;
use crate::store::Order;
use crate::store::rows::{LocalPosition, Query};
use envd_sdk::model::{ConsignmentNumber, ConsignmentStatus, Day, Species, Timestamp};

/// The default size of a page.
const PAGE_SIZE: usize = 100;

/// A query of the copy, from [`Replica::consignments`](super::Replica::consignments). It sends nothing.
///
/// All conditions must hold. Texts are compared with the received record, character by character.
///
/// See [`Replica::consignments`](super::Replica::consignments) for an example.
#[derive(Clone)]
#[must_use]
pub struct LocalQuery {
    store: AccountStore,
    query: Query,
    /// An invalid argument; reported by `list` and `count`.
    problem: Option<Error>,
}

/// A page of records of the copy, from [`LocalQuery::list`].
///
/// See [`Replica::consignments`](super::Replica::consignments) for an example.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LocalPage {
    /// The records, in the order of the query.
    pub records: Vec<LocalRecord>,
    /// The position of the next page; `None`: this is the last page.
    pub next: Option<LocalPosition>,
}

impl LocalQuery {
    pub(super) fn new(store: AccountStore) -> Self {
        let query = Query {
            limit: PAGE_SIZE,
            ..Query::default()
        };
        Self {
            store,
            query,
            problem: None,
        }
    }

    /// Only records with this status.
    pub fn status(mut self, status: impl Into<ConsignmentStatus>) -> Self {
        self.query.status = Some(status.into().as_str().to_owned());
        self
    }

    /// Only records of this species.
    pub fn species(mut self, species: impl Into<Species>) -> Self {
        self.query.species = Some(species.into().as_str().to_owned());
        self
    }

    /// Only records with this PIC as origin or destination.
    pub fn pic(mut self, pic: impl AsRef<str>) -> Self {
        self.query.pic = Some(pic.as_ref().to_owned());
        self
    }

    /// Only the record with this number.
    pub fn number(mut self, number: impl Into<ConsignmentNumber>) -> Self {
        self.query.number = Some(number.into().into());
        self
    }

    /// Only records with a movement on this day or later; the day is that of the record, regardless of time zones.
    pub fn movement_from(mut self, day: Day) -> Self {
        self.query.movement_from = Some(day.to_string());
        self
    }

    /// Only records with a movement on this day or earlier.
    pub fn movement_to(mut self, day: Day) -> Self {
        self.query.movement_to = Some(day.to_string());
        self
    }

    /// Only records last changed at this instant or later, by the dates of the service; a [`Day`] stands for its beginning in UTC.
    pub fn updated_since(mut self, since: impl Into<Timestamp>) -> Self {
        let since = since.into();
        self.query.updated_from = instant_key(&since);
        self.problem = given_instant(&since, "updated_since").err();
        self
    }

    /// The order of the records; by id unless set.
    pub fn order(mut self, order: Order) -> Self {
        self.query.order = order;
        self
    }

    /// The maximum number of records on a page; 100 unless set, and at least 1.
    pub fn page_size(mut self, records: usize) -> Self {
        self.query.limit = records.max(1);
        self
    }

    /// Only records after this position: [`next`](LocalPage::next) of the previous page.
    pub fn after(mut self, position: LocalPosition) -> Self {
        self.query.after = Some(position);
        self
    }

    /// Returns one page of the records that meet all conditions.
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Store`](crate::Error::Store); [`Error::Usage`](crate::Error::Usage) for a date that is not an instant.
    pub async fn list(&self) -> Result<LocalPage> {
        let mut query = self.usable()?.clone();
        // One extra row shows whether another page follows.
        query.limit = query.limit.saturating_add(1);
        let mut rows = self.store.query(&query).await?;
        let more = rows.len() > self.query.limit;
        rows.truncate(self.query.limit);
        let next = rows.last().filter(|_| more).map(LocalPosition::from);
        let records = rows.iter().map(LocalRecord::of).collect::<Result<_, _>>()?;
        Ok(LocalPage { records, next })
    }

    /// Counts the records that meet all conditions, on all pages.
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    pub async fn count(&self) -> Result<u64> {
        let AccountStore { store, account } = &self.store;
        Ok(store.count(account, self.usable()?).await?)
    }

    fn usable(&self) -> Result<&Query> {
        match &self.problem {
            Some(problem) => Err(problem.clone()),
            None => Ok(&self.query),
        }
    }
}

debug_shows!(LocalQuery, |it| query: it.query);

#[cfg(test)]
mod tests;
