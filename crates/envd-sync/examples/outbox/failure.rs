//! Exit codes of failures.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::process::ExitCode;

use envd_sdk::ErrorKind;

use super::cli::{self, Failure, Unusable};

/// At least one declaration is refused, waits or needs a decision.
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

impl Error for UnusableStore {}

/// A missing or invalid setting.
#[derive(Debug)]
pub(crate) struct Setting(pub(crate) String);

impl Display for Setting {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Setting {}

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
    match sync_error(failure).map(|error| error.kind()) {
        Some(ErrorKind::Store) => STORE,
        Some(ErrorKind::ReauthRequired | ErrorKind::LoginRefused | ErrorKind::Unauthorized) => {
            LOGIN
        }
        Some(ErrorKind::Config) => USAGE,
        _ => OPEN,
    }
}

/// Whether a later try may reach the service.
pub(crate) fn is_without_reception(failure: &Failure) -> bool {
    sync_error(failure).is_some_and(|error| {
        let is_transport = matches!(
            error.kind(),
            ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::Transport
        );
        is_transport || error.is_retryable()
    })
}

/// The failure as an error of the outbox, if the outbox or the client caused it.
fn sync_error(failure: &Failure) -> Option<envd_sync::Error> {
    let of_client = || failure.downcast_ref::<envd_sdk::Error>().cloned();
    let of_outbox = failure.downcast_ref::<envd_sync::Error>().cloned();
    of_outbox.or_else(|| of_client().map(envd_sync::Error::from))
}
