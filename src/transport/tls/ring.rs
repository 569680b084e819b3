//! TLS by rustls with ring, trusting what the operating system trusts.

use std::sync::{Arc, Mutex, PoisonError};

use reqwest::ClientBuilder;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::error::Error;

/// Sets up TLS, or does without it when no endpoint needs it: a machine without a certificate bundle can still use a fake.
pub(in crate::transport) fn configure(
    builder: ClientBuilder,
    secure: bool,
    extra_roots_pem: &[Vec<u8>],
) -> Result<ClientBuilder, Error> {
    let roots = certificates(extra_roots_pem)?;
    let config = if secure && !roots.is_empty() {
        config(secure, roots)?
    } else {
        shared_config(secure)?
    };
    Ok(builder.tls_backend_preconfigured(config))
}

/// What all clients without certificates of their own use, made by the first of them: reading the certificates of the
/// operating system takes milliseconds.
fn shared_config(secure: bool) -> Result<ClientConfig, Error> {
    static SHARED: [Mutex<Option<ClientConfig>>; 2] = [const { Mutex::new(None) }; 2];
    let shared = SHARED[usize::from(secure)].lock();
    let mut shared = shared.unwrap_or_else(PoisonError::into_inner);
    if let Some(config) = &*shared {
        return Ok(config.clone());
    }
    Ok(shared.insert(config(secure, Vec::new())?).clone())
}

fn config(secure: bool, roots: Vec<CertificateDer<'static>>) -> Result<ClientConfig, Error> {
    // The provider is passed in, never installed for the process: an application may install another one.
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|source| Error::config("TLS cannot be set up").with_source(source))?;
    let mut config = if secure {
        let verifier = verifier(provider, roots)?;
        config
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth()
    } else {
        config
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth()
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Reads and checks the certificates, also where no endpoint needs them, so that an error in the settings shows at once.
fn certificates(pem: &[Vec<u8>]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let wrong = |what: &str| Error::config(format!("extra_root_certificate: {what}"));
    let mut certificates = Vec::new();
    for pem in pem {
        let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|_| wrong("damaged PEM text"))?;
        if found.is_empty() {
            return Err(wrong("no certificate in the PEM text"));
        }
        for certificate in found {
            // OK to read each for itself and drop the store: it parses what it takes in.
            RootCertStore::empty()
                .add(certificate.clone())
                .map_err(|_| wrong("damaged certificate"))?;
            certificates.push(certificate);
        }
    }
    Ok(certificates)
}

fn verifier(
    provider: Arc<CryptoProvider>,
    roots: Vec<CertificateDer<'static>>,
) -> Result<Arc<dyn ServerCertVerifier>, Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_is_refused_whatever_the_endpoint() {
        let damaged = "-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n-----END CERTIFICATE-----\n";
        let unfinished = "-----BEGIN CERTIFICATE-----\nZ2FyYmFnZQ==\n";
        let key = "-----BEGIN PRIVATE KEY-----\nZ2FyYmFnZQ==\n-----END PRIVATE KEY-----\n";
        for garbage in ["garbage", "", damaged, unfinished, key] {
            for secure in [true, false] {
                let pem = [garbage.as_bytes().to_vec()];
                let error = configure(ClientBuilder::new(), secure, &pem);
                let error = error.err().unwrap_or_else(|| panic!("{garbage} {secure}"));
                assert!(error.is_config());
                assert!(error.to_string().starts_with("extra_root_certificate"));
            }
        }
    }
}
