//! TLS as configured by reqwest, for the features `rustls-aws-lc` and `native-tls`, or no TLS.

use reqwest::{ClientBuilder, Identity};

use super::client_certificate::{ClientCertificate, refused};
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
    // Without an https endpoint nothing is loaded, so even a machine without a certificate bundle can use a fake.
    Ok(if secure {
        builder.tls_certs_merge(roots)
    } else {
        builder.tls_certs_only([])
    })
}

/// native-tls reads keys as PKCS#8 only.
#[cfg(feature = "native-tls")]
fn with_identity(
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
    // Another crate may have selected a different default library.
    Ok(builder.identity(identity).tls_backend_native())
}

/// rustls as configured by reqwest.
#[cfg(not(feature = "native-tls"))]
fn with_identity(
    builder: ClientBuilder,
    certificate: &ClientCertificate<'_>,
) -> Result<ClientBuilder, Error> {
    let pem = [&certificate.chain[..], &[certificate.key]].concat();
    let identity = Identity::from_pem(zeroize::Zeroizing::new(pem.join("\n")).as_bytes())
        .map_err(|_| refused("damaged certificate or private key"))?;
    // Another crate may have selected a different default library.
    Ok(builder.identity(identity).tls_backend_rustls())
}
