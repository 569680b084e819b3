//! Sessions, by the hash of the browser's cookie, limited in number and idle time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The maximum number of sessions. Beyond it, the least recently used session is ended.
const MOST: usize = 10_000;

/// An idle session is ended after this time.
const IDLE: Duration = Duration::from_secs(12 * 3_600);

/// The accounts of the sessions, with the time of their last use. With several hosts, use a database table.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Instant>>);

impl Sessions {
    /// Returns true if the session exists, and resets its idle time.
    pub(crate) fn touch(&self, account: &str) -> bool {
        match self.used().get_mut(account) {
            Some(used) if used.elapsed() < IDLE => {
                *used = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Begins a session. Returns the sessions that ended: log their users out.
    pub(crate) fn begin(&self, account: &str) -> Vec<String> {
        let mut used = self.used();
        let over = |(_, used): &(&String, &Instant)| used.elapsed() >= IDLE;
        let mut over: Vec<String> = used
            .iter()
            .filter(over)
            .map(|(account, _)| account.clone())
            .collect();
        if over.is_empty() && used.len() >= MOST {
            // If no session is idle, end the least recently used session.
            let longest = used.iter().min_by_key(|(_, used)| **used);
            over.extend(longest.map(|(account, _)| account.clone()));
        }
        for account in &over {
            used.remove(account);
        }
        used.insert(account.to_owned(), Instant::now());
        over
    }

    /// Ends a session. Returns whether it existed.
    pub(crate) fn end(&self, account: &str) -> bool {
        self.used().remove(account).is_some()
    }

    fn used(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
