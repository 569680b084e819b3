//! Instants as texts that are looked up by.

use chrono::Datelike;

use crate::model::Timestamp;

/// The instant in UTC as a text whose order is the order in time: the fraction has all its digits but no zeros at its end.
/// `None` when the instant cannot be read, or its year does not have four digits.
pub(crate) fn instant_key(at: &Timestamp) -> Option<String> {
    let time = at.utc()?;
    if !(0..=9999).contains(&time.year()) {
        return None;
    }
    // A leap second is written as second 60, and has 10^9 nanoseconds more.
    let nanoseconds = time.timestamp_subsec_nanos() % 1_000_000_000;
    let fraction = format!("{nanoseconds:09}{}", at.beyond_nanoseconds());
    let seconds = time.format("%Y-%m-%dT%H:%M:%S");
    Some(match fraction.trim_end_matches('0') {
        "" => seconds.to_string(),
        fraction => format!("{seconds}.{fraction}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_digits_of_the_fraction_and_zones_count() {
        let in_order = [
            (
                "2026-11-20T07:59:59.999999999+11:00",
                "2026-11-19T20:59:59.999999999",
            ),
            ("2026-11-20T08:00:00+11:00", "2026-11-19T21:00:00"),
            (
                "2026-11-19T21:00:00.00000000001Z",
                "2026-11-19T21:00:00.00000000001",
            ),
            (
                "2026-11-20T08:00:00.1200000+11:00",
                "2026-11-19T21:00:00.12",
            ),
            (
                "2026-11-19T21:00:00.123456789012",
                "2026-11-19T21:00:00.123456789012",
            ),
            ("2026-12-31T23:59:60.5Z", "2026-12-31T23:59:60.5"),
        ];
        for (text, key) in in_order {
            assert_eq!(instant_key(&text.into()).as_deref(), Some(key), "{text}");
        }
        assert!(in_order.is_sorted_by_key(|(text, _)| Timestamp::from(*text)));
        assert!(in_order.is_sorted_by_key(|(_, key)| key));
        assert_eq!(
            instant_key(&"2026-11-19T21:00:00.000".into()).as_deref(),
            Some("2026-11-19T21:00:00")
        );
        for unread in ["9999-12-31T23:59:59-01:00", "soon", ""] {
            assert_eq!(instant_key(&unread.into()), None, "{unread}");
        }
    }
}
