//! Checks that conversions from and to another crate's types preserve the value.

use test_support::script::rows;

/// Each function parses a text, converts the value, and formats the result.
pub(crate) fn check_dates(day: impl Fn(&str) -> String, time: impl Fn(&str) -> Option<String>) {
    for text in "0001-01-01 2024-02-29 9999-12-31".split(' ') {
        assert_eq!(day(text), text);
    }
    for row in rows(
        "
        2026-11-20T08:00:00+11:00         | 2026-11-19T21:00:00Z
        2022-11-02T03:04:05.1234567+00:00 | 2022-11-02T03:04:05.123456700Z
        1969-12-31T23:59:59.5             | 1969-12-31T23:59:59.500Z
        0001-01-01T00:00:00.000000001Z    | 0001-01-01T00:00:00.000000001Z
        9999-12-29T23:59:59.999999999Z    | 9999-12-29T23:59:59.999999999Z
        soon                              |
        ",
    ) {
        assert_eq!(time(row[0]).unwrap_or_default(), row[1], "{row:?}");
    }
}
