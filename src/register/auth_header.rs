//! A header of the caller's for authentication: how the register authenticates is not shown (spec 5.12).

use bytes::Bytes;
use zeroize::Zeroizing;

use crate::error::{Error, Result};
use crate::secret::Secret;
use crate::transport::header::{HeaderName, HeaderValue};

/// Headers that the client or HTTP itself sets.
const TAKEN: [&str; 8] = [
    "accept",
    "connection",
    "content-length",
    "host",
    "if-modified-since",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// Reads a header; `has_tokens` when `authorization` carries a bearer token.
pub(super) fn parse(
    name: &str,
    value: &Secret,
    has_tokens: bool,
) -> Result<(HeaderName, HeaderValue)> {
    let name: HeaderName = name
        .parse()
        .map_err(|_| Error::config("the header for authentication has no valid name"))?;
    if TAKEN.contains(&name.as_str()) || (has_tokens && name == "authorization") {
        return Err(Error::config(format!(
            "the client sets the header {name} itself"
        )));
    }
    if value.is_empty() {
        return Err(Error::config("the header for authentication is empty"));
    }
    // Owned bytes, so that all clones share one buffer and it is wiped with the last of them.
    let bytes = Bytes::from_owner(Zeroizing::new(value.expose().as_bytes().to_vec()));
    let mut value = HeaderValue::from_maybe_shared(bytes)
        .map_err(|_| Error::config("the header for authentication cannot be sent"))?;
    value.set_sensitive(true);
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_can_be_sent_is_taken_and_hidden() {
        let (name, value) = parse("X-Api-Key", &"s3cr3t".into(), true).unwrap();
        assert_eq!(
            (name.as_str(), value.to_str().unwrap()),
            ("x-api-key", "s3cr3t")
        );
        assert!(!format!("{value:?}").contains("s3cr3t"));
        assert!(parse("Authorization", &"Basic czpw".into(), false).is_ok());
    }

    #[test]
    fn others_are_refused_without_showing_the_value() {
        for (name, value, has_tokens) in [
            ("", "s3cr3t", false),
            ("x key", "s3cr3t", false),
            ("Host", "s3cr3t", false),
            ("authorization", "s3cr3t", true),
            ("x-api-key", "", false),
            ("x-api-key", "s3cr3t\r\nx: y", false),
        ] {
            let error = parse(name, &value.into(), has_tokens).unwrap_err();
            assert!(error.is_config() && !format!("{error:?}").contains("s3cr3t"));
        }
    }
}
