//! Tests of the stored format, and the store with hooks for tests of the manager.

mod hooked_store;
mod record;

pub(in crate::auth) use self::hooked_store::{Gate, HookedStore, StoreCall, fault};
pub(in crate::auth) use self::record::{generation, tokens};
