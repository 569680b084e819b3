//! The error type of the client.
//!
//! [`Error`] is opaque: its [`ErrorKind`] and three predicates classify it, and accessors return its data. `Display` describes
//! what happened in this layer, and [`source`](std::error::Error::source) what happened below. Neither these nor `Debug` shows
//! a token, a secret, a body, an answer or a message of the server, since servers echo what they receive. The server's messages
//! are in [`Error::server_errors`], and [`Error::report`] formats them as one text. A `Display` is one line of less than 300
//! bytes.
//!
//! Internally, a [`Repr`] states what failed, and a [`ReplyParts`] holds the reply that caused the error.

mod connect_cause;
mod display;
mod error_kind;
mod reaction;
mod received;
mod reply_meaning;
mod report;
mod repr;
mod server_message;
#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

pub use self::connect_cause::ConnectCause;
pub(crate) use self::display::codes;
pub use self::error_kind::ErrorKind;
pub use self::reaction::Reaction;
pub(crate) use self::received::ReplyParts;
pub(crate) use self::reply_meaning::BodyShape;
pub(crate) use self::reply_meaning::mark_no_record_named;
pub(crate) use self::repr::{Repr, ServerErrors, json_fault};

use crate::model::{Position, ServerError};

/// The result of a client call.
///
/// ```
/// async fn is_registered(client: &envd_sdk::Client) -> envd_sdk::Result<bool> {
///     Ok(client.user_details().await?.value.is_new_user != Some(true))
/// }
/// # let _ = is_registered;
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a client call. Cheap to clone. For what to do about each kind, see [`guide::errors`](crate::guide::errors).
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::fake::{Fake, Fault};
///
/// let fake = Fake::start().await;
/// fake.on_operation("DeleteConsignment").fault(Fault::dropped_after());
/// let account = fake.client().build()?.account(fake.account_id());
/// match account.delete_consignment("00000000-0000-4000-8000-000000000101").await {
///     Ok(deleted) => println!("deleted, with {} problems", deleted.problems.len()),
///     Err(error) if error.is_reauth_required() => println!("log in again"),
///     // Check this first: a change may have been carried out although the reply has errors.
///     Err(error) if error.may_have_applied() => println!("look whether it is still there"),
///     Err(error) if !error.server_errors().is_empty() => println!("{}", error.report()),
///     Err(error) => println!("not deleted: {error}"),
/// }
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct Error(Arc<ErrorParts>);

/// Distinguishes failures within one kind.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ErrorCase {
    #[default]
    Any,
    /// No user is logged in.
    NoUser,
    /// The reply has data but no record.
    NoRecord,
    /// One record of a list, or the record that a change returned, cannot be decoded.
    UnreadableRecord,
}

#[derive(Clone, Default)]
struct ErrorParts {
    repr: Repr,
    operation: Option<String>,
    attempts: u32,
    retry_after: Option<Duration>,
    may_have_applied: bool,
    /// Whether the same call may succeed later, for failures without a reply.
    passes: bool,
    /// Whether a request that got no reply may have reached the server.
    was_sent: bool,
    /// The error code of an identity provider, or the code that this crate assigns to a login failure.
    code: Option<Box<str>>,
    errors: ServerErrors,
    received: Option<Arc<ReplyParts>>,
    error_description: Option<Arc<str>>,
    resume_from: Option<Position>,
    case: ErrorCase,
    connect_cause: Option<ConnectCause>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(repr: Repr) -> Self {
        Self(Arc::new(ErrorParts {
            repr,
            ..ErrorParts::default()
        }))
    }

    /// A failure of this kind, described in one clause. The text is shown to users, so it must not contain a secret.
    pub(crate) fn said(kind: ErrorKind, what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Repr::Said(kind, what.into()))
    }

    /// An invalid setting or argument.
    pub(crate) fn config(what: impl Into<Cow<'static, str>>) -> Self {
        Self::said(ErrorKind::Config, what)
    }

    /// A reply that the interface does not allow.
    pub(crate) fn protocol(what: impl Into<Cow<'static, str>>) -> Self {
        Self::said(ErrorKind::Protocol, what)
    }

    /// The request or its reply was lost in the network. `was_sent`: the server may have processed the request.
    pub(crate) fn no_reply(is_timeout: bool, was_sent: bool) -> Self {
        let (kind, what) = match (is_timeout, was_sent) {
            (true, false) => (ErrorKind::Timeout, "no connection could be made in time"),
            (true, true) => (ErrorKind::Timeout, "no complete reply came in time"),
            (false, false) => (ErrorKind::Connect, "no connection could be made"),
            (false, true) => (
                ErrorKind::Transport,
                "the connection was lost before the reply was complete",
            ),
        };
        Self::said(kind, what).with_passes(true).with_sent(was_sent)
    }

    /// No connection could be made, for a known cause. `words` are appended to the message of [`no_reply`](Self::no_reply).
    pub(crate) fn not_connected(cause: ConnectCause, words: &str) -> Self {
        let what = format!("no connection could be made: {words}");
        let mut error = Self::said(ErrorKind::Connect, what).with_passes(true);
        error.parts().connect_cause = Some(cause);
        error
    }

    pub(crate) fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.parts().source = Some(source.into().into());
        self
    }

    pub(crate) fn with_operation(mut self, operation: &str) -> Self {
        self.parts().operation = Some(operation.to_owned());
        self
    }

    pub(crate) fn with_attempts(mut self, attempts: u32) -> Self {
        self.parts().attempts = attempts;
        self
    }

    pub(crate) fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.parts().retry_after = wait;
        self
    }

    pub(crate) fn with_may_have_applied(mut self, may: bool) -> Self {
        self.parts().may_have_applied = may;
        self
    }

    pub(crate) fn with_passes(mut self, yes: bool) -> Self {
        self.parts().passes = yes;
        self
    }

    pub(crate) fn with_sent(mut self, yes: bool) -> Self {
        self.parts().was_sent = yes;
        self
    }

    pub(crate) fn with_code(mut self, code: &str) -> Self {
        self.parts().code = Some(code.into());
        self
    }

    pub(crate) fn with_received(mut self, received: ReplyParts) -> Self {
        self.parts().received = Some(Arc::new(received));
        self
    }

    pub(crate) fn with_resume_from(mut self, position: Position) -> Self {
        self.parts().resume_from = Some(position);
        self
    }

    pub(crate) fn with_case(mut self, case: ErrorCase) -> Self {
        self.parts().case = case;
        self
    }

    /// This error, with the earlier error as its source. A store failure keeps its own source, because callers look for it.
    pub(crate) fn after(self, mut earlier: Self) -> Self {
        if self.kind() == ErrorKind::Store {
            return self;
        }
        if let Some(below) = self.0.source.clone() {
            earlier.parts().source.get_or_insert(below);
        }
        self.with_source(earlier)
    }

    /// Keeps the reason that an identity provider gives (`error_description`, RFC 6749 sections 4.1.2.1 and 5.2).
    pub(crate) fn with_error_description(mut self, text: Option<&str>) -> Self {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            let start: String = text.chars().take(1_000).collect();
            self.parts().error_description = Some(start.into());
        }
        self
    }

    /// Clones the parts first if other callers share them, for example as the result of a common refresh.
    fn parts(&mut self) -> &mut ErrorParts {
        Arc::make_mut(&mut self.0)
    }

    pub(crate) fn repr(&self) -> &Repr {
        &self.0.repr
    }

    pub(crate) fn case(&self) -> ErrorCase {
        self.0.case
    }

    /// Whether the request that got no reply may have reached the server.
    pub(crate) fn was_sent(&self) -> bool {
        self.0.was_sent
    }

    pub(crate) fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The operation that failed, such as `createOrSaveConsignment`.
    pub fn operation(&self) -> Option<&str> {
        self.0.operation.as_deref()
    }

    /// The number of times the request was sent, whether it got no reply, was refused, or got an invalid reply; 0 if nothing
    /// was sent. Token requests do not count.
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// The server's errors, including warnings: at most the first 1,000. Empty if the reply had none, or none that could be
    /// decoded.
    ///
    /// When the service refuses a draft, it also repeats the draft's open questions: use [`severity`](ServerError::severity) to
    /// separate the reasons from the remarks.
    pub fn server_errors(&self) -> &[ServerError] {
        &self.0.errors.first
    }

    pub(crate) fn errors(&self) -> &ServerErrors {
        &self.0.errors
    }

    /// How long to wait before the next request, counted from the moment the call failed. This is the service's `Retry-After`,
    /// limited to one day, or the time until the token manager will call the token endpoint again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Where to continue a list after a failure: all earlier records were returned. Only set by pagers.
    pub fn resume_from(&self) -> Option<&Position> {
        self.0.resume_from.as_ref()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
