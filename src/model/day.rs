//! Days in the form of the wire.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::{TextError, TimeZone, Timestamp};

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
///
/// With the features `chrono04`, `jiff02` and `time03` it comes from and becomes a date of the crate of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Day(NaiveDate);

impl Day {
    /// Reads a day in exactly the form yyyy-MM-dd.
    ///
    /// # Errors
    ///
    /// When the text has another form or the calendar has no such day.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        // chrono would also accept `2026-1-2` and `+2026-01-02`.
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

    /// The day that a person means who types it: the year last or first, and the day before the month where the year is last; the
    /// month in digits or by its English name, which may come first, and two digits of a year for one from 2000 on. `None` for
    /// another text, for a day that the calendar does not have, and for a day of the week on which it does not fall.
    ///
    /// ```
    /// use envd_sdk::model::Day;
    ///
    /// let day = Day::parse("2026-11-21")?;
    /// for typed in ["21/11/2026", "21.11.26", "Sat 21st Nov 2026", "2026-11-21"] {
    ///     assert_eq!(Day::from_typed(typed), Some(day));
    /// }
    /// assert_eq!(Day::from_typed("30/2/2026"), None);
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    pub fn from_typed(text: &str) -> Option<Self> {
        let mut parts = parts_of(text)?;
        let mut places = parts.iter().enumerate();
        let weekday = places.find_map(|(at, part)| Some((at, weekday_named(part)?)));
        let weekday = weekday.map(|(at, weekday)| {
            parts.remove(at);
            weekday
        });
        let [first, second, third] = parts[..] else {
            return None;
        };
        let (year, month, day) = match first.len() {
            _ if month_named(first).is_some() => (third, first, second),
            4 => (first, second, third),
            _ => (third, second, first),
        };
        let century = match year.len() {
            2 => 2000,
            4 => 0,
            _ => return None,
        };
        let year = century + year.parse::<i32>().ok()?;
        let month = month.parse().ok().or_else(|| month_named(month))?;
        let day = Self::new(year, month, day.parse().ok()?)?;
        // One of the two is a mistake.
        weekday
            .is_none_or(|weekday| day.0.weekday().num_days_from_monday() == weekday)
            .then_some(day)
    }

    /// A day by its numbers; `None` when the calendar has no such day, or the year is not one of 1 to 9999: the form
    /// yyyy-MM-dd has no others, and the calendar no year 0.
    pub fn new(year: i32, month: u32, day: u32) -> Option<Self> {
        Self::from_naive(NaiveDate::from_ymd_opt(year, month, day)?)
    }

    /// The day at an instant, in UTC.
    ///
    /// In Australia the next day begins 8 to 11 hours earlier, so a declaration that is dated today there would be in the
    /// future: [`today_in`](Self::today_in) gives the day where the user is.
    pub fn of(time: SystemTime) -> Self {
        Self::today_in(TimeZone::UTC, time)
    }

    /// The day in a state or another zone, when it is now this instant.
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use envd_sdk::model::{Day, Jurisdiction, Pic};
    ///
    /// // 2026-11-19T21:00:00Z, 08:00 of the next day in Sydney. An application takes the time of its
    /// // system.
    /// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_122_000);
    /// assert_eq!(Day::today_in(Jurisdiction::Nsw, now).to_string(), "2026-11-20");
    ///
    /// // The state may come from the PIC of the origin.
    /// let state = Pic::parse("QAZZ7777")?.jurisdiction().ok_or("no state")?;
    /// assert_eq!(Day::today_in(state, now).to_string(), "2026-11-20");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn today_in(zone: impl Into<TimeZone>, now: SystemTime) -> Self {
        Self(zone.into().local(utc(now)).date())
    }

    /// The year.
    pub fn year(self) -> i32 {
        self.0.year()
    }

    /// The month, from 1 to 12.
    pub fn month(self) -> u32 {
        self.0.month()
    }

    /// The day of the month, from 1.
    pub fn day_of_month(self) -> u32 {
        self.0.day()
    }

    /// The day that is this number of days later (or earlier); `None` at the ends of the calendar.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Option<Self> {
        let day = self.0.checked_add_signed(TimeDelta::try_days(days)?)?;
        Self::from_naive(day)
    }

    /// The instant at which the day begins in a state or another zone, for list filters.
    ///
    /// ```
    /// use envd_sdk::model::{Day, Jurisdiction};
    ///
    /// let day = Day::parse("2026-11-20")?;
    /// assert_eq!(day.start_in(Jurisdiction::Nsw).as_str(), "2026-11-19T13:00:00Z");
    /// assert_eq!(day.start_in(Jurisdiction::Qld).as_str(), "2026-11-19T14:00:00Z");
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    pub fn start_in(self, zone: impl Into<TimeZone>) -> Timestamp {
        Timestamp::from_utc(zone.into().start_of(self.to_naive()))
    }

    pub(crate) fn to_naive(self) -> NaiveDate {
        self.0
    }

    pub(crate) fn from_naive(day: NaiveDate) -> Option<Self> {
        (1..=9999).contains(&day.year()).then_some(Self(day))
    }
}

/// The numbers and words of a day; not the words between them, nor the ending of an ordinal number, as in "21st of November".
fn parts_of(text: &str) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut is_behind_number = false;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        if !is_number && !first.is_alphabetic() {
            // Digits of other scripts are no separators.
            if first.is_alphanumeric() {
                return None;
            }
            rest = rest.get(first.len_utf8()..)?;
            is_behind_number = false;
            continue;
        }
        let is_end = |it: char| {
            if is_number {
                !it.is_ascii_digit()
            } else {
                !it.is_alphabetic()
            }
        };
        let (part, behind) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
        rest = behind;
        let lower = part.to_lowercase();
        let is_ordinal = is_behind_number && ["st", "nd", "rd", "th"].contains(&lower.as_str());
        if !is_ordinal && !["of", "the"].contains(&lower.as_str()) {
            parts.push(part);
        }
        is_behind_number = is_number;
    }
    Some(parts)
}

/// The day of the week with an English name, of which the first three letters will do, from 0 for Monday.
fn weekday_named(name: &str) -> Option<u32> {
    let days = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    numbered(0, &days, name)
}

/// The month with an English name, of which the first three letters will do.
fn month_named(name: &str) -> Option<u32> {
    let months = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    numbered(1, &months, name)
}

/// The number of the name that a text begins, by three letters at least.
fn numbered(first: u32, names: &[&str], text: &str) -> Option<u32> {
    let text = text.to_lowercase();
    let mut numbers = (first..).zip(names);
    let (number, _) = numbers.find(|(_, name)| text.len() > 2 && name.starts_with(&text))?;
    Some(number)
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

impl std::str::FromStr for Day {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::parse(text)
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

/// An instant, or the nearest one that can be written. chrono's own conversion panics 262,000 years from now.
pub(super) fn utc(time: SystemTime) -> DateTime<Utc> {
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
    within_calendar(time.ok().flatten().unwrap_or(end))
}

/// The instant, or the nearest one of the years from 1 to 9999, which the forms of the wire have.
pub(super) fn within_calendar(time: DateTime<Utc>) -> DateTime<Utc> {
    let [first, last] = [-62_135_596_800, 253_402_300_799];
    match time.timestamp() {
        seconds if seconds < first => DateTime::from_timestamp(first, 0),
        seconds if seconds > last => DateTime::from_timestamp(last, 999_999_999),
        _ => Some(time),
    }
    // OK because chrono has both instants.
    .unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_real_days_in_the_exact_form_are_days() {
        for good in ["2026-11-20", "2024-02-29", "0001-01-01"] {
            assert_eq!(Day::parse(good).unwrap().to_string(), good);
        }
        for bad in "2026-02-30|0000-01-01|2026-1-2|+2026-01-02| 2026-01-02|2026-11-20T00:00:00|20261120||２０２６-01-01"
            .split('|')
        {
            assert!(Day::parse(bad).is_err(), "{bad}");
        }
    }
}
