//! The nouns.
mod condition;
mod server_error;

pub use self::condition::Condition;
pub use self::server_error::{Location, PathSegment, ServerError};
