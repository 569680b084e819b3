//! The way between client and server.

use std::time::Duration;

pub struct Line {
    /// From a request to the beginning of its reply.
    pub round_trip: Duration,
    /// Shared by all connections; `None` is without limit.
    pub bytes_per_second: Option<u64>,
}
