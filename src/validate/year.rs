//! The year bounds of answers (spec 2.6: minYear, maxYear).

use super::Expected;
use super::format::is_clock;
use crate::model::Day;

/// The bounds set by the validators of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Years {
    pub(super) min: Option<i32>,
    pub(super) max: Option<i32>,
    /// `maxYear` with the parameter `now`: no date in the future.
    pub(super) not_future: bool,
}

impl Years {
    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The stricter bound on each side.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            min: self.min.max(other.min),
            max: self.max.into_iter().chain(other.max).min(),
            not_future: self.not_future || other.not_future,
        }
    }

    pub(super) fn expected(self, today: Day) -> Expected {
        Expected::Years {
            from: self.min,
            to: self.max,
            until: self.not_future.then_some(today),
        }
    }

    /// Whether an answer breaks a bound; unreadable answers break every bound.
    pub(super) fn broken_by(self, answer: &str, today: Day) -> bool {
        !self.is_none()
            && first_day(answer).is_none_or(|day| {
                self.min.is_some_and(|min| day.year() < min)
                    || self.max.is_some_and(|max| day.year() > max)
                    || self.not_future && day > today
            })
    }
}

/// The first day of a year (yyyy), month (yyyy-MM) or day (yyyy-MM-dd, optionally with a time). assumed: the formats.
fn first_day(answer: &str) -> Option<Day> {
    let number = |text: &str| {
        let is_number = text.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| text.parse::<u32>().ok()).flatten()
    };
    match answer.len() {
        4 => Day::new(i32::try_from(number(answer)?).ok()?, 1, 1),
        7 => {
            let (year, month) = answer.split_once('-').filter(|(year, _)| year.len() == 4)?;
            Day::new(i32::try_from(number(year)?).ok()?, number(month)?, 1)
        }
        10 => Day::parse(answer).ok(),
        _ => {
            let (day, time) = answer.split_once('T')?;
            is_time(time).then(|| Day::parse(day).ok()).flatten()
        }
    }
}

/// HH:mm, optionally with seconds, a fraction of a second, and a zone. assumed
fn is_time(text: &str) -> bool {
    let (time, zone) = match text.strip_suffix('Z') {
        Some(time) => (time, None),
        None => match text.split_once(['+', '-']) {
            Some((time, zone)) => (time, Some(zone)),
            None => (text, None),
        },
    };
    let (clock, fraction) = match time.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (time, None),
    };
    let is_fraction = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_short = fraction.is_none() && is_clock(clock, &[24, 60]);
    (is_short || is_clock(clock, &[24, 60, 60]) && fraction.is_none_or(is_fraction))
        && zone.is_none_or(|zone| is_clock(zone, &[24, 60]))
}
