//! Conversions of days and timestamps from and to the types of the crate time.
//!
//! ```
//! use envd_sdk::model::{Day, Timestamp};
//!
//! let date = time::Date::try_from(Day::parse("2026-11-20")?)?;
//! assert_eq!(Day::try_from(date)?.to_string(), "2026-11-20");
//!
//! let time = time::OffsetDateTime::try_from(&Timestamp::from("2026-11-20T08:00:00+11:00"))?;
//! assert_eq!(Timestamp::from(time).as_str(), "2026-11-19T21:00:00Z");
//! # Ok::<(), envd_sdk::model::TextError>(())
//! ```

use time::{Date, OffsetDateTime};

use crate::model::{Day, TextError, Timestamp};

const BEYOND: TextError = TextError::new("a year beyond the other calendar");

impl TryFrom<Date> for Day {
    type Error = TextError;

    /// # Errors
    ///
    /// If the year is outside 1 to 9999.
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
    /// If the year is above 9999.
    fn try_from(day: Day) -> Result<Self, TextError> {
        let time = OffsetDateTime::try_from(&Timestamp::from(day)).map_err(|_| BEYOND)?;
        Ok(time.date())
    }
}

impl From<OffsetDateTime> for Timestamp {
    /// In UTC, with as many fractional digits as it has (none, 3, 6 or 9).
    fn from(time: OffsetDateTime) -> Self {
        Self::from_nanoseconds(time.unix_timestamp_nanos())
    }
}

impl TryFrom<&Timestamp> for OffsetDateTime {
    type Error = TextError;

    /// Without a zone it is interpreted as UTC. Digits beyond nanoseconds are truncated.
    fn try_from(time: &Timestamp) -> Result<Self, TextError> {
        let time = time.nanoseconds();
        let time = time.ok_or(TextError::new("not an ISO 8601 date and time"))?;
        Self::from_unix_timestamp_nanos(time).map_err(|_| BEYOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::dates::check_dates;

    #[test]
    fn days_and_instants_come_back_as_they_were() {
        let day = |text: &str| {
            let day = Day::parse(text).unwrap();
            let date = Date::try_from(day).unwrap();
            assert_eq!(Day::try_from(date), Ok(day));
            date.to_string()
        };
        check_dates(day, |text| {
            let time = OffsetDateTime::try_from(&Timestamp::from(text)).ok()?;
            Some(Timestamp::from(time).as_str().to_owned())
        });
    }
}
