//! Conversions of days and timestamps from and to the types of jiff.
//!
//! ```
//! use envd_sdk::model::{Day, Timestamp};
//!
//! let date = jiff::civil::Date::try_from(Day::parse("2026-11-20")?)?;
//! assert_eq!(Day::try_from(date)?.to_string(), "2026-11-20");
//!
//! let time = jiff::Timestamp::try_from(&Timestamp::from("2026-11-20T08:00:00+11:00"))?;
//! assert_eq!(Timestamp::from(time).as_str(), "2026-11-19T21:00:00Z");
//! # Ok::<(), envd_sdk::model::TextError>(())
//! ```

use jiff::civil::Date;

use crate::model::{Day, TextError, Timestamp};

const BEYOND: TextError = TextError::new("a year beyond the other calendar");

impl TryFrom<Date> for Day {
    type Error = TextError;

    /// # Errors
    ///
    /// If the year is outside 1 to 9999.
    fn try_from(date: Date) -> Result<Self, TextError> {
        Self::parse(&date.to_string()).map_err(|_| BEYOND)
    }
}

impl TryFrom<Day> for Date {
    type Error = TextError;

    /// # Errors
    ///
    /// If the year is above 9999.
    fn try_from(day: Day) -> Result<Self, TextError> {
        day.to_string().parse().map_err(|_| BEYOND)
    }
}

impl From<jiff::Timestamp> for Timestamp {
    /// In UTC, with as many fractional digits as it has (none, 3, 6 or 9).
    fn from(time: jiff::Timestamp) -> Self {
        Self::from_nanoseconds(time.as_nanosecond())
    }
}

impl TryFrom<&Timestamp> for jiff::Timestamp {
    type Error = TextError;

    /// Without a zone it is interpreted as UTC. Digits beyond nanoseconds are truncated.
    fn try_from(time: &Timestamp) -> Result<Self, TextError> {
        let time = time.nanoseconds();
        let time = time.ok_or(TextError::new("not an ISO 8601 date and time"))?;
        Self::from_nanosecond(time).map_err(|_| BEYOND)
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
            let time = jiff::Timestamp::try_from(&Timestamp::from(text)).ok()?;
            Some(Timestamp::from(time).as_str().to_owned())
        });
        assert!(Day::try_from(Date::MIN).is_err());
        let last = Timestamp::from(jiff::Timestamp::MAX);
        assert!(last.as_str().starts_with("9999-12-30T"));
    }
}
