//! Started logins, as texts that any host can read.

use std::sync::{Mutex, MutexGuard, PoisonError};

use envd_sdk::Secret;

/// The maximal number of started logins; beyond it the oldest is dropped.
const MOST: usize = 10_000;

/// Logins by the cookie of the browser.
#[derive(Default)]
pub(crate) struct Pending(Mutex<Vec<(String, Secret)>>);

impl Pending {
    pub(crate) fn keep(&self, id: &str, login: Secret) {
        let mut logins = self.logins();
        if logins.len() >= MOST {
            logins.remove(0);
        }
        logins.push((id.to_owned(), login));
    }

    /// Removes and returns a login.
    pub(crate) fn take(&self, id: &str) -> Option<Secret> {
        let mut logins = self.logins();
        let at = logins.iter().position(|(known, _)| known == id)?;
        Some(logins.remove(at).1)
    }

    fn logins(&self) -> MutexGuard<'_, Vec<(String, Secret)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
