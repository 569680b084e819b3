//! Decoding of replies: literal ones, random ones that conform to the schema, and any bytes.

mod bytes;
pub(crate) mod random;
mod replies;

use serde::de::DeserializeOwned;

use super::{Outcome, encode_document};
use crate::error::Error;

/// Reads the reply to a query of the caller.
fn decode<T: DeserializeOwned>(
    status: u16,
    media_type: Option<&str>,
    body: &[u8],
) -> Option<Result<Outcome<T>, Error>> {
    let query = encode_document("query Q { q }", "Q", &serde_json::json!({})).unwrap();
    let decoded = query.decode(status, media_type, body, Some, None)?;
    Some(decoded.map(|(outcome, _)| outcome))
}
