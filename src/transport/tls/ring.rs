//! TLS by rustls with ring, trusting what the operating system trusts.

use std::sync::Arc;

use reqwest::ClientBuilder;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use rustls_platform_verifier::Verifier;

use crate::error::Error;

/// Sets up TLS, or does without it when no endpoint needs it: a machine without a certificate bundle can still use a fake.
pub(crate) fn configure(
    builder: ClientBuilder,
    secure: bool,
    extra_roots_pem: &[Vec<u8>],
) -> Result<ClientBuilder, Error> {
    // The provider is handed over, never installed for the process: that choice belongs to the application.
    let provider = Arc::new(ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|source| Error::config("TLS cannot be set up").with_source(source))?;
    let mut config = if secure {
        let verifier = verifier(provider, extra_roots_pem)?;
        config
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth()
    } else {
        config
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth()
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(builder.tls_backend_preconfigured(config))
}

fn verifier(
    provider: Arc<CryptoProvider>,
    extra_roots_pem: &[Vec<u8>],
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
    let mut roots = Vec::new();
    for pem in extra_roots_pem {
        for certificate in CertificateDer::pem_slice_iter(pem) {
            roots.push(
                certificate.map_err(|_| Error::config("an extra root certificate is not PEM"))?,
            );
        }
    }
    let verifier = if roots.is_empty() {
        Verifier::new(provider)
    } else {
        Verifier::new_with_extra_roots(roots, provider)
    };
    verifier
        .map(|verifier| Arc::new(verifier) as _)
        .map_err(|source| {
            Error::config("the operating system's certificates cannot be loaded")
                .with_source(source)
        })
}
