//! The time on the servers' clocks, to detect a wrong clock on this computer.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use super::server_time;

/// The clock of the server that replied last. The process needs only one: if this computer's clock is wrong, it differs from all
/// servers, so one server's reply explains why another's certificate is refused.
pub(super) static LAST_SERVER: ServerClock = ServerClock(AtomicI64::new(UNKNOWN));

/// A server's clock: its seconds since 1970 minus the seconds of our monotonic clock.
pub(super) struct ServerClock(AtomicI64);

const UNKNOWN: i64 = i64::MIN;

impl ServerClock {
    /// Sets the clock from the `Date` of a reply received at this monotonic time.
    pub(super) fn set(&self, headers: &HeaderMap, monotonic: Duration) {
        let date = server_time(headers);
        let since = date.and_then(|date| date.duration_since(SystemTime::UNIX_EPOCH).ok());
        if let Some(since) = since {
            self.0
                .store(seconds(since) - seconds(monotonic), Ordering::Relaxed);
        }
    }

    /// The server's time at this monotonic time; `None` if no reply had a `Date`.
    pub(super) fn now(&self, monotonic: Duration) -> Option<SystemTime> {
        let offset = Some(self.0.load(Ordering::Relaxed)).filter(|offset| *offset != UNKNOWN)?;
        let since = u64::try_from(offset + seconds(monotonic)).ok()?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(since))
    }
}

fn seconds(time: Duration) -> i64 {
    i64::try_from(time.as_secs()).unwrap_or_default()
}

/// Describes how far a clock differs from a server's. Up to two minutes are not a difference.
pub(super) fn difference(ours: SystemTime, server: SystemTime) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    let (seconds, direction) = match ours.duration_since(server) {
        Ok(ahead) => (ahead.as_secs(), "ahead of"),
        Err(behind) => (behind.duration().as_secs(), "behind"),
    };
    let mut units = UNITS.into_iter();
    match units.find(|(length, _)| seconds > 2 * length) {
        Some((length, unit)) => format!("{} {unit} {direction}", seconds / length),
        None => "in step with".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::DATE;
    use test_support::script::rows;

    use super::*;

    #[test]
    fn the_difference_between_two_clocks_is_put_into_words() {
        for row in rows(
            "
            1000000 | 1000000 | in step with
            1000120 | 1000000 | in step with
            1000121 | 1000000 | 2 minutes ahead of
            1000000 | 1007000 | 116 minutes behind
            1000000 | 1010800 | 3 hours behind
            1000000 |       0 | 11 days ahead of
            0       | 63072000 | 730 days behind
            ",
        ) {
            let at =
                |text: &str| SystemTime::UNIX_EPOCH + Duration::from_secs(text.parse().unwrap());
            assert_eq!(difference(at(row[0]), at(row[1])), row[2], "{row:?}");
        }
    }

    #[test]
    fn the_clock_of_a_server_keeps_running_after_its_reply() {
        let clock = ServerClock(AtomicI64::new(UNKNOWN));
        let at = Duration::from_secs;
        clock.set(&HeaderMap::new(), at(5));
        assert_eq!(clock.now(at(5)), None);
        let date = "Thu, 01 Jan 1970 01:00:00 GMT".parse().unwrap();
        clock.set(&HeaderMap::from_iter([(DATE, date)]), at(10));
        assert_eq!(clock.now(at(70)), Some(SystemTime::UNIX_EPOCH + at(3_660)));
    }
}
