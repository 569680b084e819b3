//! An access token as a header.

use std::fmt;

use crate::transport::header::HeaderValue;
use bytes::Bytes;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

const SCHEME: &str = "Bearer ";

/// An access token. Cheap to clone, hidden in `Debug`, wiped from memory when the last clone is dropped.
///
/// ```
/// use envd_sdk::auth::AccessToken;
///
/// let token = AccessToken::new("eyJhbGciOi.eyJzdWIi.c2ln")?;
/// assert_eq!(token.expose(), "eyJhbGciOi.eyJzdWIi.c2ln");
/// assert!(AccessToken::new("two words").unwrap_err().kind() == envd_sdk::ErrorKind::Config);
/// # Ok::<(), envd_sdk::Error>(())
/// ```
#[derive(Clone)]
pub struct AccessToken {
    header: HeaderValue,
    generation: u64,
}

impl AccessToken {
    /// Makes a token from its text, without the word `Bearer` (RFC 6750 section 2.1).
    ///
    /// # Errors
    ///
    /// [`Config`](crate::ErrorKind::Config) when the text is empty or has characters other than visible ASCII: it could not
    /// be sent in a header.
    pub fn new(text: &str) -> Result<Self> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(Error::config(
                "an access token must be visible ASCII characters without spaces",
            ));
        }
        let header = authorization_header(SCHEME, text)
            .ok_or_else(|| Error::config("the access token cannot be sent in a header"))?;
        Ok(Self {
            header,
            generation: 0,
        })
    }

    /// Sets the generation, by which a [`TokenSource`](super::TokenSource) sees whether the token that the server refused is
    /// still the current one.
    #[must_use]
    pub fn numbered(mut self, generation: u64) -> Self {
        self.generation = generation;
        self
    }

    /// The generation of the token; 0 unless [set](Self::numbered).
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The text of the token: keep it out of logs and messages.
    pub fn expose(&self) -> &str {
        let text = self.header.to_str().unwrap_or_default();
        text.strip_prefix(SCHEME).unwrap_or_default()
    }

    /// Whether the service would see the same token.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.header == other.header
    }

    /// The value of the `authorization` header; cloning it copies no bytes.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AccessToken([redacted], generation {})", self.generation)
    }
}

/// The value of an `authorization` header, hidden in `Debug`; `None` when the text cannot be sent in one.
pub(super) fn authorization_header(scheme: &str, credentials: &str) -> Option<HeaderValue> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(scheme.len() + credentials.len()));
    bytes.extend_from_slice(scheme.as_bytes());
    bytes.extend_from_slice(credentials.as_bytes());
    // Owned bytes, so that all clones share one buffer and it is wiped with the last of them.
    let mut header = HeaderValue::from_maybe_shared(Bytes::from_owner(bytes)).ok()?;
    header.set_sensitive(true);
    Some(header)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn the_header_is_bearer_and_marked_sensitive() {
        let header = AccessToken::new("abc.def").unwrap().header();
        assert_eq!(header.to_str().unwrap(), "Bearer abc.def");
        assert!(header.is_sensitive());
    }

    #[test]
    fn texts_that_cannot_be_a_header_are_refused() {
        for bad in ["", " ", "a b", "a\r\nx: y", "tok\u{e9}n", "a\0"] {
            assert!(
                AccessToken::new(bad).unwrap_err().kind() == ErrorKind::Config,
                "{bad:?}"
            );
        }
    }

    #[test]
    fn debug_hides_the_token() {
        let token = AccessToken::new("s3cr3t-token").unwrap().numbered(3);
        assert!(!format!("{token:?}").contains("s3cr3t"));
    }
}
