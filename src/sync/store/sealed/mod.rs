//! Encryption around any store (feature `sealed`).

mod sealed_sync;

#[cfg(test)]
mod tests;

pub use self::sealed_sync::SealedSync;
