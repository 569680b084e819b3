//! Days and instants in their wire formats.

use std::time::SystemTime;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike, Utc};

/// Clamped to the years of chrono, whose own conversion panics beyond them. An instant before 1970 counts as 1970.
fn utc(time: SystemTime) -> DateTime<Utc> {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    let since = TimeDelta::from_std(since.unwrap_or_default()).unwrap_or(TimeDelta::MAX);
    let time = DateTime::UNIX_EPOCH.checked_add_signed(since);
    time.unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// `yyyy-MM-ddTHH:mm:ss.fffffff+00:00`, with seven fractional digits (as in `location_4.4.0`, `guide::sources`).
pub(super) fn wire(time: SystemTime) -> String {
    let time = utc(time);
    let ticks = time.timestamp_subsec_nanos() / 100;
    format!("{}.{ticks:07}+00:00", time.format("%Y-%m-%dT%H:%M:%S"))
}

/// The day at UTC+11:00, the first Australian time zone to start a day: today's date anywhere in the country is then never in
/// the future. assumed
pub(super) fn day(time: SystemTime) -> NaiveDate {
    let time = utc(time);
    let local = time.checked_add_signed(TimeDelta::hours(11));
    local.unwrap_or(time).date_naive()
}

/// Seconds since 1970, as in the claims of a token.
pub(super) fn epoch_seconds(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Parses an instant with or without a zone (UTC if missing), or a day alone.
pub(super) fn parse(text: &str) -> Option<DateTime<Utc>> {
    let zoned = DateTime::parse_from_rfc3339(text).map(|time| time.to_utc());
    let local = || NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f");
    let day = || NaiveDate::parse_from_str(text, "%Y-%m-%d");
    zoned
        .or_else(|_| local().map(|time| time.and_utc()))
        .or_else(|_| day().map(|day| day.and_time(NaiveTime::MIN).and_utc()))
        .ok()
}

/// Parses exactly `yyyy-MM-dd`.
pub(super) fn parse_day(text: &str) -> Option<NaiveDate> {
    let day = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?;
    let is_exact = text.len() == 10 && day.format("%Y-%m-%d").to_string() == text;
    (is_exact && day.year() > 0).then_some(day)
}

/// Whether a text is `yyyy-MM-ddTHH:mm:ss`.
pub(super) fn is_date_time(text: &str) -> bool {
    let parts = text.split_once('T');
    parts.is_some_and(|(day, time)| parse_day(day).is_some() && is_time(time, "%H:%M:%S"))
}

/// The day of a date with a time: `HH:mm` or `HH:mm:ss`, optionally with fractional seconds and a zone. assumed
pub(super) fn day_of_date_time(text: &str) -> Option<NaiveDate> {
    let (day, time) = text.split_once('T')?;
    let utc = || (time.strip_suffix('Z').unwrap_or(time), "00:00");
    let (local, zone) = time.split_once(['+', '-']).unwrap_or_else(utc);
    let is_local = match local.split_once('.') {
        Some((clock, fraction)) => {
            let is_fraction = fraction.bytes().all(|byte| byte.is_ascii_digit());
            is_fraction && !fraction.is_empty() && is_time(clock, "%H:%M:%S")
        }
        None => is_time(local, "%H:%M") || is_time(local, "%H:%M:%S"),
    };
    parse_day(day).filter(|_| is_local && is_time(zone, "%H:%M"))
}

/// Whether a text is a time in exactly this format. Chrono also accepts second 60, which only leap seconds have.
pub(super) fn is_time(text: &str, format: &str) -> bool {
    NaiveTime::parse_from_str(text, format).is_ok_and(|time| {
        time.nanosecond() < 1_000_000_000 && time.format(format).to_string() == text
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn instants_carry_seven_fraction_digits() {
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_795_000_000, 123_456_789);
        let text = "2026-11-18T11:06:40.1234567+00:00";
        assert_eq!(wire(time), text);
        assert_eq!(parse(text), parse("2026-11-18T11:06:40.1234567Z"));
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
}
