//! A token file that reports its writes.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use envd_sdk::auth::{
    FileStore, Record, StoreError, StoreErrorKind, StoreGuard, TokenStore, Version, Versioned,
};
use processes::reply;

/// The fault in one of the processes, given after the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    /// Replies "here" before the write with this number, counted from 1, and waits.
    Before(usize),
    /// Replies "here" and writes.
    During(usize),
    /// Replies "here" after the write, and waits.
    After(usize),
    /// Fails this write and all later ones with a full disk, until the process [mends](mend) its files.
    Full(usize),
}

static IS_MENDED: AtomicBool = AtomicBool::new(false);

/// Ends [`Fault::Full`] in this process.
pub(super) fn mend() {
    IS_MENDED.store(true, Ordering::SeqCst);
}

impl Fault {
    pub(super) fn at(self, path: &str) -> String {
        format!("{path}?{self:?}")
    }

    fn parse(text: &str) -> Self {
        let (name, number) = text.split_once('(').unwrap_or((text, "0)"));
        let number = number.trim_end_matches(')').parse().unwrap();
        match name {
            "None" => Self::None,
            "Before" => Self::Before(number),
            "During" => Self::During(number),
            "Full" => Self::Full(number),
            _ => Self::After(number),
        }
    }
}

pub(super) struct FaultyFile {
    file: FileStore,
    fault: Fault,
    writes: AtomicUsize,
}

impl FaultyFile {
    /// Opens a path with or without a [fault](Fault::at).
    pub(super) fn at(path: &str) -> Self {
        let (path, fault) = path.split_once('?').unwrap_or((path, "None"));
        Self {
            file: FileStore::new(path),
            fault: Fault::parse(fault),
            writes: AtomicUsize::new(0),
        }
    }
}

async fn stop() {
    reply("here");
    std::future::pending::<()>().await;
}

#[async_trait]
impl TokenStore for FaultyFile {
    async fn load(&self, key: &str) -> Result<Option<Versioned>, StoreError> {
        self.file.load(key).await
    }

    async fn swap(
        &self,
        key: &str,
        expected: Option<Version>,
        new: &Record,
    ) -> Result<Option<Version>, StoreError> {
        let number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        if self.fault == Fault::Before(number) {
            stop().await;
        }
        if self.fault == Fault::During(number) {
            reply("here");
        }
        if let Fault::Full(first) = self.fault
            && number >= first
            && !IS_MENDED.load(Ordering::SeqCst)
        {
            return Err(StoreError::new(StoreErrorKind::Full, "the disk is full"));
        }
        let written = self.file.swap(key, expected, new).await;
        if self.fault == Fault::After(number) {
            stop().await;
        }
        written
    }

    async fn remove(&self, key: &str, expected: Version) -> Result<bool, StoreError> {
        self.file.remove(key, expected).await
    }

    async fn lock(&self, key: &str, wait: Duration) -> Result<StoreGuard, StoreError> {
        self.file.lock(key, wait).await
    }

    fn lock_survives_faults(&self) -> bool {
        self.file.lock_survives_faults()
    }
}
