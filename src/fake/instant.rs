//! Instants in the form that the service writes.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Utc};

/// `yyyy-MM-ddTHH:mm:ss.fffffff+00:00`, seven fraction digits (facts A.6).
pub(super) fn wire(time: SystemTime) -> String {
    let time = utc(time);
    let ticks = time.timestamp_subsec_nanos() / 100;
    format!("{}.{ticks:07}+00:00", time.format("%Y-%m-%dT%H:%M:%S"))
}

/// The day in UTC.
pub(super) fn day(time: SystemTime) -> NaiveDate {
    utc(time).date_naive()
}

/// Seconds since 1970, as in the claims of a token.
pub(super) fn epoch_seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Reads what a caller may send for an instant: with a zone, without one (taken as UTC), or a bare day.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let time = DateTime::parse_from_rfc3339(text)
        .map(|time| time.with_timezone(&Utc))
        .or_else(|_| {
            NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").map(|t| t.and_utc())
        })
        .or_else(|_| {
            NaiveDate::parse_from_str(text, "%Y-%m-%d")
                .map(|day| day.and_time(chrono::NaiveTime::MIN).and_utc())
        })
        .ok()?;
    let seconds = u64::try_from(time.timestamp()).ok()?;
    let since = Duration::new(seconds, time.timestamp_subsec_nanos().min(999_999_999));
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// `yyyy-MM-dd`, and nothing else.
pub(super) fn parse_day(text: &str) -> Option<NaiveDate> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    (day.format("%Y-%m-%d").to_string() == text && day.year() > 0).then_some(day)
}

/// `yyyy-MM-ddTHH:mm:ss`, and nothing else.
pub(super) fn is_date_time(text: &str) -> bool {
    const FORM: &str = "%Y-%m-%dT%H:%M:%S";
    NaiveDateTime::parse_from_str(text, FORM)
        .is_ok_and(|time| time.format(FORM).to_string() == text && time.year() > 0)
}

fn utc(time: SystemTime) -> DateTime<Utc> {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    DateTime::from_timestamp(seconds, since.subsec_nanos()).unwrap_or(DateTime::<Utc>::MAX_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_carry_seven_fraction_digits() {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_795_000_000, 123_456_789);
        assert_eq!(wire(time), "2026-11-18T11:06:40.1234567+00:00");
    }

    #[test]
    fn instants_are_read_with_and_without_a_zone() {
        let noon = parse("2026-11-20T12:00:00Z").unwrap();
        for same in [
            "2026-11-20T12:00:00",
            "2026-11-20T22:00:00+10:00",
            "2026-11-20T12:00:00.0000000+00:00",
        ] {
            assert_eq!(parse(same), Some(noon), "{same}");
        }
        assert_eq!(parse("2026-11-20"), parse("2026-11-20T00:00:00Z"));
        assert_eq!(parse("yesterday"), None);
    }

    #[test]
    fn days_and_times_have_one_form_only() {
        assert!(parse_day("2024-02-29").is_some());
        for bad in [
            "2026-02-30",
            "2026-2-3",
            "20260203",
            " 2026-02-03",
            "+2026-02-03",
        ] {
            assert!(parse_day(bad).is_none(), "{bad}");
        }
        assert!(is_date_time("2026-11-20T09:45:00"));
        for bad in [
            "2026-11-20",
            "2026-11-20T09:45",
            "2026-11-20T09:45:00Z",
            "2026-11-20 09:45:00",
        ] {
            assert!(!is_date_time(bad), "{bad}");
        }
    }
}
