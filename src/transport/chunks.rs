//! Gathers the chunks of a reply's body, never more than the limit.

use bytes::{Bytes, BytesMut};
use zeroize::{Zeroize, Zeroizing};

use super::Watch;
use super::failure::{failed, too_large};
use super::gzip::Decoder;
use crate::error::Error;

/// What came of a body, and why it ended too early, if it did.
pub(super) type Gathered = (Bytes, Option<Error>);

/// How often this task yields, until the task of the connection has dropped the last chunk.
const TURNS: u32 = 64;

/// Gathers a body; without a copy when it comes in one piece.
pub(super) async fn gather(
    reply: &mut reqwest::Response,
    limit: usize,
    watch: Option<&Watch>,
) -> Gathered {
    // The sender chose the length, so it may reserve no more than the limit.
    let announced = announced(reply);
    if announced > limit {
        return (Bytes::new(), Some(too_large()));
    }
    let mut body = Bytes::new();
    let cut = loop {
        let chunk = match next(reply, limit - body.len()).await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break None,
            Err(error) => break Some(error),
        };
        body = if body.is_empty() {
            chunk
        } else {
            // Copies the first chunk, and then uses the same memory.
            let mut longer = BytesMut::from(body);
            longer.reserve(chunk.len().max(announced.saturating_sub(longer.len())));
            longer.extend_from_slice(&chunk);
            longer.freeze()
        };
        if let Some(watch) = watch {
            watch(&body);
        }
    };
    (body, cut)
}

/// Gathers a body, decompressed. The limit of the decoder is that of what comes out.
pub(super) async fn gather_and_decode(
    reply: &mut reqwest::Response,
    mut decoder: Decoder,
    watch: Option<&Watch>,
) -> Gathered {
    let cut = loop {
        match reply.chunk().await {
            Ok(Some(chunk)) => {
                if let Err(error) = decoder.push(&chunk) {
                    break Some(error);
                }
            }
            Ok(None) => break None,
            Err(error) => break Some(failed(error)),
        }
        if let Some(watch) = watch {
            watch(decoder.decoded());
        }
    };
    let (body, early) = decoder.finish();
    (body, cut.or(early))
}

/// Gathers a body with tokens in it: it is overwritten when it is dropped, and so are the chunks that it came in.
///
/// What TLS, HTTP/2 and the operating system keep of it is out of reach.
pub(super) async fn gather_and_wipe(mut reply: reqwest::Response, limit: usize) -> Gathered {
    if announced(&reply) > limit {
        return (Bytes::new(), Some(too_large()));
    }
    let (mut chunks, mut length) = (Vec::new(), 0);
    let cut = loop {
        match next(&mut reply, limit - length).await {
            Ok(Some(chunk)) => {
                length += chunk.len();
                chunks.push(chunk);
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    // All at once: a buffer that grows leaves copies behind.
    let mut body = Zeroizing::new(Vec::with_capacity(length));
    for chunk in &chunks {
        body.extend_from_slice(chunk);
    }
    // The connection holds the memory of the last chunk. It ends with the reply.
    drop(reply);
    let last = chunks.pop();
    chunks.into_iter().for_each(wipe);
    if let Some(last) = last {
        for _ in 0..TURNS {
            if last.is_unique() {
                break;
            }
            tokio::task::yield_now().await;
        }
        wipe(last);
    }
    (Bytes::from_owner(body), cut)
}

/// Overwrites the memory that a chunk is part of, unless another chunk still uses it: the last one to go wipes all.
fn wipe(chunk: Bytes) {
    if let Ok(mut memory) = chunk.try_into_mut() {
        memory.clear();
        // Reclaims the place in front of the chunk, where the head of the reply or an earlier chunk was.
        let _ = memory.try_reclaim(memory.capacity() + 1);
        memory.resize(memory.capacity(), 0);
        memory.as_mut().zeroize();
    }
}

fn announced(reply: &reqwest::Response) -> usize {
    let length = reply.content_length();
    // A length beyond what memory can hold is beyond every limit.
    length.map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX))
}

/// The next chunk, if it has no more than so many bytes.
async fn next(reply: &mut reqwest::Response, left: usize) -> Result<Option<Bytes>, Error> {
    match reply.chunk().await.map_err(failed)? {
        Some(chunk) if chunk.len() > left => Err(too_large()),
        chunk => Ok(chunk),
    }
}
