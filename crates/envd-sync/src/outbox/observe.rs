//! Reads what the service shows for a row: its record, or the records that appeared since the row was written or sent.

use std::collections::HashMap;

use serde_json::Value;

use super::compare::{ServiceRecord, may_be_made_of};
use super::decide::{Observation, ObservedRecord, is_fresh};
use super::outbox::Outbox;
use super::reading::record_of;
use super::row::{Listing, Row, Text};
use super::store::seconds;
use crate::error::{Error, Result};
use crate::replica::{Change, RecordRead, SyncMode, SyncReport};
use crate::store::rows::ChangeRange;
use envd_sdk::ErrorKind;
use envd_sdk::model::ConsignmentInput;

/// The greatest number of syncs in a row, if the list changes during each of them.
const WALKS: u32 = 3;

/// The number of changes that are read from the store at once.
const CHUNK: usize = 100;

/// Reads the service for one pass. The results serve all rows.
pub(super) struct Reader<'a> {
    outbox: &'a Outbox,
    pub(super) requests: u64,
    /// Up to two full scans of the pass, and whether each was clean.
    scanned: [Option<bool>; 2],
    /// Whether the last list was read in full.
    is_full: bool,
    /// Why the list cannot be read in this pass.
    unlisted: Option<Error>,
    /// The changes that were read: those after the first number, up to the second.
    range: Option<(u64, u64)>,
    appeared: Vec<Appeared>,
    /// The records that were read since the last complete list; `None`: the record is gone.
    records: HashMap<String, Option<ServiceRecord>>,
}

/// A record that the replica listed for the first time.
#[derive(Clone, Debug)]
struct Appeared {
    sequence: u64,
    id: String,
    /// The listed fields in the shape of an input; `None`: the summary cannot be parsed, so the record itself is read.
    listed: Option<Value>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(outbox: &'a Outbox) -> Self {
        Self {
            outbox,
            requests: 0,
            scanned: [None; 2],
            is_full: false,
            unlisted: None,
            range: None,
            appeared: Vec::new(),
            records: HashMap::new(),
        }
    }

    /// Reads the record of a row, or the record that it adopts.
    pub(super) async fn record(&mut self, row: &Row, id: &str) -> Result<Observation> {
        let Some(record) = self.read(id).await? else {
            return Ok(Observation::Record(None));
        };
        // Whose the record is decides only whether it can be adopted.
        let owner = match &row.adopt {
            Some(_) => self.outbox.store().owner(id, row.id, false).await?,
            None => None,
        };
        Ok(Observation::Record(Some(ObservedRecord {
            owner,
            sequence: None,
            record,
        })))
    }

    /// Reads a record; `None`: it is gone. A record counts as gone only if a fresh list lacks it too. After "not found", whose text is
    /// the same for any failure, that list must also be complete. All reads of a pass share these lists.
    pub(super) async fn read(&mut self, id: &str) -> Result<Option<ServiceRecord>> {
        self.requests += 1;
        let read = self.outbox.account().consignment(id);
        let (error, is_null) = match RecordRead::of(read.received().optional().await) {
            RecordRead::Found(read) => {
                let record = record_of(&read.record).filter(|record| record.id == id);
                let what = "the service shows another record than the one that was requested";
                return record.map(Some).ok_or(Error::Reply(what));
            }
            RecordRead::Gone(Some(_)) => return Ok(None),
            RecordRead::Gone(None) => {
                let what = "the service lists the record, and shows none";
                (Error::Reply(what), true)
            }
            RecordRead::Failed(error) if error.kind() == ErrorKind::NotFound => {
                (error.into(), false)
            }
            RecordRead::Failed(error) => return Err(error.into()),
        };
        // The replica forgets a record after two consecutive scans that did not list it.
        for at in 0..self.scanned.len() {
            let is_whole = self.scan_once(at).await?;
            if !self.is_listed(id).await? {
                let is_gone = is_null || is_whole && self.outbox.replica().lists_everything();
                return if is_gone { Ok(None) } else { Err(error) };
            }
        }
        Err(error)
    }

    /// Whether the replica has the record.
    pub(super) async fn is_listed(&self, id: &str) -> Result<bool> {
        Ok(self.outbox.replica().consignment(id).await?.is_some())
    }

    /// The records that appeared since the row was written or sent, from a list that is fresh enough for the row.
    pub(super) async fn listed(&mut self, row: &Row) -> Result<Observation> {
        let now = seconds(self.outbox.now());
        let known = self.outbox.last_list();
        let replica = self.outbox.store().replica().version;
        let known = known.filter(|list| list.copy == replica && is_fresh(row, list, now));
        let mut list = match known {
            Some(list) => list,
            None => self.list().await?,
        };
        let (_, since) = row.searched_for();
        // Only a full scan shows that a gap is closed.
        if row.is_in_doubt() && !list.gaps.is_subset(&since.gaps) && !self.is_full {
            list = self.list_as(true).await?;
        }
        let (texts, since) = row.searched();
        let seen = self.appeared(row.id, texts, since).await?;
        Ok(Observation::Listed(list, seen))
    }

    /// Syncs the replica. Only a clean sync counts: an existing record that it missed would look new later. A sync that resumed the
    /// scan of another process does not count either, because it does not show the records that appeared on the pages before.
    pub(super) async fn list(&mut self) -> Result<Listing> {
        self.list_as(false).await
    }

    /// `in_full`: read every page, even if the replica would read incrementally.
    async fn list_as(&mut self, in_full: bool) -> Result<Listing> {
        if let Some(error) = &self.unlisted {
            return Err(error.clone());
        }
        let listed = self.list_anew(in_full).await;
        self.unlisted = listed.as_ref().err().cloned();
        listed
    }

    async fn list_anew(&mut self, in_full: bool) -> Result<Listing> {
        let replica = self.outbox.replica();
        for _ in 0..WALKS {
            let number = self.outbox.store().version();
            let begun = self.outbox.now();
            let report = if in_full {
                Box::pin(replica.sync_full()).await
            } else {
                Box::pin(replica.sync()).await
            };
            let report = self.counted(report)?;
            self.is_full = report.mode == SyncMode::Full;
            if report.clean && !report.resumed {
                let replica = self.outbox.store().read_replica().await?;
                let list = Listing {
                    number,
                    begun: seconds(begun),
                    last: replica.last,
                    latest: replica.latest,
                    copy: replica.version,
                    gaps: replica.gaps,
                };
                self.records.clear();
                self.outbox
                    .with_memory(|memory| memory.list = Some(list.clone()));
                return Ok(list);
            }
        }
        let what = "the list of consignments changed while it was read";
        Err(Error::Reply(what))
    }

    /// Reads the entire list, at most twice a pass; `false`: it changed while it was read.
    async fn scan_once(&mut self, at: usize) -> Result<bool> {
        if let Some(Some(is_whole)) = self.scanned.get(at) {
            return Ok(*is_whole);
        }
        let report = Box::pin(self.outbox.replica().sync_full()).await;
        let is_whole = self.counted(report)?.clean;
        if let Some(scanned) = self.scanned.get_mut(at) {
            *scanned = Some(is_whole);
        }
        Ok(is_whole)
    }

    /// Counts the requests of a sync.
    fn counted(&mut self, report: Result<SyncReport>) -> Result<SyncReport> {
        self.requests += report.as_ref().map_or(1, |report| report.requests);
        report
    }

    /// The records that were first listed after change number `since`, and that may have been created from one of these texts. Fails
    /// if such a record cannot be read now, since it may be the one.
    pub(super) async fn appeared(
        &mut self,
        row: u64,
        texts: impl IntoIterator<Item = &Text>,
        since: u64,
    ) -> Result<Vec<ObservedRecord>> {
        let texts: Vec<Value> = texts.into_iter().map(Text::value).collect();
        let service = self.outbox.store().service();
        let may_be = |listed: &Value| {
            let mut texts = texts.iter();
            texts.any(|text| may_be_made_of(text, listed, &service))
        };
        self.read_changes(since).await?;
        let appeared: Vec<(u64, String)> = (self.appeared.iter())
            .filter(|one| one.sequence > since && one.listed.as_ref().is_none_or(may_be))
            .map(|one| (one.sequence, one.id.clone()))
            .collect();
        let mut seen = Vec::new();
        for (sequence, id) in appeared {
            if let Some(record) = self.read_listed(&id).await? {
                seen.push(ObservedRecord {
                    record,
                    sequence: Some(sequence),
                    owner: self.outbox.store().owner(&id, row, true).await?,
                });
            }
        }
        Ok(seen)
    }

    /// The number of the change with which the replica first listed a record, or 0 if the record is older than anything that a row
    /// waits for; `None`: the replica does not list it.
    pub(super) async fn first_listed(&mut self, id: &str) -> Result<Option<u64>> {
        if !self.is_listed(id).await? {
            return Ok(None);
        }
        let Some(since) = self.outbox.store().first_needed() else {
            return Ok(Some(0));
        };
        self.read_changes(since).await?;
        let mut appeared = self.appeared.iter().rev();
        let found = appeared.find(|one| one.sequence > since && one.id == id);
        Ok(Some(found.map_or(0, |one| one.sequence)))
    }

    /// Reads which records appeared. Each change is read once a pass.
    async fn read_changes(&mut self, since: u64) -> Result<()> {
        let known = self.range.filter(|(first, _)| *first <= since);
        let (first, mut read) = known.unwrap_or((since, since));
        if known.is_none() {
            self.appeared.clear();
        }
        let store = &self.outbox.store().store;
        loop {
            let changes = store.changes(ChangeRange::After(read), CHUNK).await?;
            let Some(last) = changes.last() else {
                return Ok(());
            };
            for change in changes.iter().filter(|change| change.previous == 0) {
                let summary = Change::from_row(change)?.record().summary().ok();
                self.appeared.push(Appeared {
                    sequence: change.sequence,
                    id: change.id.clone(),
                    listed: summary.and_then(|summary| {
                        serde_json::to_value(ConsignmentInput::of_listed(&summary)).ok()
                    }),
                });
            }
            read = last.sequence;
            self.range = Some((first, read));
        }
    }

    /// Reads a listed record, once for each list; `None`: it is gone again.
    async fn read_listed(&mut self, id: &str) -> Result<Option<ServiceRecord>> {
        if !self.is_listed(id).await? {
            return Ok(None);
        }
        if let Some(known) = self.records.get(id) {
            return Ok(known.clone());
        }
        let record = self.read(id).await?;
        self.records.insert(id.to_owned(), record.clone());
        Ok(record)
    }
}
