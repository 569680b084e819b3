//! The property identification code, and hints about its structure. These are only advice: the register's own rule is unknown.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Jurisdiction;
use super::visible_text::{TextError, is_hidden, trimmed};

/// A property identification code: 8 letters or digits, upper case (spec 1.6).
///
/// There are no further rules. For known conventions, see [`advice`](Self::advice).
///
/// ```
/// use envd_sdk::model::{Jurisdiction, Pic};
///
/// let pic = Pic::parse(" qazz7777 ")?;
/// assert_eq!(pic.as_str(), "QAZZ7777");
/// assert_eq!(pic.jurisdiction(), Some(Jurisdiction::Qld));
/// assert!(Pic::parse("QAZZ-777").is_err());
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
// Bytes need no heap: ten thousand codes take 80 kB.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pic([u8; 8]);

impl Pic {
    /// Parses a code. Removes surrounding white space and zero-width characters, and converts letters to upper case.
    ///
    /// # Errors
    ///
    /// If the text does not have exactly 8 ASCII letters or digits.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let text = trimmed(text);
        match text.as_bytes().try_into() {
            Ok(code) if Self::has_format(text) => {
                let mut code: [u8; 8] = code;
                code.make_ascii_uppercase();
                Ok(Self(code))
            }
            _ => Err(TextError::of(text, "a PIC has 8 letters or digits")),
        }
    }

    /// Parses a code as people type it: like [`parse`](Self::parse), also allowing spaces, dashes and dots between the
    /// characters.
    ///
    /// ```
    /// use envd_sdk::model::Pic;
    ///
    /// assert_eq!(Pic::from_typed("qdzz 3333"), Some(Pic::parse("QDZZ3333")?));
    /// assert_eq!(Pic::from_typed("QDZZ333"), None);
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    pub fn from_typed(text: &str) -> Option<Self> {
        let is_between = |character: &char| {
            character.is_whitespace() || is_hidden(*character) || "-.".contains(*character)
        };
        let code: String = text.chars().filter(|it| !is_between(it)).collect();
        Self::parse(&code).ok()
    }

    /// Whether a text has exactly 8 ASCII letters or digits, in any case.
    pub(crate) fn has_format(text: &str) -> bool {
        text.len() == 8 && text.bytes().all(|b| b.is_ascii_alphanumeric())
    }

    /// The code in upper case.
    pub fn as_str(&self) -> &str {
        // OK because only ASCII is accepted.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub(super) fn bytes(self) -> [u8; 8] {
        self.0
    }

    /// The state or territory indicated by the first character; `None` if the PIC pages (`guide::sources`) do not list it.
    pub fn jurisdiction(&self) -> Option<Jurisdiction> {
        Some(match self.0[0] {
            b'N' => Jurisdiction::Nsw,
            b'3' | b'V' => Jurisdiction::Vic,
            b'Q' => Jurisdiction::Qld,
            b'S' => Jurisdiction::Sa,
            b'W' => Jurisdiction::Wa,
            b'M' => Jurisdiction::Tas,
            b'T' => Jurisdiction::Nt,
            // Inferred: no public rule covers the ACT.
            b'A' if self.as_str() != "AAAAAAAA" => Jurisdiction::Act,
            _ => return None,
        })
    }
}

impl fmt::Debug for Pic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pic").field(&self.as_str()).finish()
    }
}

impl fmt::Display for Pic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl AsRef<str> for Pic {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl From<Pic> for String {
    fn from(pic: Pic) -> Self {
        pic.as_str().to_owned()
    }
}

impl std::str::FromStr for Pic {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Self, TextError> {
        Self::parse(text)
    }
}

impl Serialize for Pic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Pic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Why a property identification code looks mistyped, from [`Pic::advice`].
///
/// Never refuse a code because of it: it is based on public pages of the states and a dozen codes seen in public (the PIC pages
/// of `guide::sources`), not on the specification.
///
/// See [`Pic::advice`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PicAdvice {
    /// The first character does not stand for a state or territory.
    UnlistedStart,
    /// A character does not match the usual format of the state's codes.
    #[non_exhaustive]
    UnusualForm {
        /// The full name of the state or territory, or "codes of the EU".
        state: &'static str,
        /// The position of the character, from 2 to 8. The first character indicates the state.
        position: usize,
        /// The characters usual at this position, such as "A to K" or "a digit".
        expected: &'static str,
    },
    /// The check letter does not match. Codes of New South Wales, Queensland and the Northern Territory have one.
    CheckLetter,
}

impl fmt::Display for PicAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnlistedStart => f.write_str("the first character names no state or territory"),
            Self::UnusualForm {
                state,
                position,
                expected,
            } => {
                let nth = ["second", "third", "fourth", "fifth", "sixth", "seventh"];
                let nth = nth.get(position.wrapping_sub(2)).unwrap_or(&"last");
                write!(f, "in {state} the {nth} character is {expected}")
            }
            Self::CheckLetter => f.write_str("the check letter does not fit the other characters"),
        }
    }
}

impl Pic {
    /// Why the code looks mistyped; `None` if it looks right. Show this only as a warning.
    ///
    /// ```
    /// use envd_sdk::model::{Pic, PicAdvice};
    ///
    /// assert_eq!(Pic::parse("QAZZ7777")?.advice(), None);
    /// assert_eq!(Pic::parse("QAZZ7778")?.advice(), Some(PicAdvice::CheckLetter));
    /// let advice = Pic::parse("QZZZ0000")?.advice().map(|advice| advice.to_string());
    /// assert_eq!(advice.as_deref(), Some("in Queensland the second character is A to K"));
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    pub fn advice(&self) -> Option<PicAdvice> {
        let code = self.bytes();
        match self.as_str() {
            // A live export, and an unknown property.
            "EEEEEEEE" | "AAAAAAAA" => return None,
            _ => {}
        }
        // One character each after the first. k: A to K, a: a letter, 9: a digit, x: A or S; others are literal.
        let (state, form) = match code[0] {
            b'N' => ("New South Wales", "k999999"),
            b'S' => ("South Australia", "k999999"),
            b'3' => ("Victoria", "aaaa999"),
            b'V' => ("Victoria", "aaa9999"),
            b'Q' => ("Queensland", "kaa9999"),
            b'W' => ("Western Australia", "kaa9999"),
            b'M' => ("Tasmania", "kaa9999"),
            b'T' => ("the Northern Territory", "aaa9999"),
            // An abattoir or a saleyard of the European Union.
            b'E' if code[2] == b'S' => ("codes of the EU", "USY9999"),
            b'E' => ("codes of the EU", "UxB9999"),
            // No public rule covers the ACT.
            b'A' => return None,
            _ => return Some(PicAdvice::UnlistedStart),
        };
        let after_first = (2..).zip(form.bytes().zip(code.into_iter().skip(1)));
        for (position, (wanted, given)) in after_first {
            let (expected, fits) = match wanted {
                b'k' => ("A to K", (b'A'..=b'K').contains(&given)),
                b'a' => ("a letter", given.is_ascii_uppercase()),
                b'9' => ("a digit", given.is_ascii_digit()),
                b'x' => ("A or S", matches!(given, b'A' | b'S')),
                b'U' => ("U", given == b'U'),
                b'B' => ("B", given == b'B'),
                _ => ("Y", given == wanted),
            };
            if !fits {
                return Some(PicAdvice::UnusualForm {
                    state,
                    position,
                    expected,
                });
            }
        }
        let is_checked = matches!(code[0], b'N' | b'Q' | b'T');
        (is_checked && !weighted_sum(code).is_multiple_of(11)).then_some(PicAdvice::CheckLetter)
    }
}

/// Digits count as themselves, A to Z as 10 to 35. Weights halve from 128 to 1.
fn weighted_sum(code: [u8; 8]) -> u32 {
    code.iter()
        .map(|character| match character {
            b'0'..=b'9' => u32::from(character - b'0'),
            letter => u32::from(letter - b'A') + 10,
        })
        .zip((0..8).rev())
        .map(|(value, bit)| value << bit)
        .sum()
}

#[cfg(test)]
mod tests {
    use test_support::script::rows;

    use super::*;

    #[test]
    fn characters_that_are_not_shown_are_cut_off_around_a_pic_and_named_in_it() {
        let said = |text: &str| Pic::parse(text).unwrap_err().to_string();
        for hidden in "\u{feff}\u{200b}\u{200e}\u{200f}\u{ad}\u{2060}".chars() {
            let around = format!("{hidden}QAZZ7777 {hidden}");
            assert_eq!(Pic::parse(&around).unwrap().as_str(), "QAZZ7777");
            let error = said(&format!("QAZZ{hidden}7777"));
            let named = format!("U+{:04X}", u32::from(hidden));
            assert!(error.contains(&named), "{error}");
        }
        assert!(!said("QAZZ-7777").contains("U+"));
    }

    #[test]
    fn eight_ascii_letters_or_digits_make_a_pic() {
        for good in ["QAZZ7777", "3ZZZZ002", "eeeeeeee", "\tNE000004\n"] {
            assert!(Pic::parse(good).is_ok(), "{good}");
        }
        for bad in "|QAZZ777|QAZZ77777|QAZZ 777|QÄZZ777|🐄🐄|🐄🐄🐄🐄🐄🐄🐄🐄".split('|')
        {
            assert!(Pic::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pic_is_written_as_its_text() {
        let pic = Pic::parse("qazz7777").unwrap();
        assert_eq!(serde_json::to_string(&pic).unwrap(), "\"QAZZ7777\"");
        let read: Pic = serde_json::from_str("\" qazz7777\"").unwrap();
        assert_eq!(read, pic);
        let shown = format!("{pic:?} {pic:>10}|{}", String::from(pic));
        assert_eq!(shown, r#"Pic("QAZZ7777")   QAZZ7777|QAZZ7777"#);
    }

    fn advice(text: &str) -> Option<PicAdvice> {
        Pic::parse(text).unwrap().advice()
    }

    #[test]
    fn codes_of_public_material_look_right() {
        for text in [
            "QAZZ7777", "QBZZ2222", "QCZZ8888", "QDZZ3333", // The service's own test codes.
            "NF991802", // A saleyard.
            "3ZZZZ002", "VABC0001", "SA000001", "WAZZ0001", "MAZZ0001", "AAZZ0001", "EUAB0001",
            "EUSY0001", "EEEEEEEE", "AAAAAAAA",
        ] {
            assert_eq!(advice(text), None, "{text}");
        }
    }

    #[test]
    fn mistyped_codes_get_advice() {
        for row in rows(
            "
            QABC1234 | the check letter does not fit the other characters
            NA123456 | the check letter does not fit the other characters
            THDG9999 | the check letter does not fit the other characters
            QZZZ0000 | in Queensland the second character is A to K
            QLZZ7777 | in Queensland the second character is A to K
            NA12345O | in New South Wales the last character is a digit
            3ZZZ0002 | in Victoria the fifth character is a letter
            TH7G9999 | in the Northern Territory the third character is a letter
            EUXX0001 | in codes of the EU the third character is A or S
            EUSB0001 | in codes of the EU the fourth character is Y
            XAZZ7777 | the first character names no state or territory
            12345678 | the first character names no state or territory
            ",
        ) {
            let found = advice(row[0]).map(|advice| advice.to_string());
            assert_eq!(found.as_deref(), Some(row[1]), "{row:?}");
        }
    }

    #[test]
    fn one_check_letter_fits_each_number() {
        let fitting = ('A'..='K').filter(|letter| advice(&format!("N{letter}000123")).is_none());
        assert_eq!(fitting.count(), 1);
    }
}
