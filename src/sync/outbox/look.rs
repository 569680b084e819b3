//! Looks for records that a request without a clear answer has made.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, MutexGuard, PoisonError};

use serde_json::Value;

use super::account_outbox::Outbox;
use super::compare::{Compared, ServiceFields, compare, is_ours_and_more, shape};
use super::due::TRIES;
use super::input_text::InputText;
use super::journal::Snapshot;
use super::pass::{Pass, is_entry_failure};
use super::stored::{Base, Stored, Target};
use crate::auth::BoxFuture;
use crate::error::{Error, Result};
use crate::model::{
    Consignment, ConsignmentId, ConsignmentInput, ConsignmentNumber, ConsignmentStatus, FormType,
    PartyInput,
};
use crate::ops::similarity::{same_day, same_text, shown};
use crate::sync::replica::{Change, SyncReport, last_sequence};
use crate::sync::store::ChangeRange;

/// How often the list is read again at once when it changed while it was read.
const WALKS: u32 = 3;

/// How many changes are read from the store at once.
const CHUNK: usize = 100;

/// The replica as it was when a sync had ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Synced {
    /// The version of its document.
    pub(super) version: u64,
    /// Its last change.
    pub(super) last: u64,
}

/// The records that appeared since a creation was written, or sent first, and may be what was sent.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// They have all that was sent, and nothing that was not.
    pub(super) agreeing: Vec<ConsignmentId>,
    /// They agree with what was sent at some time, or another entry may have made them.
    pub(super) doubtful: Vec<ConsignmentId>,
    /// They have the forms, the day and the places of what was sent, and differ in something else: somebody may have edited
    /// what was sent.
    pub(super) same_load: Vec<ConsignmentId>,
    /// They have the forms, the day and the places of what was sent in the list, and cannot be read.
    pub(super) unread: Vec<ConsignmentId>,
}

impl Found {
    /// The record that surely is what was sent, as far as can be told.
    pub(super) fn sole(&self) -> Option<&ConsignmentId> {
        match self.agreeing.as_slice() {
            [id] if self.doubtful.is_empty() && self.unread.is_empty() => Some(id),
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let all = [
            &self.agreeing,
            &self.doubtful,
            &self.same_load,
            &self.unread,
        ];
        all.iter().all(|found| found.is_empty())
    }

    /// All of them, the closest first.
    pub(super) fn all(self) -> Vec<ConsignmentId> {
        [self.agreeing, self.doubtful, self.same_load, self.unread].concat()
    }
}

/// What tells loads apart in a list: the forms, the day and the places.
#[derive(Debug, Default)]
struct Load {
    forms: Vec<FormType>,
    day: Option<String>,
    places: [[Option<String>; 2]; 2],
}

/// A record that appeared, and is not one that an entry has made.
#[derive(Debug)]
struct Appeared {
    /// The change that listed it first.
    sequence: u64,
    id: ConsignmentId,
    /// `None`: the list cannot be read as a summary, so the record is read as a whole.
    load: Option<Load>,
    /// An entry has edited it, and it was this before.
    before: Option<Load>,
}

/// What a pass has read for its looks.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The changes after the first of these, up to the second, were read.
    range: (u64, u64),
    appeared: Vec<Appeared>,
    /// The records that were read since the last complete list.
    pub(super) records: HashMap<ConsignmentId, Consignment>,
}

/// A look for the record of an entry.
struct Look<'a> {
    entry: &'a Stored,
    /// It looks for late duplicates of an entry that is at its end.
    is_watch: bool,
    /// What the entry has sent, the latest first, as new drafts.
    sent: Vec<Value>,
    loads: Vec<Load>,
    service: ServiceFields,
    /// The entries that are not at their end.
    live: BTreeMap<u64, Arc<Stored>>,
    /// The records that were reported as late duplicates of other entries.
    told_strays: Vec<ConsignmentId>,
    /// A record that cannot be read was tried often enough: a person looks at it.
    is_last: bool,
}

/// What the entry that saved a record last has done.
enum Saver {
    /// There is none.
    Nobody,
    /// It made the record, as far as is known.
    Maker,
    /// It changed the record that was this before.
    Editor(Load),
}

impl Outbox {
    /// The replica as it is in the store.
    pub(super) async fn synced(&self) -> Result<Synced> {
        let journal = self.journal();
        let (version, last) = last_sequence(journal.store(), journal.account()).await?;
        Ok(Synced { version, last })
    }

    /// Whether the replica holds the record.
    pub(super) async fn is_listed(&self, id: &ConsignmentId) -> Result<bool> {
        Ok(self.replica().consignment(id.clone()).await?.is_some())
    }

    /// As [`is_listed`](Self::is_listed), by the number of the record.
    pub(super) async fn is_number_listed(&self, number: &ConsignmentNumber) -> Result<bool> {
        let query = self.replica().consignments().number(number.clone());
        Ok(!query.list().await?.records.is_empty())
    }
}

impl Pass<'_> {
    /// Brings the replica up to date. Only a clean sync counts: an existing record that it missed would pass for a new one.
    pub(super) async fn sync_completely(&self) -> Result<Synced> {
        for _ in 0..WALKS {
            let begun = self.outbox.now();
            let sync = Box::pin(self.outbox.replica().sync());
            if self.counted(sync).await?.clean {
                let synced = self.outbox.synced().await?;
                self.looked().records.clear();
                self.outbox
                    .with_waits(|waits| waits.listed_at = Some(begun));
                return Ok(synced);
            }
        }
        let what = "the list of consignments changed while it was read";
        Err(Error::protocol(what).with_operation("consignments"))
    }

    /// Reads the whole list, once a pass; `false`: it changed meanwhile.
    pub(super) async fn walk_once(&self) -> Result<bool> {
        let walk = self.walked.get_or_try_init(|| async {
            let sync = Box::pin(self.outbox.replica().sync_full());
            Ok(self.counted(sync).await?.clean)
        });
        walk.await.copied()
    }

    /// Counts the requests of a sync.
    async fn counted(&self, sync: BoxFuture<'_, Result<SyncReport>>) -> Result<SyncReport> {
        let report = sync.await;
        self.requests
            .add(report.as_ref().map_or(1, |report| report.requests));
        report
    }

    /// What the replica knows of records that appeared after the entry was written, or sent first, and belong to no entry. A record
    /// that cannot be read now makes it fail: it could be the one. When it has failed so several times, a person decides.
    pub(super) async fn appeared(
        &self,
        entry: &Stored,
        baseline: u64,
        is_watch: bool,
    ) -> Result<Found> {
        let now = self.outbox.journal().load().await?;
        self.read_changes(baseline, now.head.pin).await?;
        let look = Look {
            entry,
            is_watch,
            loads: entry.inputs().map(|sent| Load::of(&sent.input())).collect(),
            sent: entry.sent(),
            told_strays: self.told_strays(entry, &now).await?,
            service: now.head.service,
            live: now.live,
            is_last: self.outbox.with_waits(|waits| {
                let failures = waits.entries.get(&entry.id).map(|(failures, _)| *failures);
                failures.is_some_and(|failures| failures + 1 >= TRIES)
            }),
        };
        let mut found = Found::default();
        let alike: Vec<(ConsignmentId, bool)> = (self.looked().appeared.iter())
            .filter(|appeared| {
                let load = appeared.before.as_ref().or(appeared.load.as_ref());
                appeared.sequence > baseline && load.is_none_or(|load| look.is_load(load))
            })
            .map(|appeared| (appeared.id.clone(), appeared.before.is_some()))
            .collect();
        for (id, is_edited) in alike {
            self.compare(&look, id, is_edited, &mut found).await?;
        }
        Ok(found)
    }

    /// Reads which records appeared: each change once a pass.
    async fn read_changes(&self, baseline: u64, pin: Option<u64>) -> Result<()> {
        let (first, mut read) = self.looked().range;
        if baseline < first || read == 0 {
            read = pin.map_or(baseline, |pin| pin.min(baseline));
            let mut looked = self.looked();
            (looked.range, looked.appeared) = ((read, read), Vec::new());
        }
        let journal = self.outbox.journal();
        loop {
            let store = journal.store();
            let changes = store.changes(journal.account(), ChangeRange::After(read), CHUNK);
            let changes = changes.await?;
            let Some(last) = changes.last() else {
                return Ok(());
            };
            read = last.sequence;
            let mut appeared = Vec::new();
            for change in changes.iter().filter(|change| change.previous == 0) {
                let id = ConsignmentId::from(change.id.clone());
                let before = match self.saver(&id).await? {
                    Saver::Maker => continue,
                    Saver::Editor(before) => Some(before),
                    Saver::Nobody => None,
                };
                let summary = Change::from_row(change)?.record().summary().ok();
                appeared.push(Appeared {
                    sequence: change.sequence,
                    id,
                    load: summary.map(|summary| Load::of(&shown(&summary))),
                    before,
                });
            }
            let mut looked = self.looked();
            looked.appeared.extend(appeared);
            looked.range.1 = read;
        }
    }

    pub(super) fn looked(&self) -> MutexGuard<'_, Looked> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry that saved a record last.
    async fn saver(&self, id: &ConsignmentId) -> Result<Saver> {
        let journal = self.outbox.journal();
        let Some(saver) = journal.last_save(id).await? else {
            return Ok(Saver::Nobody);
        };
        let by_id = journal.past(saver).await?.filter(|saver| !saver.creates());
        let Some(Base::Record(base)) = by_id.and_then(|saver| saver.base) else {
            return Ok(Saver::Maker);
        };
        let before = serde_json::from_value(base);
        Ok(before.map_or(Saver::Maker, |before| Saver::Editor(Load::of(&before))))
    }

    /// The strays of other entries, as far as the user was told of them.
    async fn told_strays(&self, entry: &Stored, now: &Snapshot) -> Result<Vec<ConsignmentId>> {
        let mut told = Vec::new();
        let others = now.head.watches.iter().map(|watch| watch.entry);
        for other in others.filter(|other| *other != entry.id) {
            let other = self.outbox.journal().past(other).await?;
            told.extend(other.into_iter().flat_map(|other| other.strays));
        }
        Ok(told)
    }

    async fn compare(
        &self,
        look: &Look<'_>,
        id: ConsignmentId,
        is_edited: bool,
        found: &mut Found,
    ) -> Result<()> {
        if look.entry.known.contains(&id.to_string())
            || look.is_of_an_entry(&id)
            || matches!(self.saver(&id).await?, Saver::Maker)
            || !self.outbox.is_listed(&id).await?
        {
            return Ok(());
        }
        if is_edited {
            // What the entry made, and the user has changed since, would otherwise be made once more.
            if look.entry.is_in_doubt() && !look.is_watch {
                found.same_load.push(id);
            }
            return Ok(());
        }
        let read = self.looked().records.get(&id).cloned();
        let record = match read {
            Some(record) => record,
            None => match self.read_record(&id).await {
                Ok(record) => record,
                // It could be the one, and would hold up all creations for ever.
                Err(error) if look.is_last && is_entry_failure(&error) => {
                    found.unread.push(id);
                    return Ok(());
                }
                Err(error) => return Err(error),
            },
        };
        if let Some(group) = look.group(&id, &record, found) {
            group.push(id);
        }
        Ok(())
    }

    async fn read_record(&self, id: &ConsignmentId) -> Result<Consignment> {
        self.requests.add(1);
        let record = self.outbox.account().consignment(id.clone()).await?.value;
        self.looked().records.insert(id.clone(), record.clone());
        Ok(record)
    }
}

impl Load {
    fn of(input: &ConsignmentInput) -> Self {
        let place =
            |party: &PartyInput| [&party.pic, &party.name].map(|field| field.value().cloned());
        Self {
            forms: input.forms.clone(),
            day: input.movement_date.value().cloned(),
            places: [place(&input.origin), place(&input.destination)],
        }
    }

    /// Whether both may be the same load, whatever else differs.
    fn may_be(&self, other: &Self) -> bool {
        let forms = |forms: &[FormType], others: &[FormType]| {
            forms.len() == others.len() && forms.iter().all(|form| others.contains(form))
        };
        let texts = |one: &Option<String>, other: &Option<String>, same: fn(&str, &str) -> bool| {
            let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
            given(one)
                .zip(given(other))
                .map(|(one, other)| same(&one, &other))
        };
        let places = self.places.iter().zip(&other.places);
        let mut places = places.map(|([pic, name], [other_pic, other_name])| {
            let same =
                texts(pic, other_pic, same_text).or_else(|| texts(name, other_name, same_text));
            same.unwrap_or(true)
        });
        (self.forms.is_empty() || other.forms.is_empty() || forms(&self.forms, &other.forms))
            && texts(&self.day, &other.day, same_day).unwrap_or(true)
            && places.all(|is_same| is_same)
    }
}

impl Look<'_> {
    /// Where a record belongs; `None`: it is not what was sent.
    fn group<'f>(
        &self,
        id: &ConsignmentId,
        record: &Consignment,
        found: &'f mut Found,
    ) -> Option<&'f mut Vec<ConsignmentId>> {
        let read = shape(record);
        let is_ours = |sent: &Value| self.is_ours(sent, &read);
        let is_of_another = self.service.is_of_another(record);
        if self.is_watch {
            let is_late = self.sent.iter().any(is_ours) && !is_of_another;
            return (is_late && !self.might_be_made(&read)).then_some(&mut found.agreeing);
        }
        if !self.entry.is_in_doubt() {
            // A store that was restored, or copied, may have sent it, and submitted it since.
            let as_draft = shape(&Consignment {
                status: Some(ConsignmentStatus::Draft),
                ..record.clone()
            });
            let agrees = self.sent.iter().any(|sent| {
                self.is_ours(sent, &as_draft) || !is_of_another && is_ours_and_more(sent, &as_draft)
            });
            return agrees.then_some(&mut found.doubtful);
        }
        let is_latest = self.sent.first().is_some_and(is_ours);
        if is_latest && !is_of_another && !self.may_be_of_another(id, &read) {
            Some(&mut found.agreeing)
        } else if self.sent.iter().any(is_ours) {
            // The user may have written something else since.
            Some(&mut found.doubtful)
        } else {
            let is_load = self.is_load(&Load::of(&ConsignmentInput::from(record)));
            is_load.then_some(&mut found.same_load)
        }
    }

    /// Whether it may be the same load, whatever else differs.
    fn is_load(&self, load: &Load) -> bool {
        self.loads.iter().any(|sent| sent.may_be(load))
    }

    /// Whether an entry that is not at its end has the record.
    fn is_of_an_entry(&self, id: &ConsignmentId) -> bool {
        let live = self.live.values().map(AsRef::as_ref);
        let mut entries = live.chain([self.entry]);
        entries.any(|entry: &Stored| entry.consignment.as_ref() == Some(id))
    }

    /// Whether it may be that of another entry, as far as the user knows: it was reported as a late duplicate, the user has
    /// written something about it, or the other entry may have made it.
    fn may_be_of_another(&self, id: &ConsignmentId, read: &Value) -> bool {
        let target = Target::Record(id.clone());
        self.told_strays.contains(id)
            || self.live.values().any(|other| other.target == target)
            || self.might_be_made(read)
    }

    /// Whether a record is what was sent, and nothing else.
    fn is_ours(&self, sent: &Value, read: &Value) -> bool {
        compare(None, sent, read, &self.service) == Compared::OursApplied
    }

    /// Whether another entry whose reply was lost agrees with it as well.
    fn might_be_made(&self, read: &Value) -> bool {
        let others = self.live.values().filter(|other| other.id != self.entry.id);
        let mut in_doubt = others.filter(|other| other.creates() && other.is_in_doubt());
        in_doubt.any(|other| other.sent().iter().any(|sent| self.is_ours(sent, read)))
    }
}

impl Stored {
    fn inputs(&self) -> impl Iterator<Item = &InputText> {
        self.input.iter().chain(&self.earlier_inputs)
    }

    /// What the entry has sent, for comparisons with new records: without names, which the server gives.
    fn sent(&self) -> Vec<Value> {
        self.inputs()
            .map(|sent| sent.as_new_draft().value())
            .collect()
    }
}
