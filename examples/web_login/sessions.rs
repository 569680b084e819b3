//! Who is logged in, by the cookie of the browser: no more than there is room for, and nobody who has stayed away.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Users at once; the one who was last seen the longest time ago is logged out when there are more.
const MOST: usize = 10_000;

/// A user who stays away for longer is logged out.
const IDLE: Duration = Duration::from_secs(12 * 3_600);

/// The ids of the sessions, with the time of their last use. A server on many hosts has a table of them.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Instant>>);

impl Sessions {
    /// Whether this is a session. Using one keeps it.
    pub(crate) fn touch(&self, id: &str) -> bool {
        match self.used().get_mut(id) {
            Some(used) if used.elapsed() < IDLE => {
                *used = Instant::now();
                true
            }
            _ => false,
        }
    }

    /// Begins a session, and tells which ones are over: their users have to be logged out.
    pub(crate) fn begin(&self, id: &str) -> Vec<String> {
        let mut used = self.used();
        let over = |(_, used): &(&String, &Instant)| used.elapsed() >= IDLE;
        let mut over: Vec<String> = used.iter().filter(over).map(|(id, _)| id.clone()).collect();
        if over.is_empty() && used.len() >= MOST {
            // Full of users who are there: the one who was last seen the longest time ago has to go.
            let longest = used.iter().min_by_key(|(_, used)| **used);
            over.extend(longest.map(|(id, _)| id.clone()));
        }
        for id in &over {
            used.remove(id);
        }
        used.insert(id.to_owned(), Instant::now());
        over
    }

    /// Ends a session; tells whether it was one.
    pub(crate) fn end(&self, id: &str) -> bool {
        self.used().remove(id).is_some()
    }

    fn used(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
