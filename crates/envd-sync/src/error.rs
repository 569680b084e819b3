//! The error of this crate.

use envd_sdk::ErrorKind;
use envd_sdk::auth::{StoreError, StoreErrorKind};

use crate::bank::DraftError;
use crate::replica::is_answer;

/// The result of a call of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the replica, the outbox or the banks; cheap to clone.
///
/// As with [`envd_sdk::Error`], neither `Display` nor `Debug` nor a source shows a token, an answer or a text of the server.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A request failed; this is the error of the SDK.
    #[error(transparent)]
    Client(#[from] envd_sdk::Error),
    /// The reply of the service cannot be used: its list changed while it was read, or it contradicts itself.
    #[error("{0}")]
    Reply(&'static str),
    /// The store failed; data written before the call is unchanged.
    #[error("the store failed")]
    Store(#[from] StoreError),
    /// A setting or an argument is invalid; nothing was sent or written.
    #[error("{0}")]
    Usage(String),
    /// A draft cannot be written, or cannot be opened with another list.
    #[error("the draft is not written")]
    Draft(#[from] DraftError),
}

impl Error {
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::Usage(what.into())
    }

    /// The kind of failure as in the SDK, so that a program matches on one enum.
    ///
    /// An unusable reply is [`Protocol`](ErrorKind::Protocol); an invalid setting or argument and a refused draft are
    /// [`Config`](ErrorKind::Config).
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::ErrorKind;
    /// use envd_sync::Replica;
    /// use envd_sync::store::MemorySync;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let replica = Replica::new(&account, MemorySync::new());
    /// # fake.stop().await;
    /// match replica.sync().await {
    ///     Ok(report) => println!("{report}"),
    ///     Err(error) => match error.kind() {
    ///         ErrorKind::ReauthRequired => println!("log in again"),
    ///         ErrorKind::Store => println!("is there room on the disk? {error}"),
    ///         _ => println!("later: {error}"),
    ///     },
    /// }
    /// # Ok(()) });
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Client(error) => error.kind(),
            Self::Reply(_) => ErrorKind::Protocol,
            Self::Store(_) => ErrorKind::Store,
            Self::Usage(_) | Self::Draft(_) => ErrorKind::Config,
        }
    }

    /// The error of the failed request, if there is one.
    pub fn client(&self) -> Option<&envd_sdk::Error> {
        match self {
            Self::Client(error) => Some(error),
            _ => None,
        }
    }

    /// Whether the service answered, and would answer the same request the same way.
    pub(crate) fn is_answer(&self) -> bool {
        match self {
            Self::Client(error) => is_answer(error),
            Self::Reply(_) => true,
            Self::Store(_) | Self::Usage(_) | Self::Draft(_) => false,
        }
    }

    /// Whether the user has to log in again.
    pub fn is_reauth_required(&self) -> bool {
        self.client()
            .is_some_and(envd_sdk::Error::is_reauth_required)
    }

    /// Whether the same call may succeed later without changes.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Client(error) => error.is_retryable(),
            Self::Reply(_) => true,
            Self::Store(error) => matches!(
                error.kind(),
                StoreErrorKind::Unreachable | StoreErrorKind::LockTimeout
            ),
            Self::Usage(_) | Self::Draft(_) => false,
        }
    }
}
