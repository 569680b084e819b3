//! What is inside the opaque error.

use serde_json::error::Category;

use crate::model::ServerError;

/// What failed, with its data; private. [`ErrorKind`](super::ErrorKind) is what callers see of it.
#[derive(Clone)]
pub(crate) enum Repr {
    Config(String),
    Transport(Failure),
    /// A reply that is not of the interface: an HTML page, an empty body, XML.
    Http,
    /// A reply of the interface with errors and without data.
    Rejected {
        status: u16,
        errors: Vec<ServerError>,
    },
    /// A reply of the interface in a shape that does not fit the types.
    Decode {
        status: u16,
        path: String,
        detail: String,
        /// The errors beside the data that could not be read.
        errors: Vec<ServerError>,
    },
    Protocol(String),
    /// A list that does not come to an end.
    Stalled(&'static str),
    /// No account, or more than one, matches the choice.
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
    /// Refused by this crate (a reply over the size limit, a redirect): trying again changes nothing.
    pub(crate) refused_locally: bool,
}

impl Failure {
    /// Of a request that the network could not carry there and back.
    pub(crate) fn no_reply(timeout: bool, unsent: Unsent) -> Self {
        Self {
            what: match (timeout, unsent) {
                (true, Unsent::Surely) => "no connection could be made in time",
                (true, Unsent::Perhaps) => "no complete reply came in time",
                (false, Unsent::Surely) => "no connection could be made",
                (false, Unsent::Perhaps) => "the connection was lost before the reply was complete",
            },
            timeout,
            unsent,
            refused_locally: false,
        }
    }
}

/// Whether the request reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// No connection was made, or the server reported that it did not process the request.
    Surely,
    /// It may have been processed.
    Perhaps,
}

/// What went wrong with login and tokens.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum AuthProblem {
    /// No user is logged in, or the user was logged out.
    #[error("no user is logged in")]
    NoTokens,
    /// The refresh token is not valid any more.
    #[error("the user has to log in again: {reason}")]
    ReauthRequired { reason: &'static str },
    /// The provider requires an action of the user; the tokens may stay valid.
    #[error("the identity provider requires the user to log in again ({code})")]
    InteractionRequired { code: String },
    /// The client's settings do not fit the provider; the tokens are kept.
    #[error("the identity provider does not accept the client's settings ({code})")]
    Misconfigured { code: String },
    /// The login ended with an error of the provider or a callback that does not belong to it.
    #[error("the login was refused ({code})")]
    LoginRefused { code: String },
    /// The provider refused to renew the tokens, for a reason that does not end them; they are kept.
    #[error("the identity provider refused to renew the token ({code})")]
    RefreshRefused { code: String },
    /// The token endpoint is not available for now.
    #[error("no token is available for now: {what}")]
    Unavailable { what: &'static str },
    /// A store failed, that of the tokens or of the copy; the source has the details.
    #[error("the store failed")]
    Store,
    /// The server of the store does not answer; the source has the details.
    #[error("the server of the store does not answer")]
    StoreUnreachable,
    /// Another process holds a lock in the store.
    #[error("another process holds a lock in the store")]
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

/// Why JSON cannot be read, without the text of the decoder, which repeats the value.
///
/// Some reasons of `serde_json` show in its text only; the test below checks those.
pub(crate) fn json_fault(error: &serde_json::Error) -> &'static str {
    let text = error.to_string();
    match error.classify() {
        Category::Data if text.starts_with("duplicate field ") => "a duplicate key",
        Category::Data => "a value of another type than expected",
        Category::Eof => "it ends too early",
        // RFC 8259 section 8.2.
        _ if text.starts_with("lone leading surrogate")
            || text.starts_with("unexpected end of hex escape")
            || text.starts_with("invalid unicode code point") =>
        {
            "a lone surrogate in a string"
        }
        _ if text.starts_with("number out of range") => "a number out of range",
        _ if text.starts_with("recursion limit exceeded") => "lists or objects nested too deep",
        Category::Syntax | Category::Io => "it is not JSON",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[derive(serde::Deserialize)]
    struct Record {
        #[allow(dead_code)] // OK because reading it is the question.
        pic: Option<Value>,
    }

    #[test]
    fn each_reason_has_its_words() {
        let deep = format!(r#"{{"pic": {}{}}}"#, "[".repeat(200), "]".repeat(200));
        for (json, told) in [
            (r#"{"pic": 1, "pic": 2}"#, "duplicate key"),
            (r#"{"pic": "\ud83d"}"#, "surrogate"),
            (r#"{"pic": "\ude00 x"}"#, "surrogate"),
            (r#"{"pic": "\ud83d\ud83d"}"#, "surrogate"),
            (r#"{"pic": "\ud83d x"}"#, "surrogate"),
            (r#"{"pic": 1e999}"#, "out of range"),
            (deep.as_str(), "nested"),
            (r#"{"pic": 1"#, "too early"),
            (r#"{"pic": 1,}"#, "not JSON"),
            ("5", "another type"),
        ] {
            let error = serde_json::from_str::<Record>(json).err().unwrap();
            assert!(json_fault(&error).contains(told), "{json}: {error}");
        }
    }
}
