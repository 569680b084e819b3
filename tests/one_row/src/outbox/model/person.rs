//! What the person does, in any order: writes, edits, submits, withdraws, deletes, and decides as he likes.

use serde_json::Value;

use super::program::{Store, circumstances, open};
use super::service::{DATE, leaves, read, version};
use super::world::{World, content};
use crate::outbox::apply::{Intent, PersonsDecision, RowEvent, Unfit};
use crate::outbox::compare::ServiceRecord;
use crate::outbox::decide::claim;
use crate::outbox::row::{Limit, Question, Row, RowState, Text, Wish};

impl World {
    pub(super) fn person(&mut self) {
        let store = self.random.below(self.stores.len());
        match self.random.below(16) {
            0..4 => self.write(store),
            4..6 => self.edit(store),
            6 => self.update(store),
            7 => self.update(store),
            8 => self.wish(store, Intent::Submit(None)),
            9 => self.wish(store, Intent::Withdraw),
            10 => self.wish(store, Intent::Delete),
            11 => self.delete_record(store),
            _ => self.decide(store),
        }
    }

    fn any_row(&mut self, store: usize) -> Option<Row> {
        let rows: Vec<u64> = self.stores[store].rows.keys().copied().collect();
        let id = self.random.any(&rows)?;
        Some(self.stores[store].rows[&id].clone())
    }

    /// One of the programs of the store writes.
    fn now_of(&self, store: usize) -> u64 {
        let program = self.programs.iter().find(|program| program.store == store);
        self.moment_now(program.map_or(0, |program| program.offset))
    }

    fn add(&mut self, store: usize, wish: Wish, record: Option<&ServiceRecord>) -> &mut Row {
        self.rows += 1;
        let id = self.rows;
        self.note(|| format!("store {store}: a new row {id}: {wish:?} {record:?}"));
        let doings = self.laws.of(store, id);
        if let Some(text) = wish.text() {
            doings.gave(text);
        }
        doings.wants_submit = matches!(wish, Wish::Submit(_));
        doings.wants_delete = wish == Wish::Delete;
        if let Some(record) = record {
            doings.saw(record, &self.service);
            doings.named.insert(record.id.clone());
        }
        let Store { rows, account, .. } = &mut self.stores[store];
        let named = record.map(|record| record.id.clone());
        let mut row = Row::new(id, named, account.listed.clone(), account.begun);
        row.base = record.and_then(ServiceRecord::base);
        row.seen_at = record
            .filter(|_| wish == Wish::Delete)
            .and_then(ServiceRecord::seen_at);
        row.wish = wish;
        rows.entry(id).or_insert(row)
    }

    fn write(&mut self, store: usize) {
        let text = Text::new(&content(&mut self.random));
        let wish = if self.random.chance(50) {
            Wish::Submit(text)
        } else {
            Wish::Save(text)
        };
        let now = self.now_of(store);
        let limit = self
            .random
            .chance(5)
            .then(|| now + self.random.next() % 600);
        self.add(store, wish, None).not_after = limit.map(|at| Limit {
            at,
            given: at.to_string(),
        });
    }

    fn edit(&mut self, store: usize) {
        let Some(row) = self.any_row(store) else {
            return;
        };
        let mut text = row
            .wish
            .text()
            .map_or_else(|| content(&mut self.random), Text::value);
        self.change(&mut text);
        self.wish_of(store, &row, Intent::Save(Text::new(&text)), None);
    }

    /// Changes a field of a text, and may sign it anew.
    fn change(&mut self, text: &mut Value) {
        let mut date = DATE;
        match self.random.below(6) {
            0 => {
                let at = self.random.below(3);
                text["movementTime"] = ["05:15", "06:30", "09:00"][at].into();
                date = [DATE, DATE, "2027-06-02"][at];
            }
            1 => text["answers"][0]["value"] = ["Yes", "No", "2021"][self.random.below(3)].into(),
            2 => text["consignee"] = serde_json::json!({"name": "Sam"}),
            3 => text["consignee"] = Value::Null,
            4 => {
                text["origin"]["name"] =
                    ["Sample Downs", "sample downs", "North Downs"][self.random.below(3)].into()
            }
            _ => {
                let signature = ["c2ln", "c2FtMg", ""][self.random.below(3)];
                text["declaration"] =
                    serde_json::json!({"fullName": "Sam", "signature": signature});
            }
        }
        text["movementDate"] = date.into();
    }

    fn wish(&mut self, store: usize, intent: Intent) {
        if let Some(row) = self.any_row(store) {
            self.wish_of(store, &row, intent, None);
        }
    }

    /// `base`: the record, on another screen.
    fn wish_of(&mut self, store: usize, row: &Row, intent: Intent, base: Option<ServiceRecord>) {
        let text = match &intent {
            Intent::Save(text) | Intent::Submit(Some(text)) => Some(text),
            _ => None,
        };
        let old = row
            .wish
            .text()
            .filter(|old| text.is_some_and(|text| text != *old));
        if let (Some(old), None) = (old, &base) {
            self.laws.of(store, row.id).replaced.insert(old.clone());
        }
        let now = self.now_of(store);
        let event = RowEvent::Wished {
            intent: intent.clone(),
            base: base.clone(),
            not_after: None,
        };
        if self.commit(store, row.id, &event, now).is_err() {
            return;
        }
        let is_at_rest = row.state == RowState::Confirmed;
        let next = self.stores[store].rows[&row.id].clone();
        let is_submitted = match &intent {
            Intent::Save(_) => matches!(row.wish, Wish::Submit(_)),
            Intent::Submit(_) => true,
            Intent::Withdraw | Intent::Delete => false,
        };
        let is_deleted = intent == Intent::Delete;
        let is_wanted = match &next.wish {
            Wish::Delete => is_deleted,
            Wish::Submit(_) => is_submitted,
            Wish::Save(_) => !is_submitted && !is_deleted,
        };
        self.laws.forbid(
            !is_wanted,
            format_args!("{intent:?} makes of {row:?}: {next:?}"),
        );
        if let (Some(text), Some(base), false) = (text, &base, is_at_rest) {
            self.check_merge(row, &next, text, base);
        }
        let doings = self.laws.of(store, row.id);
        (doings.wants_submit, doings.wants_delete) = (is_submitted, is_deleted);
        for text in text
            .into_iter()
            .chain(next.first.as_ref().filter(|_| base.is_some()))
        {
            doings.gave(text);
        }
        // What another screen showed counts once nothing else waits; an edit of the row answers a question.
        let seen = match (&base, &row.state, &next.state) {
            (Some(base), ..) => (is_at_rest || row.base.is_none() || is_deleted).then_some(base),
            (None, RowState::Asked(Question::Changed(read)), RowState::Open { .. }) => Some(read),
            _ => None,
        };
        if let Some(seen) = seen {
            doings.saw(seen, &self.service);
        }
    }

    /// Two edits in one row: neither is lost.
    fn check_merge(&mut self, row: &Row, next: &Row, text: &Text, base: &ServiceRecord) {
        let (Some(old), Some(new)) = (row.wish.text(), next.wish.text()) else {
            return;
        };
        let is_signed = text.is_signed() || old.is_signed();
        let is_kept = if next.first.is_some() {
            (next.first.as_ref() == Some(old) || next.first == row.first)
                && (new == text || row.first.is_some())
        } else if is_signed {
            old == text
        } else {
            let texts = [&old.value(), &text.value(), &new.value(), &base.fields];
            let [old, text, new, base] = texts.map(leaves);
            let is_there = |(path, value): (&String, &String)| {
                base.get(path) == Some(value) || new.get(path) == Some(value)
            };
            let mut of_old = old
                .iter()
                .filter(|(path, _)| base.get(*path) == text.get(*path));
            text.iter().all(is_there) && of_old.all(is_there)
        };
        self.laws.forbid(
            !is_kept,
            format_args!("an edit is lost or merged: {row:?} {text:?} {next:?}"),
        );
    }

    /// A record on another screen.
    fn any_record(&mut self) -> Option<ServiceRecord> {
        let ids = self.records(|kept| !kept.is_deleted);
        let id = self.random.any(&ids)?;
        read(&self.service, &id)
    }

    fn update(&mut self, store: usize) {
        let Some(record) = self.any_record() else {
            return;
        };
        let mut text = record.fields.clone();
        text.as_object_mut().unwrap().remove("status");
        self.change(&mut text);
        let text = Text::new(&text);
        let is_submitted = self.random.chance(30);
        let intent = if is_submitted {
            Intent::Submit(Some(text.clone()))
        } else {
            Intent::Save(text.clone())
        };
        if let Some(row) = self.row_of(store, &record) {
            self.wish_of(store, &row, intent, Some(record));
            return;
        }
        let wish = if is_submitted {
            Wish::Submit(text)
        } else {
            Wish::Save(text)
        };
        self.add(store, wish, Some(&record));
    }

    /// The row of a record; a creation in doubt that made it is its row from then on.
    fn row_of(&mut self, store: usize, record: &ServiceRecord) -> Option<Row> {
        let rows = self.stores[store]
            .rows
            .values()
            .filter(|row| row.state != RowState::Discarded);
        if let Some(row) = rows.clone().find(|row| row.is_about(&record.id)) {
            return Some(row.clone());
        }
        let now = self.now_of(store);
        let claimed = rows.clone().find_map(|row| {
            let held = &self.stores[store];
            if self.planted == "NamedRecordIsAnothers" {
                return None;
            }
            let open = open(held, row.id);
            let when = circumstances(now, held, &open);
            Some((row.id, claim(row, &held.seen(record, row.id, true), &when)?))
        });
        let (id, event) = claimed?;
        self.count("claimed");
        self.commit(store, id, &event, now).unwrap();
        if let RowEvent::Asked(_) = event {
            return None;
        }
        self.laws.of(store, id).named.insert(record.id.clone());
        Some(self.stores[store].rows[&id].clone())
    }

    fn delete_record(&mut self, store: usize) {
        let Some(record) = self.any_record() else {
            return;
        };
        match self.row_of(store, &record) {
            Some(row) => self.wish_of(store, &row, Intent::Delete, Some(record)),
            None => {
                let is_blind = self.random.chance(50);
                let row = self.add(store, Wish::Delete, Some(&record));
                row.seen_at = is_blind.then_some(record.updated_at);
                if is_blind {
                    row.base = None;
                }
            }
        }
    }

    fn decide(&mut self, store: usize) {
        let rows = self.stores[store].rows.values();
        let open = rows.filter(|row| {
            let is_asked = matches!(row.state, RowState::Asked(_) | RowState::Refused);
            is_asked || matches!(row.state, RowState::Open { .. }) && row.is_in_doubt()
        });
        let open: Vec<u64> = open.map(|row| row.id).collect();
        let Some(id) = self.random.any(&open) else {
            return;
        };
        let row = self.stores[store].rows[&id].clone();
        let mut candidates = match &row.state {
            RowState::Asked(question) => question.candidates().to_vec(),
            _ => Vec::new(),
        };
        if self.random.chance(10) {
            candidates.extend(self.any_record().map(|record| record.id));
        }
        let adopt = self.random.any(&candidates).map(PersonsDecision::Adopt);
        let decisions = [
            PersonsDecision::KeepMine,
            PersonsDecision::KeepMine,
            PersonsDecision::TakeTheirs,
            PersonsDecision::Resend,
            PersonsDecision::Resend,
            adopt.clone().unwrap_or(PersonsDecision::Resend),
            adopt.unwrap_or(PersonsDecision::KeepMine),
        ];
        let mut decision = decisions[self.random.below(decisions.len())].clone();
        if self.random.chance(8) {
            decision = PersonsDecision::Discard;
        }
        let now = self.now_of(store);
        let decided = self.commit(store, id, &RowEvent::Decided(decision.clone()), now);
        let doings = self.laws.of(store, id);
        match (decided, &decision, &row.state) {
            (
                Ok(()),
                PersonsDecision::KeepMine,
                RowState::Asked(Question::Changed(read) | Question::NotADraft(read)),
            ) => {
                doings.saw(read, &self.service);
                if !read.is_draft() {
                    let kept = &self.service.records[&read.id];
                    let version = &kept.versions[version(&self.service, read)];
                    doings.agreed.insert(leaves(&version.value));
                }
            }
            (Ok(()), PersonsDecision::Adopt(record), _) => {
                doings.named.insert(record.clone());
            }
            (Err(unfit), ..) => {
                assert!(matches!(unfit, Unfit::Decision | Unfit::State), "{unfit:?}")
            }
            _ => {}
        }
    }
}
