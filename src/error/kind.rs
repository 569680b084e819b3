//! What the opaque error holds inside.

use crate::model::ServerError;

/// The kinds of failure; private, so that kinds can be added without breaking anybody.
#[derive(Clone)]
pub(crate) enum Kind {
    Config(String),
    Transport(Failure),
    /// A reply that is not of the interface: an HTML page, an empty body, XML.
    Http {
        status: u16,
        media_type: Option<String>,
        excerpt: String,
    },
    /// A reply of the interface that says no.
    Rejected {
        status: u16,
        errors: Vec<ServerError>,
    },
    /// A reply of the interface in a shape that does not fit the types.
    Decode {
        status: u16,
        path: String,
        detail: String,
        /// What the server said beside the data that could not be read.
        errors: Vec<ServerError>,
    },
    Protocol(String),
    /// A list that does not come to an end.
    Stalled(&'static str),
    /// No account, or more than one, fits the choice.
    AccountChoice(String),
    NotRegistered,
    Auth(AuthProblem),
}

/// Why no complete reply came.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) what: &'static str,
    pub(crate) timeout: bool,
    pub(crate) unsent: Unsent,
    /// Ours to refuse (a reply over the size limit, a redirect): trying again changes nothing.
    pub(crate) refused_locally: bool,
}

/// Whether the request reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// No connection was made, or the server said that it did not process the request.
    Surely,
    /// It may have been processed.
    Perhaps,
}

/// What went wrong with login and tokens.
#[derive(Clone, Debug)]
pub(crate) enum AuthProblem {
    /// Nobody is logged in, or was logged out.
    NoTokens,
    /// The refresh token is dead.
    ReauthRequired { reason: &'static str },
    /// The provider wants the user to do something; the tokens may live on.
    InteractionRequired { code: String },
    /// The client's settings do not fit the provider; the tokens are kept.
    Misconfigured { code: String },
    /// The login ended with an error of the provider's or a callback that does not belong to it.
    LoginRefused { code: String },
    /// The provider refused to renew the tokens, for a reason that does not end them; they are kept.
    RefreshRefused { code: String },
    /// The token endpoint is not available for now.
    Unavailable { what: &'static str },
    /// The store of tokens failed; the source says how.
    Store,
    /// The server of the store does not answer; the source says how.
    StoreUnreachable,
    /// Another process holds the lock on the stored tokens.
    LockTimeout,
}

impl AuthProblem {
    pub(crate) fn needs_login(&self) -> bool {
        matches!(
            self,
            Self::NoTokens | Self::ReauthRequired { .. } | Self::InteractionRequired { .. }
        )
    }

    pub(crate) fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. } | Self::StoreUnreachable | Self::LockTimeout
        )
    }
}
