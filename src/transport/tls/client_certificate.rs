//! Reads the PEM text of a client certificate.

use crate::error::Error;
use crate::secret::Secret;

/// A chain of certificates, the client's own first, and its key. Each has its BEGIN and END lines.
pub(super) struct ClientCertificate<'a> {
    pub(super) chain: Vec<&'a str>,
    pub(super) key: &'a str,
}

impl<'a> ClientCertificate<'a> {
    /// Finds the sections (RFC 7468). Sections of other kinds, and text between sections, are ignored.
    pub(super) fn read(pem: &'a Secret) -> Result<Self, Error> {
        let mut chain = Vec::new();
        let mut keys = Vec::new();
        let mut rest = pem.expose();
        while let Some((label, section, after)) = next_section(rest)? {
            match label {
                "CERTIFICATE" => chain.push(section),
                "ENCRYPTED PRIVATE KEY" => return Err(encrypted()),
                // Older tools mark an encrypted key by a header inside the section (RFC 1421 section 4.6).
                "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY" => {
                    if section.contains("ENCRYPTED") {
                        return Err(encrypted());
                    }
                    keys.push(section);
                }
                _ => {}
            }
            rest = after;
        }
        if chain.is_empty() {
            return Err(refused("no certificate in the PEM text"));
        }
        match keys[..] {
            [key] => Ok(Self { chain, key }),
            [] => Err(refused("no private key in the PEM text")),
            _ => Err(refused("more than one private key in the PEM text")),
        }
    }
}

/// The label and text of the next section, and the rest.
#[allow(clippy::type_complexity)]
fn next_section(text: &str) -> Result<Option<(&str, &str, &str)>, Error> {
    const BEGIN: &str = "-----BEGIN ";
    const DASHES: &str = "-----";
    let Some(start) = text.find(BEGIN) else {
        return Ok(None);
    };
    let (_, text) = text.split_at(start);
    let damaged = || refused("damaged PEM text");
    let label = text
        .strip_prefix(BEGIN)
        .and_then(|rest| rest.split_once(DASHES));
    let (label, _) = label.ok_or_else(damaged)?;
    let last = format!("-----END {label}-----");
    let end = text.find(&last).ok_or_else(damaged)? + last.len();
    let (part, rest) = text.split_at(end);
    Ok(Some((label, part, rest)))
}

/// An error that does not repeat the text.
pub(super) fn refused(what: &str) -> Error {
    Error::config(format!("client_certificate: {what}"))
}

fn encrypted() -> Error {
    refused("the private key is encrypted: decrypt it first")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::tests::assert_fails;

    const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\nY2VydA==\n-----END CERTIFICATE-----";
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nczNjcjN0\n-----END PRIVATE KEY-----";

    #[test]
    fn certificates_and_key_are_found_in_any_order_and_among_others() {
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggq\n-----END EC PARAMETERS-----";
        let ec = KEY.replace("PRIVATE", "EC PRIVATE");
        let among = format!("x {parameters}\n{ec}\nsubject\n{CERTIFICATE}");
        for (text, length, key) in [
            (format!("{CERTIFICATE}\n{KEY}\n"), 1, KEY),
            (format!("{KEY}\r\n{CERTIFICATE}\r\n{CERTIFICATE}"), 2, KEY),
            (among, 1, &ec),
        ] {
            let text = text.into();
            let found = ClientCertificate::read(&text).unwrap();
            assert_eq!(found.chain, vec![CERTIFICATE; length]);
            assert_eq!(found.key, key);
        }
    }

    #[test]
    fn a_text_that_is_not_one_key_with_its_certificates_is_refused_and_not_shown() {
        let encrypted = KEY.replace("PRIVATE", "ENCRYPTED PRIVATE");
        let headers =
            KEY.replace("PRIVATE", "RSA PRIVATE")
                .replacen('\n', "\nProc-Type: 4,ENCRYPTED\n\n", 1);
        for (text, expected) in [
            (String::new(), "no certificate"),
            ("czNjcjN0".to_owned(), "no certificate"),
            (KEY.to_owned(), "no certificate"),
            (CERTIFICATE.to_owned(), "no private key"),
            (format!("{CERTIFICATE}{KEY}{KEY}"), "more than one"),
            (format!("{CERTIFICATE}{encrypted}"), "encrypted"),
            (format!("{CERTIFICATE}{headers}"), "encrypted"),
            (format!("{CERTIFICATE}{}", &KEY[..40]), "damaged"),
            ("-----BEGIN CERT".to_owned(), "damaged"),
        ] {
            let text = text.into();
            let read = ClientCertificate::read(&text);
            assert_fails(read, &format!("Config: {expected} & !czNj"));
        }
    }
}
