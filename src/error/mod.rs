//! The one error of the client.
//!
//! [`Error`] is opaque: its [`ErrorKind`] and three questions classify it, and the accessors give its data. Its `Display` describes what happened
//! in this layer, [`source`](std::error::Error::source) what happened below. Neither, nor `Debug`, shows a token, a secret,
//! a body, an answer or a message of the server, since servers repeat what they were sent; the messages of the server are
//! in [`Error::server_errors`], and in [`Error::report`] as one text. A `Display` is one line of less than 300 bytes.
//!
//! Inside, a [`Repr`] says what failed, and a [`Received`] is the reply behind the error.

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

/// The result of a call of the client.
///
/// ```
/// async fn is_registered(client: &envd_sdk::Client) -> envd_sdk::Result<bool> {
///     Ok(client.user_details().await?.value.is_new_user != Some(true))
/// }
/// # let _ = is_registered;
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong in a call of the client. Cheap to clone. All kinds by what to do: [`guide::errors`](crate::guide::errors).
///
/// ```
/// # equipment::example(async {
/// use envd_sdk::fake::{Fake, Fault};
///
/// let fake = Fake::start().await;
/// fake.on_operation("DeleteConsignment").fault(Fault::dropped_after());
/// let account = fake.client().build()?.account(fake.account_id());
/// match account.delete_consignment("00000000-0000-4000-8000-000000000101").await {
///     Ok(deleted) => println!("deleted, with {} problems", deleted.problems.len()),
///     Err(error) if error.is_reauth_required() => println!("log in again"),
///     // Before the server's errors: a change that was answered with errors may have been carried out.
///     Err(error) if error.may_have_applied() => println!("look whether it is still there"),
///     Err(error) if !error.server_errors().is_empty() => println!("{}", error.report()),
///     Err(error) => println!("not deleted: {error}"),
/// }
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct Error(Arc<ErrorParts>);

/// A failure that is told apart within its kind.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ErrorCase {
    #[default]
    Any,
    /// No user is logged in.
    NoUser,
    /// The reply has data and no record.
    NoRecord,
    /// One record of a list, or of a change, cannot be read.
    UnreadableRecord,
}

#[derive(Clone, Default)]
struct ErrorParts {
    repr: Repr,
    operation: Option<String>,
    attempts: u32,
    retry_after: Option<Duration>,
    may_have_applied: bool,
    /// Whether the same call may succeed later, where no reply says so.
    passes: bool,
    /// Whether the request without a reply may have reached the server.
    was_sent: bool,
    /// The error code of an identity provider, or of this crate for a login.
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

    /// A failure of this kind, in one clause. The text is shown: it must not hold a secret.
    pub(crate) fn said(kind: ErrorKind, what: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Repr::Said(kind, what.into()))
    }

    /// A setting or an argument that cannot be used.
    pub(crate) fn config(what: impl Into<Cow<'static, str>>) -> Self {
        Self::said(ErrorKind::Config, what)
    }

    /// A reply that the interface does not allow.
    pub(crate) fn protocol(what: impl Into<Cow<'static, str>>) -> Self {
        Self::said(ErrorKind::Protocol, what)
    }

    /// The network could not carry a request there and back. `was_sent`: the server may have processed it.
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

    /// No connection could be made, and the cause is known. `words` follow those of [`no_reply`](Self::no_reply).
    pub(crate) fn not_connected(cause: ConnectCause, words: &str) -> Self {
        let what = format!("no connection could be made: {words}");
        let mut error = Self::said(ErrorKind::Connect, what).with_passes(true);
        error.parts().connect_cause = Some(cause);
        error
    }

    setters! {
        pub(crate) fn with_source(source: impl Into<Box<dyn std::error::Error + Send + Sync>>)
            |it| it.parts().source = Some(source.into().into());
        pub(crate) fn with_operation(operation: &str)
            |it| it.parts().operation = Some(operation.to_owned());
        pub(crate) fn with_attempts(attempts: u32) |it| it.parts().attempts = attempts;
        pub(crate) fn with_retry_after(wait: Option<Duration>) |it| it.parts().retry_after = wait;
        pub(crate) fn with_may_have_applied(may: bool) |it| it.parts().may_have_applied = may;
        pub(crate) fn with_passes(yes: bool) |it| it.parts().passes = yes;
        pub(crate) fn with_sent(yes: bool) |it| it.parts().was_sent = yes;
        pub(crate) fn with_code(code: &str) |it| it.parts().code = Some(code.into());
        pub(crate) fn with_received(received: ReplyParts)
            |it| it.parts().received = Some(Arc::new(received));
        pub(crate) fn with_resume_from(position: Position)
            |it| it.parts().resume_from = Some(position);
        pub(crate) fn with_case(case: ErrorCase) |it| it.parts().case = case;
    }

    /// This error, which came after another one. The failure of a store keeps its source: callers look for it.
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

    /// Copies what is inside where other callers share it, as the outcome of a refresh: they keep theirs.
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

    /// How often the request was sent, whether it got no reply, was refused, or the fault was found in its reply; 0 if nothing was
    /// sent. Requests for tokens do not count.
    pub fn attempts(&self) -> u32 {
        self.0.attempts
    }

    /// The errors of the server, warnings included: at most its first 1,000; empty when the reply had none that could be
    /// read.
    ///
    /// A refusal of a draft also repeats its open questions: [`severity`](ServerError::severity) separates the reasons
    /// from the remarks.
    pub fn server_errors(&self) -> &[ServerError] {
        &self.0.errors.first
    }

    pub(crate) fn errors(&self) -> &ServerErrors {
        &self.0.errors
    }

    /// How long to wait before the next request, from the moment at which the call failed: the `Retry-After` of the service, at
    /// most a day whatever the server sent, or the time until the token manager calls the token endpoint again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Where a list continues after a failure: all records before were returned. Only for errors of pagers.
    pub fn resume_from(&self) -> Option<&Position> {
        self.0.resume_from.as_ref()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
