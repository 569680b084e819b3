//! Days and instants in the forms of the wire.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, SecondsFormat, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::TextError;

/// A day of the calendar, ISO 8601 date (yyyy-MM-dd).
///
/// ```
/// use envd_sdk::model::Day;
///
/// let day = Day::parse("2026-11-20")?;
/// assert_eq!(day.year(), 2026);
/// assert!(Day::parse("2026-02-30").is_err());
/// assert_eq!(serde_json::to_string(&day).unwrap(), r#""2026-11-20""#);
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(NaiveDate);

impl Day {
    /// Reads a day in exactly the form yyyy-MM-dd.
    ///
    /// # Errors
    ///
    /// When the text has another form or the calendar has no such day.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        // By hand: chrono also reads `2026-1-2` and `+2026-01-02`, and answers are full of days.
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0, |number, digit| match digit {
                b'0'..=b'9' => Some(number * 10 + u32::from(digit - b'0')),
                _ => None,
            })
        };
        let day = match text.as_bytes() {
            [year @ .., b'-', m1, m2, b'-', d1, d2] if year.len() == 4 => number(year)
                .and_then(|year| i32::try_from(year).ok())
                .zip(number(&[*m1, *m2]).zip(number(&[*d1, *d2])))
                .and_then(|(year, (month, day))| Self::new(year, month, day)),
            _ => None,
        };
        day.ok_or(TextError::new("not an ISO 8601 date (yyyy-MM-dd)"))
    }

    /// A day by its numbers; `None` when the calendar has no such day, or the year is not one of 1 to 9999: the form
    /// yyyy-MM-dd has no others, and the calendar no year 0.
    #[must_use]
    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        let day = NaiveDate::from_ymd_opt(year, month, day)?;
        (1..=9999).contains(&year).then_some(Self(day))
    }

    /// The day at an instant, in UTC. Where the user is, it may be another day already.
    #[must_use]
    pub fn of(time: SystemTime) -> Self {
        Self(utc(time).date_naive())
    }

    /// The year.
    #[must_use]
    pub fn year(self) -> i32 {
        self.0.year()
    }

    /// The day that is this number of days later (or earlier); `None` at the ends of the calendar.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Option<Self> {
        self.0
            .checked_add_signed(chrono::Duration::try_days(days)?)
            .map(Self)
    }

    /// The instant at which the day begins in UTC, for list filters.
    #[must_use]
    pub fn start_utc(self) -> Timestamp {
        Timestamp(format!("{self}T00:00:00Z").into())
    }
}

impl Serialize for Day {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.format("%Y-%m-%d"))
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

/// An instant as it stands on the wire: ISO 8601, with or without a zone. The text is kept, whatever it is.
///
/// ```
/// use envd_sdk::model::{Day, Timestamp};
///
/// let at = Timestamp::from("2022-11-02T03:04:05.1234567+00:00");
/// assert_eq!(at.day_utc(), Day::new(2022, 11, 2));
/// assert_eq!(at.as_str(), "2022-11-02T03:04:05.1234567+00:00");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(SmolStr);

impl Timestamp {
    /// The text as it stands on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The instant; without a zone it is taken as UTC, as GraphQL.NET does (facts A.6). `None` when it cannot be read.
    #[must_use]
    pub fn to_time(&self) -> Option<SystemTime> {
        self.utc().map(Into::into)
    }

    /// The day in UTC.
    #[must_use]
    pub fn day_utc(&self) -> Option<Day> {
        self.utc().map(|time| Day(time.date_naive()))
    }

    fn utc(&self) -> Option<DateTime<Utc>> {
        let with_zone = DateTime::parse_from_rfc3339(&self.0).map(|time| time.with_timezone(&Utc));
        with_zone.ok().or_else(|| {
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
    /// The beginning of the day in UTC.
    fn from(day: Day) -> Self {
        day.start_utc()
    }
}

impl From<SystemTime> for Timestamp {
    /// In UTC, with as many digits of the second as it has (none, 3, 6 or 9).
    fn from(time: SystemTime) -> Self {
        Self(
            utc(time)
                .to_rfc3339_opts(SecondsFormat::AutoSi, true)
                .into(),
        )
    }
}

/// chrono's own conversion panics beyond its calendar, 262,000 years from now.
fn utc(time: SystemTime) -> DateTime<Utc> {
    let since = time.duration_since(UNIX_EPOCH);
    let delta = match &since {
        Ok(after) => TimeDelta::from_std(*after),
        Err(before) => TimeDelta::from_std(before.duration()).map(|delta| -delta),
    };
    let end = if since.is_ok() {
        DateTime::<Utc>::MAX_UTC
    } else {
        DateTime::<Utc>::MIN_UTC
    };
    let time = delta.map(|delta| DateTime::UNIX_EPOCH.checked_add_signed(delta));
    time.ok().flatten().unwrap_or(end)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn only_real_days_in_the_exact_form_are_days() {
        for good in ["2026-11-20", "2024-02-29", "0001-01-01"] {
            assert_eq!(Day::parse(good).unwrap().to_string(), good);
        }
        for bad in [
            "2026-02-30",
            "0000-01-01",
            "2026-1-2",
            "+2026-01-02",
            " 2026-01-02",
            "2026-11-20T00:00:00",
            "20261120",
            "",
            "２０２６-01-01",
        ] {
            assert!(Day::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn instants_are_read_with_and_without_zone() {
        let time = Timestamp::from("2023-02-01T10:00:00Z").to_time();
        assert!(time.is_some());
        assert_eq!(Timestamp::from("2023-02-01T10:00:00").to_time(), time);
        assert_eq!(Timestamp::from("2023-02-01T20:00:00+10:00").to_time(), time);
        assert_eq!(Timestamp::from("yesterday").to_time(), None);
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
        assert_eq!(Timestamp::from(before).as_str(), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn an_instant_beyond_the_calendar_is_its_last_day() {
        if let Some(far) = UNIX_EPOCH.checked_add(Duration::from_secs(1 << 60)) {
            assert_eq!(Day::of(far).plus_days(2), None);
        }
    }
}
