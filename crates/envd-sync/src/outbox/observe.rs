//! What the service shows of an entry: its record, its comments, or the records that appeared since it was written.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use serde_json::Value;

use super::account_outbox::{Listed, Outbox};
use super::compare::{Compared, ServiceFields, compare, is_ours_and_more, shape};
use super::input_text::InputText;
use super::outbox_store::Snapshot;
use super::stored::{Base, Stored, Target};
use crate::error::{Error, Result};
use crate::locked::lock;
use crate::replica::{Change, RecordRead, SyncReport};
use crate::store::rows::ChangeRange;
use envd_sdk::auth::BoxFuture;
use envd_sdk::model::{
    Comment, Consignment, ConsignmentId, ConsignmentInput, ConsignmentNumber, ConsignmentStatus,
    Similarity,
};

/// How often the list is read again at once when it changed while it was read.
const WALKS: u32 = 3;

/// How often an entry is tried within one [`send`](Outbox::send) when the service gives no usable answer about it.
pub(super) const TRIES: u32 = 3;

/// How many changes are read from the store at once.
const CHUNK: usize = 100;

/// What was read for an entry.
pub(super) enum Observation {
    /// The record that it names; `None`: it is gone.
    Record(Option<Box<Consignment>>),
    /// The comments of the consignment that it names; `None`: it is gone.
    Comments(Option<Vec<Comment>>),
    /// The records that appeared since it was written, or sent first, and may be what was sent.
    Appeared { found: Found, listed: Listed },
}

/// How close a record is to what an entry has sent, the closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// It has all that was sent, and nothing that was not.
    Sent,
    /// It agrees with what was sent at some time, or another entry may have made it, or it cannot be read.
    Doubtful,
    /// It has the forms, the day and the places of what was sent, and differs in something else: somebody may have edited what
    /// was sent.
    SameLoad,
}

/// A record that may be what was sent, as it was read.
pub(super) type Likely = (Likeness, ConsignmentId, Option<Consignment>);

/// The records that may be what was sent.
#[derive(Debug)]
pub(super) struct Found(pub(super) Vec<Likely>);

impl Found {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The record that surely is what was sent, as far as can be told.
    pub(super) fn sole(&self) -> Option<(&ConsignmentId, &Consignment)> {
        let rivals = |(likeness, ..): &&Likely| *likeness != Likeness::SameLoad;
        let mut rivals = self.0.iter().filter(rivals);
        match (rivals.next(), rivals.next()) {
            (Some((Likeness::Sent, id, Some(record))), None) => Some((id, record)),
            _ => None,
        }
    }

    /// All of them, the closest first.
    pub(super) fn ids(&self) -> Vec<ConsignmentId> {
        let mut found: Vec<_> = self.0.iter().collect();
        found.sort_by_key(|(likeness, ..)| *likeness);
        found.into_iter().map(|(_, id, _)| id.clone()).collect()
    }
}

/// A record that the replica listed for the first time.
#[derive(Debug)]
struct Appeared {
    sequence: u64,
    id: ConsignmentId,
    /// `None`: the list cannot be read as a summary, so the record is read as a whole.
    load: Option<ConsignmentInput>,
}

/// Asks the service for a pass. What it reads serves all entries.
pub(super) struct Reader<'a> {
    outbox: &'a Outbox,
    requests: AtomicU64,
    /// Whether the whole list was read, and whether nothing changed meanwhile.
    walked: tokio::sync::OnceCell<bool>,
    readings: Mutex<Readings>,
}

#[derive(Debug, Default)]
struct Readings {
    /// The changes after the first of these, up to the second, were read.
    range: Option<(u64, u64)>,
    appeared: Vec<Appeared>,
    /// The records that were read since the last complete list.
    records: HashMap<ConsignmentId, Consignment>,
}

/// What a record that appeared is compared with.
struct Comparison<'a> {
    entry: &'a Stored,
    /// It is at its end, and its late duplicates are looked for.
    is_at_its_end: bool,
    is_in_doubt: bool,
    /// What the entry has sent, the latest first, as new drafts.
    sent: Vec<Value>,
    loads: Vec<ConsignmentInput>,
    service: &'a ServiceFields,
    /// The outbox as it is now.
    now: &'a Snapshot,
    /// The records that were reported as late duplicates of other entries.
    reported: Vec<ConsignmentId>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(outbox: &'a Outbox) -> Self {
        Self {
            outbox,
            requests: AtomicU64::new(0),
            walked: tokio::sync::OnceCell::new(),
            readings: Mutex::default(),
        }
    }

    pub(super) fn count_requests(&self, requests: u64) {
        self.requests.fetch_add(requests, Ordering::Relaxed);
    }

    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Asks the service what it shows of an entry.
    pub(super) async fn observe(&self, entry: &Stored) -> Result<Observation> {
        let standing = entry.standing();
        match (&entry.target, standing.chosen) {
            (Target::New, Some(id)) | (Target::Record(id), _) => {
                let record = self.read_record(id).await?;
                Ok(Observation::Record(record.map(Box::new)))
            }
            (Target::Number(number), _) => {
                Ok(Observation::Comments(self.read_comments(number).await?))
            }
            (Target::New | Target::Entry(_), _) => {
                let listed = if self.outbox.has_list_for(entry) && !standing.is_in_doubt() {
                    self.outbox.listed().await?
                } else {
                    self.sync_completely().await?
                };
                // It may have arrived since the last look, even days ago; or the store is a copy of one that has sent it. Of a
                // record that is made anew, what is listed now is known.
                let baseline = standing.baseline.unwrap_or(listed.last);
                let found = self.appeared(entry, baseline, false).await?;
                Ok(Observation::Appeared { found, listed })
            }
        }
    }

    /// Reads a record; `None`: it is gone. A list decides, one of this pass for all that is gone: null alone is believed where the
    /// list does not show the record either; "not found", which has the text of any failure, where the list is whole as well.
    pub(super) async fn read_record(&self, id: &ConsignmentId) -> Result<Option<Consignment>> {
        self.count_requests(1);
        let read = self.outbox.account().consignment(id.clone());
        let (error, is_null) = match RecordRead::of(read.received().optional().await) {
            RecordRead::Found(read) => return Ok(Some(read.record)),
            RecordRead::Gone(Some(_)) => return Ok(None),
            RecordRead::Gone(None) => {
                let what = "the service lists the record, and shows none";
                (Error::Reply(what), true)
            }
            RecordRead::Unclear(error) if error.is_not_found() => (error.into(), false),
            RecordRead::Unclear(error) => return Err(error.into()),
        };
        let is_whole = self.walk_once().await? && self.outbox.replica().lists_everything();
        let is_gone = (is_null || is_whole) && !self.outbox.is_listed(id).await?;
        if is_gone { Ok(None) } else { Err(error) }
    }

    async fn read_comments(&self, number: &ConsignmentNumber) -> Result<Option<Vec<Comment>>> {
        self.count_requests(1);
        let comments = match self.outbox.account().comments(number.clone()).await {
            Ok(comments) => comments,
            Err(error)
                if error.is_not_found()
                    && self.walk_once().await?
                    && self.outbox.replica().lists_everything() =>
            {
                let query = self.outbox.replica().consignments().number(number.clone());
                let is_gone = query.list().await?.records.is_empty();
                return if is_gone { Ok(None) } else { Err(error.into()) };
            }
            Err(error) => return Err(error.into()),
        };
        if !comments.problems.is_empty() {
            return Err(Error::Reply("the comments could not be read completely"));
        }
        Ok(Some(comments.value.into_iter().collect()))
    }

    /// Brings the replica up to date. Only a clean sync counts: an existing record that it missed would pass for a new one. One that
    /// went on with a walk of another process does not show what appeared since on the pages before.
    pub(super) async fn sync_completely(&self) -> Result<Listed> {
        for _ in 0..WALKS {
            let begun = self.outbox.now();
            let sync = Box::pin(self.outbox.replica().sync());
            let report = self.counted(sync).await?;
            if report.clean && report.gaps.is_empty() && !report.resumed {
                let listed = self.outbox.listed().await?;
                self.readings().records.clear();
                self.outbox
                    .with_memory(|memory| memory.listed_at = Some(begun));
                return Ok(listed);
            }
        }
        let what = "the list of consignments changed while it was read";
        Err(Error::Reply(what))
    }

    /// Reads the whole list, once a pass; `false`: it changed meanwhile.
    async fn walk_once(&self) -> Result<bool> {
        let walk = self.walked.get_or_try_init(|| async {
            let sync = Box::pin(self.outbox.replica().sync_full());
            let report = self.counted(sync).await?;
            Ok(report.clean && report.gaps.is_empty())
        });
        walk.await.copied()
    }

    /// Counts the requests of a sync.
    async fn counted(&self, sync: BoxFuture<'_, Result<SyncReport>>) -> Result<SyncReport> {
        let report = sync.await;
        self.count_requests(report.as_ref().map_or(1, |report| report.requests));
        report
    }

    /// What the replica knows of records that appeared after the entry was written, or sent first, and belong to no entry. A record
    /// that cannot be read now makes it fail: it could be the one. When it has failed so several times, a person decides.
    pub(super) async fn appeared(
        &self,
        entry: &Stored,
        baseline: u64,
        is_at_its_end: bool,
    ) -> Result<Found> {
        let now = self.outbox.store().load().await?;
        self.read_changes(baseline, now.head.pin).await?;
        let sent: Vec<_> = entry.inputs().collect();
        let comparison = Comparison {
            entry,
            is_at_its_end,
            is_in_doubt: entry.standing().is_in_doubt(),
            loads: sent.iter().map(|sent| load_of(&sent.input())).collect(),
            sent: sent.iter().map(InputText::value).collect(),
            reported: self.reported_duplicates(entry, &now).await?,
            service: &self.outbox.service_fields(now.head.service.clone()),
            now: &now,
        };
        // A look of an entry in doubt is rare, and also finds what the user has changed since.
        let is_thorough = comparison.is_in_doubt && !is_at_its_end;
        let appeared: Vec<(ConsignmentId, bool)> = (self.readings().appeared.iter())
            .filter(|appeared| appeared.sequence > baseline)
            .map(|appeared| {
                let load = appeared.load.as_ref();
                (
                    appeared.id.clone(),
                    load.is_none_or(|load| comparison.may_be(load)),
                )
            })
            .filter(|(_, is_alike)| *is_alike || is_thorough)
            .collect();
        let mut found = Vec::new();
        for (id, is_alike) in appeared {
            let read = self.likeness(&comparison, &id, is_alike).await?;
            if let Some((likeness, record)) = read {
                found.push((likeness, id, record));
            }
        }
        Ok(Found(found))
    }

    /// Reads which records appeared: each change once a pass.
    async fn read_changes(&self, baseline: u64, pin: Option<u64>) -> Result<()> {
        let range = self.readings().range;
        let mut read = match range {
            Some((first, read)) if first <= baseline => read,
            _ => {
                let first = pin.map_or(baseline, |pin| pin.min(baseline));
                let mut readings = self.readings();
                (readings.range, readings.appeared) = (Some((first, first)), Vec::new());
                first
            }
        };
        let store = &self.outbox.store().store;
        loop {
            let changes = store.changes(ChangeRange::After(read), CHUNK).await?;
            let Some(last) = changes.last() else {
                return Ok(());
            };
            read = last.sequence;
            let mut appeared = Vec::new();
            for change in changes.iter().filter(|change| change.previous == 0) {
                let summary = Change::from_row(change)?.record().summary().ok();
                appeared.push(Appeared {
                    sequence: change.sequence,
                    id: ConsignmentId::from(change.id.clone()),
                    load: summary.map(|summary| load_of(&ConsignmentInput::of_listed(&summary))),
                });
            }
            let mut readings = self.readings();
            readings.appeared.extend(appeared);
            readings.range = readings.range.map(|(first, _)| (first, read));
        }
    }

    fn readings(&self) -> MutexGuard<'_, Readings> {
        lock(&self.readings)
    }

    /// The late duplicates of other entries, as far as the user was told of them.
    async fn reported_duplicates(
        &self,
        entry: &Stored,
        now: &Snapshot,
    ) -> Result<Vec<ConsignmentId>> {
        let mut reported = Vec::new();
        let others = now.head.watches.iter().map(|watch| watch.entry);
        for other in others.filter(|other| *other != entry.id) {
            if let Some(other) = self.outbox.store().past(other).await? {
                reported.extend(other.late_duplicates().cloned());
            }
        }
        Ok(reported)
    }

    /// How close a record is to what was sent; `None`: it is something else, or belongs to an entry.
    async fn likeness(
        &self,
        sent: &Comparison<'_>,
        id: &ConsignmentId,
        is_alike: bool,
    ) -> Result<Option<(Likeness, Option<Consignment>)>> {
        if sent.entry.is_known(id.as_str()) || sent.has_entry(id) {
            return Ok(None);
        }
        let store = self.outbox.store();
        if let Some(saver) = store.last_save(id).await? {
            // What the entry made, and the user has changed since, would otherwise be made once more.
            let is_edited = match store.past(saver).await? {
                Some(saver) if !saver.creates() => match saver.base {
                    Some(Base::Record(before)) => sent.may_be_before(before),
                    _ => false,
                },
                _ => false,
            };
            let is_its_own = is_edited && sent.is_in_doubt && !sent.is_at_its_end;
            return Ok(is_its_own.then_some((Likeness::SameLoad, None)));
        }
        if !is_alike || !self.outbox.is_listed(id).await? {
            return Ok(None);
        }
        let read = self.readings().records.get(id).cloned();
        let record = match read {
            Some(record) => record,
            None => match self.read_listed(id).await {
                Ok(record) => record,
                // It could be the one, and would hold up all creations for ever.
                Err(error) if error.is_answer() && sent.entry.standing().tries + 1 >= TRIES => {
                    return Ok(Some((Likeness::Doubtful, None)));
                }
                Err(error) => return Err(error),
            },
        };
        let likeness = sent.likeness(id, &record);
        Ok(likeness.map(|likeness| (likeness, Some(record))))
    }

    async fn read_listed(&self, id: &ConsignmentId) -> Result<Consignment> {
        self.count_requests(1);
        let record = self.outbox.account().consignment(id.clone()).await?.value;
        let mut readings = self.readings();
        readings.records.insert(id.clone(), record.clone());
        Ok(record)
    }
}

/// What tells loads apart in a list: the forms, the day and the places.
fn load_of(input: &ConsignmentInput) -> ConsignmentInput {
    let mut load = ConsignmentInput::default();
    load.forms.clone_from(&input.forms);
    load.movement_date.clone_from(&input.movement_date);
    load.origin.clone_from(&input.origin);
    load.destination.clone_from(&input.destination);
    load
}

impl Comparison<'_> {
    fn likeness(&self, id: &ConsignmentId, record: &Consignment) -> Option<Likeness> {
        let read = shape(record);
        let is_sent = |sent: &Value| self.is_sent(sent, &read);
        let is_of_another = self.service.is_of_another(record);
        if self.is_at_its_end {
            let is_late = self.sent.iter().any(is_sent) && !is_of_another;
            return (is_late && !self.is_of_another_in_doubt(&read)).then_some(Likeness::Sent);
        }
        if !self.is_in_doubt {
            // A store that was restored, or copied, may have sent it, and submitted it since.
            let mut as_draft = record.clone();
            as_draft.status = Some(ConsignmentStatus::Draft);
            let as_draft = shape(&as_draft);
            let agrees = self.sent.iter().any(|sent| {
                self.is_sent(sent, &as_draft) || !is_of_another && is_ours_and_more(sent, &as_draft)
            });
            return agrees.then_some(Likeness::Doubtful);
        }
        let is_latest = self.sent.first().is_some_and(is_sent);
        if is_latest && !is_of_another && !self.may_be_of_another(id, &read) {
            Some(Likeness::Sent)
        } else if self.sent.iter().any(is_sent) {
            // The user may have written something else since.
            Some(Likeness::Doubtful)
        } else {
            let load = load_of(&ConsignmentInput::from(record));
            self.may_be(&load).then_some(Likeness::SameLoad)
        }
    }

    /// Whether it may be the same load, whatever else differs.
    fn may_be(&self, load: &ConsignmentInput) -> bool {
        let mut loads = self.loads.iter();
        loads.any(|sent| sent.similarity(load) != Similarity::Differs)
    }

    fn may_be_before(&self, before: Value) -> bool {
        let before = serde_json::from_value(before);
        before.is_ok_and(|before| self.may_be(&load_of(&before)))
    }

    /// Whether an entry that is not at its end has the record.
    fn has_entry(&self, id: &ConsignmentId) -> bool {
        let mut entries = self.now.entries().chain([self.entry]);
        entries.any(|entry| entry.standing().record == Some(id))
    }

    /// Whether it may be that of another entry, as far as the user knows: it was reported as a late duplicate, the user has
    /// written something about it, or the other entry may have made it.
    fn may_be_of_another(&self, id: &ConsignmentId, read: &Value) -> bool {
        self.reported.contains(id)
            || self
                .now
                .entries()
                .any(|other| other.record_id() == Some(id))
            || self.is_of_another_in_doubt(read)
    }

    /// Whether a record is what was sent, and nothing else.
    fn is_sent(&self, sent: &Value, read: &Value) -> bool {
        compare(None, sent, read, self.service) == Compared::OursApplied
    }

    /// Whether another entry whose reply was lost agrees with it as well.
    fn is_of_another_in_doubt(&self, read: &Value) -> bool {
        let others = self.now.entries();
        let others = others.filter(|other| other.id != self.entry.id && other.creates());
        let mut in_doubt = others.filter(|other| other.standing().is_in_doubt());
        in_doubt.any(|other| other.inputs().any(|sent| self.is_sent(&sent.value(), read)))
    }
}

/// What tells a comment from others.
pub(super) fn comment_name(comment: &Comment) -> String {
    if let Some(id) = &comment.comment_id {
        return id.clone();
    }
    let time = comment.created_at.as_ref().map(ToString::to_string);
    let text = comment.comment_text.as_deref().unwrap_or_default();
    format!("{} {text}", time.unwrap_or_default())
}
