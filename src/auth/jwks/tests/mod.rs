//! Tokens that are signed here, and those of the RFCs.

mod key_sets;
mod rotation;
pub(in crate::auth) mod signer;
mod tokens;
