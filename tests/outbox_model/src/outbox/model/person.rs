//! The user of a schedule, who writes to one copy of the store.

use super::people::{About, next_act};
use super::program::{Store, circumstances, open};
use super::service::shown;
use super::world::World;
use crate::outbox::apply::{RowEvent, Unfit};
use crate::outbox::compare::ServiceRecord;
use crate::outbox::decide::claim;
use crate::outbox::row::{Row, RowState};

impl World {
    pub(super) fn person(&mut self) {
        let store = self.random.usize(..self.stores.len());
        // The time comes from the clock of a program of this store.
        let program = self.programs.iter().find(|program| program.store == store);
        let now = self.moment_now(program.map_or(0, |program| program.offset));
        let rows: Vec<&Row> = self.stores[store].rows.values().collect();
        let act = next_act(&mut self.random, &self.service, &rows, now, shown);
        let Some((about, event)) = act else {
            return;
        };
        let id = match about {
            About::New => self.add(store, None),
            About::Row(id) => id,
            About::Record(record) => match self.row_of(store, &record, now) {
                Some(id) => id,
                None => self.add(store, Some(record.id)),
            },
        };
        let written = self.commit(store, id, &event, 0, now);
        if let (RowEvent::Decided(_), Err(unfit)) = (event, written) {
            assert!(matches!(unfit, Unfit::Decision | Unfit::State), "{unfit:?}");
        }
    }

    fn add(&mut self, store: usize, record: Option<String>) -> u64 {
        self.rows += 1;
        let id = self.rows;
        let Store { rows, account, .. } = &mut self.stores[store];
        let row = Row::new(id, record, account.listed.clone(), account.begun);
        rows.insert(id, row);
        id
    }

    /// The row of a record. If a creation in doubt has made the record, its row now claims the record.
    fn row_of(&mut self, store: usize, record: &ServiceRecord, now: u64) -> Option<u64> {
        let held = &self.stores[store];
        let mut rows = held.rows.values();
        if let Some(row) = rows.clone().find(|row| row.is_about(&record.id)) {
            return Some(row.id);
        }
        let (id, event) = rows.find_map(|row| {
            let is_claimed =
                row.state != RowState::Discarded && self.planted != "NamedRecordIsAnothers";
            let open = open(held, row.id);
            let when = circumstances(now, held, &open);
            let seen = held.seen(record, row.id, true);
            Some((row.id, claim(row, &seen, &when)?)).filter(|_| is_claimed)
        })?;
        self.count("claimed");
        self.commit(store, id, &event, 0, now).unwrap();
        (!matches!(event, RowEvent::Asked(_))).then_some(id)
    }
}
