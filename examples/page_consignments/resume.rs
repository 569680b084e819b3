//! The state between runs.

use std::path::Path;

use envd_sdk::model::{Day, Jurisdiction, Position, Timestamp};
use serde::{Deserialize, Serialize};

use super::cli::{self, Failure, Unusable};

#[derive(Serialize, Deserialize)]
pub(crate) struct Resume {
    pub(crate) since: Timestamp,
    pub(crate) position: Position,
    /// The day on which this run began; the next run lists changes since then.
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
        let read =
            || -> Result<Self, Failure> { Ok(serde_json::from_str(&cli::read_text(file)?)?) };
        read().map_err(|error| Unusable::new(file, error).into())
    }

    pub(crate) fn write(&self, file: &Path) -> Result<(), Failure> {
        let json = serde_json::to_vec(self)?;
        cli::replace(file, &json).map_err(|error| Unusable::new(file, error).into())
    }
}
