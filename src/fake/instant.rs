//! Instants in the form that the service writes.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeDelta, Utc};

/// `yyyy-MM-ddTHH:mm:ss.fffffff+00:00`, seven fraction digits (as in `location_4.4.0`, `guide::sources`).
pub(super) fn wire(time: SystemTime) -> String {
    let time = utc(time);
    let ticks = time.timestamp_subsec_nanos() / 100;
    format!("{}.{ticks:07}+00:00", time.format("%Y-%m-%dT%H:%M:%S"))
}

/// The day at UTC+11:00, the first of Australia's zones to begin one: what is dated today anywhere in the country is not in
/// the future. assumed
pub(super) fn day(time: SystemTime) -> NaiveDate {
    let summer = TimeDelta::hours(11);
    let local = utc(time).naive_utc().checked_add_signed(summer);
    local.map_or(NaiveDate::MAX, |local| local.date())
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
    let has_form = text.len() == 10 && day.format("%Y-%m-%d").to_string() == text;
    (has_form && day.year() > 0).then_some(day)
}

/// `yyyy-MM-ddTHH:mm:ss`, and nothing else.
pub(super) fn is_date_time(text: &str) -> bool {
    let parts = text.split_once('T');
    parts.is_some_and(|(day, time)| parse_day(day).is_some() && is_clock(time, "99:99:99"))
}

/// The day of a day with a time: `HH:mm`, perhaps with seconds and a fraction of them, perhaps with a zone. assumed
pub(super) fn day_of_date_time(text: &str) -> Option<NaiveDate> {
    let (day, time) = text.split_once('T')?;
    let offset = time.len().checked_sub("+99:99".len());
    let offset = offset.filter(|at| {
        time.get(*at..)
            .and_then(|zone| zone.strip_prefix(['+', '-']))
            .is_some_and(|zone| is_clock(zone, "99:99"))
    });
    let local = match offset {
        Some(at) => &time[..at],
        None => time.strip_suffix('Z').unwrap_or(time),
    };
    let is_time = match local.split_once('.') {
        Some((clock, fraction)) => {
            let is_fraction = fraction.bytes().all(|byte| byte.is_ascii_digit());
            is_fraction && !fraction.is_empty() && is_clock(clock, "99:99:99")
        }
        None => is_clock(local, "99:99") || is_clock(local, "99:99:99"),
    };
    parse_day(day).filter(|_| is_time)
}

/// Hours to 23, minutes and seconds to 59, in one form. Chrono would also read second 60, which only a leap second has.
fn is_clock(text: &str, form: &str) -> bool {
    let digits_as_nines = text.bytes().map(|byte| match byte {
        b'0'..=b'9' => b'9',
        other => other,
    });
    digits_as_nines.eq(form.bytes())
        && text
            .split(':')
            .zip(["24", "60", "60"])
            .all(|(n, end)| n < end)
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
            "+12026-02-03",
            "0000-01-01",
        ] {
            assert!(parse_day(bad).is_none(), "{bad}");
        }
        assert!(is_date_time("2026-11-20T09:45:00"));
        for bad in [
            "2026-11-20",
            "2026-11-20T09:45",
            "2026-11-20T09:45:00Z",
            "2026-11-20 09:45:00",
            "+12026-11-20T09:45:00",
            "0000-01-01T00:00:00",
            // A leap second needs a known time zone (RFC 3339, section 5.7), which the form of 2.3 lacks.
            "2026-11-20T09:45:60",
            "2026-01-29T14:00:60",
            "2016-12-31T23:59:60",
        ] {
            assert!(!is_date_time(bad), "{bad}");
        }
    }
}
