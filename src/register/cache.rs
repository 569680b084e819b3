//! Answers that are kept for a while.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Lookup;
use crate::model::Pic;
use crate::transport::Clock;

/// The answers of look-ups, none older than a limit and no more than a number.
pub(super) struct Cache {
    max_age: Duration,
    capacity: usize,
    clock: Clock,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    answers: HashMap<Pic, Answered>,
    /// What was kept, oldest first. A PIC that is kept again stands here twice, with different numbers.
    order: VecDeque<(u64, Pic)>,
    number: u64,
}

struct Answered {
    number: u64,
    at: Duration,
    answer: Lookup,
}

impl Cache {
    pub(super) fn new(max_age: Duration, capacity: usize, clock: Clock) -> Self {
        Self {
            max_age,
            capacity,
            clock,
            kept: Mutex::default(),
        }
    }

    /// Another one with the same limits.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.max_age, self.capacity, self.clock.clone())
    }

    pub(super) fn get(&self, pic: Pic) -> Option<Lookup> {
        let now = self.clock.boot();
        let kept = self.kept();
        let Answered { at, answer, .. } = kept.answers.get(&pic)?;
        (now.saturating_sub(*at) < self.max_age).then(|| answer.clone())
    }

    pub(super) fn keep(&self, pic: Pic, answer: &Lookup) {
        let at = self.clock.boot();
        let mut kept = self.kept();
        let kept = &mut *kept;
        kept.number += 1;
        let (number, answer) = (kept.number, answer.clone());
        kept.order.push_back((number, pic));
        kept.answers.insert(pic, Answered { number, at, answer });
        while kept.order.len() > self.capacity {
            let Some((number, oldest)) = kept.order.pop_front() else {
                break;
            };
            if kept
                .answers
                .get(&oldest)
                .is_some_and(|answered| answered.number == number)
            {
                kept.answers.remove(&oldest);
            }
        }
    }

    pub(super) fn clear(&self) {
        *self.kept() = Kept::default();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn pic(text: &str) -> Pic {
        Pic::parse(text).unwrap()
    }

    #[test]
    fn an_answer_is_kept_up_to_its_age_and_no_more_than_the_capacity() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let cache = Cache::new(Duration::from_secs(60), 2, clock.clone());
        let (a, b, c) = (pic("QAZZ7777"), pic("QBZZ2222"), pic("QCZZ8888"));
        cache.keep(a, &Lookup::NotFound);
        clock.advance(Duration::from_secs(59));
        assert_eq!(cache.get(a), Some(Lookup::NotFound));
        clock.advance(Duration::from_secs(1));
        assert_eq!(cache.get(a), None);
        for pic in [a, b, c] {
            cache.keep(pic, &Lookup::Empty);
            clock.advance(Duration::from_secs(1));
        }
        assert_eq!(
            (cache.get(a), cache.get(b), cache.get(c)),
            (None, Some(Lookup::Empty), Some(Lookup::Empty))
        );
        cache.keep(b, &Lookup::NotFound);
        assert_eq!(cache.get(b), Some(Lookup::NotFound));
        cache.clear();
        assert_eq!(cache.get(b), None);
    }

    #[test]
    fn the_memory_does_not_grow_when_the_same_is_kept_again() {
        let cache = Cache::new(
            Duration::from_secs(60),
            2,
            Clock::manual(SystemTime::UNIX_EPOCH),
        );
        for _ in 0..100 {
            cache.keep(pic("QAZZ7777"), &Lookup::Empty);
        }
        assert_eq!(cache.kept().order.len(), 2);
        assert_eq!(cache.get(pic("QAZZ7777")), Some(Lookup::Empty));
    }
}
