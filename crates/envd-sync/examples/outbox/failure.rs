//! Exit codes of failures.

use std::error::Error as StdError;
use std::fmt::{self, Display, Formatter};
use std::process::ExitCode;

use envd_sdk::Error;

use super::cli::{self, Failure, Unusable};

/// Something is refused, waits or needs a decision.
pub(crate) const OPEN: u8 = 1;
const USAGE: u8 = 2;
pub(crate) const LOGIN: u8 = 3;
const STORE: u8 = 4;

/// The file of the outbox cannot be used.
#[derive(Debug)]
pub(crate) struct UnusableStore(pub(crate) String);

impl Display for UnusableStore {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for UnusableStore {}

/// A setting is missing, or cannot be used.
#[derive(Debug)]
pub(crate) struct Setting(pub(crate) String);

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Setting {}

/// Prints the error, and returns its exit code.
pub(crate) fn fail(failure: &Failure) -> ExitCode {
    cli::fail(failure);
    if cli::is_closed_pipe(failure) {
        return ExitCode::SUCCESS;
    }
    ExitCode::from(exit_code(failure))
}

fn exit_code(failure: &Failure) -> u8 {
    if failure.is::<UnusableStore>() {
        return STORE;
    }
    if failure.is::<Unusable>() || failure.is::<Setting>() {
        return USAGE;
    }
    match failure.downcast_ref::<Error>() {
        Some(error) if error.is_store() => STORE,
        Some(error) if needs_login(error) => LOGIN,
        Some(error) if error.is_config() => USAGE,
        _ => OPEN,
    }
}

pub(crate) fn needs_login(error: &Error) -> bool {
    error.is_reauth_required() || error.is_login_refused() || error.is_unauthorized()
}

/// Whether a later try may find the service.
pub(crate) fn is_without_reception(failure: &Failure) -> bool {
    let error = failure.downcast_ref::<Error>();
    error.is_some_and(|error| error.is_transport() || error.is_retryable())
}
