//! A key, and what it does to a text.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Generate, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use crate::auth::{Seal, StoreError};
use crate::secret::Secret;

/// Bytes of the nonce, which stands before the ciphertext.
const NONCE: usize = 24;

/// A key of 256 bits that seals records, and the id under which they name it. Wiped from memory when dropped.
#[derive(Clone)]
pub struct SealingKey {
    id: String,
    cipher: XChaCha20Poly1305,
}

impl SealingKey {
    /// A key from 32 random bytes, such as `openssl rand 32` makes or a key service hands out.
    ///
    /// The id is stored in the clear with each record. A new key takes a new id, such as the month from which it is used.
    #[must_use]
    pub fn new(id: impl Into<String>, bytes: &[u8; 32]) -> Self {
        Self {
            id: id.into(),
            cipher: XChaCha20Poly1305::new(bytes.into()),
        }
    }

    /// The id under which records name the key.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn seal(&self, account: &str, text: &Secret) -> Result<Seal, StoreError> {
        // Of 24 random bytes, which never meet: nobody has to count.
        let nonce = XNonce::try_generate()
            .map_err(|_| StoreError::new("the operating system gives no random numbers"))?;
        let payload = Payload {
            msg: text.expose().as_bytes(),
            aad: account.as_bytes(),
        };
        let mut sealed = nonce.to_vec();
        let ciphertext = self.cipher.encrypt(&nonce, payload);
        sealed.extend(ciphertext.map_err(|_| StoreError::new("the record cannot be sealed"))?);
        Ok(Seal::new(&self.id, STANDARD.encode(sealed)))
    }

    /// `None` when it is not what this key sealed for the account.
    pub(super) fn open(&self, account: &str, seal: &Seal) -> Option<Secret> {
        let sealed = STANDARD.decode(seal.text()).ok()?;
        let (nonce, ciphertext) = sealed.split_at_checked(NONCE)?;
        let payload = Payload {
            msg: ciphertext,
            aad: account.as_bytes(),
        };
        let nonce = XNonce::try_from(nonce).ok()?;
        let opened = Zeroizing::new(self.cipher.decrypt(&nonce, payload).ok()?);
        Some(Secret::new(std::str::from_utf8(&opened).ok()?))
    }
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealingKey")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
