//! What the checks found.

use std::fmt;

/// A law that every store keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Law {
    /// An account without a record reads as `None`, and removing it changes nothing.
    AbsentIsNone,
    /// A record comes back as it was written, under the version that the write told.
    ReadsWhatWasWritten,
    /// What one handle writes, another one reads.
    SharedBetweenHandles,
    /// Accounts whose keys differ in any way have records of their own.
    AccountsAreApart,
    /// A first write goes through if there is no record, and only then.
    FirstWriteExpectsNone,
    /// A write with a version that is not the stored one changes nothing, and says so.
    SwapComparesVersions,
    /// No version comes twice, not even after the record was removed.
    VersionsNeverRepeat,
    /// A removal with a version that is not the stored one changes nothing, and says so.
    RemoveComparesVersions,
    /// Of writes at the same time with the same expectation, one goes through.
    OneOfManySwapsWins,
    /// A lock that is held is refused with `StoreError::lock_timeout` when nobody waits for it, also to another handle.
    LockExcludes,
    /// Who waits for a lock gets it when it is freed before the deadline.
    LockWaits,
    /// The lock of one account does not stop another.
    LockIsPerAccount,
    /// A lock is free as soon as its guard is dropped.
    LockEndsWithItsGuard,
    /// A caller that stops to wait for a lock does not hold it later.
    LockIsNotTakenByWhoLeft,
    /// Reads, writes and removals go through while the account's lock is held: its holder makes them.
    LockStopsNoWrites,
    /// What can be read is never set aside.
    ReadableIsNotSetAside,
}

/// Which laws a store keeps.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Report(Vec<(Law, Option<String>)>);

impl Report {
    pub(super) fn add(&mut self, law: Law, broken: Option<String>) {
        self.0.push((law, broken));
    }

    /// The laws that the store breaks, each with what was seen.
    pub fn broken(&self) -> impl Iterator<Item = (Law, &str)> {
        let broken = |(law, broken): &'_ (Law, Option<String>)| broken.is_some().then_some(*law);
        self.0
            .iter()
            .filter_map(move |entry| Some((broken(entry)?, entry.1.as_deref()?)))
    }

    /// Whether the store keeps all laws.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.broken().next().is_none()
    }

    /// For tests: nothing, if the store keeps all laws.
    ///
    /// # Panics
    ///
    /// With the whole report, if it breaks one.
    pub fn assert_kept(&self) {
        assert!(self.is_kept(), "the store breaks laws\n{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (law, broken) in &self.0 {
            match broken {
                None => writeln!(f, "kept    {law:?}")?,
                Some(seen) => writeln!(f, "BROKEN  {law:?}: {seen}")?,
            }
        }
        Ok(())
    }
}
