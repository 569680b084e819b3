//! Encryption around any store (feature `sealed`).

mod sealed_sync;

#[cfg(all(test, feature = "sqlite"))]
mod sqlite_tests;
#[cfg(test)]
mod tests;

pub use self::sealed_sync::SealedSync;
