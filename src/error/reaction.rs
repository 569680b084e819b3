//! What to do about an error, for programs that handle many kinds alike.

use super::ErrorKind;

/// The step required before a call can succeed. Each reaction covers a group of [error kinds](ErrorKind).
///
/// Check [`Error::may_have_applied`](crate::Error::may_have_applied) first: after a change with an unknown outcome, read the
/// service's records, whatever the reaction is. [`guide::errors`](crate::guide::errors#kinds) lists the kinds of each reaction.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::Reaction;
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let account = fake.client().build()?.account(fake.account_id());
/// let error = account.consignment("00000000-0000-4000-8000-000000000000").await.unwrap_err();
/// match error.kind().reaction() {
///     Reaction::LogIn => println!("Please log in again."),
///     Reaction::Correct => println!("Please check what you entered: {error}"),
///     Reaction::WaitUntil | Reaction::TryAgain => println!("Please try again later."),
///     _ => println!("Please ask for help: {}", error.report()),
/// }
/// assert_eq!(error.kind().reaction(), Reaction::Correct);
/// # Ok(()) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reaction {
    /// The user has to log in.
    LogIn,
    /// The user has to change something: the input, the record, the account, or their registration.
    Correct,
    /// The same call may succeed after [`Error::retry_after`](crate::Error::retry_after).
    WaitUntil,
    /// The same call may succeed once there is a connection.
    TryAgain,
    /// The service failed. Contact its support team.
    AskSupport,
    /// The program's settings, the client's registration or the machine are misconfigured: the operator has to correct them.
    Configure,
    /// The service differs from what this crate expects. Report it to the crate's authors.
    Bug,
}

impl ErrorKind {
    /// The step required before a call can succeed.
    ///
    /// See [`Reaction`] for an example.
    pub fn reaction(self) -> Reaction {
        match self {
            Self::ReauthRequired | Self::LoginRefused => Reaction::LogIn,
            Self::Rejected
            | Self::NotFound
            | Self::Forbidden
            | Self::AccountChoice
            | Self::NotRegistered => Reaction::Correct,
            Self::RateLimited
            | Self::Unavailable
            | Self::RefreshRefused
            | Self::TokenUnavailable => Reaction::WaitUntil,
            Self::Connect | Self::Timeout | Self::Transport | Self::NoAnswer => Reaction::TryAgain,
            Self::Internal | Self::Protocol | Self::Stalled => Reaction::AskSupport,
            Self::Config | Self::Unauthorized | Self::Store => Reaction::Configure,
            Self::SchemaMismatch | Self::Decode | Self::UnreadableRecord => Reaction::Bug,
        }
    }
}
