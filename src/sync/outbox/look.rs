//! Looks for records that a request without a clear answer has made.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::account_outbox::Outbox;
use super::due::TRIES;
use super::input_text::InputText;
use super::journal::Snapshot;
use super::pass::{Pass, concerns_one};
use super::stored::{Base, Stored, Target};
use crate::auth::BoxFuture;
use crate::error::{Error, Result};
use crate::model::{ConsignmentId, ConsignmentInput, ConsignmentNumber};
use crate::ops::similarity::{Similarity, shown, similarity};
use crate::sync::replica::{Change, SyncReport, last_sequence};
use crate::sync::store::{ChangeRange, ChangeRow};

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

/// The records that appeared since a creation was sent first, and may be what was sent.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// They show all that was sent.
    pub(super) agreeing: Vec<ConsignmentId>,
    /// They show all that was sent at some time, and the user may know that they are others.
    pub(super) doubtful: Vec<ConsignmentId>,
    /// Nothing differs, but they do not show all that was sent.
    pub(super) partly: Vec<ConsignmentId>,
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
            [id] if self.doubtful.is_empty()
                && self.partly.is_empty()
                && self.unread.is_empty() =>
            {
                Some(id)
            }
            _ => None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        let all = [
            &self.agreeing,
            &self.doubtful,
            &self.partly,
            &self.same_load,
            &self.unread,
        ];
        all.iter().all(|found| found.is_empty())
    }

    /// All of them, the closest first.
    pub(super) fn all(self) -> Vec<ConsignmentId> {
        let parts = [self.agreeing, self.doubtful, self.partly, self.same_load];
        [parts.concat(), self.unread].concat()
    }
}

/// A look for the record of an entry.
struct Look<'a> {
    entry: &'a Stored,
    /// What the entry has sent, the latest first.
    sent: Vec<ConsignmentInput>,
    /// The entries that are not at their end.
    live: BTreeMap<u64, Arc<Stored>>,
    /// The records that the user was told are strays of other entries.
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
    Editor(Box<ConsignmentInput>),
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
            let sync = Box::pin(self.outbox.replica().sync());
            if self.counted(sync).await?.clean {
                let synced = self.outbox.synced().await?;
                self.outbox.set_fresh();
                return Ok(synced);
            }
        }
        let what = "the list of consignments changed while it was read";
        Err(Error::protocol(what).with_operation("consignments"))
    }

    /// Reads the whole list; `false`: it changed meanwhile. The answer to a read of what is gone has the text of any failure,
    /// so the list decides whether it is.
    pub(super) async fn walk(&self) -> Result<bool> {
        let sync = Box::pin(self.outbox.replica().sync_full());
        Ok(self.counted(sync).await?.clean)
    }

    /// Counts the requests of a sync.
    async fn counted(&self, sync: BoxFuture<'_, Result<SyncReport>>) -> Result<SyncReport> {
        let report = sync.await;
        self.requests
            .add(report.as_ref().map_or(1, |report| report.requests));
        report
    }

    /// What the replica knows of records that appeared after the entry was sent first and belong to no entry. A record that
    /// cannot be read now makes it fail: it could be the one. When it has failed so several times, a person decides.
    pub(super) async fn appeared(&self, entry: &Stored) -> Result<Found> {
        let journal = self.outbox.journal();
        let now = journal.load().await?;
        let look = Look {
            entry,
            sent: entry.sent(),
            told_strays: self.told_strays(entry, &now).await?,
            live: now.live,
            is_last: self.outbox.with_waits(|waits| {
                let failures = waits.entries.get(&entry.id).map(|(failures, _)| *failures);
                failures.is_some_and(|failures| failures + 1 >= TRIES)
            }),
        };
        let (mut found, mut after) = (Found::default(), entry.baseline.unwrap_or(0));
        loop {
            let range = ChangeRange::After(after);
            let store = journal.store();
            let changes = store.changes(journal.account(), range, CHUNK).await?;
            let Some(last) = changes.last() else {
                return Ok(found);
            };
            after = last.sequence;
            for change in changes.iter().filter(|change| change.previous == 0) {
                self.compare(&look, change, &mut found).await?;
            }
        }
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
        Ok(before.map_or(Saver::Maker, |before| Saver::Editor(Box::new(before))))
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

    async fn compare(&self, look: &Look<'_>, change: &ChangeRow, found: &mut Found) -> Result<()> {
        let id = ConsignmentId::from(change.id.clone());
        if look.entry.known.contains(&change.id) || look.is_of_an_entry(&id) {
            return Ok(());
        }
        let sent = &look.sent;
        match self.saver(&id).await? {
            Saver::Nobody => {}
            Saver::Maker => return Ok(()),
            // Otherwise what the entry made, and the user has changed since, would be made once more.
            Saver::Editor(before) => {
                if best(sent, &before) != Similarity::Differs || is_load_of(sent, &before) {
                    found.same_load.push(id);
                }
                return Ok(());
            }
        }
        let summary = Change::from_row(change)?.record().summary();
        // One that cannot be read as a summary is read as a whole.
        if summary.is_ok_and(|summary| !is_load_of(sent, &shown(&summary))) {
            return Ok(());
        }
        if !self.outbox.is_listed(&id).await? {
            // It is gone again.
            return Ok(());
        }
        self.requests.add(1);
        let read = match self.outbox.account().consignment(id.clone()).await {
            Ok(record) => ConsignmentInput::from(&record.value),
            // It could be the one, and would hold up all creations for ever.
            Err(error) if look.is_last && concerns_one(&error) => {
                found.unread.push(id);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        match best(sent, &read) {
            // The user may have written something else since.
            Similarity::Agrees
                if best(sent.get(..1).unwrap_or_default(), &read) != Similarity::Agrees =>
            {
                found.doubtful.push(id);
            }
            Similarity::Agrees if look.may_be_of_another(&id, &read) => found.doubtful.push(id),
            Similarity::Agrees => found.agreeing.push(id),
            Similarity::Open => found.partly.push(id),
            Similarity::Differs if is_load_of(sent, &read) => found.same_load.push(id),
            Similarity::Differs => {}
        }
        Ok(())
    }
}

impl Look<'_> {
    /// Whether an entry that is not at its end has the record.
    fn is_of_an_entry(&self, id: &ConsignmentId) -> bool {
        let live = self.live.values().map(AsRef::as_ref);
        let mut entries = live.chain([self.entry]);
        entries.any(|entry: &Stored| entry.consignment.as_ref() == Some(id))
    }

    /// Whether another entry may have made it, as far as the user knows: he was told that it is a stray, or has written
    /// something about it, or the other entry agrees with it as well and waits for a person.
    fn may_be_of_another(&self, id: &ConsignmentId, read: &ConsignmentInput) -> bool {
        let target = Target::Record(id.clone());
        let might_have_made = |other: &Stored| {
            let may_have_sent = other.creates() && other.baseline.is_some() && other.is_in_doubt();
            may_have_sent && best(&other.sent(), read) == Similarity::Agrees
        };
        let others = self.live.values().filter(|other| other.id != self.entry.id);
        self.told_strays.contains(id)
            || self.live.values().any(|other| other.target == target)
            || others.map(AsRef::as_ref).any(might_have_made)
    }
}

/// The closest of what was sent.
fn best(sent: &[ConsignmentInput], read: &ConsignmentInput) -> Similarity {
    let all = sent.iter().map(|sent| similarity(sent, read));
    all.min().unwrap_or(Similarity::Differs)
}

fn is_load_of(sent: &[ConsignmentInput], read: &ConsignmentInput) -> bool {
    sent.iter().any(|sent| is_same_load(sent, read))
}

/// Whether it may be the same load, whatever else differs: its forms, its day and its places do not.
fn is_same_load(sent: &ConsignmentInput, read: &ConsignmentInput) -> bool {
    let load = |input: &ConsignmentInput| ConsignmentInput {
        forms: input.forms.clone(),
        movement_date: input.movement_date.clone(),
        origin: input.origin.clone(),
        destination: input.destination.clone(),
        ..ConsignmentInput::default()
    };
    similarity(&load(sent), &load(read)) != Similarity::Differs
}

impl Stored {
    /// What the entry has sent, for comparisons with new records: without names, which the server gives.
    fn sent(&self) -> Vec<ConsignmentInput> {
        let inputs = self.input.iter().chain(&self.earlier_inputs);
        let inputs = inputs.map(InputText::without_names);
        inputs.map(|text| text.input()).collect()
    }
}
