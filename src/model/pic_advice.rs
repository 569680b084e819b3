//! What is known of how property identification codes are made. Advice only: the register's own rule is not shown.

use std::fmt;

use super::Pic;

/// Why a property identification code looks mistyped, from [`Pic::advice`].
///
/// None of it is a reason to refuse a code: it rests on public pages of the states and on a dozen codes seen in public
/// (the PIC pages of `guide::sources`), not on the specification.
///
/// See [`Pic::advice`] for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PicAdvice {
    /// The first character names no state or territory.
    UnlistedStart,
    /// Letters and digits are not where codes of the state have them.
    UnusualForm,
    /// The check letter does not fit. Codes of New South Wales, Queensland and the Northern Territory have one.
    CheckLetter,
}

impl fmt::Display for PicAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnlistedStart => "the first character names no state or territory",
            Self::UnusualForm => "letters and digits are not where codes of the state have them",
            Self::CheckLetter => "the check letter does not fit: a character may be mistyped",
        })
    }
}

impl Pic {
    /// Why the code looks mistyped; `None` when it looks right. Show this as a warning only.
    ///
    /// ```
    /// use envd_sdk::model::{Pic, PicAdvice};
    ///
    /// assert_eq!(Pic::parse("QAZZ7777")?.advice(), None);
    /// assert_eq!(Pic::parse("QAZZ7778")?.advice(), Some(PicAdvice::CheckLetter));
    /// assert_eq!(Pic::parse("QAZ77777")?.advice(), Some(PicAdvice::UnusualForm));
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    pub fn advice(&self) -> Option<PicAdvice> {
        let code = self.bytes();
        match self.as_str() {
            // A live export, and a property that is not known.
            "EEEEEEEE" | "AAAAAAAA" => return None,
            _ => {}
        }
        // k: A to K, a: a letter, 9: a digit, each for one character after the first.
        let forms: &[&str] = match code[0] {
            b'N' | b'S' => &["k999999"],
            b'3' => &["aaaa999"],
            b'Q' | b'W' | b'M' => &["kaa9999"],
            b'T' | b'V' => &["aaa9999"],
            b'E' => &["UAB9999", "USY9999"],
            // No public rule covers the ACT.
            b'A' => return None,
            _ => return Some(PicAdvice::UnlistedStart),
        };
        if !forms.iter().any(|form| fits(form.as_bytes(), &code[1..])) {
            return Some(PicAdvice::UnusualForm);
        }
        let is_checked = matches!(code[0], b'N' | b'Q' | b'T');
        (is_checked && !weighted_sum(code).is_multiple_of(11)).then_some(PicAdvice::CheckLetter)
    }
}

fn fits(form: &[u8], code: &[u8]) -> bool {
    form.iter().zip(code).all(|(wanted, given)| match wanted {
        b'k' => (b'A'..=b'K').contains(given),
        b'a' => given.is_ascii_uppercase(),
        b'9' => given.is_ascii_digit(),
        literal => literal == given,
    })
}

/// Digits count as they are, A as 10 to Z as 35; the weights halve from 128 to 1.
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
    use super::*;

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
        for (text, why) in [
            ("QABC1234", PicAdvice::CheckLetter),
            ("NA123456", PicAdvice::CheckLetter),
            ("THDG9999", PicAdvice::CheckLetter),
            ("QLZZ7777", PicAdvice::UnusualForm),
            ("NA12345O", PicAdvice::UnusualForm),
            ("3ZZZ0002", PicAdvice::UnusualForm),
            ("EUXX0001", PicAdvice::UnusualForm),
            ("XAZZ7777", PicAdvice::UnlistedStart),
            ("12345678", PicAdvice::UnlistedStart),
        ] {
            assert_eq!(advice(text), Some(why), "{text}");
        }
    }

    #[test]
    fn one_check_letter_fits_each_number() {
        let fitting = ('A'..='K').filter(|letter| advice(&format!("N{letter}000123")).is_none());
        assert_eq!(fitting.count(), 1);
    }
}
