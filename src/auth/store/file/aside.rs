//! Keeps a copy of what cannot be read, and makes room for the next login.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::super::StoreError;
use super::disk;
use super::fault::Faults;
use super::ledger::Ledger;
use super::place::Place;

/// Sets aside the file if it cannot be read, or the account's record alone if the rest can. The write lock is held.
pub(super) fn set_aside(place: &Place, key: &str, faults: &Faults) -> Result<bool, StoreError> {
    let text = disk::read(place)?;
    let text = text.as_ref().map(|text| text.as_slice());
    let mut ledger = match Ledger::read(text) {
        Ok(ledger) => ledger,
        Err(error) if is_damaged(&error) => {
            keep_copy(place)?;
            disk::delete(place)?;
            tracing::warn!(
                "the token file is damaged; it was renamed to one that ends in .damaged"
            );
            return Ok(true);
        }
        Err(error) => return Err(error),
    };
    match ledger.find(key) {
        Ok(_) => Ok(false),
        Err(error) if is_damaged(&error) => {
            keep_copy(place)?;
            ledger.take_out(key);
            if ledger.is_empty() {
                disk::delete(place)?;
            } else {
                disk::replace(place, &ledger.write()?, faults)?;
            }
            tracing::warn!(
                "a record in the token file is damaged; a copy of the file ends in .damaged"
            );
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

fn is_damaged(error: &StoreError) -> bool {
    error.is_unreadable() && !error.is_newer_version()
}

/// Never over an earlier one.
fn keep_copy(place: &Place) -> Result<(), StoreError> {
    let failed = |source| StoreError::io("the damaged token file cannot be set aside", source);
    let (from, to) = (place.file(), free_name(place).map_err(failed)?);
    // The same file under another name has its permissions from the start.
    fs::hard_link(&from, &to)
        .or_else(|_| fs::copy(&from, &to).map(drop))
        .map_err(failed)
}

fn free_name(place: &Place) -> io::Result<PathBuf> {
    let names = (1..=1_000).map(|number| match number {
        1 => place.beside(".damaged".as_ref()),
        _ => place.beside(format!(".damaged-{number}").as_ref()),
    });
    for name in names {
        match fs::symlink_metadata(&name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(name),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
