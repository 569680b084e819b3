//! No TLS feature is on: only loopback addresses can be spoken to.

use reqwest::ClientBuilder;

use crate::error::Error;

/// Refuses https endpoints with the name of the cure.
pub(crate) fn configure(
    builder: ClientBuilder,
    secure: bool,
    _extra_roots_pem: &[Vec<u8>],
) -> Result<ClientBuilder, Error> {
    if secure {
        return Err(Error::config(
            "https needs one of the features rustls, rustls-aws-lc and native-tls",
        ));
    }
    Ok(builder)
}
