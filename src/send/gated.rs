//! A sender whose requests pass a gate.

use std::sync::Arc;

use super::Sender;
pub(crate) use super::backpressure::Backpressure;
pub(crate) use super::gate::Gate;

impl Sender {
    /// The same with a gate in place of the pause after `Retry-After`.
    pub(crate) fn with_gate(&self, gate: Arc<dyn Gate>) -> Self {
        Self {
            gate: Some(gate),
            ..self.clone()
        }
    }
}
