//! No TLS feature is on: only loopback addresses can be used.

use reqwest::ClientBuilder;

use crate::error::Error;
use crate::transport::HttpOptions;

/// Refuses https endpoints and certificates, with the features that allow them.
pub(in crate::transport) fn configure(
    builder: ClientBuilder,
    secure: bool,
    options: &HttpOptions,
) -> Result<ClientBuilder, Error> {
    let has_certificate =
        !options.extra_roots_pem.is_empty() || options.client_certificate_pem.is_some();
    if secure || has_certificate {
        return Err(Error::config(
            "TLS needs one of the features rustls, rustls-aws-lc and native-tls",
        ));
    }
    Ok(builder)
}
