//! A cache of look-ups.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Lookup;
use crate::model::Pic;
use crate::transport::Clock;

/// The results of look-ups, with a maximum age and number.
pub(super) struct LookupCache {
    max_age: Duration,
    capacity: usize,
    clock: Clock,
    results: Mutex<Results>,
}

#[derive(Default)]
struct Results {
    /// Each with the time at which it was stored.
    by_pic: HashMap<Pic, (Duration, Lookup)>,
    /// What was stored, oldest first. A PIC that was stored twice is here twice.
    order: VecDeque<(Duration, Pic)>,
}

impl LookupCache {
    pub(super) fn new(max_age: Duration, capacity: usize, clock: Clock) -> Self {
        Self {
            max_age,
            capacity,
            clock,
            results: Mutex::default(),
        }
    }

    /// An empty cache with the same limits.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.max_age, self.capacity, self.clock.clone())
    }

    pub(super) fn get(&self, pic: Pic) -> Option<Lookup> {
        let now = self.clock.boot();
        let results = self.results();
        let (at, result) = results.by_pic.get(&pic)?;
        (now.saturating_sub(*at) < self.max_age).then(|| result.clone())
    }

    pub(super) fn store(&self, pic: Pic, result: &Lookup) {
        if self.capacity == 0 {
            return;
        }
        let now = self.clock.boot();
        let mut results = self.results();
        while results.order.len() >= self.capacity
            && let Some((at, oldest)) = results.order.pop_front()
        {
            // Not a result that was stored again later.
            if results
                .by_pic
                .get(&oldest)
                .is_some_and(|(stored, _)| *stored == at)
            {
                results.by_pic.remove(&oldest);
            }
        }
        results.order.push_back((now, pic));
        results.by_pic.insert(pic, (now, result.clone()));
    }

    pub(super) fn clear(&self) {
        *self.results() = Results::default();
    }

    fn results(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn a_result_is_cached_up_to_its_age_and_the_capacity() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let cache = LookupCache::new(Duration::from_secs(60), 2, clock.clone());
        let (a, b, c) = (pic("QAZZ7777"), pic("QBZZ2222"), pic("QCZZ8888"));
        cache.store(a, &Lookup::NotFound);
        clock.advance(Duration::from_secs(59));
        assert_eq!(cache.get(a), Some(Lookup::NotFound));
        clock.advance(Duration::from_secs(1));
        assert_eq!(cache.get(a), None);
        for pic in [a, b, c] {
            cache.store(pic, &Lookup::Empty);
            clock.advance(Duration::from_secs(1));
        }
        assert_eq!(
            (cache.get(a), cache.get(b), cache.get(c)),
            (None, Some(Lookup::Empty), Some(Lookup::Empty))
        );
        cache.store(b, &Lookup::NotFound);
        assert_eq!(cache.get(b), Some(Lookup::NotFound));
        cache.clear();
        assert_eq!(cache.get(b), None);
    }

    #[test]
    fn the_memory_does_not_grow_when_the_same_pic_is_stored_again() {
        let cache = LookupCache::new(
            Duration::from_secs(60),
            2,
            Clock::manual(SystemTime::UNIX_EPOCH),
        );
        for _ in 0..100 {
            cache.store(pic("QAZZ7777"), &Lookup::Empty);
        }
        assert_eq!(cache.results().order.len(), 2);
        assert_eq!(cache.get(pic("QAZZ7777")), Some(Lookup::Empty));
    }
}
