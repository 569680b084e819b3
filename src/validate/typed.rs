//! What a person means who types an answer.

use super::question_tree::ItemKind;
use crate::model::Day;
use crate::model::visible_text::trimmed;

impl ItemKind {
    /// The answer that a person means by a text: `1,200` is the number 1200, `21/11/2026` the date 2026-11-21
    /// ([`Day::from_typed`]), `11/2026` the month 2026-11, and `5.15 pm` the time 17:15. Another text comes back without the space
    /// around it.
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

/// A number with commas or spaces between its thousands.
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

/// A month with its year last or first.
fn month(text: &str) -> Option<String> {
    let day =
        Day::from_typed(&format!("1 {text}")).or_else(|| Day::from_typed(&format!("{text} 1")))?;
    Some(format!("{}-{:02}", day.year(), day.month()))
}

/// A time of the day, with a colon or a point between hour and minute or nothing, and am or pm after it.
fn time(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let (digits, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(before), _) => (before.trim_end(), Some(0)),
        (_, Some(before)) => (before.trim_end(), Some(12)),
        _ => (lower.as_str(), None),
    };
    let (hour, minute) = match digits.split_once([':', '.']) {
        Some(parts) => parts,
        None if matches!(digits.len(), 3 | 4) && digits.is_ascii() => {
            digits.split_at(digits.len() - 2)
        }
        None if half.is_some() => (digits, "00"),
        None => return None,
    };
    let is_number =
        |text: &str| matches!(text.len(), 1 | 2) && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(hour) || !is_number(minute) || minute.len() != 2 {
        return None;
    }
    let (hour, minute): (u8, u8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        Some(half) if (1..=12).contains(&hour) => hour % 12 + half,
        Some(_) => return None,
        None => hour,
    };
    (hour < 24 && minute < 60).then(|| format!("{hour:02}:{minute:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_is_read_and_other_texts_stay() {
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
