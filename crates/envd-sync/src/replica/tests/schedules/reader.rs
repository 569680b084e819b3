//! A consumer of the feed, which reads, acknowledges and ends according to a schedule.

use std::collections::BTreeMap;

use serde_json::Value;

use super::program::{History, without_date};
use crate::error::Error;
use crate::replica::{Change, ChangeKind, Changes, LocalRecord, Replica};

/// The changes that a consumer received in all its runs.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) name: &'static str,
    /// For each number of a change, the record and its content afterwards; `None`: gone.
    delivered: BTreeMap<u64, (String, Option<Value>)>,
    /// The content of each record according to the changes received.
    known: BTreeMap<String, Value>,
    /// The greatest change for which an acknowledgement was started, and the greatest for which one succeeded.
    acknowledging: u64,
    acknowledged: u64,
}

impl Reader {
    pub(super) fn new(name: &'static str) -> Self {
        Self {
            name,
            delivered: BTreeMap::new(),
            known: BTreeMap::new(),
            acknowledging: 0,
            acknowledged: 0,
        }
    }

    /// Reads at most `most` changes, `chunk` rows at a time, and acknowledges every `each`-th, or none.
    pub(super) async fn read(
        &mut self,
        replica: &Replica,
        most: usize,
        each: Option<usize>,
        chunk: usize,
    ) -> Result<(), Error> {
        let mut feed = replica.changes(self.name).in_chunks(chunk);
        let mut last = None;
        let mut first = None;
        for number in 1..=most {
            let Some(change) = feed.next().await? else {
                break;
            };
            self.hear(&change, last);
            last = Some(change.sequence);
            let first = first.get_or_insert_with(|| change.clone());
            if each.is_some_and(|each| number % each == 0) {
                self.acknowledge(&mut feed, &change).await?;
                // A late process acknowledges an older change.
                feed.acknowledge(first).await?;
            }
        }
        Ok(())
    }

    async fn acknowledge(&mut self, feed: &mut Changes, change: &Change) -> Result<(), Error> {
        self.acknowledging = self.acknowledging.max(change.sequence);
        feed.acknowledge(change).await?;
        self.acknowledged = self.acknowledged.max(change.sequence);
        Ok(())
    }

    /// `last`: the previous change in this run.
    fn hear(&mut self, change: &Change, last: Option<u64>) {
        let name = self.name;
        let sequence = change.sequence;
        // Acknowledged changes are not repeated, and no other change is skipped.
        assert!(
            sequence > last.unwrap_or(self.acknowledged),
            "{name}: {change:?} after {last:?}"
        );
        // If the program was killed, the acknowledgement may or may not have been written.
        let from = last.unwrap_or(self.acknowledging) + 1;
        let left_out = self.delivered.range(from..sequence.max(from)).next();
        assert_eq!(left_out, None, "{name}: before {sequence}");
        let content =
            |record: &LocalRecord| without_date(serde_json::from_str(record.json()).unwrap());
        let id = change.id.as_str().to_owned();
        let (before, after) = match &change.kind {
            ChangeKind::Appeared { record, .. } => (None, Some(content(record))),
            ChangeKind::Changed {
                before,
                after,
                fields,
                ..
            } => {
                assert!(!fields.is_empty(), "{name}: {change:?}");
                (Some(content(before)), Some(content(after)))
            }
            ChangeKind::Gone { last_seen } | ChangeKind::Pruned { last_seen } => {
                (Some(content(last_seen)), None)
            }
        };
        if let Some(delivered) = self.delivered.get(&sequence) {
            assert_eq!(
                *delivered,
                (id, after),
                "{name}: {sequence} is told again, and is another change"
            );
            return;
        }
        let latest = self.delivered.keys().next_back().copied().unwrap_or(0);
        assert!(
            sequence > latest,
            "{name}: {sequence} is new and comes after {latest}"
        );
        assert_eq!(
            self.known.get(&id),
            before.as_ref(),
            "{name}: before {change:?}"
        );
        match &after {
            Some(after) => self.known.insert(id.clone(), after.clone()),
            None => self.known.remove(&id),
        };
        self.delivered.insert(sequence, (id, after));
    }

    /// Compares the changes that the consumer received with those committed since it was created.
    pub(super) fn check(&self, history: &History) {
        let name = self.name;
        let (steps, copy) = &history.named[name];
        let mut expected: BTreeMap<&str, Vec<Option<&Value>>> = BTreeMap::new();
        for (id, content) in copy {
            expected.entry(id).or_default().push(Some(content));
        }
        for (id, content) in &history.steps[*steps..] {
            expected.entry(id).or_default().push(content.as_ref());
        }
        let mut delivered: BTreeMap<&str, Vec<Option<&Value>>> = BTreeMap::new();
        for (id, content) in self.delivered.values() {
            delivered.entry(id).or_default().push(content.as_ref());
        }
        assert_eq!(
            delivered, expected,
            "{name} was told other states than were committed"
        );
        assert_eq!(self.known, history.now, "{name} knows another copy");
    }
}
