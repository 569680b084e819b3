//! TLS as reqwest sets it up for the features `rustls-aws-lc` and `native-tls`, or none at all.

use reqwest::ClientBuilder;

use crate::error::Error;

/// Leaves TLS to reqwest.
pub(in crate::transport) fn configure(
    builder: ClientBuilder,
    secure: bool,
    extra_roots_pem: &[Vec<u8>],
) -> Result<ClientBuilder, Error> {
    let mut roots = Vec::new();
    for pem in extra_roots_pem {
        let certificates = reqwest::Certificate::from_pem_bundle(pem)
            .map_err(|_| Error::config("extra_root_certificate: damaged PEM text"))?;
        if certificates.is_empty() {
            return Err(Error::config(
                "extra_root_certificate: no certificate in the PEM text",
            ));
        }
        roots.extend(certificates);
    }
    // Without an https endpoint nothing is loaded: a machine without a certificate bundle can still use a fake.
    Ok(if secure {
        builder.tls_certs_merge(roots)
    } else {
        builder.tls_certs_only([])
    })
}
