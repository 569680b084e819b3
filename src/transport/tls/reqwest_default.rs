//! TLS as reqwest sets it up for the features `rustls-aws-lc` and `native-tls`, or none at all.

use reqwest::ClientBuilder;

use super::client_certificate::ClientCertificate;
use super::with_identity;
use crate::error::Error;
use crate::transport::HttpOptions;

/// Leaves TLS to reqwest.
pub(in crate::transport) fn configure(
    builder: ClientBuilder,
    secure: bool,
    options: &HttpOptions,
) -> Result<ClientBuilder, Error> {
    let mut roots = Vec::new();
    for pem in &options.extra_roots_pem {
        let certificates = reqwest::Certificate::from_pem_bundle(pem)
            .map_err(|_| Error::config("extra_root_certificate: damaged PEM text"))?;
        if certificates.is_empty() {
            return Err(Error::config(
                "extra_root_certificate: no certificate in the PEM text",
            ));
        }
        roots.extend(certificates);
    }
    let builder = match &options.client_certificate_pem {
        Some(pem) => with_identity(builder, &ClientCertificate::read(pem)?)?,
        None => builder,
    };
    // Without an https endpoint nothing is loaded: a machine without a certificate bundle can still use a fake.
    Ok(if secure {
        builder.tls_certs_merge(roots)
    } else {
        builder.tls_certs_only([])
    })
}

/// The errors of these libraries are of types that only reqwest knows: a refusal is reported as a lost connection.
pub(in crate::transport) fn refuses_certificate(_: &std::io::Error) -> bool {
    false
}
