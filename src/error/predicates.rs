//! The questions that several kinds answer.

use super::reply_meaning::is_transient_status;
use super::{Error, ErrorKind, Repr};
use crate::model::Condition;

impl Error {
    /// Whether the user has to log in: there is no token, and none can be obtained without the user.
    pub fn is_reauth_required(&self) -> bool {
        self.kind() == ErrorKind::ReauthRequired
    }

    /// Whether the server answered with errors and without data; [`server_errors`](Self::server_errors) has the reasons.
    ///
    /// For a change, check [`may_have_applied`](Self::may_have_applied) first: a server that failed halfway sends such errors, too.
    pub fn is_rejected(&self) -> bool {
        matches!(self.repr(), Repr::Rejected)
    }

    /// Whether a change may have been carried out although no clear answer came.
    ///
    /// It is false only if the change surely was not sent, or was refused: HTTP 401, 413 or 429, JSON or XML on 400, 403
    /// or 404, or an error body on 2xx or 4xx in which every error names a reason that is known (validation, token,
    /// permission, limit, schema). Errors on 5xx, "Internal server error" on any status, a reply without the record, a reply
    /// that is cut, a web page or an empty body leave it in doubt. [`is_retryable`](Self::is_retryable) is then false.
    ///
    /// Look at the server's records before sending it again: a declaration sent twice is a second declaration. For a new
    /// consignment [`Account::candidates`](crate::Account::candidates) does that.
    #[doc(alias("idempotency", "lost reply", "sent twice"))]
    pub fn may_have_applied(&self) -> bool {
        self.0.may_have_applied
    }

    /// Whether the same call may succeed later without any change, and repeating it does no harm.
    pub fn is_retryable(&self) -> bool {
        !self.0.may_have_applied && (self.0.passes || self.is_transient())
    }

    /// Whether sending the request again may give another reply, regardless of the harm that it may do.
    pub(crate) fn is_transient(&self) -> bool {
        match self.repr() {
            Repr::Said(ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::Transport, _) => {
                self.0.passes
            }
            _ => {
                matches!(self.kind(), ErrorKind::NoAnswer | ErrorKind::RateLimited)
                    || self.http_status().is_some_and(is_transient_status)
            }
        }
    }

    /// Whether the service refuses the token, whatever else its reply says: a new one is worth a try.
    pub(crate) fn refuses_token(&self) -> bool {
        self.service_status() == Some(401) || self.has(Condition::InvalidToken)
    }

    /// Whether one of the server's errors means this (spec 7.2).
    pub(crate) fn has(&self, condition: Condition) -> bool {
        self.server_errors()
            .iter()
            .any(|error| error.condition() == condition)
    }
}
