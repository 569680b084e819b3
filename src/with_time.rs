//! Days and timestamps from and to the types of the crate time.
//!
//! ```
//! use envd_sdk::model::{Day, Timestamp};
//!
//! let date = time::Date::try_from(Day::parse("2026-11-20")?)?;
//! assert_eq!(Day::try_from(date)?.to_string(), "2026-11-20");
//!
//! let time = time::OffsetDateTime::try_from(&Timestamp::from("2026-11-20T08:00:00+11:00"))?;
//! assert_eq!(Timestamp::try_from(time)?.as_str(), "2026-11-19T21:00:00Z");
//! # Ok::<(), envd_sdk::model::TextError>(())
//! ```

use chrono::DateTime;
use time::{Date, Month, OffsetDateTime};

use crate::model::{Day, TextError, Timestamp};

const BEYOND: TextError = TextError::new("a year beyond the other calendar");

impl TryFrom<Date> for Day {
    type Error = TextError;

    /// # Errors
    ///
    /// When the year is none from 1 to 9999.
    fn try_from(date: Date) -> Result<Self, TextError> {
        let day = Self::new(
            date.year(),
            u8::from(date.month()).into(),
            date.day().into(),
        );
        day.ok_or(BEYOND)
    }
}

impl TryFrom<Day> for Date {
    type Error = TextError;

    /// # Errors
    ///
    /// When the year is beyond 9999.
    fn try_from(day: Day) -> Result<Self, TextError> {
        let [month, of_month] =
            [day.month(), day.day_of_month()].map(|number| u8::try_from(number).ok());
        let month = month.and_then(|month| Month::try_from(month).ok());
        let date = month.zip(of_month);
        date.and_then(|(month, of_month)| {
            Self::from_calendar_date(day.year(), month, of_month).ok()
        })
        .ok_or(BEYOND)
    }
}

impl TryFrom<OffsetDateTime> for Timestamp {
    type Error = TextError;

    /// In UTC, with as many digits of the second as it has (none, 3, 6 or 9).
    ///
    /// # Errors
    ///
    /// When the year is beyond the calendar of chrono, which the crate has with its feature `large-dates` only.
    fn try_from(time: OffsetDateTime) -> Result<Self, TextError> {
        let instant = DateTime::from_timestamp(time.unix_timestamp(), time.nanosecond());
        instant.map(Self::from_utc).ok_or(BEYOND)
    }
}

impl TryFrom<&Timestamp> for OffsetDateTime {
    type Error = TextError;

    /// Without a zone it is taken as UTC; digits beyond the nanosecond are cut.
    fn try_from(time: &Timestamp) -> Result<Self, TextError> {
        let time = time
            .utc()
            .ok_or(TextError::new("not an ISO 8601 date and time"))?;
        let nanoseconds = i128::from(time.timestamp()) * 1_000_000_000
            + i128::from(time.timestamp_subsec_nanos());
        Self::from_unix_timestamp_nanos(nanoseconds).map_err(|_| BEYOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_instants_come_back_as_they_were() {
        for text in ["0001-01-01", "2024-02-29", "9999-12-31"] {
            let day = Day::parse(text).unwrap();
            let date = Date::try_from(day).unwrap();
            assert_eq!(
                (date.year(), u32::from(date.day())),
                (day.year(), day.day_of_month())
            );
            assert_eq!(Day::try_from(date), Ok(day));
        }
        for (text, utc) in [
            ("2026-11-20T08:00:00+11:00", "2026-11-19T21:00:00Z"),
            (
                "2022-11-02T03:04:05.1234567+00:00",
                "2022-11-02T03:04:05.123456700Z",
            ),
            ("1969-12-31T23:59:59.5", "1969-12-31T23:59:59.500Z"),
        ] {
            let time = OffsetDateTime::try_from(&Timestamp::from(text)).unwrap();
            assert_eq!(Timestamp::try_from(time).unwrap().as_str(), utc);
        }
        assert!(OffsetDateTime::try_from(&Timestamp::from("soon")).is_err());
    }
}
