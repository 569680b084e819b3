//! Every call of a store as one value, so that a test that watches, changes, delays or refuses calls writes one function.

use crate::sync::store::{
    Batch, ChangeRange, ChangeRow, Document, Query, Row, StoreError, StoreFuture, SyncStore,
};

#[derive(Clone, Copy, Debug)]
pub(in crate::sync) enum StoreCall<'a> {
    Documents(&'a str),
    Rows(&'a [String]),
    Query(&'a Query),
    Count(&'a Query),
    Changes(ChangeRange, usize),
    Commit(&'a Batch),
}

#[derive(Debug)]
pub(in crate::sync) enum StoreAnswer {
    Documents(Vec<Document>),
    Rows(Vec<Row>),
    Count(u64),
    Changes(Vec<ChangeRow>),
    Written(bool),
}

pub(in crate::sync) type Answered = Result<StoreAnswer, StoreError>;

impl StoreCall<'_> {
    /// What a store answers.
    pub(in crate::sync) async fn forward(self, store: &dyn SyncStore, account: &str) -> Answered {
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

/// A store around another one.
pub(in crate::sync) trait StoreWrapper: Send + Sync + 'static {
    fn call(&self, account: &str, call: StoreCall<'_>) -> impl Future<Output = Answered> + Send;
}

/// Makes the method of a store that expects this answer.
macro_rules! expect {
    ($call:expr, $answer:ident) => {
        Box::pin(async move {
            match $call.await? {
                StoreAnswer::$answer(found) => Ok(found),
                other => panic!("{other:?}"),
            }
        })
    };
}

impl<W: StoreWrapper> SyncStore for W {
    fn documents<'a>(
        &'a self,
        account: &'a str,
        prefix: &'a str,
    ) -> StoreFuture<'a, Vec<Document>> {
        expect!(self.call(account, StoreCall::Documents(prefix)), Documents)
    }

    fn rows<'a>(&'a self, account: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        expect!(self.call(account, StoreCall::Rows(ids)), Rows)
    }

    fn query<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        expect!(self.call(account, StoreCall::Query(query)), Rows)
    }

    fn count<'a>(&'a self, account: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        expect!(self.call(account, StoreCall::Count(query)), Count)
    }

    fn changes<'a>(
        &'a self,
        account: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        expect!(
            self.call(account, StoreCall::Changes(range, limit)),
            Changes
        )
    }

    fn commit<'a>(&'a self, account: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        expect!(self.call(account, StoreCall::Commit(batch)), Written)
    }
}
