//! The text of the file: a record an account, under a number for each write.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::super::store_error::StoreErrorKind;
use super::super::{Record, StoreError, Version, Versioned};
use crate::secret::Secret;

/// The number of the file's form; a higher one is of a newer crate and is not touched.
const FORM: u32 = 1;

/// Borrows the records from the text, so that those of other accounts are passed on as they stand, and no copy of them
/// is left in memory.
#[derive(Serialize, Deserialize)]
pub(super) struct Ledger<'a> {
    form: u32,
    /// Counts the writes, so that no version comes twice, not even after a record was removed.
    writes: u64,
    #[serde(borrow)]
    accounts: BTreeMap<String, Entry<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Entry<'a> {
    version: u64,
    #[serde(borrow)]
    record: &'a RawValue,
}

/// Read first and alone: the rest of a newer form may not fit.
#[derive(Deserialize)]
struct Form {
    form: u32,
}

impl<'a> Ledger<'a> {
    pub(super) fn read(text: Option<&'a [u8]>) -> Result<Self, StoreError> {
        let Some(text) = text else {
            return Ok(Self::new());
        };
        if text.trim_ascii().is_empty() {
            return Err(StoreError::of(
                StoreErrorKind::Unreadable,
                "the token file is empty",
            ));
        }
        // The reasons of serde are left out: they may repeat a part of the text.
        let unreadable =
            |_| StoreError::of(StoreErrorKind::Unreadable, "the token file is not readable");
        let Form { form } = serde_json::from_slice(text).map_err(unreadable)?;
        if form > FORM {
            return Err(StoreError::of(
                StoreErrorKind::NewerVersion,
                "the token file was written by a newer version of this crate",
            ));
        }
        serde_json::from_slice(text).map_err(unreadable)
    }

    /// A file that is deleted and written anew must not repeat versions either, so it starts anywhere.
    fn new() -> Self {
        Self {
            form: FORM,
            writes: fastrand::u64(..1 << 52),
            accounts: BTreeMap::new(),
        }
    }

    pub(super) fn find(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let Some(entry) = self.accounts.get(key) else {
            return Ok(None);
        };
        let record = Record::from_secret_json(&Secret::new(entry.record.get()))?;
        Ok(Some(Versioned::new(Version::new(entry.version), record)))
    }

    pub(super) fn version(&self, key: &str) -> Option<Version> {
        let entry = self.accounts.get(key)?;
        Some(Version::new(entry.version))
    }

    pub(super) fn put(&mut self, key: &str, record: &'a Secret) -> Result<Version, StoreError> {
        let record = serde_json::from_str(record.expose())
            .map_err(|_| StoreError::new("the record cannot be written"))?;
        let version = self.count();
        self.accounts
            .insert(key.to_owned(), Entry { version, record });
        Ok(Version::new(version))
    }

    pub(super) fn take_out(&mut self, key: &str) {
        self.count();
        self.accounts.remove(key);
    }

    fn count(&mut self) -> u64 {
        self.writes = self.writes.wrapping_add(1);
        self.writes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    pub(super) fn write(&self) -> Result<Zeroizing<Vec<u8>>, StoreError> {
        let accounts = self.accounts.iter();
        // Six bytes for each of a key, and room around: a buffer that grows leaves copies of the tokens behind.
        let sizes = accounts.map(|(key, entry)| 6 * key.len() + entry.record.get().len() + 64);
        let mut text = Zeroizing::new(Vec::with_capacity(sizes.sum::<usize>() + 128));
        serde_json::to_writer(&mut *text, self)
            .map_err(|_| StoreError::new("the token file cannot be written"))?;
        text.push(b'\n');
        Ok(text)
    }
}
