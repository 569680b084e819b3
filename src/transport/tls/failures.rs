//! Classifies TLS failures of rustls: which side refused the other's certificate, and why.

use std::io;
use std::time::{Duration, SystemTime};

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error};

use super::CertificateFault;

/// Whether the server ended the handshake because of the client's certificate, or for lack of one (RFC 8446 section 6.2). The
/// server has then processed nothing, although with TLS 1.3 the client has already sent its request.
pub(in crate::transport) fn refuses_certificate(error: &io::Error) -> bool {
    matches!(
        tls_error(error),
        Some(Error::AlertReceived(
            AlertDescription::NoCertificate
                | AlertDescription::BadCertificate
                | AlertDescription::UnsupportedCertificate
                | AlertDescription::CertificateRevoked
                | AlertDescription::CertificateExpired
                | AlertDescription::CertificateUnknown
                | AlertDescription::UnknownCA
                | AlertDescription::AccessDenied
                | AlertDescription::CertificateRequired
        ))
    )
}

/// Why the client refused the server's certificate; `None` if it did not.
pub(in crate::transport) fn certificate_fault(error: &io::Error) -> Option<CertificateFault> {
    let Some(Error::InvalidCertificate(error)) = tls_error(error) else {
        return None;
    };
    Some(match error {
        CertificateError::Expired | CertificateError::NotValidYet => CertificateFault::Dates,
        CertificateError::ExpiredContext { not_after, .. } => {
            CertificateFault::Expired(instant(*not_after))
        }
        CertificateError::NotValidYetContext { not_before, .. } => {
            CertificateFault::NotValidYet(instant(*not_before))
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            CertificateFault::Name
        }
        CertificateError::UnknownIssuer => CertificateFault::Authority,
        _ => CertificateFault::Other,
    })
}

fn tls_error(error: &io::Error) -> Option<&Error> {
    let inner = error.get_ref()?;
    // A handshake wraps its error twice.
    match inner.downcast_ref() {
        Some(wrapped) => tls_error(wrapped),
        None => inner.downcast_ref(),
    }
}

fn instant(time: UnixTime) -> SystemTime {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(time.as_secs()));
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}
