//! The predicates of [`guide::errors`](crate::guide::errors).

use super::refusal::is_rate_limit;
use super::reply_meaning::is_transient_status;
use super::{AuthProblem, Error, ErrorKind, Failure, Repr, Unsent};
use crate::model::Condition;

impl Error {
    /// Whether the service refused the access token, also after a new one was tried: HTTP 401 in JSON, in XML or with a
    /// `WWW-Authenticate` for bearer tokens (RFC 6750 section 3), or an error to that effect.
    #[doc(alias = "401")]
    pub fn is_unauthorized(&self) -> bool {
        self.service_status() == Some(401) || self.has(Condition::InvalidToken)
    }

    /// Whether the user is known but may not do this (HTTP 403 of the service, or an error to that effect).
    #[doc(alias("403", "permission"))]
    pub fn is_forbidden(&self) -> bool {
        self.service_status() == Some(403) || self.has(Condition::AccessDenied)
    }

    /// Whether the record does not exist (or, for changes, may not be changed: the server does not distinguish them).
    ///
    /// HTTP 404 with a body of the service (JSON or XML), or an error to that effect, which has the text of any failure ("Internal server error"). So it
    /// counts only as the reply to a request with the id or the number of a record in its variables: not for a new
    /// consignment, and not for a list. A change that ends so [may have been carried out](Self::may_have_applied) all the
    /// same.
    #[doc(alias = "404")]
    pub fn is_not_found(&self) -> bool {
        self.service_status() == Some(404) || self.has(Condition::NotFoundOrForbidden)
    }

    /// Whether the user has to log in again: there is no token, and none can be obtained without the user.
    pub fn is_reauth_required(&self) -> bool {
        matches!(&self.0.repr, Repr::Auth(problem) if problem.needs_login())
    }

    /// Whether the store of the tokens failed. The [`source`](std::error::Error::source) is a
    /// [`StoreError`](crate::auth::StoreError) with the details.
    pub fn is_store(&self) -> bool {
        matches!(
            &self.0.repr,
            Repr::Auth(
                AuthProblem::Store | AuthProblem::StoreUnreachable | AuthProblem::LockTimeout
            )
        )
    }

    /// Whether the user was refused at the identity provider, or cancelled the login.
    pub fn is_login_refused(&self) -> bool {
        matches!(&self.0.repr, Repr::Auth(AuthProblem::LoginRefused { .. }))
    }

    /// Whether the identity provider refused to renew the token for a reason that does not end the session, such as
    /// `access_denied`. The tokens are kept, and [`retry_at`](Self::retry_at) is when the provider is called again.
    pub fn is_refresh_refused(&self) -> bool {
        matches!(&self.0.repr, Repr::Auth(AuthProblem::RefreshRefused { .. }))
    }

    /// Whether the user is logged in but not registered with the service. Registration happens on the service's website.
    pub fn is_not_registered(&self) -> bool {
        matches!(&self.0.repr, Repr::NotRegistered)
    }

    /// Whether the server answered with errors and without data; [`server_errors`](Self::server_errors) has the reasons.
    ///
    /// For a change, check [`may_have_applied`](Self::may_have_applied) first: a server that failed halfway sends such errors, too.
    pub fn is_rejected(&self) -> bool {
        matches!(&self.0.repr, Repr::Rejected { .. })
    }

    /// Whether the server's schema differs from the document that was sent, or lacks a field of an input. An override of the
    /// operation helps.
    pub fn is_schema_mismatch(&self) -> bool {
        self.has(Condition::SchemaMismatch)
    }

    /// Whether a reply came that does not have the expected shape; [`json_path`](Self::json_path) is where.
    pub fn is_decode(&self) -> bool {
        matches!(&self.0.repr, Repr::Decode { .. })
    }

    /// Whether one record of a list does not have the expected shape. The other records are returned, and the list continues:
    /// a stream returns the next record on the next call. [`is_decode`](Self::is_decode) is true as well;
    /// [`raw_data`](Self::raw_data) is the record.
    pub fn is_unreadable_record(&self) -> bool {
        self.0.unreadable_record
    }

    /// Whether the server broke the rules of the interface: a page whose cursor does not change, a reply with neither data
    /// nor errors, a reply that is not HTTP, a damaged gzip body. A web page or an empty body is
    /// [`NoAnswer`](ErrorKind::NoAnswer) instead, whatever its status.
    pub fn is_protocol(&self) -> bool {
        match &self.0.repr {
            Repr::Protocol(_) | Repr::Stalled(_) => true,
            Repr::Http => {
                let is_success = matches!(self.http_status(), Some(200..=299));
                is_success && self.kind() == ErrorKind::Protocol
            }
            _ => false,
        }
    }

    /// Whether a list does not come to an end: its cursor does not change or repeats, or another page is announced without
    /// a cursor.
    pub fn is_pagination_stalled(&self) -> bool {
        matches!(&self.0.repr, Repr::Stalled(_))
    }

    /// Whether no account, or more than one, fits an [`AccountChoice`](crate::ops::AccountChoice).
    pub fn is_account_choice(&self) -> bool {
        matches!(&self.0.repr, Repr::AccountChoice(_))
    }

    /// Whether the server refused because there were too many requests: HTTP 429, or a code to that effect (assumed: the
    /// specification shows no rate limits). [`retry_after`](Self::retry_after) is how long to wait, if the server sent it.
    #[doc(alias("429", "rate limit", "too many requests"))]
    pub fn is_rate_limited(&self) -> bool {
        self.http_status() == Some(429) || self.server_errors().iter().any(is_rate_limit)
    }

    /// Whether the service could not understand the request (HTTP 400, spec 7.1). Repeating it does not help.
    #[doc(alias = "400")]
    pub fn is_bad_request(&self) -> bool {
        self.service_status() == Some(400)
    }

    /// Whether nothing has changed since the date of the request (HTTP 304, spec 7.1).
    #[doc(alias = "304")]
    pub fn is_not_modified(&self) -> bool {
        self.http_status() == Some(304)
    }

    /// Whether the server failed inside (HTTP 500, spec 7.1). A change may have been carried out.
    #[doc(alias = "500")]
    pub fn is_internal(&self) -> bool {
        self.http_status() == Some(500)
    }

    /// Whether the service is offline for maintenance (HTTP 503, spec 7.1). Try again later.
    #[doc(alias("503", "maintenance"))]
    pub fn is_unavailable(&self) -> bool {
        self.http_status() == Some(503)
    }

    /// Whether the reply has a status that the interface does not use (spec 7.1): a redirect, which is never followed, 405,
    /// 418, 502. Mostly a proxy or a firewall answered. For the text of the body see
    /// [`server_message`](Self::server_message).
    pub fn is_unexpected_status(&self) -> bool {
        let status = self.http_status().unwrap_or(200);
        !matches!(
            status,
            200..=299 | 304 | 400 | 401 | 403 | 404 | 429 | 500 | 503
        )
    }

    /// Whether a time-out ended the call.
    pub fn is_timeout(&self) -> bool {
        matches!(&self.0.repr, Repr::Transport(Failure { timeout: true, .. }))
    }

    /// Whether no connection could be made.
    pub fn is_connect(&self) -> bool {
        matches!(
            &self.0.repr,
            Repr::Transport(Failure {
                unsent: Unsent::Surely,
                ..
            })
        )
    }

    /// Whether no complete reply came: no connection, a time-out, a lost connection, a compressed body that ends early.
    pub fn is_transport(&self) -> bool {
        matches!(&self.0.repr, Repr::Transport(_))
    }

    /// Whether a setting or an argument cannot be used: nothing was sent, or the identity provider did not accept the
    /// client's settings.
    pub fn is_config(&self) -> bool {
        matches!(
            &self.0.repr,
            Repr::Config(_) | Repr::Auth(AuthProblem::Misconfigured { .. })
        )
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
        !self.0.may_have_applied
            && match &self.0.repr {
                Repr::Auth(problem) => problem.is_transient(),
                _ => self.is_transient(),
            }
    }

    /// Whether sending the request again may give another reply, regardless of the harm that it may do.
    pub(crate) fn is_transient(&self) -> bool {
        match &self.0.repr {
            Repr::Transport(failure) => !failure.refused_locally,
            _ => {
                self.kind() == ErrorKind::NoAnswer
                    || self.is_rate_limited()
                    || self.http_status().is_some_and(is_transient_status)
            }
        }
    }

    /// Whether one of the server's errors is of this kind (spec 7.2).
    pub fn has(&self, condition: Condition) -> bool {
        self.server_errors()
            .iter()
            .any(|error| error.condition() == condition)
    }
}
