//! Text of a server inside a report for people.

use std::fmt::{self, Write};

/// A text as one line that commands no terminal: control characters, line ends among them, and the marks of Unicode that
/// change the direction of text (the property `Bidi_Control`) are escaped.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            if is_obeyed(letter) {
                write!(f, "{}", letter.escape_default())?;
            } else {
                f.write_char(letter)?;
            }
        }
        Ok(())
    }
}

fn is_obeyed(letter: char) -> bool {
    // The two separators of U+2028 end lines.
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        for (text, shown) in [
            ("Zoë's yards, 50 % \\n", "Zoë's yards, 50 % \\n"),
            ("a\r\n  error\tb", r"a\r\n  error\tb"),
            ("\u{1b}[2J\u{9b}\u{7f}\0", r"\u{1b}[2J\u{9b}\u{7f}\u{0}"),
            (
                "\u{202e}x\u{2066}\u{61c}\u{200f}",
                r"\u{202e}x\u{2066}\u{61c}\u{200f}",
            ),
            ("\u{2028}\u{2029}", r"\u{2028}\u{2029}"),
        ] {
            assert_eq!(OneLine(text).to_string(), shown);
        }
    }
}
