//! What stands in the keyring for an account, and which keyring it is.

use std::sync::Arc;

use keyring_core::{CredentialStore, Error as KeyringError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::auth::store::StoreErrorKind;
use crate::auth::{Record, StoreError, Version, Versioned};
use crate::secret::Secret;

/// The number of the entry's form; a higher one is of a newer crate and is not touched.
const FORM: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Entry<'a> {
    form: u32,
    version: u64,
    #[serde(borrow)]
    record: &'a RawValue,
}

/// Read first and alone: the rest of a newer form may not fit.
#[derive(Deserialize)]
struct Form {
    form: u32,
}

/// The keyring with the name under which the application's entries stand.
#[derive(Clone)]
pub(super) struct Keyring {
    pub(super) store: Arc<CredentialStore>,
    pub(super) service: String,
}

impl Keyring {
    pub(super) fn read(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        let text = match self.entry(key)?.get_secret() {
            Ok(text) => Zeroizing::new(text),
            Err(KeyringError::NoEntry) => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        // The reasons of serde are left out: they may repeat a part of the text.
        let unreadable = |_| {
            StoreError::of(
                StoreErrorKind::Unreadable,
                "the entry in the keyring is not readable",
            )
        };
        let Form { form } = serde_json::from_slice(&text).map_err(unreadable)?;
        if form > FORM {
            return Err(StoreError::of(
                StoreErrorKind::NewerVersion,
                "the entry in the keyring was written by a newer version of this crate",
            ));
        }
        let entry: Entry<'_> = serde_json::from_slice(&text).map_err(unreadable)?;
        let record = Record::from_secret_json(&Secret::new(entry.record.get()))?;
        Ok(Some(Versioned::new(Version::new(entry.version), record)))
    }

    pub(super) fn write(
        &self,
        key: &str,
        version: Version,
        record: &Secret,
    ) -> Result<(), StoreError> {
        let unfit = |_| StoreError::new("the record cannot be written");
        let entry = Entry {
            form: FORM,
            version: version.number(),
            record: serde_json::from_str(record.expose()).map_err(unfit)?,
        };
        let mut text = Zeroizing::new(Vec::with_capacity(record.expose().len() + 64));
        serde_json::to_writer(&mut *text, &entry).map_err(unfit)?;
        self.entry(key)?.set_secret(&text).map_err(failed)
    }

    pub(super) fn delete(&self, key: &str) -> Result<(), StoreError> {
        self.entry(key)?.delete_credential().map_err(failed)
    }

    fn entry(&self, key: &str) -> Result<keyring_core::Entry, StoreError> {
        self.store.build(&self.service, key, None).map_err(failed)
    }
}

/// The user's own keyring. Waits for the operating system.
pub(super) fn of_the_user() -> Result<Arc<CredentialStore>, StoreError> {
    native().map_err(|error| {
        StoreError::of(
            StoreErrorKind::Unsupported,
            "there is no keyring for this user on this machine",
        )
        .caused_by(Cause(summary(&error)))
    })
}

#[cfg(all(unix, not(any(target_vendor = "apple", target_os = "android"))))]
fn native() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(zbus_secret_service_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn native() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn native() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(windows_native_keyring_store::Store::new()?)
}

#[cfg(not(any(
    windows,
    target_os = "macos",
    all(unix, not(any(target_vendor = "apple", target_os = "android")))
)))]
fn native() -> keyring_core::Result<Arc<CredentialStore>> {
    Err(KeyringError::NoDefaultStore)
}

fn failed(error: KeyringError) -> StoreError {
    let what = "the keyring of the operating system failed";
    let outer = match &error {
        KeyringError::BadEncoding(_) | KeyringError::BadDataFormat(..) => {
            StoreError::of(StoreErrorKind::Unreadable, what)
        }
        KeyringError::NoDefaultStore | KeyringError::NotSupportedByStore(_) => {
            StoreError::of(StoreErrorKind::Unsupported, what)
        }
        _ => StoreError::new(what),
    };
    outer.caused_by(Cause(summary(&error)))
}

/// The library's errors hold what was read, and the names of entries, which may be those of users.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Cause(String);

fn summary(error: &KeyringError) -> String {
    match error {
        KeyringError::PlatformFailure(below) => format!("the platform says: {below}"),
        KeyringError::NoStorageAccess(below) => format!("no access, it may be locked: {below}"),
        KeyringError::NoEntry => "there is no such entry".to_owned(),
        KeyringError::TooLong(what, limit) => format!("{what} is longer than {limit}"),
        KeyringError::Ambiguous(entries) => format!("{} entries fit", entries.len()),
        _ => "it cannot do this".to_owned(),
    }
}
