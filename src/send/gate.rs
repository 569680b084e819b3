//! What requests pass before they are sent, beside the limits of their client.

use crate::auth::BoxFuture;
use crate::error::{Error, Result};

/// Decides when a request may be sent. A sender with one leaves waits after `Retry-After` to it: no call sleeps that long.
pub(crate) trait Gate: Send + Sync {
    /// Waits until one more request may be sent; an error: none may be any more. The future may be dropped.
    fn enter(&self) -> BoxFuture<'_, Result<()>>;

    /// Why no call may be started now.
    fn refusal(&self) -> Option<Error>;

    /// Notes what a request came to.
    fn note(&self, result: Result<(), &Error>);
}
