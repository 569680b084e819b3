//! Converts answers as people type them.

use super::question_tree::ItemKind;
use crate::model::Day;
use crate::model::visible_text::trimmed;

impl ItemKind {
    /// Converts typed text to an answer: `1,200` to the number 1200, `21/11/2026` to the date 2026-11-21 ([`Day::from_typed`]),
    /// `11/2026` to the month 2026-11, and `5.15 p.m.` or `17h15` to the time 17:15. Any other text is only trimmed.
    ///
    /// ```
    /// use envd_sdk::validate::ItemKind;
    ///
    /// assert_eq!(ItemKind::Number.from_typed(" 1,200 "), "1200");
    /// assert_eq!(ItemKind::Date.from_typed("21.11.26"), "2026-11-21");
    /// assert_eq!(ItemKind::Text.from_typed("Lot 1,200 "), "Lot 1,200");
    /// ```
    #[must_use]
    #[allow(clippy::wrong_self_convention)] // As `Day::from_typed` and `Pic::from_typed`, of a kind.
    pub fn from_typed(self, text: &str) -> String {
        let text = trimmed(text);
        let read = match self {
            Self::Number => number(text),
            Self::Date => Day::from_typed(text).map(|day| day.to_string()),
            Self::Month => month(text),
            Self::Time => time(text),
            _ => None,
        };
        read.unwrap_or_else(|| text.to_owned())
    }
}

/// A number whose thousands may be separated by commas or spaces.
fn number(text: &str) -> Option<String> {
    let (whole, part) = text.split_at(text.find('.').unwrap_or(text.len()));
    let mut groups = whole.split(|c: char| c == ',' || c.is_whitespace());
    let is_digits = |group: &str| !group.is_empty() && group.bytes().all(|it| it.is_ascii_digit());
    let first = groups
        .next()
        .filter(|first| is_digits(first) && first.len() < 4)?;
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 || !is_digits(group) {
            return None;
        }
        digits += group;
    }
    Some(digits + part)
}

/// A month with the year last or first.
fn month(text: &str) -> Option<String> {
    let day =
        Day::from_typed(&format!("1 {text}")).or_else(|| Day::from_typed(&format!("{text} 1")))?;
    Some(format!("{}-{:02}", day.year(), day.month()))
}

/// A time of day: hours, minutes and optional seconds, separated by a colon, a point, an h or nothing, optionally followed by
/// am, pm, hours or noon.
fn time(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let (digits, word) = lower.split_at(lower.find(char::is_alphabetic).unwrap_or(lower.len()));
    let digits = digits.trim_end();
    let word: String = word
        .chars()
        .filter(|it| !it.is_whitespace() && *it != '.')
        .collect();
    let parts: Vec<&str> = digits.split([':', '.']).map(str::trim).collect();
    let is_compact = matches!(digits.len(), 3 | 4) && digits.is_ascii();
    let minute_behind_h = word
        .strip_prefix('h')
        .filter(|minute| minute.starts_with(|it: char| it.is_ascii_digit()));
    let (hour, minute, second) = match (&parts[..], minute_behind_h) {
        ([""], _) if matches!(word.as_str(), "noon" | "midday") => return Some("12:00".to_owned()),
        ([_], _) if is_compact => {
            let (hour, minute) = digits.split_at(digits.len() - 2);
            (hour, minute, "00")
        }
        ([hour], Some(minute)) => (*hour, minute, "00"),
        ([hour], None) if !word.is_empty() => (*hour, "00", "00"),
        ([hour, minute], _) => (*hour, *minute, "00"),
        ([hour, minute, second], _) => (*hour, *minute, *second),
        _ => return None,
    };
    let number = |text: &str, digits: std::ops::RangeInclusive<usize>| {
        let is_number = digits.contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
        text.parse::<u8>().ok().filter(|_| is_number)
    };
    let hour = number(hour, 1..=2)?;
    let minute = number(minute, 2..=2)?;
    let second = number(second, 2..=2)?;
    let hour = match word.as_str() {
        "am" | "a" if (1..=12).contains(&hour) => hour % 12,
        "pm" | "p" if (1..=12).contains(&hour) => hour % 12 + 12,
        "noon" | "midday" if (hour, minute) == (12, 0) => 12,
        "" | "h" => hour,
        // A bare "17 hours" may be a duration.
        "hr" | "hrs" | "hours" if is_compact || parts.len() > 1 => hour,
        _ if parts.len() == 1 && !is_compact && minute_behind_h.is_some() => hour,
        _ => return None,
    };
    (hour < 24 && minute < 60 && second < 60).then(|| format!("{hour:02}:{minute:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_answers_are_converted_and_other_texts_are_kept() {
        let stays = "";
        for (kind, typed, read) in [
            (ItemKind::Number, "24 ", "24"),
            (ItemKind::Number, "1,200", "1200"),
            (ItemKind::Number, "1 200 000", "1200000"),
            (ItemKind::Number, "1,200.5", "1200.5"),
            (ItemKind::Number, "1200", stays),
            (ItemKind::Number, "1,20", stays),
            (ItemKind::Number, "3.5", stays),
            (ItemKind::Number, "two dozen", stays),
            (ItemKind::Number, "-2", stays),
            (ItemKind::Date, "21/11/2026", "2026-11-21"),
            (ItemKind::Date, "21.11.26", "2026-11-21"),
            (ItemKind::Date, "1-2-2026", "2026-02-01"),
            (ItemKind::Date, "21 November 2026", "2026-11-21"),
            (ItemKind::Date, "21st November 2026", "2026-11-21"),
            (ItemKind::Date, "the 2ND of Nov. '26", "2026-11-02"),
            (ItemKind::Date, "21nov2026", "2026-11-21"),
            (ItemKind::Date, "November 21, 2026", "2026-11-21"),
            (ItemKind::Date, "2026 Nov 21", "2026-11-21"),
            (ItemKind::Date, "Sat 21/11/2026", "2026-11-21"),
            (ItemKind::Date, "Saturday, 21 November 2026", "2026-11-21"),
            (
                ItemKind::Date,
                "Saturday the 21st of November, 2026",
                "2026-11-21",
            ),
            (ItemKind::Date, "21/11/2026 (Sat.)", "2026-11-21"),
            (ItemKind::Date, "Tues 24.11.26", "2026-11-24"),
            (ItemKind::Date, "Sun 21/11/2026", stays),
            (ItemKind::Date, "Sat Sat 21/11/2026", stays),
            (ItemKind::Date, "Nov 11 2026 21", stays),
            (ItemKind::Date, "21st 11 st 2026", stays),
            (ItemKind::Date, "21th11", stays),
            (ItemKind::Date, "\u{ff12} 1/11/2026", stays),
            (ItemKind::Date, "2026-11-21", stays),
            (ItemKind::Date, "30/02/2026", stays),
            (ItemKind::Date, "11/21/2026", stays),
            (ItemKind::Date, "21/11", stays),
            (ItemKind::Date, "21 Ju 2026", stays),
            (ItemKind::Month, "11/2026", "2026-11"),
            (ItemKind::Month, "Nov 26", "2026-11"),
            (ItemKind::Month, "2026-11", stays),
            (ItemKind::Month, "13/2026", stays),
            (ItemKind::Time, "5:15", "05:15"),
            (ItemKind::Time, "5.15 pm", "17:15"),
            (ItemKind::Time, "12:05am", "00:05"),
            (ItemKind::Time, "0515", "05:15"),
            (ItemKind::Time, "5 PM", "17:00"),
            (ItemKind::Time, "5:15 p.m.", "17:15"),
            (ItemKind::Time, "5:15\u{202f}P. M.", "17:15"),
            (ItemKind::Time, "5:15 a.m", "05:15"),
            (ItemKind::Time, "5p", "17:00"),
            (ItemKind::Time, "05:15:00", "05:15"),
            (ItemKind::Time, "5:15:00 pm", "17:15"),
            (ItemKind::Time, "17.15.59", "17:15"),
            (ItemKind::Time, "noon", "12:00"),
            (ItemKind::Time, "12 Noon", "12:00"),
            (ItemKind::Time, "12:00 midday", "12:00"),
            (ItemKind::Time, "17h15", "17:15"),
            (ItemKind::Time, "17 h 15", "17:15"),
            (ItemKind::Time, "17H", "17:00"),
            (ItemKind::Time, "1715 hrs", "17:15"),
            (ItemKind::Time, "1715h", "17:15"),
            (ItemKind::Time, "05:15 hours", "05:15"),
            (ItemKind::Time, "1 noon", stays),
            (ItemKind::Time, "midnight", stays),
            (ItemKind::Time, "17 hours", stays),
            (ItemKind::Time, "17h15 pm", stays),
            (ItemKind::Time, "17h5", stays),
            (ItemKind::Time, "17:15h30", stays),
            (ItemKind::Time, "5 o'clock", stays),
            (ItemKind::Time, "5:15:60", stays),
            (ItemKind::Time, "5:15:00:00", stays),
            (ItemKind::Time, "17 15", stays),
            (ItemKind::Time, ":15 pm", stays),
            (ItemKind::Time, "pm", stays),
            (ItemKind::Time, "14:30", stays),
            (ItemKind::Time, "13:00 pm", stays),
            (ItemKind::Time, "25:00", stays),
            (ItemKind::Time, "5:1", stays),
            (ItemKind::Text, "1,200", stays),
        ] {
            let read = if read == stays { typed } else { read };
            assert_eq!(kind.from_typed(typed), read, "{kind:?} {typed}");
            assert_eq!(kind.from_typed(read), read, "a value that was read stays");
        }
    }
}
