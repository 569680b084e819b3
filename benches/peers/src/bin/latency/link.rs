//! The simulated network link between client and server.

use std::time::Duration;

pub struct Link {
    /// The time between a request and the beginning of its reply.
    pub round_trip: Duration,
    /// The bandwidth, shared by all connections; `None` is unlimited.
    pub bytes_per_second: Option<u64>,
}
