//! The store for unit tests: in memory, with calls that can be recorded, failed or held.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use test_support::script::within;
use tokio::sync::Semaphore;

use crate::auth::{MemoryStore, Record, StoreError, StoreGuard, TokenStore, Version, Versioned};

/// A call to the store.
#[derive(Clone, Copy)]
pub(in crate::auth) enum StoreCall<'a> {
    Load,
    Swap(&'a Record),
    Remove,
    Lock,
}

type Hook = dyn Fn(StoreCall<'_>) -> Result<(), StoreError> + Send + Sync;

/// The error that a hook returns.
pub(in crate::auth) fn fault(kind: ErrorKind) -> StoreError {
    StoreError::io("planned", kind.into())
}

/// While closed, holds the first task that reaches it until it is opened.
#[derive(Clone)]
pub(in crate::auth) struct Gate(Arc<(AtomicBool, Semaphore, Semaphore)>);

impl Gate {
    pub(in crate::auth) fn new(is_closed: bool) -> Self {
        let none = || Semaphore::new(0);
        Self(Arc::new((is_closed.into(), none(), none())))
    }

    pub(in crate::auth) fn close(&self) {
        self.0.0.store(true, Ordering::SeqCst);
    }

    pub(in crate::auth) async fn pass(&self) {
        let (is_closed, arrived, opened) = &*self.0;
        if is_closed.swap(false, Ordering::SeqCst) {
            arrived.add_permits(1);
            opened.acquire().await.unwrap().forget();
        }
    }

    /// Waits until a task is held.
    pub(in crate::auth) async fn arrived(&self) {
        let arrived = within("the call that is to be held", self.0.1.acquire()).await;
        arrived.unwrap().forget();
    }

    pub(in crate::auth) fn open(&self) {
        self.0.2.add_permits(1);
    }
}

/// A memory store that runs a hook before each call. The hook may record the call, fail it, or panic.
#[derive(Clone)]
pub(in crate::auth) struct HookedStore {
    inner: MemoryStore,
    hook: Arc<Hook>,
    fragile_lock: bool,
    /// Holds a loaded record before it is returned.
    pub(in crate::auth) loaded: Gate,
    /// Holds a removal before it is executed.
    pub(in crate::auth) removing: Gate,
}

impl HookedStore {
    pub(in crate::auth) fn new(
        inner: &MemoryStore,
        hook: impl Fn(StoreCall<'_>) -> Result<(), StoreError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            inner: inner.clone(),
            hook: Arc::new(hook),
            fragile_lock: false,
            loaded: Gate::new(false),
            removing: Gate::new(false),
        }
    }

    /// While the switch is on, the calls that match `fails` return this error.
    pub(in crate::auth) fn failing(
        inner: &MemoryStore,
        kind: ErrorKind,
        fails: impl Fn(StoreCall<'_>) -> bool + Send + Sync + 'static,
    ) -> (Self, Arc<AtomicBool>) {
        let is_on = Arc::new(AtomicBool::new(true));
        let switch = is_on.clone();
        let hook = move |call: StoreCall<'_>| {
            if fails(call) && switch.load(Ordering::SeqCst) {
                return Err(fault(kind));
            }
            Ok(())
        };
        (Self::new(inner, hook), is_on)
    }

    /// A store with locks that are lost as soon as they are taken, as over a broken network.
    pub(in crate::auth) fn with_fragile_lock(mut self) -> Self {
        self.fragile_lock = true;
        self
    }
}

#[async_trait]
impl TokenStore for HookedStore {
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        (self.hook)(StoreCall::Load)?;
        let stored = self.inner.load(key).await;
        self.loaded.pass().await;
        stored
    }

    async fn swap(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        (self.hook)(StoreCall::Swap(new))?;
        self.inner.swap(key, expected, new).await
    }

    async fn remove(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        (self.hook)(StoreCall::Remove)?;
        self.removing.pass().await;
        self.inner.remove(key, expected).await
    }

    async fn lock(&self, key: &str, wait: Duration) -> Result<StoreGuard, StoreError> {
        (self.hook)(StoreCall::Lock)?;
        if self.fragile_lock {
            return Ok(StoreGuard::new(()));
        }
        self.inner.lock(key, wait).await
    }

    fn lock_survives_faults(&self) -> bool {
        !self.fragile_lock && self.inner.lock_survives_faults()
    }
}
