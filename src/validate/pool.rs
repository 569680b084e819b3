//! Working memory that is used again, so that judging a consignment need not allocate.

use std::sync::{Mutex, PoisonError};

use super::play::Play;

/// More is not kept than this many threads are likely to want at a time.
const KEPT: usize = 16;

/// Working memory of one list of questions.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Vec<Play>>);

impl Pool {
    pub(super) fn take(&self) -> Play {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        free.pop().unwrap_or_default()
    }

    /// What is not given back, because something panicked, is only lost.
    pub(super) fn give_back(&self, play: Play) {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < KEPT {
            free.push(play);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_are_kept_and_used_again() {
        let pool = Pool::default();
        let free = || pool.0.lock().unwrap().len();
        for _ in 0..KEPT + 3 {
            pool.give_back(Play::default());
        }
        assert_eq!(free(), KEPT);
        drop(pool.take());
        assert_eq!(free(), KEPT - 1);
    }
}
