//! Access to one account of a store, and its versioned documents.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::store::rows::{Batch, ChangeRange, ChangeRow, Document, Query, RecordRow};
use super::store::{StoreError, SyncStore};
use crate::error::{Error, Result};
use envd_sdk::auth::StoreErrorKind;

/// One account of a store.
#[derive(Clone)]
pub(super) struct AccountStore {
    pub(super) store: Arc<dyn SyncStore>,
    pub(super) account: Arc<str>,
}

/// A parsed document. A write over it expects this version, which is 0 if the document does not exist.
#[derive(Clone, Debug, Default)]
pub(super) struct VersionedDocument<T> {
    pub(super) value: T,
    pub(super) version: u64,
}

impl AccountStore {
    pub(super) fn new(store: Arc<dyn SyncStore>, account: &str) -> Self {
        let account = account.into();
        Self { store, account }
    }

    /// The name of the store in errors.
    pub(super) fn name(&self) -> String {
        self.store.name()
    }

    /// Reads a document; `None` if it does not exist.
    pub(super) async fn load<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<VersionedDocument<T>>> {
        let document = self.document(name).await?;
        Ok(document.as_ref().map(VersionedDocument::read).transpose()?)
    }

    pub(super) async fn document(&self, name: &str) -> Result<Option<Document>, StoreError> {
        let documents = self.documents(name).await?;
        Ok(documents.into_iter().find(|found| found.name == name))
    }

    pub(super) async fn documents(&self, prefix: &str) -> Result<Vec<Document>, StoreError> {
        self.store.documents(&self.account, prefix).await
    }

    pub(super) async fn rows(&self, ids: &[String]) -> Result<Vec<RecordRow>, StoreError> {
        self.store.rows(&self.account, ids).await
    }

    pub(super) async fn query(&self, query: &Query) -> Result<Vec<RecordRow>, StoreError> {
        self.store.query(&self.account, query).await
    }

    pub(super) async fn changes(
        &self,
        range: ChangeRange,
        limit: usize,
    ) -> Result<Vec<ChangeRow>, StoreError> {
        self.store.changes(&self.account, range, limit).await
    }

    pub(super) async fn commit(&self, batch: &Batch) -> Result<bool, StoreError> {
        self.store.commit(&self.account, batch).await
    }
}

impl<T: DeserializeOwned> VersionedDocument<T> {
    pub(super) fn read(document: &Document) -> Result<Self, StoreError> {
        let value = serde_json::from_str(&document.text)
            .map_err(|_| unreadable(format!("the document {} cannot be read", document.name)))?;
        let version = document.version;
        Ok(Self { value, version })
    }
}

/// Serializes a value for a store.
pub(super) fn json(value: &impl Serialize) -> String {
    // OK because structs of texts, numbers and JSON can always be serialized.
    serde_json::to_string(value).unwrap_or_default()
}

/// Fails unless `what` was written in the format of this version of the crate.
pub(super) fn check_format(what: &str, found: u32, known: u32) -> Result<(), StoreError> {
    let (kind, problem) = match found.cmp(&known) {
        Ordering::Equal => return Ok(()),
        Ordering::Greater => (
            StoreErrorKind::NewerVersion,
            "a newer version of this crate wrote it: update this program",
        ),
        Ordering::Less => (
            StoreErrorKind::Unreadable,
            "an earlier version of this crate wrote it: send what waits with the program that wrote it, then begin with a new file or \
             schema; nothing was changed",
        ),
    };
    Err(StoreError::new(
        kind,
        format!("{what} cannot be read: {problem}"),
    ))
}

/// An error for stored data that cannot be parsed.
pub(super) fn unreadable(message: String) -> StoreError {
    StoreError::io(message, std::io::ErrorKind::InvalidData.into())
}

/// The document name for a name given by the user.
pub(super) fn document_name(prefix: &str, name: &str, what: &str) -> Result<String> {
    if (1..=100).contains(&name.len()) && !name.contains(char::is_control) {
        return Ok(format!("{prefix}{name}"));
    }
    Err(Error::usage(format!(
        "invalid name of {what}: it needs 1 to 100 bytes without control characters"
    )))
}
