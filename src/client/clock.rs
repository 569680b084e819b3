//! The clock of a client, for what is built above it.

use super::Client;
use crate::transport::Clock;

impl Client {
    pub(crate) fn clock(&self) -> &Clock {
        self.sender.clock()
    }
}
