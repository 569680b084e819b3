//! A service with a list of records, which shows and filters them as each test sets it.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};

use super::listing::{DAY, Listing, START, instant, refused_cursor};
use crate::replica::{Change, ChangeKind, Replica, SyncMode};
use crate::store::{MemorySync, SyncStore};
use crate::tests::replies::{client_of, json_reply, not_found, service};
use envd_sdk::Clock;
use envd_sdk::auth::StaticToken;
use envd_sdk::fake::InProcessReply;
use envd_sdk::model::Timestamp;
use envd_sdk::profile::{ComparedDate, Sourced};
use envd_sdk::{AccountClient, Client};

/// An edit, and the number of the request before which it happens, from 1.
type Edit = (usize, Box<dyn FnOnce(&mut Records) + Send>);

#[derive(Default)]
pub(super) struct Records {
    pub(super) list: Listing,
    /// Cursors that the service refuses.
    pub(super) refused: Vec<String>,
    /// The status of replies to reads of single records, instead of the record; 404: as if the record did not exist.
    pub(super) reads: Option<u16>,
    /// The status of replies to lists, and the seconds in their `Retry-After`.
    pub(super) lists: Option<(u16, &'static str)>,
    /// The errors in each page, next to its records.
    pub(super) errors: Value,
    pub(super) edits: Vec<Edit>,
    /// The operation of each request, its cursor or id, and its `fromDate`.
    requests: Vec<(String, String, String)>,
}

pub(super) struct Site {
    records: Arc<Mutex<Records>>,
    pub(super) clock: Clock,
    client: Client,
}

impl Site {
    /// A service with this many records, last changed a minute apart, and with movements long before that.
    pub(super) fn with(count: usize) -> Self {
        let records = Arc::new(Mutex::new(Records::default()));
        let answers = Arc::clone(&records);
        let service = service(move |_, body| Some(answers.lock().unwrap().answer(body)));
        // A day before the clock of the service.
        let clock = Clock::manual(instant(START - DAY));
        let client = client_of(service).clock(clock.clone());
        let client = client.token_source(StaticToken::new("a-token").unwrap());
        let site = Self {
            records,
            clock,
            client: client.build().unwrap(),
        };
        for number in 1..=count {
            site.lock().save(&format!("r{number:03}"), |_| {});
        }
        site
    }

    pub(super) fn shared(&self) -> Arc<Mutex<Records>> {
        Arc::clone(&self.records)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap()
    }

    /// Schedules an edit before the request with this number, counted from now and from 1.
    pub(super) fn before_request(
        &self,
        number: usize,
        edit: impl FnOnce(&mut Records) + Send + 'static,
    ) {
        let mut records = self.lock();
        let number = records.requests.len() + number;
        records.edits.push((number, Box::new(edit)));
    }

    pub(super) fn account(&self, id: &str) -> AccountClient {
        self.client.account(id)
    }

    /// A replica with 2 records a page, and a profile in which `fromDate` compares the last change.
    pub(super) fn replica(&self, store: impl SyncStore) -> Replica {
        let mut replica = Replica::new(&self.account("envd-1"), store);
        replica.compared = Sourced::seen(Some(ComparedDate::LastChange));
        replica.page_size(2).clock(self.clock.clone())
    }

    /// The requests since the last call.
    pub(super) fn take_requests(&self) -> Vec<(String, String, String)> {
        std::mem::take(&mut self.lock().requests)
    }

    /// Runs a full scan, changes a record a day later, and runs an incremental scan.
    pub(super) async fn make_incremental(&self, replica: &Replica) {
        replica.sync().await.unwrap();
        self.lock().next_day("r001", 77);
        let report = replica.sync().await.unwrap();
        assert!(report.next_full_scan.is_some(), "{report}");
        assert_eq!((report.mode, report.changed), (SyncMode::Incremental, 1));
        self.take_requests();
    }

    /// The ids that the copy must hold.
    pub(super) fn ids(&self) -> Vec<String> {
        self.lock().list.records.keys().cloned().collect()
    }
}

impl Records {
    /// Saves a record a minute later, as the website would.
    pub(super) fn save(&mut self, id: &str, change: impl FnOnce(&mut Value)) {
        self.list.now += 60_000;
        let now = self.list.now;
        let record = self.list.record(id, "2026-01-01");
        change(&mut record.value);
        record.updated = now;
        record.value["updatedAt"] = json!(Timestamp::from(instant(now)));
    }

    /// Saves a record with this number of head, a day later.
    pub(super) fn next_day(&mut self, id: &str, heads: u32) {
        self.list.now += DAY;
        self.save(id, |record| record["heads"] = json!(heads));
    }

    pub(super) fn delete(&mut self, id: &str) {
        self.list.records.remove(id);
    }

    fn answer(&mut self, body: &Value) -> InProcessReply {
        let number = self.requests.len() + 1;
        let due: Vec<Edit> = (self.edits.extract_if(.., |(at, _)| *at <= number)).collect();
        for (_, edit) in due {
            edit(self);
        }
        let variables = &body["variables"];
        let text = |name: &str| variables[name].as_str().unwrap_or_default().to_owned();
        let operation = body["operationName"].as_str().unwrap().to_owned();
        let request = (operation, text("after") + &text("id"), text("fromDate"));
        self.requests.push(request.clone());
        match &*request.0 {
            "Consignments" => self.page(variables, &request.1),
            "Consignment" => self.record(&request.1),
            other => panic!("{other}"),
        }
    }

    fn record(&self, id: &str) -> InProcessReply {
        match (self.reads, self.list.records.get(id)) {
            (None, Some(record)) => {
                let mut record = record.value.clone();
                record["answers"] =
                    json!([{"questionId": "1", "value": record["heads"].to_string()}]);
                json_reply(200, &json!({"data": {"consignment": record}}))
            }
            (None | Some(404), _) => not_found("consignment"),
            (Some(status), _) => json_reply(status, &json!({})),
        }
    }

    fn page(&mut self, variables: &Value, after: &str) -> InProcessReply {
        if let Some((status, wait)) = self.lists {
            return json_reply(status, &json!({})).header("retry-after", wait);
        }
        let page = self.list.page(variables);
        let page = page.filter(|_| self.refused.iter().all(|cursor| cursor != after));
        let mut body = page.map_or_else(refused_cursor, |page| page.body);
        if self.errors.is_array() {
            body["errors"] = self.errors.clone();
        }
        json_reply(200, &body)
    }
}

/// The ids of the copy.
pub(super) async fn copied(store: &MemorySync) -> Vec<String> {
    let query = crate::store::rows::Query {
        limit: usize::MAX,
        ..Default::default()
    };
    let rows = store.query("envd-1", &query).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

/// Reads and acknowledges all changes of a consumer; returns the kind and id of each.
pub(super) async fn delivered(replica: &Replica, consumer: &str) -> Vec<String> {
    let mut feed = replica.changes(consumer);
    let mut delivered = Vec::new();
    while let Some(change) = feed.next().await.unwrap() {
        delivered.push(described(&change));
        feed.acknowledge(&change).await.unwrap();
    }
    delivered
}

pub(super) fn described(change: &Change) -> String {
    match &change.kind {
        ChangeKind::Appeared { .. } => format!("appeared {}", change.id),
        ChangeKind::Changed { fields, .. } => format!("changed {} {}", change.id, fields.join(",")),
        ChangeKind::Gone { .. } => format!("gone {}", change.id),
        ChangeKind::Pruned { .. } => format!("pruned {}", change.id),
    }
}
