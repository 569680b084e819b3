//! Which addresses may be spoken to.

use url::{Host, Url};

use crate::error::Error;

/// Reads an endpoint address and refuses one that would carry tokens in the clear.
pub(crate) fn parse_endpoint(name: &str, address: &str) -> Result<Url, Error> {
    // The address is not repeated in the message: it may carry credentials.
    let url = Url::parse(address)
        .map_err(|source| Error::config(format!("{name} is not an address")).with_source(source))?;
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err(Error::config(format!(
            "{name} must be https (http is for loopback addresses only)"
        ))),
        _ => Err(Error::config(format!("{name} must be an https address"))),
    }
}

/// Whether the address is this machine, by number or by the name `localhost`.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
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
        ] {
            assert!(parse_endpoint("graphql", good).is_ok(), "{good}");
        }
        for bad in [
            "http://api.example.com/",
            "http://127.0.0.1.example.com/",
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
}
