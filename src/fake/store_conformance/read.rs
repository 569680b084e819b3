//! Laws of reading.

use std::sync::Arc;

use super::Verdict;
use super::sample::{Bench, failed, law, record};
use crate::auth::{BoxFuture, TokenStore, Version};

pub(super) fn absent_is_none<S: TokenStore>(bench: Arc<Bench<S>>) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        law(
            bench.stored().await?.is_none(),
            "a record came from nowhere",
        )?;
        let removed = bench.store.remove(&bench.key, Version::new(1)).await;
        law(!removed.map_err(failed)?, "nothing was removed, it says")?;
        law(bench.stored().await?.is_none(), "a removal left a record")
    })
}

pub(super) fn reads_what_was_written<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let version = bench.put(7).await?;
        let stored = bench.store.load(&bench.key).await.map_err(failed)?;
        let stored = stored.ok_or("the record is not there")?;
        law(
            stored.version == version,
            "it is stored under another version",
        )?;
        let (read, written) = (stored.record.to_secret_json(), record(7)?.to_secret_json());
        law(read.matches(written.expose()), "the record was changed")?;
        bench.tidy().await
    })
}

pub(super) fn shared_between_handles<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let other = bench.another();
        let version = bench.put(1).await?;
        let seen = other.load(&bench.key).await.map_err(failed)?;
        let seen = seen.ok_or("another handle does not see the record")?;
        law(
            seen.version == version,
            "another handle sees another version",
        )?;
        let swapped = other.swap(&bench.key, Some(version), &record(2)?).await;
        swapped
            .map_err(failed)?
            .ok_or("another handle cannot write")?;
        let now = bench.stored().await?.map(|(generation, _)| generation);
        law(now == Some(2), "what another handle writes is not seen")?;
        bench.tidy().await
    })
}

pub(super) fn accounts_are_apart<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        // A difference of case, of a space, of a sign that paths or patterns know, of anything beyond ASCII.
        let endings = [
            "",
            "a",
            "A",
            " a",
            "a ",
            "a/b",
            "a%2Fb",
            "..",
            "*",
            "%",
            "_",
            "'",
            "ä",
            "|\u{1f404}",
        ];
        let keys = endings.map(|ending| format!("{}{ending}", bench.key));
        let mut versions = Vec::new();
        for (key, generation) in keys.iter().zip(1..) {
            let put = bench.store.swap(key, None, &record(generation)?).await;
            let put = put.map_err(failed)?;
            versions.push(put.ok_or_else(|| format!("the key {key:?} meets another one"))?);
        }
        for (key, generation) in keys.iter().zip(1..) {
            let stored = bench.store.load(key).await.map_err(failed)?;
            let read = stored.map(|stored| stored.record.tokens().generation());
            law(read == Some(generation), "a key reads another one's record")?;
        }
        for (key, version) in keys.iter().zip(versions) {
            let removed = bench.store.remove(key, version).await;
            law(
                removed.map_err(failed)?,
                "a removal took another one's record",
            )?;
        }
        Ok(())
    })
}

pub(super) fn readable_is_not_set_aside<S: TokenStore>(
    bench: Arc<Bench<S>>,
) -> BoxFuture<'static, Verdict> {
    Box::pin(async move {
        let none = bench.store.set_aside_unreadable(&bench.key).await;
        law(!none.map_err(failed)?, "nothing was set aside, it says")?;
        let version = bench.put(1).await?;
        let aside = bench.store.set_aside_unreadable(&bench.key).await;
        law(
            !aside.map_err(failed)? && bench.stored().await? == Some((1, version)),
            "a record that can be read was set aside",
        )?;
        bench.tidy().await
    })
}
