//! Started logins, serialized so that any host can read them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use envd_sdk::Secret;

/// The maximum number of started logins. Beyond it, the oldest is dropped.
const MOST: usize = 10_000;

/// Logins by the hash of the browser's cookie.
#[derive(Default)]
pub(crate) struct Pending(Mutex<Vec<(String, Secret)>>);

impl Pending {
    pub(crate) fn keep(&self, key: String, login: Secret) {
        let mut logins = self.logins();
        if logins.len() >= MOST {
            logins.remove(0);
        }
        logins.push((key, login));
    }

    /// Reads a login without removing it.
    pub(crate) fn read(&self, key: &str) -> Option<Secret> {
        let logins = self.logins();
        let (_, login) = logins.iter().find(|(known, _)| known == key)?;
        Some(login.clone())
    }

    /// Removes a login. Returns true if it existed: if a callback arrives twice, only one request gets true.
    pub(crate) fn remove(&self, key: &str) -> bool {
        let mut logins = self.logins();
        let at = logins.iter().position(|(known, _)| known == key);
        at.map(|at| logins.remove(at)).is_some()
    }

    fn logins(&self) -> MutexGuard<'_, Vec<(String, Secret)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
