//! A redacted string: tokens, codes, client secrets, addresses with a token.

use std::fmt;

use zeroize::Zeroizing;

/// A string that is hidden in `Debug`, has neither `Display` nor `Serialize`, and is wiped from memory when dropped.
///
/// Each clone is a separate copy that is wiped independently. Copies made from the result of [`expose`](Self::expose) are not
/// wiped. A string that grew before it became a secret may have left copies in memory; allocate it with enough capacity.
///
/// ```
/// use envd_sdk::Secret;
///
/// let secret = Secret::new("s3cr3t");
/// assert_eq!(format!("{secret:?}"), "Secret([redacted])");
/// assert_eq!(secret.expose(), "s3cr3t");
/// ```
#[derive(Clone, Default)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// Reveals the text. This is the only way to access it: keep the result out of logs, messages and files that others can
    /// read.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Compares with another text in a time that depends only on the lengths, so that timing reveals nothing about a guess.
    #[must_use]
    pub fn matches(&self, other: &str) -> bool {
        let a = self.0.as_bytes();
        let b = other.as_bytes();
        let differences = a.iter().zip(b).fold(0, |seen, (x, y)| seen | (x ^ y));
        a.len() == b.len() && std::hint::black_box(differences) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret([redacted])")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_the_text() {
        assert!(!format!("{:?}", Secret::new("hunter2")).contains("hunter2"));
    }

    #[test]
    fn matches_only_the_same_text() {
        let secret = Secret::new("state-1");
        assert!(secret.matches("state-1"));
        for other in ["", "state-2", "state-", "state-11"] {
            assert!(!secret.matches(other), "{other}");
        }
    }
}
