//! Which addresses may be spoken to.

use url::{Host, Url};

use crate::error::Error;

/// Reads an endpoint address and refuses one that would carry tokens in the clear.
pub(crate) fn parse_endpoint(name: &str, address: &str) -> Result<Url, Error> {
    // The address is not repeated in the message: it may carry credentials.
    let url = Url::parse(address)
        .map_err(|source| Error::config(format!("{name} is not an address")).with_source(source))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Error::config(format!(
            "{name} must not hold a user name or password"
        )));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(Error::config(format!(
            "{name} must be https (http is for loopback addresses only)"
        ))),
        _ => Err(Error::config(format!("{name} must be an https address"))),
    }
}

/// Whether the address is this machine, by number (RFC 4291 section 2.5.5.2 also writes IPv4 ones as IPv6) or by the
/// name `localhost`.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.to_canonical().is_loopback(),
        // With the dot of a complete name or without.
        Some(Host::Domain(name)) => matches!(name, "localhost" | "localhost."),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row 49.
    #[test]
    fn plain_http_is_for_loopback_only() {
        for good in [
            "https://api.example.com/v2/graphql",
            "http://127.0.0.1:8080/x",
            "http://[::1]/x",
            "http://localhost:1/x",
            "http://LOCALHOST.:1/x",
            "http://127.255.1.2/",
            "http://[::ffff:127.0.0.1]/x",
        ] {
            assert!(parse_endpoint("graphql", good).is_ok(), "{good}");
        }
        for bad in [
            "http://api.example.com/",
            "http://127.0.0.1.example.com/",
            "http://[::ffff:128.0.0.1]/",
            "http://localhost.example.com/",
            "ftp://127.0.0.1/",
            "nonsense",
            "",
        ] {
            assert!(
                parse_endpoint("graphql", bad).unwrap_err().is_config(),
                "{bad}"
            );
        }
    }

    #[test]
    fn user_info_is_refused_and_not_repeated() {
        for bad in [
            "https://clerk:pa55w0rd@api.example.com/",
            "https://clerk@api.example.com/",
            "https://:pa55w0rd@api.example.com/",
            "http://clerk:pa55w0rd@127.0.0.1/",
            "https://clerk:pa55w0rd@",
        ] {
            let error = parse_endpoint("graphql", bad).unwrap_err();
            assert!(error.is_config(), "{bad}");
            assert!(error.to_string().starts_with("graphql "), "{error}");
            let shown = format!("{error} {error:?}");
            assert!(
                !shown.contains("clerk") && !shown.contains("pa55"),
                "{shown}"
            );
        }
    }
}
