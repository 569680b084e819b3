//! Instants in the forms of the wire.

use std::cmp::Ordering;
use std::fmt;
use std::time::SystemTime;

use chrono::{DateTime, NaiveDateTime, SecondsFormat, Utc};
use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::{Day, TimeZone, day};

/// An instant as it is on the wire: ISO 8601, with or without a zone. The text is kept, whatever it is.
///
/// ```
/// use envd_sdk::model::{Day, TimeZone, Timestamp};
///
/// let at = Timestamp::from("2022-11-02T03:04:05.1234567+00:00");
/// assert_eq!(at.day_in(TimeZone::UTC), Day::new(2022, 11, 2));
/// assert_eq!(at.as_str(), "2022-11-02T03:04:05.1234567+00:00");
/// ```
///
/// With the features `chrono`, `jiff` and `time` it comes from and becomes an instant of the crate of that name.
///
/// Two are equal when their texts are. They are ordered as instants, with all digits of the fraction; texts of one instant
/// are ordered as texts, and those that cannot be read come last, ordered as texts too.
///
/// ```
/// use envd_sdk::model::Timestamp;
///
/// let mut times = ["later", "2026-11-20T09:00:00+11:00", "2026-11-19T21:30:00Z"].map(Timestamp::from);
/// times.sort();
/// let texts = times.map(|time| time.to_string());
/// assert_eq!(texts, ["2026-11-19T21:30:00Z", "2026-11-20T09:00:00+11:00", "later"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(EcoString);

impl Timestamp {
    /// The text as it is on the wire.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The instant; without a zone it is taken as UTC, as GraphQL.NET does. `None` when it cannot be read.
    pub fn to_time(&self) -> Option<SystemTime> {
        self.utc().map(Into::into)
    }

    /// The day in a state or another zone; `None` when the instant cannot be read.
    ///
    /// ```
    /// use envd_sdk::model::{Day, Jurisdiction, Timestamp};
    ///
    /// let at = Timestamp::from("2026-11-19T21:00:00Z");
    /// assert_eq!(at.day_in(Jurisdiction::Nsw), Day::new(2026, 11, 20));
    /// ```
    pub fn day_in(&self, zone: impl Into<TimeZone>) -> Option<Day> {
        Some(Day::from_naive(zone.into().local(self.utc()?).date()))
    }

    /// An instant of UTC, with as many digits of the second as it has (none, 3, 6 or 9).
    pub(crate) fn from_utc(time: DateTime<Utc>) -> Self {
        Self(time.to_rfc3339_opts(SecondsFormat::AutoSi, true).into())
    }

    /// The digits of the fraction that chrono does not keep.
    pub(crate) fn beyond_nanoseconds(&self) -> &str {
        let (_, fraction) = self.0.split_once('.').unwrap_or_default();
        let end = fraction.find(|c: char| !c.is_ascii_digit());
        let (digits, _) = fraction.split_at(end.unwrap_or(fraction.len()));
        digits.get(9..).unwrap_or_default().trim_end_matches('0')
    }

    pub(crate) fn utc(&self) -> Option<DateTime<Utc>> {
        DateTime::parse_from_rfc3339(&self.0)
            .map(|time| time.with_timezone(&Utc))
            .ok()
            .or_else(|| {
                NaiveDateTime::parse_from_str(&self.0, "%Y-%m-%dT%H:%M:%S%.f")
                    .ok()
                    .map(|t| t.and_utc())
            })
    }
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
    /// The beginning of the day in UTC; [`Day::start_in`] gives that of another zone.
    fn from(day: Day) -> Self {
        Self(ecow::eco_format!("{day}T00:00:00Z"))
    }
}

impl From<SystemTime> for Timestamp {
    /// In UTC, with as many digits of the second as it has (none, 3, 6 or 9).
    fn from(time: SystemTime) -> Self {
        Self::from_utc(day::utc(time))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        let instants = match (self.utc(), other.utc()) {
            (Some(one), Some(two)) => one
                .cmp(&two)
                .then_with(|| self.beyond_nanoseconds().cmp(other.beyond_nanoseconds())),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
        instants.then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
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
    fn instants_are_ordered_by_all_their_digits_and_zones() {
        let sorted = [
            "2026-11-19T20:59:59.999999999Z",
            "2026-11-19T21:00:00",
            "2026-11-19T21:00:00Z",
            "2026-11-20T07:00:00+10:00",
            "2026-11-20T08:00:00.0000000+11:00",
            "2026-11-19T21:00:00.000000000000000001Z",
            "2026-11-20T08:00:00.00000000001+11:00",
            "2026-11-19T21:00:00.1Z",
            "2026-11-19T21:00:00.1234567+00:00",
            "2026-11-19T21:00:00.123456789Z",
            "2026-11-19T21:00:00.12345678901Z",
            "2026-11-19T21:00:01Z",
            // What cannot be read.
            "",
            "2026-02-30T00:00:00Z",
            "soon",
        ];
        let times = sorted.map(Timestamp::from);
        for (i, one) in times.iter().enumerate() {
            for (j, two) in times.iter().enumerate() {
                assert_eq!(one.cmp(two), i.cmp(&j), "{one} {two}");
                assert_eq!(one == two, one.cmp(two).is_eq());
            }
        }
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
        let same = UNIX_EPOCH + Duration::from_secs(1_795_132_800);
        for text in ["2026-11-20T00:00:00", "2026-11-20T10:00:00+10:00"] {
            assert_eq!(Timestamp::from(text).to_time(), Some(same));
        }
        assert_eq!(Timestamp::from("yesterday").to_time(), None);
        let before = UNIX_EPOCH - Duration::from_millis(1);
        assert_eq!(Timestamp::from(before).as_str(), "1969-12-31T23:59:59.999Z");
    }
}
