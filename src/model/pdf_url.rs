//! The address of the printed declaration.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::secret::Secret;

/// The address of the printed declaration. It is a secret, because its query contains a token (seen in `location_4.4.0`,
/// `guide::sources`).
///
/// `Debug` hides it, `Serialize` omits the query and the user, and [`expose`](Self::expose) returns the complete address.
/// [`Client::pdf`](crate::Client::pdf) downloads the declaration.
///
/// ```
/// use envd_sdk::model::PdfUrl;
///
/// let url = PdfUrl::from("https://files.example.com/declaration.pdf?token=secret");
/// assert_eq!(url.without_token(), "https://files.example.com/declaration.pdf");
/// assert_eq!(format!("{url:?}"), "PdfUrl([redacted])");
/// assert!(url.expose().ends_with("token=secret"));
/// ```
#[derive(Clone)]
pub struct PdfUrl(Secret);

/// The server chooses the entire text: even the path may contain a token, or control characters.
impl fmt::Debug for PdfUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PdfUrl([redacted])")
    }
}

impl PdfUrl {
    /// The complete address including the token, which grants access to the declaration.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The address without its query, and without a user and password before the host. Empty for a text with an `@` that is not
    /// an address with a scheme and `//`.
    pub fn without_token(&self) -> String {
        let address = self.expose().split(['?', '#']).next().unwrap_or_default();
        let is_scheme = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match address.split_once("://") {
            Some((scheme, rest)) if is_scheme(scheme) => {
                // Browsers accept any number of slashes in either direction (URL Standard, section 4.4).
                let rest = rest.trim_start_matches(['/', '\\']);
                let end = rest.find(['/', '\\']).unwrap_or(rest.len());
                let (authority, path) = rest.split_at(end);
                let host = authority.rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{host}{path}")
            }
            _ if address.contains('@') => String::new(),
            _ => address.to_owned(),
        }
    }
}

impl From<&str> for PdfUrl {
    fn from(address: &str) -> Self {
        Self(address.to_owned().into())
    }
}

impl From<String> for PdfUrl {
    fn from(address: String) -> Self {
        Self(address.into())
    }
}

impl PartialEq for PdfUrl {
    fn eq(&self, other: &Self) -> bool {
        self.0.matches(other.expose())
    }
}

impl Serialize for PdfUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.without_token().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PdfUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_shown_by_expose_only() {
        let url: PdfUrl =
            serde_json::from_str("\"https://print.example/C-1/$print?authToken=t0ken\"").unwrap();
        let address = "https://sam:t0ken@print.example/t0ken\u{1b}\n?t0ken";
        for url in [&url, &PdfUrl::from(address)] {
            assert_eq!(format!("{url:?}"), "PdfUrl([redacted])");
        }
        assert!(url.expose().ends_with("t0ken"));
        for (address, written) in [
            (url.expose(), "https://print.example/C-1/$print"),
            (
                "https://print.example/a@b#t0ken",
                "https://print.example/a@b",
            ),
            (
                "https://sam:t0ken@print.example:8443/x?a@b",
                "https://print.example:8443/x",
            ),
            ("https://t0ken@sam@print.example", "https://print.example"),
            (
                "https:///sam:t0ken@print.example/x",
                "https://print.example/x",
            ),
            ("https:\\\\sam:t0ken@print.example\\x", ""),
            ("https:sam:t0ken@print.example/x", ""),
            ("//sam:t0ken@print.example/x", ""),
            ("ht\ttps://sam:t0ken@print.example/x", ""),
            ("t0ken@://print.example/x", ""),
            ("/C-1/print", "/C-1/print"),
        ] {
            let url = PdfUrl::from(address);
            let json = serde_json::to_string(&url).unwrap();
            assert_eq!(json, format!("{written:?}"), "{address}");
        }
    }
}
