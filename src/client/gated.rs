//! An account whose requests pass a gate.

use std::sync::Arc;

use super::{Account, Client};
use crate::send::Gate;

impl Account {
    /// The same with a gate for all of its requests but those for tokens.
    pub(crate) fn with_gate(&self, gate: Arc<dyn Gate>) -> Self {
        let client = Client {
            sender: self.client.sender.with_gate(gate),
            ..self.client.clone()
        };
        client.account(self.id.clone())
    }
}
