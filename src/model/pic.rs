//! The property identification code.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Jurisdiction;
use super::visible_text::{TextError, trimmed};

/// A property identification code: 8 letters or digits, upper case (spec 1.6).
///
/// No other rule applies. The known rules for making codes are in [`advice`](Self::advice).
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
// Bytes take no heap: ten thousand codes are 80 kB.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pic([u8; 8]);

impl Pic {
    /// Reads a code: white space and characters without width around it are cut off, and letters are made upper case.
    ///
    /// # Errors
    ///
    /// When it does not have exactly 8 ASCII letters or digits.
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

    /// Whether a text is exactly 8 ASCII letters or digits; the case does not matter.
    pub(crate) fn has_format(text: &str) -> bool {
        text.len() == 8 && text.bytes().all(|b| b.is_ascii_alphanumeric())
    }

    /// The code in upper case.
    pub fn as_str(&self) -> &str {
        // OK because only ASCII gets in.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub(super) fn bytes(self) -> [u8; 8] {
        self.0
    }

    /// The state or territory that the first character names; `None` for one that the PIC pages (`guide::sources`) do not list.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_are_not_shown_are_cut_off_around_a_pic_and_named_in_it() {
        for hidden in [
            '\u{feff}', '\u{200b}', '\u{200e}', '\u{200f}', '\u{ad}', '\u{2060}',
        ] {
            let around = format!("{hidden}QAZZ7777 {hidden}");
            assert_eq!(Pic::parse(&around).unwrap().as_str(), "QAZZ7777");
            let error = Pic::parse(&format!("QAZZ{hidden}7777"))
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&format!("U+{:04X}", u32::from(hidden))),
                "{error}"
            );
        }
        assert!(
            !Pic::parse("QAZZ-7777")
                .unwrap_err()
                .to_string()
                .contains("U+")
        );
    }

    #[test]
    fn eight_ascii_letters_or_digits_make_a_pic() {
        for good in ["QAZZ7777", "3ZZZZ002", "eeeeeeee", "\tNE000004\n"] {
            assert!(Pic::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "QAZZ777",
            "QAZZ77777",
            "QAZZ 777",
            "QÄZZ777",
            "🐄🐄",
            "🐄🐄🐄🐄🐄🐄🐄🐄",
        ] {
            assert!(Pic::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pic_is_written_as_its_text() {
        let pic = Pic::parse("qazz7777").unwrap();
        assert_eq!(serde_json::to_string(&pic).unwrap(), "\"QAZZ7777\"");
        let read: Pic = serde_json::from_str("\" qazz7777\"").unwrap();
        assert_eq!(
            (read, format!("{pic:?}")),
            (pic, r#"Pic("QAZZ7777")"#.to_owned())
        );
        assert_eq!(
            format!("{pic:>10}|{}", String::from(pic)),
            "  QAZZ7777|QAZZ7777"
        );
    }
}
