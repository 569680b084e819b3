//! Keyed hashes in the place of account keys.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Keeps these hashes apart from any other use of the same key.
const DOMAIN: &[u8] = b"envd-sdk account key 1\0";

/// HMAC-SHA256 with its key. Wiped from memory when dropped.
pub(super) struct AccountHash(Hmac<Sha256>);

impl AccountHash {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        // A block of SHA-256: RFC 2104 fills shorter keys up with zeros.
        let mut block = Zeroizing::new([0; 64]);
        block[..32].copy_from_slice(key);
        let mut mac = Hmac::new((&*block).into());
        mac.update(DOMAIN);
        Self(mac)
    }

    /// 43 characters of base64url: as a key it fits every store.
    pub(super) fn of(&self, account: &str) -> String {
        let mut mac = self.0.clone();
        mac.update(account.as_bytes());
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    }
}
