//! A day and a time of day as a text has them, and the forms of section 2 of the specification.

use super::Day;

/// A day with a time of day, read from a text of ISO 8601. The zone is kept apart, and nothing is converted.
pub(super) struct WrittenTime<'a> {
    pub(super) day: Day,
    /// `None` where the text is a bare day.
    pub(super) clock: Option<ClockTime<'a>>,
}

impl<'a> WrittenTime<'a> {
    /// Reads a day, alone or with a time behind a `T` or a space.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (day, rest) = text.split_at_checked(10)?;
        let day = Day::parse(day).ok()?;
        let clock = match rest.strip_prefix(['T', 't', ' ']) {
            Some(time) => Some(ClockTime::read(time)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some(Self { day, clock })
    }
}

/// A time of day: hours and minutes, perhaps seconds with a fraction, perhaps a zone.
pub(super) struct ClockTime<'a> {
    minutes: &'a str,
    seconds: Option<&'a str>,
    fraction: &'a str,
    zone: &'a str,
}

impl<'a> ClockTime<'a> {
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (minutes, mut rest) = text.split_at_checked(5)?;
        let (hour, minute) = minutes.split_once(':')?;
        (hour.len() == 2).then_some(())?;
        two_digits(hour, 24)?;
        two_digits(minute, 60)?;
        let mut seconds = None;
        let mut fraction = "";
        if let Some(after) = rest.strip_prefix(':') {
            let (found, after) = after.split_at_checked(2)?;
            two_digits(found, 60)?;
            seconds = Some(found);
            rest = after;
            if let Some(digits) = rest.strip_prefix('.') {
                let end = digits.find(|c: char| !c.is_ascii_digit());
                (fraction, rest) = digits.split_at(end.unwrap_or(digits.len()));
                (!fraction.is_empty()).then_some(())?;
            }
        }
        is_zone(rest).then_some(Self {
            minutes,
            seconds,
            fraction,
            zone: rest,
        })
    }

    /// Whether it is the very beginning of a day.
    pub(super) fn is_midnight(&self) -> bool {
        self.minutes == "00:00" && self.has_whole_minutes()
    }

    /// Whether nothing is lost without seconds.
    pub(super) fn has_whole_minutes(&self) -> bool {
        self.seconds.is_none_or(|seconds| seconds == "00") && self.has_whole_seconds()
    }

    /// Whether nothing is lost without the fraction.
    pub(super) fn has_whole_seconds(&self) -> bool {
        self.fraction.bytes().all(|digit| digit == b'0')
    }

    /// Whether the zone is UTC or missing, which the service reads as UTC.
    pub(super) fn is_utc(&self) -> bool {
        self.zone.is_empty() || self.says_utc()
    }

    fn says_utc(&self) -> bool {
        self.zone.eq_ignore_ascii_case("z") || (!self.zone.is_empty() && is_zero(self.zone))
    }
}

fn two_digits(text: &str, limit: u8) -> Option<u8> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|number| *number < limit)
        .filter(|_| digits)
}

/// Nothing, `Z`, or an offset in hours and minutes.
fn is_zone(text: &str) -> bool {
    let Some(offset) = text.strip_prefix(['+', '-']) else {
        return text.is_empty() || text.eq_ignore_ascii_case("z");
    };
    let (hours, minutes) = offset.split_at_checked(2).unwrap_or_default();
    let minutes = minutes.strip_prefix(':').unwrap_or(minutes);
    two_digits(hours, 24).is_some() && (minutes.is_empty() || two_digits(minutes, 60).is_some())
}

fn is_zero(zone: &str) -> bool {
    zone.bytes().all(|byte| !(b'1'..=b'9').contains(&byte))
}

/// The form of `declaration.date`, yyyy-MM-ddTHH:mm:ss (spec 2.3). A text that is no date and time stays as it is.
///
/// The digits stay as they are written, whatever the zone. The service reads a text without a zone as UTC, so a
/// date with `Z` keeps its instant; and a date with another zone keeps the day that its declarer wrote.
pub(super) fn date_time(text: &str) -> String {
    let Some(written) = WrittenTime::read(text) else {
        return text.to_owned();
    };
    let (minutes, seconds) = written
        .clock
        .map_or(("00:00", None), |clock| (clock.minutes, clock.seconds));
    format!("{}T{minutes}:{}", written.day, seconds.unwrap_or("00"))
}

/// The form of `movementDate`, yyyy-MM-dd (spec 2.1). A text that is no day stays as it is.
pub(super) fn day(text: &str) -> String {
    read_day(text).map_or_else(|| text.to_owned(), |day| day.to_string())
}

/// The day of a movement as its text has it.
///
/// An instant of UTC within a day is none: `2026-11-22T13:00:00Z` may well be the midnight of the 23rd in Sydney, and a
/// movement must not change its day unnoticed.
pub(super) fn read_day(text: &str) -> Option<Day> {
    let written = WrittenTime::read(text)?;
    let is_instant = |clock: &ClockTime<'_>| clock.says_utc() && !clock.is_midnight();
    (!written.clock.as_ref().is_some_and(is_instant)).then_some(written.day)
}

/// The form of `movementTime`, HH:mm (spec 2.1). A text that is no time stays as it is.
pub(super) fn time(text: &str) -> String {
    read_time(text)
        .map_or(text, |clock| clock.minutes)
        .to_owned()
}

/// A time of day, alone or behind a day.
pub(super) fn read_time(text: &str) -> Option<ClockTime<'_>> {
    ClockTime::read(text).or_else(|| WrittenTime::read(text)?.clock)
}

/// The form of `declaration.signature`, Base64 (spec 2.3), without the name of the file and the media type that public
/// material shows before it (`file:signature.png;data:image/png;base64,`).
pub(super) fn signature(text: &str) -> String {
    let prefixed = text.starts_with("data:") || text.starts_with("file:");
    let bare = text.split_once(";base64,").filter(|_| prefixed);
    bare.map_or(text, |(_, image)| image).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_the_digits_is_lost_and_what_cannot_be_read_stays() {
        let same = |text: &'static str| (text, text);
        for (texts, of) in [
            (
                &[
                    ("2026-11-20T09:45:00Z", "2026-11-20T09:45:00"),
                    ("2026-11-20T09:45:00.1234567+00:00", "2026-11-20T09:45:00"),
                    // Midnight in Sydney is the day before in UTC; the declarer wrote the 20th.
                    ("2026-11-20T00:00:00+11:00", "2026-11-20T00:00:00"),
                    ("2026-11-20T23:30:00-0930", "2026-11-20T23:30:00"),
                    ("2026-11-20 09:45", "2026-11-20T09:45:00"),
                    ("2026-11-20", "2026-11-20T00:00:00"),
                    same("2026-11-20T09:45:00"),
                ][..],
                date_time as fn(&str) -> String,
            ),
            (
                &[
                    ("2023-06-10T00:00:00", "2023-06-10"),
                    ("2023-06-10T00:00:00.000Z", "2023-06-10"),
                    ("2023-06-10T05:15:00", "2023-06-10"),
                    ("2023-06-10T05:15:00+10:00", "2023-06-10"),
                    same("2023-06-10"),
                    // Perhaps the 11th in Australia: for the server to judge.
                    same("2023-06-10T14:00:00Z"),
                    same("2023-06-10T14:00:00.0000000+00:00"),
                ],
                day,
            ),
            (
                &[
                    ("05:15:00", "05:15"),
                    ("05:15:00.0000000", "05:15"),
                    ("2023-06-10T05:15:00Z", "05:15"),
                    same("05:15"),
                    same("5:15"),
                    same("24:00"),
                    same("05:60"),
                    same("five"),
                    same("+5:15"),
                    same("05:15 pm"),
                    // Five bytes, with a character over one of the places that are looked at.
                    same("1é:00"),
                    same("é1:00"),
                    same("05é15"),
                    same("05:1é"),
                    same("0５:0"),
                ],
                time,
            ),
            (
                &[
                    (
                        "file:signature.png;data:image/png;base64,iVBORw0=",
                        "iVBORw0=",
                    ),
                    ("data:image/png;base64,iVBORw0=", "iVBORw0="),
                    same("iVBORw0="),
                    same("Sam Sample"),
                    same("a;base64,b"),
                ],
                signature,
            ),
        ] {
            for (text, wanted) in texts {
                assert_eq!(of(text), *wanted, "{text}");
            }
        }
        let unreadable = "|soon|2026-02-30T00:00:00|2026-11-20T24:00:00|2026-11-20T09:45:00 o'clock|2026-11-20T09:45:00.Z|\
            2026-11-20T09:45:00+1|2026-11-20T09:4|２０２６-11-20|2026-11-20T+9:45:00|\
             2026-11-20T1é:00|2026-11-20T12:0é|2026-11-20T09:45:é|2026-11-20T09:45:00+é0|2026-11-é";
        for text in unreadable.split('|') {
            assert_eq!([date_time(text), day(text)], [text, text]);
        }
    }
}
