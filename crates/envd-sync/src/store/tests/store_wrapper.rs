//! Represents every call of a store as one value, so that a test that observes, changes, delays or refuses calls needs one
//! function.

use async_trait::async_trait;

use crate::store::rows::{Batch, ChangeRange, ChangeRow, Document, Query, RecordRow};
use crate::store::{StoreError, SyncStore};

#[derive(Clone, Copy, Debug)]
pub(crate) enum StoreCall<'a> {
    Documents(&'a str),
    Rows(&'a [String]),
    Query(&'a Query),
    Count(&'a Query),
    Changes(ChangeRange, usize),
    Commit(&'a Batch),
}

#[derive(Debug)]
pub(crate) enum StoreAnswer {
    Documents(Vec<Document>),
    Rows(Vec<RecordRow>),
    Count(u64),
    Changes(Vec<ChangeRow>),
    Written(bool),
}

pub(crate) type Answered = Result<StoreAnswer, StoreError>;

impl StoreCall<'_> {
    /// Calls the store.
    pub(crate) async fn forward(self, store: &dyn SyncStore, account: &str) -> Answered {
        Ok(match self {
            Self::Documents(prefix) => {
                StoreAnswer::Documents(store.documents(account, prefix).await?)
            }
            Self::Rows(ids) => StoreAnswer::Rows(store.rows(account, ids).await?),
            Self::Query(query) => StoreAnswer::Rows(store.query(account, query).await?),
            Self::Count(query) => StoreAnswer::Count(store.count(account, query).await?),
            Self::Changes(range, limit) => {
                StoreAnswer::Changes(store.changes(account, range, limit).await?)
            }
            Self::Commit(batch) => StoreAnswer::Written(store.commit(account, batch).await?),
        })
    }
}

/// A store that wraps another one.
pub(crate) trait StoreWrapper: Send + Sync + 'static {
    fn call(&self, account: &str, call: StoreCall<'_>) -> impl Future<Output = Answered> + Send;
}

/// Extracts the answer of the expected variant.
macro_rules! expect {
    ($call:expr, $answer:ident) => {
        match $call.await? {
            StoreAnswer::$answer(found) => Ok(found),
            other => panic!("{other:?}"),
        }
    };
}

#[async_trait]
impl<W: StoreWrapper> SyncStore for W {
    async fn documents(&self, account: &str, prefix: &str) -> Result<Vec<Document>, StoreError> {
        expect!(self.call(account, StoreCall::Documents(prefix)), Documents)
    }

    async fn rows(&self, account: &str, ids: &[String]) -> Result<Vec<RecordRow>, StoreError> {
        expect!(self.call(account, StoreCall::Rows(ids)), Rows)
    }

    async fn query(&self, account: &str, query: &Query) -> Result<Vec<RecordRow>, StoreError> {
        expect!(self.call(account, StoreCall::Query(query)), Rows)
    }

    async fn count(&self, account: &str, query: &Query) -> Result<u64, StoreError> {
        expect!(self.call(account, StoreCall::Count(query)), Count)
    }

    async fn changes(
        &self,
        account: &str,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        expect!(
            self.call(account, StoreCall::Changes(range, limit)),
            Changes
        )
    }

    async fn commit(&self, account: &str, batch: &Batch) -> Result<bool, StoreError> {
        expect!(self.call(account, StoreCall::Commit(batch)), Written)
    }
}
