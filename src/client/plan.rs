//! What is to be sent, and how.

use std::time::Duration;

use crate::graphql::{Encoded, OperationKind};
use crate::transport::header::HeaderMap;
use crate::transport::{RetryPolicy, Safety, Watch};

/// An encoded operation with everything that is set for this one call.
pub(super) struct Plan {
    pub(super) encoded: Encoded,
    pub(super) headers: HeaderMap,
    pub(super) retry: Option<RetryPolicy>,
    pub(super) timeout: Option<Duration>,
    pub(super) deadline: Option<Duration>,
    pub(super) idempotent: bool,
    /// The number of the page, for traces.
    pub(super) page: Option<u64>,
    pub(super) watch: Option<Watch>,
}

impl Plan {
    pub(super) fn safety(&self) -> Safety {
        match self.encoded.kind {
            OperationKind::Query => Safety::Repeatable,
            OperationKind::Mutation if self.idempotent => Safety::Idempotent,
            OperationKind::Mutation => Safety::Once,
        }
    }
}

impl From<Encoded> for Plan {
    fn from(encoded: Encoded) -> Self {
        Self {
            encoded,
            headers: HeaderMap::new(),
            retry: None,
            timeout: None,
            deadline: None,
            idempotent: false,
            page: None,
            watch: None,
        }
    }
}
