//! The states and territories, with their local day and time.

use std::time::SystemTime;

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime, TimeDelta, Utc, Weekday};

use super::open_enum::closed_enum;

closed_enum! {
    /// A state or territory of Australia.
    ///
    /// ```
    /// use envd_sdk::model::Jurisdiction;
    ///
    /// let state: Jurisdiction = "Qld".parse()?;
    /// assert_eq!((state, state.as_str()), (Jurisdiction::Qld, "QLD"));
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    Jurisdiction, "not a state or territory of Australia" {
        /// Australian Capital Territory.
        Act = "ACT",
        /// New South Wales.
        Nsw = "NSW",
        /// Northern Territory.
        Nt = "NT",
        /// Queensland.
        Qld = "QLD",
        /// South Australia.
        Sa = "SA",
        /// Tasmania.
        Tas = "TAS",
        /// Victoria.
        Vic = "VIC",
        /// Western Australia.
        Wa = "WA",
    }
}

impl From<Jurisdiction> for String {
    fn from(state: Jurisdiction) -> Self {
        state.as_str().to_owned()
    }
}

/// A time zone: a state or territory of Australia with its daylight saving, or a fixed offset from UTC.
///
/// New South Wales, Victoria, Tasmania, the Australian Capital Territory and South Australia observe daylight saving from the
/// first Sunday of October, 02:00 standard time, to the first Sunday of April, 03:00 daylight time. Queensland, Western
/// Australia and the Northern Territory do not. The states have had these common rules since April 2008; for earlier instants,
/// the result may be off by an hour. Places with a different time than their state, such as Broken Hill (South Australian time)
/// and Lord Howe Island, are not covered; use a fixed offset for them.
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use envd_sdk::model::{Day, Jurisdiction, TimeZone};
///
/// // 2026-11-19T21:00:00Z
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_122_000);
/// assert_eq!(Day::of(now), Day::parse("2026-11-19")?);
/// assert_eq!(Day::today_in(Jurisdiction::Nsw, now), Day::parse("2026-11-20")?);
/// assert_eq!(TimeZone::from(Jurisdiction::Nsw).offset_minutes(now), 11 * 60);
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeZone(ZoneKind);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ZoneKind {
    Fixed { minutes: i16 },
    State(Jurisdiction),
}

impl TimeZone {
    /// UTC.
    pub const UTC: Self = Self(ZoneKind::Fixed { minutes: 0 });

    /// A fixed offset, in minutes east of UTC; `None` for a day or more.
    ///
    /// ```
    /// use envd_sdk::model::TimeZone;
    ///
    /// assert!(TimeZone::fixed(10 * 60 + 30).is_some()); // Lord Howe Island in winter.
    /// assert!(TimeZone::fixed(24 * 60).is_none());
    /// ```
    pub fn fixed(minutes: i16) -> Option<Self> {
        (-1440 < minutes && minutes < 1440).then_some(Self(ZoneKind::Fixed { minutes }))
    }

    /// The offset from UTC at an instant, in minutes east.
    pub fn offset_minutes(self, at: SystemTime) -> i16 {
        self.offset(super::day::utc(at))
    }

    /// The day and time at an instant as yyyy-MM-ddTHH:mm:ss without a zone: the format of `declaration.date` (spec 2.3).
    ///
    /// ```
    /// use std::time::{Duration, SystemTime};
    /// use envd_sdk::model::{DeclarationInput, Jurisdiction, TimeZone};
    ///
    /// // 2026-11-19T21:00:00Z
    /// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_122_000);
    /// let zone = TimeZone::from(Jurisdiction::Nsw);
    /// let mut declaration = DeclarationInput::default();
    /// declaration.date = zone.date_time(now).into();
    /// assert_eq!(declaration.date.value().map(String::as_str), Some("2026-11-20T08:00:00"));
    /// ```
    pub fn date_time(self, at: SystemTime) -> String {
        self.local(super::day::utc(at))
            .format("%Y-%m-%dT%H:%M:%S")
            .to_string()
    }

    /// The local date and time in this zone.
    pub(super) fn local(self, at: DateTime<Utc>) -> NaiveDateTime {
        let offset = FixedOffset::east_opt(i32::from(self.offset(at)) * 60);
        let local = offset.and_then(|offset| at.naive_utc().checked_add_offset(offset));
        // OK because only the first and the last hours of the calendar have no local time.
        local
            .filter(|local| (1..=9999).contains(&local.year()))
            .unwrap_or(at.naive_utc())
    }

    /// The instant at which a day begins. No zone in the table changes its offset at midnight.
    pub(super) fn start_of(self, day: NaiveDate) -> DateTime<Utc> {
        let midnight = day.and_time(chrono::NaiveTime::MIN).and_utc();
        let before = |minutes: i16| {
            let offset = TimeDelta::minutes(minutes.into());
            midnight.checked_sub_signed(offset).unwrap_or(midnight)
        };
        // With standard time, the result is at most an hour late, and no change falls within that hour.
        before(self.offset(before(self.standard())))
    }

    fn standard(self) -> i16 {
        match self.0 {
            ZoneKind::Fixed { minutes } => minutes,
            ZoneKind::State(state) => match state {
                Jurisdiction::Wa => 8 * 60,
                Jurisdiction::Nt | Jurisdiction::Sa => 9 * 60 + 30,
                Jurisdiction::Act
                | Jurisdiction::Nsw
                | Jurisdiction::Qld
                | Jurisdiction::Tas
                | Jurisdiction::Vic => 10 * 60,
            },
        }
    }

    fn offset(self, at: DateTime<Utc>) -> i16 {
        let standard = self.standard();
        let saves = match self.0 {
            ZoneKind::Fixed { .. } => false,
            ZoneKind::State(state) => !matches!(
                state,
                Jurisdiction::Nt | Jurisdiction::Qld | Jurisdiction::Wa
            ),
        };
        // Both changes occur at 02:00 standard time.
        let local = at
            .naive_utc()
            .checked_add_signed(TimeDelta::minutes(standard.into()));
        let daylight = saves && local.is_some_and(is_daylight);
        standard + if daylight { 60 } else { 0 }
    }
}

/// Whether daylight saving applies at this standard time.
fn is_daylight(standard: NaiveDateTime) -> bool {
    let change = |month| {
        NaiveDate::from_weekday_of_month_opt(standard.year(), month, Weekday::Sun, 1)
            .and_then(|day| day.and_hms_opt(2, 0, 0))
    };
    let april = change(4);
    let october = change(10);
    april.is_some_and(|end| standard < end) || october.is_some_and(|begin| standard >= begin)
}

impl From<Jurisdiction> for TimeZone {
    fn from(state: Jurisdiction) -> Self {
        Self(ZoneKind::State(state))
    }
}

#[cfg(test)]
mod tests {
    use test_support::script::rows;

    use super::super::{Day, Timestamp};
    use super::*;

    const SECOND: std::time::Duration = std::time::Duration::from_secs(1);

    fn at(text: &str) -> SystemTime {
        Timestamp::from(text).to_time().unwrap()
    }

    fn offset(state: Jurisdiction, at: &str) -> i16 {
        TimeZone::from(state).offset_minutes(self::at(at))
    }

    /// The dates are those published by the governments; NSW: legislation, Standard Time Act 1987 and its regulation.
    #[test]
    fn states_are_read_and_written_by_their_abbreviation() {
        for state in Jurisdiction::KNOWN {
            assert_eq!(state.to_string().parse(), Ok(*state));
            assert_eq!(state.as_str().to_lowercase().parse(), Ok(*state));
        }
        assert_eq!(" qld ".parse(), Ok(Jurisdiction::Qld));
        for bad in ["", "NZ", "Queensland"] {
            assert!(bad.parse::<Jurisdiction>().is_err(), "{bad}");
        }
    }

    #[test]
    fn daylight_is_saved_from_october_to_april_where_the_law_says_so() {
        // 2026: from 2025-10-05 to 2026-04-05, and from 2026-10-04 to 2027-04-04, at 02:00 standard time.
        for (state, standard, change) in [
            (Jurisdiction::Nsw, 600, "16:00:00"),
            (Jurisdiction::Vic, 600, "16:00:00"),
            (Jurisdiction::Tas, 600, "16:00:00"),
            (Jurisdiction::Act, 600, "16:00:00"),
            (Jurisdiction::Sa, 570, "16:30:00"),
        ] {
            for (eve, before, after) in [
                ("2025-10-04", standard, standard + 60),
                ("2026-04-04", standard + 60, standard),
                ("2026-10-03", standard, standard + 60),
                ("2027-04-03", standard + 60, standard),
                // The first of the month may be a Sunday.
                ("2028-09-30", standard, standard + 60),
                ("2029-03-31", standard + 60, standard),
                ("2008-04-05", standard + 60, standard),
            ] {
                let change = at(&format!("{eve}T{change}Z"));
                let offsets =
                    [change - SECOND, change].map(|at| TimeZone::from(state).offset_minutes(at));
                assert_eq!(offsets, [before, after], "{state:?} {eve}");
            }
        }
        for time in ["2026-01-15T00:00:00Z", "2026-07-15T00:00:00Z"] {
            assert_eq!(offset(Jurisdiction::Qld, time), 600);
            assert_eq!(offset(Jurisdiction::Nt, time), 570);
            assert_eq!(offset(Jurisdiction::Wa, time), 480);
        }
    }

    #[test]
    fn today_is_the_day_where_the_user_is() {
        for row in rows(
            "
            # 08:00 in Sydney, 05:00 in Perth.
            NSW  | 2026-11-19T21:00:00Z | 2026-11-20
            WA   | 2026-11-19T21:00:00Z | 2026-11-20
            0    | 2026-11-19T21:00:00Z | 2026-11-19
            # Just before and after midnight in daylight saving.
            VIC  | 2026-11-20T12:59:59Z | 2026-11-20
            VIC  | 2026-11-20T13:00:00Z | 2026-11-21
            QLD  | 2026-11-20T13:59:59Z | 2026-11-20
            -300 | 2026-11-20T04:59:59Z | 2026-11-19
            ",
        ) {
            let zone = match row[0].parse::<Jurisdiction>() {
                Ok(state) => TimeZone::from(state),
                Err(_) => TimeZone::fixed(row[0].parse().unwrap()).unwrap(),
            };
            let today = Day::today_in(zone, at(row[1]));
            assert_eq!(today.to_string(), row[2], "{row:?}");
        }
        assert_eq!(
            Day::of(at("2026-11-19T21:00:00Z")).to_string(),
            "2026-11-19"
        );
    }

    #[test]
    fn every_day_begins_at_its_first_instant() {
        let states = Jurisdiction::KNOWN
            .iter()
            .map(|state| TimeZone::from(*state));
        let fixed = [-1439, -300, 0, 345, 630, 1439].into_iter();
        for zone in states.chain(fixed.filter_map(TimeZone::fixed)) {
            for number in 0..800 {
                let day = Day::new(2026, 3, 1).unwrap().plus_days(number).unwrap();
                let start = day.start_in(zone).to_time().unwrap();
                let days = [start, start - SECOND].map(|at| Day::today_in(zone, at));
                assert_eq!(days, [day, day.plus_days(-1).unwrap()], "{zone:?}");
            }
        }
        let day = Day::parse("2026-11-20").unwrap();
        for (state, start) in [
            (Jurisdiction::Nsw, "2026-11-19T13:00:00Z"),
            (Jurisdiction::Sa, "2026-11-19T13:30:00Z"),
        ] {
            assert_eq!(day.start_in(state).as_str(), start);
        }
    }

    #[test]
    fn the_ends_of_the_calendar_have_no_other_day() {
        let east = TimeZone::fixed(1439).unwrap();
        // On Windows time ends in the year 30828.
        let after = |time| SystemTime::UNIX_EPOCH.checked_add(time);
        let end = after(SECOND * (1 << 30) * (1 << 30)).or(after(SECOND * 10_000 * 80_000_000));
        let last = Day::today_in(east, end.unwrap());
        assert_eq!(last.plus_days(2), None);
    }
}
