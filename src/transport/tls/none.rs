//! No TLS feature is on: only loopback addresses work.

use reqwest::ClientBuilder;

use crate::error::Error;
use crate::transport::HttpOptions;

/// Rejects https endpoints and certificates, naming the features that enable them.
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
