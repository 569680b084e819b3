//! What a host of a fleet reports.

use std::time::Duration;

use crate::error::Error;
use crate::model::AccountId;
use crate::sync::outbox::OutboxReport;
use crate::sync::replica::SyncReport;

/// What a [`FleetLoop`](super::FleetLoop) did.
///
/// ```
/// use envd_sdk::sync::fleet::FleetEvent;
///
/// fn log(event: &FleetEvent) {
///     match event {
///         FleetEvent::Synced { account, report, .. } => println!("{account}: {report}"),
///         FleetEvent::Failed { account, error, again_in, .. } => println!("{account}: {error}; again in {again_in:?}"),
///         FleetEvent::DatabaseFailed { error, .. } => println!("the database: {error}"),
///         other => println!("{other:?}"),
///     }
/// }
/// # let _ = log; // fleet.run(..).on_event(log)
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FleetEvent {
    /// The replica of an account was brought up to date.
    #[non_exhaustive]
    Synced {
        /// The account.
        account: AccountId,
        /// What the sync did.
        report: SyncReport,
    },
    /// What was due in the outbox of an account was done.
    #[non_exhaustive]
    Passed {
        /// The account.
        account: AccountId,
        /// What the pass did, and what is left.
        report: OutboxReport,
    },
    /// The work on an account failed; others go on.
    #[non_exhaustive]
    Failed {
        /// The account.
        account: AccountId,
        /// Why: of the service, of the store, or of the function that opens the account.
        error: Error,
        /// When it is tried again: later after each failure, and not before the service allows it.
        again_in: Duration,
    },
    /// Another host has the account, since this one was suspended or cut off from the database for longer than the lease.
    #[non_exhaustive]
    LeaseLost {
        /// The account.
        account: AccountId,
    },
    /// The database failed. It is tried again, and until then this host sends nothing for longer than its leases last.
    #[non_exhaustive]
    DatabaseFailed {
        /// Why.
        error: Error,
    },
}
