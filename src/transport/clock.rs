//! The clock, as a setting.

use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::future::{Either, select};
use tokio::sync::Notify;

use crate::locked::lock;

/// Larger steps are limited to this when added to a calendar time, to stay within its range.
const CENTURY: Duration = Duration::from_secs(100 * 365 * 86_400);

/// The clock of clients and token managers: the system clocks, or a manual clock for tests.
///
/// It has two times. The calendar time ([`now`](Self::now)) jumps when the machine's clock is set; the monotonic time
/// ([`monotonic`](Self::monotonic)) measures waits. An application that waits and measures by its client's clock
/// ([`Client::clock`](crate::Client::clock)) can be tested without real waits.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use envd_sdk::Clock;
///
/// let clock = Clock::manual(SystemTime::UNIX_EPOCH);
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now(), SystemTime::UNIX_EPOCH + Duration::from_secs(60));
/// ```
#[derive(Clone, Default)]
pub struct Clock(TimeSource);

#[derive(Clone, Default)]
enum TimeSource {
    #[default]
    System,
    /// Keeps its own calendar time: `start` at the monotonic time `begun`, then at the machine's pace.
    Running {
        start: SystemTime,
        begun: Duration,
    },
    Manual(Arc<ManualClock>),
}

struct ManualClock {
    moment: Mutex<ClockReading>,
    /// Wakes sleepers in order of arrival, so that tests are deterministic.
    moved: Notify,
    /// Its reference count is one more than the number of sleepers.
    sleepers: Arc<()>,
}

/// The same moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockReading {
    pub(crate) wall: SystemTime,
    pub(crate) monotonic: Duration,
}

impl ClockReading {
    pub(crate) fn is_before(self, other: Self) -> bool {
        self.wall < other.wall && self.monotonic < other.monotonic
    }
}

impl Clock {
    /// The clocks of the operating system.
    pub fn system() -> Self {
        Self(TimeSource::System)
    }

    /// A clock that starts at this calendar time and keeps running, for tests with real waits that must not depend on the date.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use envd_sdk::Clock;
    ///
    /// let noon = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_176_000);
    /// let clock = Clock::starting_at(noon);
    /// assert!(clock.now() >= noon);
    /// ```
    pub fn starting_at(start: SystemTime) -> Self {
        Self(TimeSource::Running {
            start,
            begun: system_monotonic(),
        })
    }

    /// A clock that stands still until it is advanced or set. Clones show the same time.
    pub fn manual(start: SystemTime) -> Self {
        // Differs from the calendar time, so that confusing the two clocks makes a test fail.
        let moment = ClockReading {
            wall: start,
            monotonic: Duration::from_secs(1_000),
        };
        Self(TimeSource::Manual(Arc::new(ManualClock {
            moment: Mutex::new(moment),
            moved: Notify::new(),
            sleepers: Arc::default(),
        })))
    }

    /// The calendar time. It jumps when the machine's clock is set.
    pub fn now(&self) -> SystemTime {
        match &self.0 {
            TimeSource::System => SystemTime::now(),
            TimeSource::Running { start, begun } => {
                later(*start, system_monotonic().saturating_sub(*begun))
            }
            TimeSource::Manual(clock) => lock(&clock.moment).wall,
        }
    }

    /// Both times; the calendar time may be some milliseconds late. Cheap enough for every request.
    pub(crate) fn moment(&self) -> ClockReading {
        let wall = match &self.0 {
            TimeSource::System => system_roughly(),
            TimeSource::Running { .. } | TimeSource::Manual(_) => self.now(),
        };
        let monotonic = self.monotonic();
        ClockReading { wall, monotonic }
    }

    /// A time that never jumps, to measure durations. On most systems it counts from the start of the machine, including time
    /// asleep. Only differences are meaningful.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use envd_sdk::Clock;
    ///
    /// let clock = Clock::manual(SystemTime::now());
    /// let start = clock.monotonic();
    /// clock.set_wall(SystemTime::UNIX_EPOCH);
    /// clock.advance(Duration::from_secs(2));
    /// assert_eq!(clock.monotonic() - start, Duration::from_secs(2));
    /// ```
    #[doc(alias("Instant", "stopwatch", "elapsed"))]
    pub fn monotonic(&self) -> Duration {
        match &self.0 {
            TimeSource::System | TimeSource::Running { .. } => system_monotonic(),
            TimeSource::Manual(clock) => lock(&clock.moment).monotonic,
        }
    }

    /// Advances both times of a manual clock, by at most a century. The calendar time stops where the system's own times end, on
    /// Windows in the year 30828. Does nothing to a running clock.
    pub fn advance(&self, by: Duration) {
        let by = by.min(CENTURY);
        self.change(|moment| {
            moment.wall = later(moment.wall, by);
            moment.monotonic = moment.monotonic.saturating_add(by);
        });
    }

    /// Sets the calendar time of a manual clock, forwards or backwards, as a user or a time server might. The monotonic time is
    /// unchanged. Does nothing to a running clock.
    #[doc(alias("set time", "clock skew"))]
    pub fn set_wall(&self, to: SystemTime) {
        self.change(|moment| moment.wall = to);
    }

    fn change(&self, change: impl FnOnce(&mut ClockReading)) {
        if let TimeSource::Manual(clock) = &self.0 {
            change(&mut lock(&clock.moment));
            clock.moved.notify_waiters();
        }
    }

    /// The number of pending waits on a manual clock and its clones; a test advances the clock once it is above zero. Always 0
    /// for a running clock.
    pub fn sleepers(&self) -> usize {
        match &self.0 {
            TimeSource::System | TimeSource::Running { .. } => 0,
            TimeSource::Manual(clock) => Arc::strong_count(&clock.sleepers) - 1,
        }
    }

    /// Runs some work with a time limit; `None` if the limit passes first.
    pub(crate) async fn within<F: Future>(&self, limit: Duration, work: F) -> Option<F::Output> {
        match select(pin!(work), pin!(self.sleep(limit))).await {
            Either::Left((done, _)) => Some(done),
            Either::Right(_) => None,
        }
    }

    /// Waits until this much monotonic time has passed. On a manual clock, the wait ends when the clock has advanced that far.
    ///
    /// ```
    /// # test_support::example(async {
    /// use std::time::{Duration, SystemTime};
    /// use envd_sdk::Clock;
    ///
    /// /// Reminds a user after a day.
    /// async fn remind(clock: &Clock) -> &'static str {
    ///     clock.sleep(Duration::from_secs(86_400)).await;
    ///     "a draft has been open since yesterday"
    /// }
    ///
    /// let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    /// let (reminder, ()) = tokio::join!(remind(&clock), async {
    ///     while clock.sleepers() == 0 {
    ///         tokio::task::yield_now().await;
    ///     }
    ///     clock.advance(Duration::from_secs(86_400));
    /// });
    /// assert!(reminder.ends_with("yesterday"));
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the wait and has no other effect.
    #[doc(alias("timer", "delay", "wait"))]
    pub async fn sleep(&self, time: Duration) {
        match &self.0 {
            TimeSource::System | TimeSource::Running { .. } => tokio::time::sleep(time).await,
            TimeSource::Manual(clock) => {
                let _sleeper = clock.sleepers.clone();
                let until = self.monotonic().saturating_add(time);
                loop {
                    // Register before checking, so that no change in between is missed.
                    let mut moved = pin!(clock.moved.notified());
                    moved.as_mut().enable();
                    if self.monotonic() >= until {
                        return;
                    }
                    moved.await;
                }
            }
        }
    }
}

/// Adds to a calendar time; unchanged if the sum is beyond the times of the system.
pub(crate) fn later(time: SystemTime, by: Duration) -> SystemTime {
    time.checked_add(by).unwrap_or(time)
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            TimeSource::System => "Clock(system)",
            TimeSource::Running { .. } => "Clock(running)",
            TimeSource::Manual(_) => "Clock(manual)",
        })
    }
}

// Linux caches the time of its last tick, at most 10 ms ago; reading it takes a third of the time.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn system_roughly() -> SystemTime {
    let since = unix_clock(rustix::time::ClockId::RealtimeCoarse);
    later(SystemTime::UNIX_EPOCH, since)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn system_roughly() -> SystemTime {
    SystemTime::now()
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn system_monotonic() -> Duration {
    unix_clock(rustix::time::ClockId::Boottime)
}

// On Apple systems CLOCK_MONOTONIC includes time asleep, unlike std's Instant.
#[cfg(target_vendor = "apple")]
fn system_monotonic() -> Duration {
    unix_clock(rustix::time::ClockId::Monotonic)
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn unix_clock(id: rustix::time::ClockId) -> Duration {
    let time = rustix::time::clock_gettime(id);
    Duration::new(
        time.tv_sec.try_into().unwrap_or_default(),
        time.tv_nsec.try_into().unwrap_or_default(),
    )
}

// On Windows, Instant includes time asleep; on other systems it is the best available.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn system_monotonic() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_sleeper_wakes_when_the_clock_is_moved_past_its_time() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let mut sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep(Duration::from_secs(10)).await }
        });
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(9));
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert!(!sleeper.is_finished());
        clock.advance(Duration::from_secs(1));
        (&mut sleeper).await.unwrap();
    }

    #[test]
    fn sleepers_are_counted_while_they_wait() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let sleep = || Box::pin(clock.sleep(Duration::from_secs(60)));
        let mut first = sleep();
        let mut second = sleep();
        assert_eq!(clock.sleepers(), 0);
        assert!((&mut first).now_or_never().is_none());
        assert!((&mut second).now_or_never().is_none());
        assert_eq!(clock.sleepers(), 2);
        drop(second);
        assert_eq!(clock.sleepers(), 1);
        clock.advance(Duration::from_secs(60));
        assert!(first.now_or_never().is_some());
        assert_eq!(clock.sleepers(), 0);
        assert_eq!(Clock::system().sleepers(), 0);
    }

    #[test]
    fn a_clock_with_its_own_start_ignores_the_calendar_of_the_machine() {
        let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let before = system_monotonic();
        let clock = Clock::starting_at(start);
        let shown = clock.now().duration_since(start).unwrap();
        let rough = clock.moment().wall.duration_since(start).unwrap();
        assert!(shown <= rough && rough <= system_monotonic().saturating_sub(before));
        clock.advance(Duration::from_secs(1_000_000));
        assert!(clock.now() < start + Duration::from_secs(1_000_000));
    }

    #[test]
    fn the_rough_time_of_a_manual_clock_is_its_time() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        assert_eq!(clock.moment().wall, clock.now());
    }

    #[test]
    fn a_manual_clock_never_leaves_the_times_of_the_system() {
        let mut last = SystemTime::UNIX_EPOCH;
        for exponent in (0..64).rev() {
            last = later(last, Duration::from_secs(1 << exponent));
        }
        let clock = Clock::manual(last);
        clock.advance(CENTURY);
        assert_eq!(clock.now(), last);
    }

    #[test]
    fn the_monotonic_clock_does_not_follow_the_calendar() {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH);
        let monotonic = clock.monotonic();
        clock.set_wall(SystemTime::UNIX_EPOCH + Duration::from_secs(3_600));
        assert_eq!(clock.monotonic(), monotonic);
        assert!(Clock::system().monotonic() > Duration::ZERO);
    }
}
