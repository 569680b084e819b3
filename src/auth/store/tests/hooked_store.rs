//! A store for tests that runs a hook before each call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::auth::{
    MemoryStore, Record, StoreError, StoreFuture, StoreGuard, TokenStore, Version, Versioned,
};

/// A call that reaches the store.
#[derive(Clone, Copy)]
pub(in crate::auth) enum StoreCall<'a> {
    Load,
    Swap(&'a Record),
    Remove,
    Lock,
}

type Hook = dyn Fn(StoreCall<'_>) -> Result<(), StoreError> + Send + Sync;

/// Takes one from a count; false when there is none left.
pub(in crate::auth) fn counts_down(left: &AtomicUsize) -> bool {
    let fewer = |left: usize| left.checked_sub(1);
    let one = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer);
    one.is_ok()
}

/// A memory store that runs a hook before each call. The hook may record the call, fail it, or panic.
#[derive(Clone)]
pub(in crate::auth) struct HookedStore {
    inner: MemoryStore,
    hook: Arc<Hook>,
    fragile_lock: bool,
}

impl HookedStore {
    pub(in crate::auth) fn new(
        inner: MemoryStore,
        hook: impl Fn(StoreCall<'_>) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Self {
        let hook = Arc::new(hook);
        Self {
            inner,
            hook,
            fragile_lock: false,
        }
    }

    /// A store whose locks are lost as soon as they are taken, as behind a network that is cut.
    pub(in crate::auth) fn with_fragile_lock(mut self) -> Self {
        self.fragile_lock = true;
        self
    }
}

impl TokenStore for HookedStore {
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(async move {
            (self.hook)(StoreCall::Load)?;
            self.inner.load(key).await
        })
    }

    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> StoreFuture<'a, Option<Version>> {
        Box::pin(async move {
            (self.hook)(StoreCall::Swap(new))?;
            self.inner.swap(key, expected, new).await
        })
    }

    fn remove<'a>(&'a self, key: &'a str, expected: Version) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            (self.hook)(StoreCall::Remove)?;
            self.inner.remove(key, expected).await
        })
    }

    fn lock<'a>(&'a self, key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard> {
        Box::pin(async move {
            (self.hook)(StoreCall::Lock)?;
            if self.fragile_lock {
                return Ok(StoreGuard::new(()));
            }
            self.inner.lock(key, wait).await
        })
    }

    fn lock_survives_faults(&self) -> bool {
        !self.fragile_lock && self.inner.lock_survives_faults()
    }
}
