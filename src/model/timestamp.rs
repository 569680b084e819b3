//! Instants in their wire formats.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};
use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::{Day, TimeZone, day};

/// An instant as on the wire: ISO 8601, with or without a zone. The text is preserved, whatever it is.
///
/// ```
/// use envd_sdk::model::{Day, TimeZone, Timestamp};
///
/// let at = Timestamp::from("2022-11-02T03:04:05.1234567+00:00");
/// assert_eq!(at.day_in(TimeZone::UTC), Day::new(2022, 11, 2));
/// assert_eq!(at.as_str(), "2022-11-02T03:04:05.1234567+00:00");
/// ```
///
/// With the features `chrono04`, `jiff02` and `time03`, it converts from and to an instant of the respective crate.
///
/// Timestamps are equal if their texts are equal. They are not ordered, because a text that cannot be parsed is neither before
/// nor after an instant: compare the results of [`to_time`](Self::to_time). A call that takes an instant fails with a
/// configuration error if the text is not an instant. A day alone is not an instant, but a [`Day`] converts to one.
///
/// ```
/// use envd_sdk::model::Timestamp;
///
/// let texts = ["2026-11-20T09:00:00+11:00", "2026-11-19T21:30:00Z", "2026-11-19"];
/// let mut times = texts.map(Timestamp::from);
/// times.sort_by_key(Timestamp::to_time);
/// let texts = times.map(|time| time.to_string());
/// assert_eq!(texts, ["2026-11-19", "2026-11-19T21:30:00Z", "2026-11-20T09:00:00+11:00"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(EcoString);

impl Timestamp {
    /// The text on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The instant, for years from 1 to 9999 in UTC. Without a zone it is interpreted as UTC, as in GraphQL.NET. `None` if the
    /// text cannot be parsed.
    ///
    /// On Windows, [`SystemTime`] counts steps of 100 ns from 1601: further digits are truncated, and an earlier instant becomes
    /// the first of 1601. The text and its conversions to other crates keep nanoseconds there as well.
    pub fn to_time(&self) -> Option<SystemTime> {
        let since = self.utc()?.signed_duration_since(DateTime::UNIX_EPOCH);
        // chrono's own conversion panics before the first instant of the system.
        match since.to_std() {
            Ok(after) => UNIX_EPOCH.checked_add(after),
            Err(_) => Some(before_1970((-since).to_std().ok()?)),
        }
    }

    /// The day in a state or time zone; `None` if the text cannot be parsed.
    ///
    /// ```
    /// use envd_sdk::model::{Day, Jurisdiction, Timestamp};
    ///
    /// let at = Timestamp::from("2026-11-19T21:00:00Z");
    /// assert_eq!(at.day_in(Jurisdiction::Nsw), Day::new(2026, 11, 20));
    /// ```
    pub fn day_in(&self, zone: impl Into<TimeZone>) -> Option<Day> {
        Day::from_naive(zone.into().local(self.utc()?).date())
    }

    /// An instant in UTC, with as many fractional digits as it has (none, 3, 6 or 9). An instant outside the years 1 to 9999
    /// has no format that can be parsed again, so it is clamped to these years.
    pub(crate) fn from_utc(time: DateTime<Utc>) -> Self {
        let time = day::within_calendar(time);
        Self(time.to_rfc3339_opts(SecondsFormat::AutoSi, true).into())
    }

    /// From nanoseconds since 1970: other crates count as many, but `SystemTime` does not on every system.
    #[cfg(any(feature = "jiff02", feature = "time03"))]
    pub(crate) fn from_nanoseconds(since_1970: i128) -> Self {
        let seconds = since_1970.div_euclid(1_000_000_000);
        // OK because a remainder fits, and chrono has fewer years than seconds fit.
        let nanoseconds = u32::try_from(since_1970.rem_euclid(1_000_000_000)).unwrap_or_default();
        let seconds = i64::try_from(seconds).ok();
        let time = seconds.and_then(|seconds| DateTime::from_timestamp(seconds, nanoseconds));
        Self::from_utc(time.unwrap_or(if since_1970 < 0 {
            DateTime::<Utc>::MIN_UTC
        } else {
            DateTime::<Utc>::MAX_UTC
        }))
    }

    /// Nanoseconds since 1970; `None` if the text cannot be parsed.
    #[cfg(any(feature = "jiff02", feature = "time03"))]
    pub(crate) fn nanoseconds(&self) -> Option<i128> {
        let time = self.utc()?;
        let nanoseconds = i128::from(time.timestamp_subsec_nanos());
        Some(i128::from(time.timestamp()) * 1_000_000_000 + nanoseconds)
    }

    pub(crate) fn utc(&self) -> Option<DateTime<Utc>> {
        let read = |text: &str| DateTime::parse_from_rfc3339(text).ok();
        let time = read(&self.0).or_else(|| read(&ecow::eco_format!("{}Z", self.0)))?;
        let time = time.to_utc();
        (day::within_calendar(time) == time).then_some(time)
    }
}

/// This long before 1970, or the first instant of the system.
fn before_1970(time: Duration) -> SystemTime {
    let begin_of_1601 = || UNIX_EPOCH.checked_sub(Duration::from_secs(11_644_473_600));
    let time = UNIX_EPOCH.checked_sub(time).or_else(begin_of_1601);
    time.unwrap_or(UNIX_EPOCH)
}

impl From<&str> for Timestamp {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Timestamp {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<Day> for Timestamp {
    /// The beginning of the day in UTC; for other zones use [`Day::start_in`].
    fn from(day: Day) -> Self {
        Self(ecow::eco_format!("{day}T00:00:00Z"))
    }
}

impl From<SystemTime> for Timestamp {
    /// In UTC, with as many fractional digits as it has (none, 3, 6 or 9). An instant outside the years 1 to 9999 is clamped to
    /// these years.
    fn from(time: SystemTime) -> Self {
        Self::from_utc(day::utc(time))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn what_is_no_instant_is_read_as_none() {
        // A single instant in various wire formats.
        let instant = UNIX_EPOCH + Duration::from_secs(1_795_132_800);
        for text in "2026-11-20T00:00:00|2026-11-20T00:00:00Z|2026-11-20T10:00:00+10:00|2026-11-20t00:00:00.0000000+00:00\
            |2026-11-20T00:00:00.000000000000000001Z"
            .split('|')
        {
            assert_eq!(Timestamp::from(text).to_time(), Some(instant), "{text}");
        }
        for text in "|2026-11-20|20/11/2026|2026-11-20T00:00:00+1000|2026-11-20T00:00|2026-02-30T00:00:00Z|2026-1-2T3:4:5\
            |+2026-11-20T00:00:00|+12026-11-20T00:00:00Z|-0044-03-15T00:00:00Z|0000-12-31T23:59:59Z\
            |0001-01-01T00:00:00+01:00|9999-12-31T23:59:59-01:00| 2026-11-20T00:00:00Z|1795132800|never"
            .split('|')
        {
            let time = Timestamp::from(text);
            assert_eq!(time.to_time(), None, "{text}");
            assert_eq!(time.day_in(TimeZone::UTC), None, "{text}");
        }
    }

    /// Every written text can be parsed as the same instant, or as the end of the calendar.
    #[test]
    fn what_is_written_can_be_read() {
        let year = Duration::from_secs(31_556_952);
        let times = (0..=400_000_u32).step_by(97).flat_map(|years| {
            let far = year.saturating_mul(years) + Duration::from_nanos(years.into());
            [UNIX_EPOCH.checked_add(far), UNIX_EPOCH.checked_sub(far)]
        });
        for time in times.flatten() {
            let written = Timestamp::from(time);
            assert_eq!(Timestamp::from_utc(written.utc().unwrap()), written);
            let read = written.to_time().unwrap();
            let ends = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"];
            assert!(read == time || ends.contains(&written.as_str()));
            for minutes in [-1439, 0, 600, 1439] {
                let zone = TimeZone::fixed(minutes).unwrap();
                let day = Day::today_in(zone, time);
                assert_eq!(Day::parse(&day.to_string()), Ok(day));
                assert!(day.start_in(zone).to_time().is_some());
            }
        }
        let first = Day::parse("0001-01-01").unwrap();
        let last = Day::parse("9999-12-31").unwrap();
        assert_eq!((first.plus_days(-1), last.plus_days(1)), (None, None));
    }

    #[test]
    fn an_instant_of_the_clock_is_written_in_utc_and_read_back() {
        for (seconds, millis, text) in [
            (1_795_132_800, 0, "2026-11-20T00:00:00Z"),
            (1_795_132_800, 250, "2026-11-20T00:00:00.250Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(millis);
            assert_eq!(Timestamp::from(time).as_str(), text);
            assert_eq!(Timestamp::from(text).to_time(), Some(time));
        }
        let before = UNIX_EPOCH - Duration::from_millis(1);
        let first = Timestamp::from("0001-01-01T00:00:00Z").to_time();
        assert!(first.is_some() && first <= Timestamp::from("1601-01-01T00:00:00Z").to_time());
        assert_eq!(Timestamp::from(before).as_str(), "1969-12-31T23:59:59.999Z");
    }
}
