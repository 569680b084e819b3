//! Conversions of days and timestamps from and to the types of chrono.
//!
//! ```
//! use chrono::{DateTime, NaiveDate, Utc};
//! use envd_sdk::model::{Day, Timestamp};
//!
//! let date = NaiveDate::from(Day::parse("2026-11-20")?);
//! assert_eq!(Day::try_from(date)?.to_string(), "2026-11-20");
//!
//! let time = DateTime::<Utc>::try_from(&Timestamp::from("2026-11-20T08:00:00+11:00"))?;
//! assert_eq!(Timestamp::from(time).as_str(), "2026-11-19T21:00:00Z");
//! # Ok::<(), envd_sdk::model::TextError>(())
//! ```

use chrono::{DateTime, NaiveDate, TimeZone, Utc};

use crate::model::{Day, TextError, Timestamp};

impl TryFrom<NaiveDate> for Day {
    type Error = TextError;

    /// # Errors
    ///
    /// If the year is outside 1 to 9999.
    fn try_from(date: NaiveDate) -> Result<Self, TextError> {
        Self::from_naive(date).ok_or(TextError::new("a year beyond those from 1 to 9999"))
    }
}

impl From<Day> for NaiveDate {
    fn from(day: Day) -> Self {
        day.to_naive()
    }
}

impl<Z: TimeZone> From<DateTime<Z>> for Timestamp {
    /// In UTC, with as many fractional digits as it has (none, 3, 6 or 9).
    fn from(time: DateTime<Z>) -> Self {
        Self::from_utc(time.to_utc())
    }
}

impl TryFrom<&Timestamp> for DateTime<Utc> {
    type Error = TextError;

    /// Without a zone it is interpreted as UTC. Digits beyond nanoseconds are truncated.
    fn try_from(time: &Timestamp) -> Result<Self, TextError> {
        time.utc()
            .ok_or(TextError::new("not an ISO 8601 date and time"))
    }
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;
    use crate::tests::dates::check_dates;

    #[test]
    fn days_and_instants_come_back_as_they_were() {
        let day = |text: &str| {
            let day = Day::parse(text).unwrap();
            let date = NaiveDate::from(day);
            assert_eq!(Day::try_from(date), Ok(day));
            date.to_string()
        };
        check_dates(day, |text| {
            let time = DateTime::<Utc>::try_from(&Timestamp::from(text)).ok()?;
            Some(Timestamp::from(time).as_str().to_owned())
        });
        assert!(Day::try_from(NaiveDate::MAX).is_err());
        let time = DateTime::<Utc>::UNIX_EPOCH;
        let sydney = FixedOffset::east_opt(11 * 3600).unwrap();
        assert_eq!(
            Timestamp::from(time.with_timezone(&sydney)),
            Timestamp::from(time)
        );
    }
}
