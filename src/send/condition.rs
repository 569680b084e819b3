//! A condition that must still hold when a request can be sent.

use std::sync::Arc;

use super::Call;

impl<T: Send + 'static> Call<T> {
    /// Sends a request only if this holds right before its first byte. Otherwise the call fails, and was surely not sent.
    pub(crate) fn only_if(mut self, condition: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.own_settings().condition = Some(Arc::new(condition));
        self
    }
}
