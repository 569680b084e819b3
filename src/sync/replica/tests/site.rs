//! A service with a list of records, which shows and filters them as a test says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{MockServer, Request, ResponseTemplate};

use crate::auth::StaticToken;
use crate::client::{Account, Client};
use crate::mock::Mock;
use crate::model::{Day, Timestamp};
use crate::sync::replica::{Change, ChangeKind, Replica};
use crate::sync::store::{MemorySync, SyncStore};
use crate::transport::{Clock, RetryPolicy};

/// Which date `fromDate` compares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Compared {
    Updated,
    Created,
    Moved,
    Nothing,
}

/// The order of lists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListOrder {
    NewestFirst,
    OldestFirst,
    Id,
}

/// What a test does between two requests: before the request with this number, from 1.
type Edit = (usize, Box<dyn FnOnce(&mut Records) + Send>);

pub(super) struct Records {
    /// By id, each with the instant at which it was created.
    pub(super) by_id: BTreeMap<String, (u64, Value)>,
    /// The time of the service, in seconds.
    pub(super) now: u64,
    pub(super) compared: Compared,
    pub(super) order: ListOrder,
    pub(super) shows_total: bool,
    /// Cursors that the service refuses.
    pub(super) refused: Vec<String>,
    /// Ids that lists leave out.
    pub(super) hidden: Vec<String>,
    /// The answer to reads of single records, in place of the record.
    pub(super) reads: Option<ResponseTemplate>,
    /// The answer to lists.
    pub(super) lists: Option<ResponseTemplate>,
    pub(super) edits: Vec<Edit>,
    /// Of each request the operation, the cursor or id, and `fromDate`.
    pub(super) requests: Vec<(String, String, String)>,
}

pub(super) struct Site {
    _server: Mock,
    records: Arc<Mutex<Records>>,
    pub(super) clock: Clock,
    client: Client,
}

/// 2026-11-20T00:00:00Z.
const START: u64 = 1_795_132_800;

impl Site {
    pub(super) async fn start() -> Self {
        let server = MockServer::builder().start().await;
        let records = Arc::new(Mutex::new(Records {
            by_id: BTreeMap::new(),
            now: START,
            compared: Compared::Updated,
            order: ListOrder::NewestFirst,
            shows_total: true,
            refused: Vec::new(),
            hidden: Vec::new(),
            reads: None,
            lists: None,
            edits: Vec::new(),
            requests: Vec::new(),
        }));
        let answers = Arc::clone(&records);
        let respond = move |request: &Request| {
            let body: Value = request.body_json().unwrap();
            answers.lock().unwrap().answer(&body)
        };
        wiremock::Mock::given(any())
            .respond_with(respond)
            .mount(&server)
            .await;
        // A day apart from the clock of the service.
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(START - 86_400));
        let client = Client::builder(server.uri())
            .token_source(StaticToken::new("a-token").unwrap())
            .retry(RetryPolicy::none())
            .clock(clock.clone())
            .build()
            .unwrap();
        Self {
            _server: server.into(),
            records,
            clock,
            client,
        }
    }

    /// With so many records, a minute apart, that move long before they were changed last.
    pub(super) async fn with(count: usize) -> Self {
        let site = Self::start().await;
        for number in 1..=count {
            site.now(|site| site.save(&format!("r{number:03}"), |_| {}));
        }
        site
    }

    pub(super) fn now<T>(&self, act: impl FnOnce(&mut Records) -> T) -> T {
        act(&mut self.lock())
    }

    pub(super) fn shared(&self) -> Arc<Mutex<Records>> {
        Arc::clone(&self.records)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap()
    }

    /// Changes records before the request with this number from now on, from 1.
    pub(super) fn before_request(
        &self,
        number: usize,
        edit: impl FnOnce(&mut Records) + Send + 'static,
    ) {
        let mut records = self.lock();
        let number = records.requests.len() + number;
        records.edits.push((number, Box::new(edit)));
    }

    pub(super) fn account(&self, id: &str) -> Account {
        self.client.account(id)
    }

    /// A replica with pages of 2 records.
    pub(super) fn replica(&self, store: impl SyncStore) -> Replica {
        let replica = self.account("envd-1").replica(store);
        replica.page_size(2).clock(self.clock.clone())
    }

    /// The requests since this was called last.
    pub(super) fn take_requests(&self) -> Vec<(String, String, String)> {
        std::mem::take(&mut self.lock().requests)
    }

    /// One record is edited, so that "created since" and "changed since" differ, and two more syncs make the account
    /// incremental.
    pub(super) async fn make_incremental(&self, replica: &Replica) {
        replica.sync().await.unwrap();
        self.now(|site| {
            site.now += 86_400;
            site.save("r001", |record| record["heads"] = json!(77));
        });
        let report = replica.sync().await.unwrap();
        assert!(
            report
                .calibration
                .contains("compares the time of the last change"),
            "{report}"
        );
        assert!(report.next_full_walk.is_some());
        self.take_requests();
    }

    /// What the copy must hold.
    pub(super) fn ids(&self) -> Vec<String> {
        self.lock().by_id.keys().cloned().collect()
    }
}

impl Records {
    /// Saves a record a minute later, as the website would.
    pub(super) fn save(&mut self, id: &str, change: impl FnOnce(&mut Value)) {
        self.now += 60;
        let now = UNIX_EPOCH + Duration::from_secs(self.now);
        let created = (
            self.now,
            json!({"id": id, "status": "DRAFT", "movementDate": "2026-01-01"}),
        );
        let (_, record) = self.by_id.entry(id.to_owned()).or_insert(created);
        change(record);
        record["updatedAt"] = json!(Timestamp::from(now));
    }

    pub(super) fn delete(&mut self, id: &str) {
        self.by_id.remove(id);
    }

    fn answer(&mut self, body: &Value) -> ResponseTemplate {
        let number = self.requests.len() + 1;
        let (due, later) = std::mem::take(&mut self.edits)
            .into_iter()
            .partition(|(at, _)| *at <= number);
        self.edits = later;
        for (_, edit) in due {
            edit(self);
        }
        let text = |name: &str| {
            body["variables"][name]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let operation = body["operationName"].as_str().unwrap().to_owned();
        let at = text("after") + &text("id");
        self.requests
            .push((operation.clone(), at, text("fromDate")));
        match operation.as_str() {
            "Consignments" => self.page(&body["variables"]),
            "Consignment" => self.record(&text("id")),
            other => panic!("{other}"),
        }
    }

    fn record(&self, id: &str) -> ResponseTemplate {
        if let Some(answer) = &self.reads {
            return answer.clone();
        }
        match self.by_id.get(id) {
            Some((_, record)) => {
                let mut record = record.clone();
                record["answers"] = json!([{"questionId": "1", "value": record["heads"]}]);
                json_reply(&json!({"data": {"consignment": record}}))
            }
            None => not_found(),
        }
    }

    fn page(&self, variables: &Value) -> ResponseTemplate {
        if let Some(answer) = &self.lists {
            return answer.clone();
        }
        let after = variables["after"].as_str().unwrap_or_default();
        if self.refused.iter().any(|cursor| cursor == after) {
            return json_reply(&json!({"errors": [{"message": "the cursor is not valid"}]}));
        }
        let from = variables["fromDate"]
            .as_str()
            .map(|from| Timestamp::from(from).to_time().unwrap());
        let mut listed: Vec<&Value> = (self.by_id.iter())
            .filter(|(id, _)| !self.hidden.contains(id))
            .filter(|(_, record)| from.is_none_or(|from| self.is_since(record, from)))
            .map(|(_, (_, record))| record)
            .collect();
        // By id before that.
        if self.order != ListOrder::Id {
            listed.sort_by_key(|record| record["updatedAt"].as_str().map(str::to_owned));
        }
        if self.order == ListOrder::NewestFirst {
            listed.reverse();
        }
        let start: usize = after.parse().unwrap_or(0);
        let size = usize::try_from(variables["first"].as_u64().unwrap()).unwrap();
        let end = (start + size).min(listed.len());
        let edges: Vec<Value> = (listed.get(start..end).unwrap_or_default().iter())
            .map(|record| json!({"node": record}))
            .collect();
        let total = self.shows_total.then_some(listed.len());
        let info = json!({"hasNextPage": end < listed.len(), "endCursor": end.to_string()});
        json_reply(
            &json!({"data": {"consignments": {"totalCount": total, "pageInfo": info, "edges": edges}}}),
        )
    }

    fn is_since(&self, (created, record): &(u64, Value), from: SystemTime) -> bool {
        let text = |name: &str| record[name].as_str().unwrap_or_default();
        match self.compared {
            Compared::Updated => Timestamp::from(text("updatedAt")).to_time() >= Some(from),
            Compared::Created => UNIX_EPOCH + Duration::from_secs(*created) >= from,
            Compared::Moved => {
                let day = Day::parse(text("movementDate")).unwrap();
                Timestamp::from(day).to_time() >= Some(from)
            }
            Compared::Nothing => true,
        }
    }
}

pub(super) fn json_reply(body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

/// As specification 7.2 shows it.
pub(super) fn not_found() -> ResponseTemplate {
    let data = json!({"Code": "", "Message": "Internal server error", "OutcomeStatus": "ERROR"});
    let error = json!({"message": "Internal server error", "path": ["consignment"], "extensions": {"data": data}});
    json_reply(&json!({"data": {"consignment": null}, "errors": [error]}))
}

/// The ids of the copy.
pub(super) async fn copied(store: &MemorySync) -> Vec<String> {
    let query = crate::sync::store::Query {
        limit: usize::MAX,
        ..Default::default()
    };
    let rows = store.query("envd-1", &query).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

/// All changes that a consumer has not acknowledged, each as its kind and id; they are acknowledged.
pub(super) async fn told(replica: &Replica, consumer: &str) -> Vec<String> {
    let mut feed = replica.changes(consumer);
    let mut told = Vec::new();
    while let Some(change) = feed.next().await.unwrap() {
        told.push(described(&change));
        feed.acknowledge(&change).await.unwrap();
    }
    told
}

fn described(change: &Change) -> String {
    match &change.kind {
        ChangeKind::Appeared { .. } => format!("appeared {}", change.id),
        ChangeKind::Changed { fields, .. } => format!("changed {} {}", change.id, fields.join(",")),
        ChangeKind::Gone { .. } => format!("gone {}", change.id),
    }
}
