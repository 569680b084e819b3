//! The file of an outbox, and whose it is.

use std::path::Path;

use envd_sdk::auth::{StaticToken, StoreFuture};
use envd_sdk::model::AccountId;
use envd_sdk::sync::outbox::Outbox;
use envd_sdk::sync::store::{
    Batch, ChangeRange, ChangeRow, Document, Query, Row, SqliteSync, SyncStore,
};
use envd_sdk::{Client, Error};

use super::cli::{self, Failure};
use super::failure::UnusableStore;
use super::settings::Settings;

/// The account of a file, as `sync_account` remembers it. No account has an empty id.
const REMEMBERED: (&str, &str) = ("", "example account");

/// Whose entries those of the empty account are. They are written before the account is known: without reception, the
/// service cannot be asked for it.
const OWNER: &str = "example outbox";

/// The name of the account whose entries are of an account that is not known yet.
const UNKNOWN: &str = "";

/// A file with the outbox of an account.
pub(crate) struct File {
    store: SqliteSync,
    account: Option<AccountId>,
    /// The name under which the store has the account.
    key: String,
}

impl File {
    /// Opens a file, or creates it. The account is that of the settings, or the one of the last run.
    pub(crate) async fn open(file: &Path) -> Result<Self, Failure> {
        let store = SqliteSync::open(file).map_err(|error| {
            let problem = cli::chain(&error);
            UnusableStore(format!("--store {}: {problem}", file.display()))
        })?;
        Self::of(store, Settings::chosen_account()).await
    }

    /// The same file, now that the account is known.
    pub(crate) async fn known(self, account: AccountId) -> Result<Self, Failure> {
        Self::of(self.store, Some(account)).await
    }

    pub(crate) fn account(&self) -> Option<&AccountId> {
        self.account.as_ref()
    }

    /// The outbox, for what needs no service.
    pub(crate) fn outbox(&self) -> Result<Outbox, Failure> {
        // Neither address nor token is used.
        let token = StaticToken::new("unused")?;
        let client = Client::builder("https://localhost/").token_source(token);
        Ok(self.outbox_of(&client.build()?))
    }

    /// The outbox of the account, at a service.
    pub(crate) fn outbox_of(&self, client: &Client) -> Outbox {
        let account = self.account.clone().unwrap_or_else(|| UNKNOWN.into());
        client.account(account).outbox(Renamed {
            store: self.store.clone(),
            key: self.key.clone(),
        })
    }

    /// Finds out whose entries are where. Every answer is fenced by what was read, so that processes that start at the same
    /// time agree.
    async fn of(store: SqliteSync, chosen: Option<AccountId>) -> Result<Self, Failure> {
        loop {
            let documents = store
                .documents(UNKNOWN, "example ")
                .await
                .map_err(Error::from)?;
            let read = |name: &str| {
                let found = documents.iter().find(|document| document.name == name);
                found.map(|document| (document.text.clone(), document.version))
            };
            let (remembered, owner) = (read(REMEMBERED.1), read(OWNER));
            let last = remembered
                .as_ref()
                .map(|(id, _)| AccountId::from(id.as_str()));
            let account = chosen.clone().or_else(|| last.clone());
            let mut batch = Batch::default();
            let key = match (&account, &owner) {
                (None, None) => {
                    batch
                        .documents
                        .push((OWNER.to_owned(), Some(UNKNOWN.to_owned())));
                    UNKNOWN.to_owned()
                }
                (None, Some(_)) => UNKNOWN.to_owned(),
                (Some(account), Some((owner, _))) if owner == UNKNOWN => {
                    batch
                        .documents
                        .push((OWNER.to_owned(), Some(account.to_string())));
                    UNKNOWN.to_owned()
                }
                (Some(account), Some((owner, _))) if owner == account.as_str() => {
                    UNKNOWN.to_owned()
                }
                (Some(account), _) => account.to_string(),
            };
            if account != last {
                let id = account.as_ref().map(ToString::to_string);
                batch.documents.push((REMEMBERED.1.to_owned(), id));
            }
            if !batch.documents.is_empty() {
                let version = |read: Option<(String, u64)>| read.map_or(0, |(_, version)| version);
                batch.expected = vec![
                    (REMEMBERED.1.to_owned(), version(remembered)),
                    (OWNER.to_owned(), version(owner)),
                ];
                if !store.commit(UNKNOWN, &batch).await.map_err(Error::from)? {
                    continue;
                }
            }
            return Ok(Self {
                store,
                account,
                key,
            });
        }
    }
}

/// A store that has one account, under a name of its own.
struct Renamed {
    store: SqliteSync,
    key: String,
}

impl SyncStore for Renamed {
    fn documents<'a>(&'a self, _: &'a str, prefix: &'a str) -> StoreFuture<'a, Vec<Document>> {
        self.store.documents(&self.key, prefix)
    }

    fn rows<'a>(&'a self, _: &'a str, ids: &'a [String]) -> StoreFuture<'a, Vec<Row>> {
        self.store.rows(&self.key, ids)
    }

    fn query<'a>(&'a self, _: &'a str, query: &'a Query) -> StoreFuture<'a, Vec<Row>> {
        self.store.query(&self.key, query)
    }

    fn count<'a>(&'a self, _: &'a str, query: &'a Query) -> StoreFuture<'a, u64> {
        self.store.count(&self.key, query)
    }

    fn changes<'a>(
        &'a self,
        _: &'a str,
        range: ChangeRange,
        limit: usize,
    ) -> StoreFuture<'a, Vec<ChangeRow>> {
        self.store.changes(&self.key, range, limit)
    }

    fn commit<'a>(&'a self, _: &'a str, batch: &'a Batch) -> StoreFuture<'a, bool> {
        self.store.commit(&self.key, batch)
    }
}
