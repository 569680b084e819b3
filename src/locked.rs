//! Access to the value in a mutex.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if another holder panicked: no code of this crate leaves a partial change when it panics.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
