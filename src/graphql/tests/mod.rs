//! What becomes of replies: literal ones, random ones that are true to the schema, and any bytes.

mod bytes;
mod random;
mod replies;
