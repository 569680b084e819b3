//! The managers in the order of their last use.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::auth::TokenManager;

/// How many accounts a single look-up sorts out, so that none of them takes long.
const AT_ONCE: usize = 16;

/// Every account stands once in the map and once in the queue.
#[derive(Default)]
pub(super) struct Shelf {
    accounts: HashMap<Arc<str>, Place>,
    /// With the time of the last use that the queue knows of. A use in between is noticed when the account comes to the
    /// front, so that a look-up does not have to move anything.
    queue: VecDeque<(Arc<str>, Duration)>,
}

struct Place {
    manager: TokenManager,
    used: Duration,
}

impl Shelf {
    pub(super) fn len(&self) -> usize {
        self.accounts.len()
    }

    pub(super) fn find(&mut self, key: &str, now: Duration) -> Option<TokenManager> {
        let place = self.accounts.get_mut(key)?;
        place.used = now;
        Some(place.manager.clone())
    }

    pub(super) fn put(&mut self, key: &str, manager: TokenManager, now: Duration) {
        let key: Arc<str> = key.into();
        self.queue.push_back((key.clone(), now));
        let place = Place { manager, used: now };
        self.accounts.insert(key, place);
    }

    /// Forgets some of those that were not used since.
    pub(super) fn sort_out(&mut self, since: Duration, now: Duration) {
        for _ in 0..AT_ONCE.min(self.queue.len()) {
            match self.queue.front() {
                Some((_, used)) if *used < since => self.judge_front(now),
                _ => break,
            };
        }
    }

    /// Forgets the one that was not used for the longest time, if there is one that can be.
    pub(super) fn make_room(&mut self, now: Duration) -> bool {
        // Twice: the first time around may only find out who was used since.
        (0..2 * self.queue.len()).any(|_| self.judge_front(now))
    }

    /// Forgets the front account, unless it was used or is needed: then it goes to the end.
    fn judge_front(&mut self, now: Duration) -> bool {
        let Some((key, known)) = self.queue.pop_front() else {
            return false;
        };
        let Some(place) = self.accounts.get(&key) else {
            return false;
        };
        let again = if place.used > known {
            place.used
        } else if place.manager.is_idle() {
            self.accounts.remove(&key);
            return true;
        } else {
            now
        };
        self.queue.push_back((key, again));
        false
    }
}
