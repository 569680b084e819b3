//! A token file that reports its writes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use envd_sdk::auth::{FileStore, Record, StoreFuture, StoreGuard, TokenStore, Version, Versioned};
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

impl TokenStore for FaultyFile {
    fn load<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<Versioned>> {
        self.file.load(key)
    }

    fn swap<'a>(
        &'a self,
        key: &'a str,
        expected: Option<Version>,
        new: &'a Record,
    ) -> StoreFuture<'a, Option<Version>> {
        Box::pin(async move {
            let number = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
            if self.fault == Fault::Before(number) {
                stop().await;
            }
            if self.fault == Fault::During(number) {
                reply("here");
            }
            let written = self.file.swap(key, expected, new).await;
            if self.fault == Fault::After(number) {
                stop().await;
            }
            written
        })
    }

    fn remove<'a>(&'a self, key: &'a str, expected: Version) -> StoreFuture<'a, bool> {
        self.file.remove(key, expected)
    }

    fn lock<'a>(&'a self, key: &'a str, wait: Duration) -> StoreFuture<'a, StoreGuard> {
        self.file.lock(key, wait)
    }

    fn lock_survives_faults(&self) -> bool {
        self.file.lock_survives_faults()
    }
}
