//! Pasted text, which may contain invisible zero-width characters.

use std::fmt;

/// Why a text is invalid. The error does not quote the text.
///
/// ```
/// use envd_sdk::model::Pic;
///
/// let error = Pic::parse("QAZZ-777").unwrap_err();
/// assert_eq!(error.to_string(), "a PIC has 8 letters or digits");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextError {
    what: &'static str,
    /// An invisible character, which may be the only mistake.
    hidden: Option<char>,
}

impl TextError {
    pub(crate) const fn new(what: &'static str) -> Self {
        Self { what, hidden: None }
    }

    /// The error for a text.
    pub(super) fn of(text: &str, what: &'static str) -> Self {
        let hidden = text.chars().find(|character| is_hidden(*character));
        Self { what, hidden }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        match self.hidden {
            Some(hidden) => write!(
                f,
                "; the text has a character that is not shown, U+{:04X}",
                u32::from(hidden)
            ),
            None => Ok(()),
        }
    }
}

impl std::error::Error for TextError {}

/// Invisible characters: soft hyphen, byte order mark, zero-width space and joiners, direction marks, word joiner.
pub(crate) fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// A text without surrounding white space and hidden characters.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|character: char| character.is_whitespace() || is_hidden(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_around_a_text_is_cut_off() {
        for around in "| |\u{a0}|\u{feff}|\u{200b}\n|\u{200e}|\t\u{200f}|\u{ad}|\u{2060}".split('|')
        {
            let text = format!("{around}a\u{200b} b{around}");
            assert_eq!(trimmed(&text), "a\u{200b} b");
        }
        assert!(!"aé\u{301}-🐄".chars().any(is_hidden));
    }
}
