//! The client certificate for rustls as reqwest sets it up.

use reqwest::{ClientBuilder, Identity};
use zeroize::Zeroizing;

use super::client_certificate::{ClientCertificate, refused};
use crate::error::Error;

pub(super) fn with_identity(
    builder: ClientBuilder,
    certificate: &ClientCertificate<'_>,
) -> Result<ClientBuilder, Error> {
    let pem = [&certificate.chain[..], &[certificate.key]].concat();
    let pem = Zeroizing::new(pem.join("\n"));
    let identity = Identity::from_pem(pem.as_bytes())
        .map_err(|_| refused("damaged certificate or private key"))?;
    // Named, since another crate may have chosen another library as the default.
    Ok(builder.identity(identity).tls_backend_rustls())
}
