//! Waits for a lock file.
//!
//! The lock is the operating system's: it is free at once when its holder dies. The files stay, because whoever deletes
//! one takes the lock from those who have it open.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::super::StoreError;
use super::super::store_error::StoreErrorKind;
use super::fault::{Faults, Point};
use super::handle::off_the_runtime;
use super::ownership::{self, private};
use crate::transport::Clock;

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// A lock that is held until this is dropped.
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // OK to ignore: closing the file frees the lock as well.
        let _ = self.0.unlock();
    }
}

/// Tries until the deadline. Never the call that waits: it cannot be given up, and the runtime would wait for it at its
/// end.
pub(super) async fn acquire(
    path: impl FnOnce() -> Result<PathBuf, StoreError> + Send + 'static,
    wait: Duration,
    clock: &Clock,
    faults: &Faults,
) -> Result<Lock, StoreError> {
    let until = clock.boot().saturating_add(wait);
    let mut file = off_the_runtime(|| open(path()?)).await?;
    let mut pause = FIRST_PAUSE;
    loop {
        let faults = faults.clone();
        file = match off_the_runtime(move || attempt(file, &faults)).await? {
            Attempt::Taken(lock) => return Ok(lock),
            Attempt::Busy(file) => file,
        };
        let left = until.saturating_sub(clock.boot());
        if left.is_zero() {
            return Err(StoreError::lock_timeout());
        }
        // At random, so that those who wait do not all come at once.
        let jittered = pause.mul_f64(0.5 + 0.5 * fastrand::f64());
        clock.sleep(jittered.min(left)).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn open(path: PathBuf) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    let options = private(options.write(true).create(true).truncate(false));
    let what = "the lock of the token file";
    let file = ownership::open(&path, options, what)?;
    file.ok_or_else(|| {
        StoreError::of(
            StoreErrorKind::Missing,
            "the directory of the token file is not there",
        )
    })
}

enum Attempt {
    Taken(Lock),
    Busy(File),
}

fn attempt(file: File, faults: &Faults) -> Result<Attempt, StoreError> {
    let tried = match faults.pass(Point::Lock) {
        Ok(()) => file.try_lock(),
        Err(error) => Err(TryLockError::Error(error)),
    };
    match tried {
        Ok(()) => Ok(Attempt::Taken(Lock(file))),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Busy(file)),
        Err(TryLockError::Error(error)) => Err(refused(error)),
    }
}

/// Without a lock there is no refresh: two processes would use one refresh token.
fn refused(error: io::Error) -> StoreError {
    StoreError::of(
        StoreErrorKind::Unsupported,
        "the file system of the token file has no locks",
    )
    .caused_by(error)
}
