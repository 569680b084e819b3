//! Laws of writing and removing.

use std::collections::HashSet;
use std::sync::Arc;

use super::Verdict;
use super::sample::{Bench, failed, law, record};
use crate::auth::{BoxFuture, TokenStore, Version};

const WRITERS: u64 = 8;

pub(super) fn first_write_expects_none<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let ghost = Some(Version::new(1));
        let swapped = bench.store.swap(&bench.key, ghost, &record(1)?).await;
        law(
            swapped.map_err(failed)?.is_none() && bench.stored().await?.is_none(),
            "a version was expected, there was no record, and it was written",
        )?;
        let version = bench.put(1).await?;
        let again = bench.store.swap(&bench.key, None, &record(2)?).await;
        law(
            again.map_err(failed)?.is_none() && bench.stored().await? == Some((1, version)),
            "no record was expected, there was one, and it was replaced",
        )?;
        bench.tidy().await
    })
}

pub(super) fn swap_compares_versions<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let first = bench.put(1).await?;
        let second = bench.store.swap(&bench.key, Some(first), &record(2)?).await;
        let second = second.map_err(failed)?;
        let second = second.ok_or("a write with the stored version is refused")?;
        law(
            bench.stored().await? == Some((2, second)),
            "a write with the stored version is not there",
        )?;
        let late = bench.store.swap(&bench.key, Some(first), &record(3)?).await;
        law(
            late.map_err(failed)?.is_none(),
            "a write with an old version goes through",
        )?;
        law(
            bench.stored().await? == Some((2, second)),
            "a write with an old version changed the record",
        )?;
        bench.tidy().await
    })
}

pub(super) fn versions_never_repeat<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let mut seen = HashSet::new();
        for _ in 0..3 {
            let mut version = bench.put(1).await?;
            for generation in 2..5 {
                law(seen.insert(version), "a version came twice")?;
                let new = record(generation)?;
                let swapped = bench.store.swap(&bench.key, Some(version), &new).await;
                let swapped = swapped.map_err(failed)?;
                version = swapped.ok_or("a write with the stored version is refused")?;
            }
            law(seen.insert(version), "a version came twice")?;
            bench.tidy().await?;
        }
        Ok(())
    })
}

pub(super) fn remove_compares_versions<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let first = bench.put(1).await?;
        let second = bench.store.swap(&bench.key, Some(first), &record(2)?).await;
        let second = second.map_err(failed)?;
        let second = second.ok_or("a write with the stored version is refused")?;
        let removed = bench.store.remove(&bench.key, first).await;
        law(
            !removed.map_err(failed)? && bench.stored().await? == Some((2, second)),
            "a removal with an old version goes through",
        )?;
        let removed = bench.store.remove(&bench.key, second).await;
        law(
            removed.map_err(failed)? && bench.stored().await?.is_none(),
            "a removal with the stored version does not go through",
        )
    })
}

pub(super) fn one_of_many_swaps_wins<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let mut expected = None;
        for _ in 0..10 {
            let writers = (0..WRITERS).map(|writer| {
                let (bench, store) = (bench.clone(), bench.another());
                tokio::spawn(async move {
                    let swapped = store.swap(&bench.key, expected, &record(writer)?).await;
                    let version = swapped.map_err(failed)?;
                    Ok::<_, String>(version.map(|version| (writer, version)))
                })
            });
            let mut winners = Vec::new();
            let writers: Vec<_> = writers.collect();
            for writer in writers {
                let written = writer.await.map_err(failed)??;
                winners.extend(written);
            }
            let [winner] = winners[..] else {
                return Err(format!("{} of {WRITERS} went through", winners.len()));
            };
            law(
                bench.stored().await? == Some(winner),
                "the record is not that of the writer that went through",
            )?;
            expected = Some(winner.1);
        }
        bench.tidy().await
    })
}
