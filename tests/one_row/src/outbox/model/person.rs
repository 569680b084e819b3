//! What the person does, in any order: writes, edits, submits, withdraws, deletes, and decides as he likes.

use serde_json::Value;

use super::program::open;
use super::service::leaves;
use super::world::{World, content};
use crate::outbox::apply::{Decision, Event, Intent, Unfit};
use crate::outbox::compare::Record;
use crate::outbox::decide::{Circumstances, claim};
use crate::outbox::row::{Reason, Row, State, Text, Wish};

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

    fn add(&mut self, store: usize, wish: Wish, record: Option<&Record>) -> u64 {
        self.rows += 1;
        let id = self.rows;
        let account = &self.stores[store].account;
        let row = Row::new(
            id,
            wish.clone(),
            record,
            account.listed.clone(),
            account.begun,
        );
        self.note(|| format!("store {store}: a new row {id}: {wish:?} {record:?}"));
        self.stores[store].rows.insert(id, row);
        if let Some(text) = wish.text() {
            self.laws.gave(store, id, text);
        }
        self.laws.wants(
            store,
            id,
            matches!(wish, Wish::Submit(_)),
            wish == Wish::Delete,
        );
        if let Some(record) = record {
            self.laws.saw(store, id, record, &self.service);
            self.laws.named(store, id, &record.id);
        }
        id
    }

    fn write(&mut self, store: usize) {
        let text = Text::new(&content(&mut self.random));
        let wish = if self.random.chance(50) {
            Wish::Submit(text)
        } else {
            Wish::Save(text)
        };
        let id = self.add(store, wish, None);
        if self.random.chance(5) {
            let limit = self.now_of(store) + self.random.next() % 600;
            self.stores[store].rows.get_mut(&id).unwrap().not_after = Some(limit);
        }
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
        match self.random.below(6) {
            0 => text["movementTime"] = ["05:15", "06:30", "09:00"][self.random.below(3)].into(),
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
        text["movementDate"] = super::service::DATE.into();
    }

    fn wish(&mut self, store: usize, intent: Intent) {
        if let Some(row) = self.any_row(store) {
            self.wish_of(store, &row, intent, None);
        }
    }

    fn wish_of(&mut self, store: usize, row: &Row, intent: Intent, base: Option<Record>) {
        if let (Intent::Save(text) | Intent::Submit(Some(text)), true) = (&intent, base.is_none())
            && let Some(old) = row.wish.text().filter(|old| *old != text)
        {
            self.laws.replaced(store, row.id, old);
        }
        let now = self.now_of(store);
        let event = Event::Wished {
            intent: intent.clone(),
            base: base.clone(),
            not_after: None,
        };
        let before = self.laws.broken.clone();
        if self.commit(store, row.id, &event, now).is_err() {
            return;
        }
        let is_at_rest = row.state == State::Confirmed;
        let next = self.stores[store].rows[&row.id].clone();
        if let Intent::Save(text) | Intent::Submit(Some(text)) = &intent {
            self.laws.gave(store, row.id, text);
            if let (Some(base), false) = (&base, is_at_rest) {
                self.check_merge(row, &next, text, base);
            }
        }
        if let Some(first) = next.first.as_ref().filter(|_| base.is_some()) {
            self.laws.gave(store, row.id, first);
        }
        let is_submitted = match &intent {
            Intent::Save(_) => matches!(row.wish, Wish::Submit(_)),
            Intent::Submit(_) => true,
            Intent::Withdraw | Intent::Delete => false,
        };
        let wanted = matches!(
            (&next.wish, is_submitted, &intent),
            (Wish::Delete, _, Intent::Delete)
                | (Wish::Submit(_), true, _)
                | (Wish::Save(_), false, _)
        );
        if !wanted && before.is_none() {
            self.laws.broken = Some(format!(
                "after {intent:?} the wish of {row:?} is {:?}",
                next.wish
            ));
        }
        self.laws
            .wants(store, row.id, is_submitted, intent == Intent::Delete);
        // What another screen showed counts once nothing else waits.
        let is_seen = is_at_rest || row.base.is_none() || intent == Intent::Delete;
        if let Some(base) = base.as_ref().filter(|_| is_seen) {
            self.laws.saw(store, row.id, base, &self.service);
        } else if base.is_some() {
        } else if let (
            State::Asked {
                reason: Reason::Changed,
                read: Some(read),
                ..
            },
            State::Queued { .. },
        ) = (&row.state, &next.state)
        {
            self.laws.saw(store, row.id, read, &self.service);
        }
    }

    /// Two edits in one row: neither is lost.
    fn check_merge(&mut self, row: &Row, next: &Row, text: &Text, base: &Record) {
        let (Some(old), Some(new)) = (row.wish.text(), next.wish.text()) else {
            return;
        };
        if next.first.is_some() {
            if next.first.as_ref() != Some(old) && next.first != row.first
                || new != text && row.first.is_none()
            {
                self.laws.broken = Some(format!("a signed text is lost: {row:?} {next:?}"));
            }
            return;
        }
        if text.is_signed() || old.is_signed() {
            if old != text {
                self.laws.broken = Some(format!("a signed text was merged: {row:?} {next:?}"));
            }
            return;
        }
        let [old, text, new, base] =
            [&old.value(), &text.value(), &new.value(), &base.fields].map(leaves);
        for (path, value) in &text {
            if base.get(path) != Some(value) && new.get(path) != Some(value) {
                self.laws.broken = Some(format!("the later edit of {path} is lost: {next:?}"));
            }
        }
        for (path, value) in &old {
            if base.get(path) == text.get(path)
                && base.get(path) != Some(value)
                && new.get(path) != Some(value)
            {
                self.laws.broken = Some(format!("the earlier edit of {path} is lost: {next:?}"));
            }
        }
    }

    /// A record on another screen.
    fn any_record(&mut self) -> Option<Record> {
        let ids = self.records(|kept| !kept.is_deleted);
        let id = self.random.any(&ids)?;
        self.service.read(&id)
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
    fn row_of(&mut self, store: usize, record: &Record) -> Option<Row> {
        let rows = self.stores[store]
            .rows
            .values()
            .filter(|row| row.state != State::Discarded);
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
            let when = Circumstances {
                now,
                today: "",
                retired: &[],
                service: &held.account.service,
                open: &open,
            };
            Some((row.id, claim(row, &held.seen(record, row.id, true), &when)?))
        });
        let (id, event) = claimed?;
        self.count("claimed");
        self.commit(store, id, &event, now).unwrap();
        if let Event::Asked { .. } = event {
            return None;
        }
        self.laws.named(store, id, &record.id);
        Some(self.stores[store].rows[&id].clone())
    }

    fn delete_record(&mut self, store: usize) {
        let Some(record) = self.any_record() else {
            return;
        };
        match self.row_of(store, &record) {
            Some(row) => self.wish_of(store, &row, Intent::Delete, Some(record)),
            None => {
                let id = self.add(store, Wish::Delete, Some(&record));
                if self.random.chance(50) {
                    let row = self.stores[store].rows.get_mut(&id).unwrap();
                    (row.seen_at, row.base) = (Some(record.updated_at), None);
                }
            }
        }
    }

    fn decide(&mut self, store: usize) {
        let rows = self.stores[store].rows.values();
        let open = rows.filter(|row| {
            matches!(
                row.state,
                State::Asked { .. } | State::Refused { .. } | State::InDoubt { .. }
            )
        });
        let open: Vec<u64> = open.map(|row| row.id).collect();
        let Some(id) = self.random.any(&open) else {
            return;
        };
        let row = self.stores[store].rows[&id].clone();
        let mut candidates = match &row.state {
            State::Asked { candidates, .. } => candidates.clone(),
            _ => Vec::new(),
        };
        if self.random.chance(10) {
            candidates.extend(self.any_record().map(|record| record.id));
        }
        let adopt = self.random.any(&candidates).map(Decision::Adopt);
        let decisions = [
            Decision::KeepMine,
            Decision::KeepMine,
            Decision::TakeTheirs,
            Decision::Resend,
            Decision::Resend,
            adopt.clone().unwrap_or(Decision::Resend),
            adopt.unwrap_or(Decision::KeepMine),
        ];
        let mut decision = decisions[self.random.below(decisions.len())].clone();
        if self.random.chance(8) {
            decision = Decision::Discard;
        }
        let now = self.now_of(store);
        let decided = self.commit(store, id, &Event::Decided(decision.clone()), now);
        match (decided, &decision, &row.state) {
            (
                Ok(()),
                Decision::KeepMine,
                State::Asked {
                    read: Some(read), ..
                },
            ) => {
                self.laws.saw(store, id, read, &self.service);
                if !read.is_draft() {
                    self.laws.agreed(store, id, read, &self.service);
                }
            }
            (Ok(()), Decision::Adopt(record), _) => self.laws.named(store, id, record),
            (Err(unfit), ..) => {
                assert!(matches!(unfit, Unfit::Decision | Unfit::State), "{unfit:?}")
            }
            _ => {}
        }
    }
}
