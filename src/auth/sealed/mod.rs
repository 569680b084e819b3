//! Encryption at rest, around any token store (feature `sealed`).
//!
//! [`SealedStore`] encrypts each record with XChaCha20-Poly1305 before it passes it to the inner store. The inner store
//! keeps in the clear: the account's key (unless [`SealedStore::hash_accounts`] hides it), the id of the sealing key, when
//! the tokens were issued and expire, how often they were renewed, and whether a refresh is under way. No token, no scope,
//! no subject.
//!
//! Each record is bound to its account and cannot be decrypted under another one. An older record of the same account can,
//! so write access to the store is enough to restore an old one.

pub(crate) mod sealed_store;

#[cfg(test)]
mod tests;

#[doc(alias("encrypt", "encryption"))]
pub use self::sealed_store::SealedStore;
pub use self::sealed_store::SealingKey;
