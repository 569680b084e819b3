//! TLS by rustls with ring, trusting the operating system's certificate authorities.

use std::sync::{Arc, Mutex};

use reqwest::ClientBuilder;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use super::client_certificate::{ClientCertificate, refused};
use crate::error::Error;
use crate::locked::lock;
use crate::transport::HttpOptions;

/// Sets up TLS if an endpoint needs it. Otherwise even a machine without a certificate bundle can use a fake.
pub(in crate::transport) fn configure(
    builder: ClientBuilder,
    secure: bool,
    options: &HttpOptions,
) -> Result<ClientBuilder, Error> {
    let roots = certificates(&options.extra_roots_pem)?;
    let client = options
        .client_certificate_pem
        .as_ref()
        .map(ClientCertificate::read)
        .transpose()?;
    let config = if client.is_some() || secure && !roots.is_empty() {
        config(secure, roots, client.as_ref())?
    } else {
        shared_config(secure)?
    };
    Ok(builder.tls_backend_preconfigured(config))
}

/// The configuration of all clients without their own certificates. The first client creates it, because reading the operating
/// system's certificates takes milliseconds.
fn shared_config(secure: bool) -> Result<ClientConfig, Error> {
    static SECURE: Mutex<Option<ClientConfig>> = Mutex::new(None);
    static INSECURE: Mutex<Option<ClientConfig>> = Mutex::new(None);
    let mut shared = lock(if secure { &SECURE } else { &INSECURE });
    if let Some(config) = &*shared {
        return Ok(config.clone());
    }
    Ok(shared.insert(config(secure, Vec::new(), None)?).clone())
}

fn config(
    secure: bool,
    roots: Vec<CertificateDer<'static>>,
    client: Option<&ClientCertificate<'_>>,
) -> Result<ClientConfig, Error> {
    // The provider is passed in and never installed for the process: the application may install a different one.
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|source| Error::config("TLS cannot be set up").with_source(source))?;
    let config = if secure {
        let verifier = verifier(provider, roots)?;
        config
            .dangerous()
            .with_custom_certificate_verifier(verifier)
    } else {
        config.with_root_certificates(RootCertStore::empty())
    };
    let mut config = match client {
        Some(client) => {
            let (chain, key) = chain_and_key(client)?;
            config
                .with_client_auth_cert(chain, key)
                .map_err(|error| match error {
                    rustls::Error::InconsistentKeys(_) => {
                        refused("the private key is not that of the first certificate")
                    }
                    _ => refused("a private key that cannot be used"),
                })?
        }
        None => config.with_no_client_auth(),
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Reads and checks the certificates, even if no endpoint needs them, so that wrong settings are reported at once.
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
            if !is_readable(&certificate) {
                return Err(wrong("damaged certificate"));
            }
            certificates.push(certificate);
        }
    }
    Ok(certificates)
}

fn chain_and_key(
    client: &ClientCertificate<'_>,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), Error> {
    let certificate = |pem: &&str| {
        CertificateDer::from_pem_slice(pem.as_bytes())
            .ok()
            .filter(is_readable)
            .ok_or_else(|| refused("damaged certificate"))
    };
    let chain = client
        .chain
        .iter()
        .map(certificate)
        .collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_slice(client.key.as_bytes())
        .map_err(|_| refused("damaged private key"))?;
    Ok((chain, key))
}

fn is_readable(certificate: &CertificateDer<'static>) -> bool {
    // OK to discard the store: adding a certificate parses it.
    RootCertStore::empty().add(certificate.clone()).is_ok()
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
mod tests;
