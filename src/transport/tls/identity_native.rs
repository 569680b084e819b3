//! The client certificate for native-tls.

use reqwest::{ClientBuilder, Identity};

use super::client_certificate::{ClientCertificate, refused};
use crate::error::Error;

/// native-tls reads keys as PKCS#8 only.
pub(super) fn with_identity(
    builder: ClientBuilder,
    certificate: &ClientCertificate<'_>,
) -> Result<ClientBuilder, Error> {
    if !certificate.key.starts_with("-----BEGIN PRIVATE KEY-----") {
        return Err(refused(
            "with native-tls the private key must be PKCS#8, which begins with BEGIN PRIVATE KEY",
        ));
    }
    let chain = certificate.chain.join("\n");
    let identity = Identity::from_pkcs8_pem(chain.as_bytes(), certificate.key.as_bytes())
        .map_err(|_| refused("damaged certificate, or a private key that cannot be used"))?;
    // Named, since another crate may have chosen another library as the default.
    Ok(builder.identity(identity).tls_backend_native())
}
