//! Custom headers, for a client or a single call.

use bytes::Bytes;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

/// Headers that the client or HTTP sets. `authorization` is also reserved if the client has tokens.
const RESERVED: [&str; 11] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "if-modified-since",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// Custom headers. Their values are hidden from `Debug` and traces, and wiped from memory on drop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Headers(pub(super) HeaderMap);

impl Headers {
    /// Adds a header, replacing an earlier one with the same name.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Secret>) -> Result<Self> {
        let value = value.into();
        // The message omits the value, which may be a key.
        let name = HeaderName::try_from(name).map_err(|_| Error::config("invalid header name"))?;
        let wrong = |what: &str| Error::config(format!("the header {name} {what}"));
        if RESERVED.contains(&name.as_str()) {
            return Err(wrong("is set by the client"));
        }
        if value.is_empty() {
            return Err(wrong("has no value"));
        }
        // Owned bytes, so that all clones share one buffer. It is wiped when the last clone is dropped.
        let bytes = Bytes::from_owner(Zeroizing::new(value.expose().as_bytes().to_vec()));
        let mut value = HeaderValue::from_maybe_shared(bytes)
            .map_err(|_| wrong("has characters that HTTP does not allow"))?;
        value.set_sensitive(true);
        self.0.insert(name, value);
        Ok(self)
    }

    /// Rejects `authorization` if the client sends its own token in it.
    pub(super) fn beside_tokens(self, has_tokens: bool) -> Result<Self> {
        if has_tokens && self.0.contains_key(AUTHORIZATION) {
            let what = "the header authorization is set by the client, from its token source";
            return Err(Error::config(what));
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::tests::assert_fails;

    #[test]
    fn a_header_is_sent_as_it_is_and_hidden_in_debug() {
        let headers = Headers::default().with("X-Api-Key", "s3cr3t").unwrap();
        assert_eq!(headers.0["x-api-key"], "s3cr3t");
        assert!(!format!("{headers:?}").contains("s3cr3t"));
        let headers = headers.with("Authorization", "Basic czpw").unwrap();
        assert_fails(headers.clone().beside_tokens(true), "Config");
        assert!(headers.beside_tokens(false).is_ok());
    }

    #[test]
    fn invalid_and_reserved_headers_are_refused_without_showing_the_value() {
        for (name, value) in [
            ("", "s3cr3t"),
            ("x key", "s3cr3t"),
            ("Host", "s3cr3t"),
            ("User-Agent", "s3cr3t"),
            ("x-api-key", ""),
            ("x-api-key", "s3cr3t\r\nx: y"),
        ] {
            assert_fails(Headers::default().with(name, value), "Config: !s3cr3t");
        }
    }
}
