//! No TLS feature is on: only loopback addresses can be used.

use reqwest::ClientBuilder;

use crate::error::Error;

/// Refuses https endpoints and certificates, with the features that allow them.
pub(in crate::transport) fn configure(
    builder: ClientBuilder,
    secure: bool,
    extra_roots_pem: &[Vec<u8>],
) -> Result<ClientBuilder, Error> {
    if secure || !extra_roots_pem.is_empty() {
        return Err(Error::config(
            "TLS needs one of the features rustls, rustls-aws-lc and native-tls",
        ));
    }
    Ok(builder)
}
