//! Numbers of the interface as databases have them: up to [`i64::MAX`].

use crate::auth::StoreError;
use crate::auth::store::StoreErrorKind;

/// A number to store.
pub(super) fn write(number: u64) -> Result<i64, StoreError> {
    i64::try_from(number)
        .map_err(|_| StoreError::new("a number of the copy is greater than the store can keep"))
}

/// A number that was stored.
pub(super) fn read(number: i64) -> Result<u64, StoreError> {
    let message = "the database of the copy is damaged: a number is negative";
    u64::try_from(number).map_err(|_| StoreError::of(StoreErrorKind::Unreadable, message))
}

/// A number to compare with stored ones: none of them is greater than the greatest.
pub(super) fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
