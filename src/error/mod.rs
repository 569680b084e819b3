//! The one error of the client.
//!
//! [`Error`] is opaque: ask it what it means with the `is_*` predicates and read its data with the accessors. Its
//! `Display` says what happened in this layer, [`source`](std::error::Error::source) what happened below. Neither, nor
//! `Debug`, shows a token, a secret, a body, an answer or a message of the server's, since servers repeat what they were
//! sent; the server's own words are in [`Error::server_errors`], and in [`Error::report`] as one text. A `Display` is one
//! line of less than 300 bytes.

mod display;
mod json_fault;
mod kind;
mod rate;
mod refusal;
mod reply;
mod report;
mod said;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub(crate) use self::display::codes;
pub(crate) use self::json_fault::json_fault;
pub(crate) use self::kind::{AuthProblem, Failure, Kind, Unsent};
pub(crate) use self::refusal::mark_no_record_named;
pub(crate) use self::reply::Received;

use crate::model::{Condition, Position, ServerError};

/// The result of a call of the client.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong in a call of the client. Cheap to clone.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    kind: Kind,
    operation: Option<String>,
    attempts: u32,
    retry_at: Option<SystemTime>,
    retry_after: Option<Duration>,
    may_have_applied: bool,
    /// How many of the server's errors are not kept.
    omitted: usize,
    received: Option<Arc<Received>>,
    error_description: Option<Arc<str>>,
    resume_from: Option<Position>,
    unreadable_record: bool,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(kind: Kind) -> Self {
        Self(Arc::new(Inner {
            kind,
            operation: None,
            attempts: 0,
            retry_at: None,
            retry_after: None,
            may_have_applied: false,
            omitted: 0,
            received: None,
            error_description: None,
            resume_from: None,
            unreadable_record: false,
            source: None,
        }))
    }

    /// A setting or an argument that cannot be used. The text is shown: it must not hold a secret.
    pub(crate) fn config(what: impl Into<String>) -> Self {
        Self::new(Kind::Config(what.into()))
    }

    /// Something the other side did that the interface does not allow.
    pub(crate) fn protocol(what: impl Into<String>) -> Self {
        Self::new(Kind::Protocol(what.into()))
    }

    pub(crate) fn with_source(
        self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        self.changed(|inner| inner.source = Some(Arc::new(source)))
    }

    pub(crate) fn with_operation(self, operation: &str) -> Self {
        self.changed(|inner| inner.operation = Some(operation.to_owned()))
    }

    pub(crate) fn with_attempts(self, attempts: u32) -> Self {
        self.changed(|inner| inner.attempts = attempts)
    }

    pub(crate) fn with_retry_after(self, wait: Option<Duration>) -> Self {
        self.changed(|inner| inner.retry_after = wait)
    }

    pub(crate) fn with_retry_at(self, at: Option<SystemTime>) -> Self {
        self.changed(|inner| inner.retry_at = at)
    }

    pub(crate) fn with_may_have_applied(self, may: bool) -> Self {
        self.changed(|inner| inner.may_have_applied = may)
    }

    pub(crate) fn with_omitted(self, errors: usize) -> Self {
        self.changed(|inner| inner.omitted = errors)
    }

    pub(crate) fn with_resume_from(self, position: Position) -> Self {
        self.changed(|inner| inner.resume_from = Some(position))
    }

    pub(crate) fn with_unreadable_record(self) -> Self {
        self.changed(|inner| inner.unreadable_record = true)
    }

    pub(crate) fn with_error_description(self, text: Option<&str>) -> Self {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return self;
        };
        let start: String = text.chars().take(1_000).collect();
        self.changed(|inner| inner.error_description = Some(start.into()))
    }

    fn changed(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            change(inner);
            return self;
        }
        // Shared with other callers, as the outcome of a refresh is: they keep theirs.
        let mut inner = Inner {
            source: self.0.source.clone(),
            kind: self.0.kind.clone(),
            operation: self.0.operation.clone(),
            received: self.0.received.clone(),
            error_description: self.0.error_description.clone(),
            resume_from: self.0.resume_from.clone(),
            ..*self.0
        };
        change(&mut inner);
        Self(Arc::new(inner))
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// The operation that failed, such as `createOrSaveConsignment`.
    #[must_use]
    pub fn operation(&self) -> Option<&str> {
        self.0.operation.as_deref()
    }

    /// How often the request was sent; 0 when it was not sent at all.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// What the server said, warnings among it: at most its first 1,000 errors; empty when it said nothing that could be
    /// read.
    ///
    /// A refusal of a draft also repeats its open questions:
    /// [`severity`](ServerError::severity) tells the reasons from the remarks.
    #[must_use]
    pub fn server_errors(&self) -> &[ServerError] {
        match &self.0.kind {
            Kind::Rejected { errors, .. } | Kind::Decode { errors, .. } => errors,
            _ => &[],
        }
    }

    /// How many errors the server sent; [`server_errors`](Self::server_errors) has the first 1,000 of them.
    #[must_use]
    pub fn server_error_count(&self) -> usize {
        self.server_errors().len() + self.0.omitted
    }

    /// What the identity provider says about its refusal of a login or of a refresh (`error_description`, RFC 6749 sections
    /// 4.1.2.1 and 5.2); its first 1,000 characters. Not shown by `Display` or `Debug`: it may hold personal data, and any
    /// characters.
    #[must_use]
    pub fn error_description(&self) -> Option<&str> {
        self.0.error_description.as_deref()
    }

    /// How long the server asked to wait (`Retry-After`).
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The earliest moment at which the token endpoint will be asked again.
    #[must_use]
    pub fn retry_at(&self) -> Option<SystemTime> {
        self.0.retry_at
    }

    /// Where a list goes on after a failure: everything before was handed out. Only for errors of pagers.
    #[must_use]
    pub fn resume_from(&self) -> Option<&Position> {
        self.0.resume_from.as_ref()
    }

    /// Whether the access token was refused, also after a new one was tried.
    #[must_use]
    pub fn is_unauthorized(&self) -> bool {
        self.http_status() == Some(401) || self.has(Condition::InvalidToken)
    }

    /// Whether the user is known but may not do this (HTTP 403, or the server's words to that effect).
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        self.http_status() == Some(403) || self.has(Condition::AccessDenied)
    }

    /// Whether the record does not exist (or, for changes, may not be touched: the server does not tell which).
    ///
    /// HTTP 404, or the server's words to that effect, which are those of any failure ("Internal server error"). So they
    /// count only as the reply to a request with the id or the number of a record in its variables: not for a new
    /// consignment, and not for a list. A change that ends so [may have been carried out](Self::may_have_applied) all the
    /// same.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.http_status() == Some(404) || self.has(Condition::NotFoundOrForbidden)
    }

    /// Whether the user has to log in again: there is no token, and none to be had without the user.
    #[must_use]
    pub fn is_reauth_required(&self) -> bool {
        matches!(&self.0.kind, Kind::Auth(problem) if problem.needs_login())
    }

    /// Whether the store of tokens failed. The [`source`](std::error::Error::source) is a
    /// [`StoreError`](crate::auth::StoreError) that tells how.
    #[must_use]
    pub fn is_store(&self) -> bool {
        matches!(
            &self.0.kind,
            Kind::Auth(
                AuthProblem::Store | AuthProblem::StoreUnreachable | AuthProblem::LockTimeout
            )
        )
    }

    /// Whether the user was refused at the identity provider, or cancelled the login.
    #[must_use]
    pub fn is_login_refused(&self) -> bool {
        matches!(&self.0.kind, Kind::Auth(AuthProblem::LoginRefused { .. }))
    }

    /// Whether the identity provider refused to renew the token for a reason that does not end the session, such as
    /// `access_denied`. The tokens are kept, and [`retry_at`](Self::retry_at) is when the provider will be asked again.
    #[must_use]
    pub fn is_refresh_refused(&self) -> bool {
        matches!(&self.0.kind, Kind::Auth(AuthProblem::RefreshRefused { .. }))
    }

    /// Whether the user is logged in but not registered with the service. Registration happens on the service's website.
    #[must_use]
    pub fn is_not_registered(&self) -> bool {
        matches!(&self.0.kind, Kind::NotRegistered)
    }

    /// Whether the server answered with errors and without data; [`server_errors`](Self::server_errors) says why.
    ///
    /// For a change, ask [`may_have_applied`](Self::may_have_applied) first: a server that failed on the way answers so, too.
    #[must_use]
    pub fn is_rejected(&self) -> bool {
        matches!(&self.0.kind, Kind::Rejected { .. })
    }

    /// Whether the server's schema differs from the document that was sent. An override of the operation mends it.
    #[must_use]
    pub fn is_schema_mismatch(&self) -> bool {
        self.has(Condition::SchemaMismatch)
    }

    /// Whether a reply came that does not have the expected shape; [`json_path`](Self::json_path) says where.
    #[must_use]
    pub fn is_decode(&self) -> bool {
        matches!(&self.0.kind, Kind::Decode { .. })
    }

    /// Whether one record of a list does not have the expected shape. The other records are there, and the list goes on:
    /// a stream gives the next record when it is asked again. [`is_decode`](Self::is_decode) is true as well;
    /// [`raw_data`](Self::raw_data) is the record.
    #[must_use]
    pub fn is_unreadable_record(&self) -> bool {
        self.0.unreadable_record
    }

    /// Whether the other side broke the rules of the interface: a page whose cursor stands still, a page of HTML with
    /// HTTP 200, a reply with neither data nor errors, a reply that is not HTTP.
    #[must_use]
    pub fn is_protocol(&self) -> bool {
        match &self.0.kind {
            Kind::Protocol(_) | Kind::Stalled(_) => true,
            Kind::Http { status, .. } => (200..300).contains(status),
            _ => false,
        }
    }

    /// Whether a list does not come to an end: its cursor stands still or goes in a circle, or another page is announced
    /// without saying where.
    #[must_use]
    pub fn is_pagination_stalled(&self) -> bool {
        matches!(&self.0.kind, Kind::Stalled(_))
    }

    /// Whether no account, or more than one, fits an [`AccountChoice`](crate::ops::AccountChoice).
    #[must_use]
    pub fn is_account_choice(&self) -> bool {
        matches!(&self.0.kind, Kind::AccountChoice(_))
    }

    /// Whether the server refused because there were too many requests: HTTP 429, or a code to that effect (assumed: the
    /// specification shows no rate limits). [`retry_after`](Self::retry_after) says how long to wait, if the server did.
    #[must_use]
    pub fn is_rate_limited(&self) -> bool {
        self.http_status() == Some(429) || self.server_errors().iter().any(rate::is_limit)
    }

    /// Whether a time-out ended the call.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(&self.0.kind, Kind::Transport(Failure { timeout: true, .. }))
    }

    /// Whether no connection could be made.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        matches!(
            &self.0.kind,
            Kind::Transport(Failure {
                unsent: Unsent::Surely,
                ..
            })
        )
    }

    /// Whether no complete reply came: no connection, a time-out, a connection lost on the way.
    #[must_use]
    pub fn is_transport(&self) -> bool {
        matches!(&self.0.kind, Kind::Transport(_))
    }

    /// Whether a setting or an argument cannot be used: nothing was sent, or the identity provider did not accept the
    /// client's settings.
    #[must_use]
    pub fn is_config(&self) -> bool {
        matches!(
            &self.0.kind,
            Kind::Config(_) | Kind::Auth(AuthProblem::Misconfigured { .. })
        )
    }

    /// Whether a change may have been carried out although no clear answer came.
    ///
    /// It is false only if the change surely was not sent, or was refused: HTTP 401, 413 or 429, or an error body on 2xx
    /// or 4xx in which every error names a reason that is known (validation, token, permission, limit, schema). Errors on
    /// 5xx, "Internal server error" on any status, a reply without the record, a reply that is cut or not of the
    /// interface leave it in doubt. [`is_retryable`](Self::is_retryable) is then false.
    ///
    /// Look at the server's records before sending it again: a declaration sent twice is a second declaration. For a new
    /// consignment [`Account::candidates`](crate::Account::candidates) does that.
    #[must_use]
    pub fn may_have_applied(&self) -> bool {
        self.0.may_have_applied
    }

    /// Whether the same call may succeed later without any change, and repeating it does no harm.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        !self.0.may_have_applied
            && match &self.0.kind {
                Kind::Auth(problem) => problem.is_transient(),
                _ => self.is_transient(),
            }
    }

    /// Whether sending the request again may give another reply, regardless of the harm that it may do.
    pub(crate) fn is_transient(&self) -> bool {
        match &self.0.kind {
            Kind::Transport(failure) => !failure.refused_locally,
            // Something in front of the server answers 502 to 504, in whatever shape.
            _ => matches!(self.http_status(), Some(502..=504)) || self.is_rate_limited(),
        }
    }

    /// Whether one of the server's errors is of this kind (spec 7.2).
    #[must_use]
    pub fn has(&self, condition: Condition) -> bool {
        self.server_errors()
            .iter()
            .any(|error| error.condition() == condition)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
