//! At which moments requests may be sent, so that a limit per second is kept.

use std::time::Duration;

/// How late a moment may be used. Timers are late by some milliseconds, which must not cost requests.
const TOLERANCE: Duration = Duration::from_millis(100);

/// Moments at equal distances. In any time `t` at most `(t + 100 ms) * limit + 1` of them are used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    spacing: Duration,
    /// The next moment, on the clock since boot.
    next: Duration,
    /// How many are left.
    left: u32,
    /// How many were used.
    pub(super) used: u32,
}

impl Pace {
    /// Without an end.
    pub(super) fn endless(per_second: f64) -> Self {
        Self::of(per_second, Duration::ZERO, u32::MAX)
    }

    /// A number of moments from a first one.
    pub(super) fn of(per_second: f64, first: Duration, left: u32) -> Self {
        Self {
            spacing: Duration::from_secs_f64(per_second.recip()),
            next: first,
            left,
            used: 0,
        }
    }

    /// How long it is to the next moment; `None`: there is none any more.
    pub(super) fn wait(&mut self, now: Duration) -> Option<Duration> {
        let earliest = now.saturating_sub(TOLERANCE);
        if self.left == u32::MAX {
            self.next = self.next.max(earliest);
        } else if let Some(late) = earliest.checked_sub(self.next) {
            // Those that were missed are over: used together they would be a burst.
            let missed = late.as_nanos().div_ceil(self.spacing.as_nanos().max(1));
            let missed = u32::try_from(missed).unwrap_or(u32::MAX).min(self.left);
            self.left -= missed;
            self.next += self.spacing * missed;
        }
        (self.left > 0).then(|| self.next.saturating_sub(now))
    }

    /// Uses the next moment.
    pub(super) fn take(&mut self) {
        self.next += self.spacing;
        self.used = self.used.saturating_add(1);
        if self.left != u32::MAX {
            self.left = self.left.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// At which of these moments a request is sent, if there is always one.
    fn sent(pace: &mut Pace, moments: impl Iterator<Item = Duration>) -> Vec<Duration> {
        let mut sent = Vec::new();
        for now in moments {
            while pace.wait(now) == Some(Duration::ZERO) {
                pace.take();
                sent.push(now);
            }
        }
        sent
    }

    fn number(count: usize) -> f64 {
        f64::from(u32::try_from(count).unwrap())
    }

    #[test]
    fn no_second_has_more_than_the_limit_and_a_tenth() {
        for per_second in [0.5, 3.0, 50.0, 2_000.0] {
            for late in [1, 7, 60] {
                let moments =
                    (0..10_000 / late).map(|n| SECOND * 5 + Duration::from_millis(n * late));
                let sent = sent(&mut Pace::endless(per_second), moments);
                let in_a_second = sent.iter().enumerate().map(|(first, from)| {
                    let until = *from + SECOND;
                    sent.partition_point(|at| *at < until) - first
                });
                let busiest = number(in_a_second.max().unwrap());
                assert!(
                    busiest <= per_second * 1.1 + 1.0,
                    "{per_second} {late}: {busiest}"
                );
                let whole = number(sent.len());
                assert!(
                    whole >= (per_second * 9.9).floor(),
                    "{per_second} {late}: {whole}"
                );
            }
        }
    }

    #[test]
    fn moments_that_were_missed_are_not_made_up_for() {
        let mut pace = Pace::of(10.0, SECOND, 10);
        assert_eq!(pace.wait(Duration::ZERO), Some(SECOND));
        assert_eq!(sent(&mut pace, [SECOND * 3 / 2].into_iter()).len(), 2);
        assert_eq!(pace.wait(SECOND * 3), None);
    }
}
