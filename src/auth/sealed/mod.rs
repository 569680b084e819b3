//! Encryption at rest, as a wrapper around any token store (feature `sealed`).
//!
//! [`SealedStore`] encrypts each record with XChaCha20-Poly1305 and passes it to the inner store. The inner store sees these in
//! clear: the account's key (unless [`SealedStore::hash_accounts`] hides it), the id of the sealing key, when the tokens were
//! issued and expire, the number of renewals, and whether a refresh is in progress. It sees no tokens, scopes or subject.
//!
//! Each record is bound to its account, and cannot be decrypted under another one. An older record of the same account can be
//! decrypted, so an attacker with write access to the store can restore an old record.

pub(crate) mod sealed_store;

#[cfg(test)]
mod tests;

#[doc(alias("encrypt", "encryption"))]
pub use self::sealed_store::SealedStore;
pub use self::sealed_store::SealingKey;
