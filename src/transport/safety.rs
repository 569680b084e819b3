//! Whether a request may be sent again, and whether a change may have been carried out.
//!
//! | failure | read | change |
//! | --- | --- | --- |
//! | no connection: name look-up, TCP, TLS | again | again: it surely was not sent |
//! | connection lost, time-out or deadline after sending | again | in doubt |
//! | HTTP 429, or a code for a limit | again | again on 2xx and 4xx: it was refused |
//! | HTTP 401, or a body that says so on 2xx and 4xx | once more with a new token | once more: it was refused |
//! | errors on 2xx and 4xx that name known reasons | error | error: it was refused |
//! | errors that name no known reason, "Internal server error" | error | in doubt |
//! | HTTP 500, whatever the body | error | in doubt |
//! | HTTP 502 to 504, whatever the body | again | in doubt |
//! | a reply without the record, a cut reply, one of another kind | error | in doubt |
//!
//! A change in doubt is not sent again, unless the caller says that this does no harm.

use crate::error::{Error, Kind, Unsent};

/// Whether it does harm to carry out a request twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Safety {
    /// A read.
    Repeatable,
    /// A change: sent again only if it surely was not carried out.
    Once,
    /// A change of which the caller says that carrying it out twice does no harm.
    Idempotent,
}

impl Safety {
    /// Whether a request that failed this way may be sent again.
    pub(crate) fn allows_retry(self, error: &Error) -> bool {
        error.is_transient() && (self != Self::Once || !self.may_have_applied(error))
    }

    /// Whether a change that failed this way may have been carried out: unless it surely was not sent, or was refused.
    pub(crate) fn may_have_applied(self, error: &Error) -> bool {
        self != Self::Repeatable
            && match error.kind() {
                Kind::Transport(failure) => failure.unsent == Unsent::Perhaps,
                Kind::Http { .. }
                | Kind::Rejected { .. }
                | Kind::Decode { .. }
                | Kind::Protocol(_) => !error.is_refusal(),
                // These arise before a request is sent, or after a read.
                Kind::Config(_)
                | Kind::Auth(_)
                | Kind::Stalled(_)
                | Kind::AccountChoice(_)
                | Kind::NotRegistered => false,
            }
    }
}
