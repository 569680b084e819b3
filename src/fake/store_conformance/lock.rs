//! Laws of the lock.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use super::Verdict;
use super::sample::{Bench, failed, law, record};
use crate::auth::{BoxFuture, StoreGuard, TokenStore};

const PATIENT: Duration = Duration::from_secs(30);

/// The lock, if it is free.
async fn attempt<S: TokenStore>(store: &S, key: &str) -> Result<Option<StoreGuard>, String> {
    match store.lock(key, Duration::ZERO).await {
        Ok(guard) => Ok(Some(guard)),
        Err(error) if error.is_lock_timeout() => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

async fn take<S: TokenStore>(store: &S, key: &str) -> Result<StoreGuard, String> {
    store.lock(key, PATIENT).await.map_err(failed)
}

pub(super) fn lock_excludes<S: TokenStore>(bench: Arc<Bench<S>>) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let _held = take(&bench.store, &bench.key).await?;
        for store in [&bench.store, &bench.another()] {
            let second = attempt(store, &bench.key).await?;
            law(second.is_none(), "two hold one lock")?;
        }
        Ok(())
    })
}

pub(super) fn lock_waits<S: TokenStore>(bench: Arc<Bench<S>>) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let held = take(&bench.store, &bench.key).await?;
        let waiting = tokio::spawn({
            let bench = bench.clone();
            async move { take(&bench.another(), &bench.key).await.map(drop) }
        });
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        law(!waiting.is_finished(), "it does not wait")?;
        drop(held);
        waiting.await.map_err(failed)?
    })
}

pub(super) fn lock_is_per_account<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let _held = take(&bench.store, &bench.key).await?;
        let other = attempt(&bench.store, &format!("{}-other", bench.key)).await?;
        law(other.is_some(), "another account is locked as well")
    })
}

pub(super) fn lock_ends_with_its_guard<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        for _ in 0..10 {
            for store in [&bench.store, &bench.another()] {
                let guard = attempt(store, &bench.key).await?;
                law(guard.is_some(), "it is held by nobody, and refused")?;
            }
        }
        Ok(())
    })
}

pub(super) fn not_taken_by_who_left<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let held = take(&bench.store, &bench.key).await?;
        for polls in 1..5 {
            let mut leaving = bench.store.lock(&bench.key, PATIENT);
            for _ in 0..polls {
                let polled = poll_fn(|context| Poll::Ready(leaving.as_mut().poll(context))).await;
                law(polled.is_pending(), "two hold one lock")?;
                tokio::task::yield_now().await;
            }
        }
        drop(held);
        take(&bench.another(), &bench.key).await.map(drop)
    })
}

pub(super) fn lock_stops_no_writes<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let _held = take(&bench.store, &bench.key).await?;
        let version = bench.put(1).await?;
        let new = record(2)?;
        let swapped = bench.store.swap(&bench.key, Some(version), &new).await;
        let swapped = swapped.map_err(failed)?;
        law(swapped.is_some(), "the holder cannot write")?;
        bench.tidy().await
    })
}
