//! The state between runs.

use std::fs;
use std::io::Write;
use std::path::Path;

use envd_sdk::model::{Day, Jurisdiction, Position, Timestamp};
use serde::{Deserialize, Serialize};

use super::cli::{Failure, Unusable};

#[derive(Serialize, Deserialize)]
pub(crate) struct Resume {
    pub(crate) since: Timestamp,
    pub(crate) position: Position,
    /// The day on which this run began; the next one lists changes since then.
    pub(crate) begun: Timestamp,
}

impl Resume {
    /// The state of a first run.
    pub(crate) fn since(day: Day) -> Self {
        let since = day.start_in(Jurisdiction::Qld);
        Self {
            since: since.clone(),
            position: Position::start(),
            begun: since,
        }
    }

    pub(crate) fn read(file: &Path) -> Result<Self, Failure> {
        let read = || -> Result<Self, Failure> { Ok(serde_json::from_slice(&fs::read(file)?)?) };
        read().map_err(|error| Unusable::new(file, error).into())
    }

    /// Replaces the file atomically: an interruption leaves the old or the new one.
    pub(crate) fn write(&self, file: &Path) -> Result<(), Failure> {
        let json = serde_json::to_vec(self)?;
        let beside = file.with_extension("new");
        let write = || {
            let mut new = fs::File::create(&beside)?;
            new.write_all(&json)?;
            new.sync_all()?;
            fs::rename(&beside, file)
        };
        write().map_err(|error| Unusable::new(file, error).into())
    }
}
