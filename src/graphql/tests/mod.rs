//! Decoding of replies: literal ones, random ones that conform to the schema, and any bytes.

mod bytes;
pub(crate) mod random;
mod replies;
