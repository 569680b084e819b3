//! A service, a clock that stands still, and a store that several processes share.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::auth::{StaticToken, TokenSource};
use crate::client::Client;
use crate::fake::{Assumptions, Fake, Fault, Received, WebsiteEdit};
use crate::graphql::generated::CreateOrSaveConsignment;
use crate::model::{AnswerInput, Consignment, ConsignmentInput, FormType, PartyInput};
use crate::sync::outbox::{Entry, EntryId, EntryState, Outbox, OutboxReport};
use crate::sync::store::faulty_store::FaultyStore;
use crate::sync::store::{MemorySync, SyncStore};
use crate::transport::{Clock, RetryPolicy};

/// The operation of saves.
pub(super) const SAVE: &str = "CreateOrSaveConsignment";

pub(super) const MINUTE: Duration = Duration::from_secs(60);

pub(super) struct Farm {
    pub(super) fake: Fake,
    pub(super) clock: Clock,
    pub(super) store: Arc<MemorySync>,
    /// The ids at the start.
    before: Vec<String>,
}

impl Farm {
    /// On 2026-11-20, noon UTC.
    pub(super) async fn start() -> Self {
        Self::assuming(Assumptions::default()).await
    }

    pub(super) async fn assuming(assumptions: Assumptions) -> Self {
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_795_176_000));
        let fake = Fake::builder()
            .clock(clock.clone())
            .access_token_lifetime(Duration::from_secs(1_000 * 24 * 3_600))
            .assume(assumptions);
        let fake = fake.start().await.unwrap();
        let before = records(&fake).iter().map(id_of).collect();
        Self {
            fake,
            clock,
            store: Arc::new(MemorySync::new()),
            before,
        }
    }

    /// The outbox as a process of its own sees it.
    pub(super) fn outbox(&self) -> Outbox {
        self.outbox_on(Arc::clone(&self.store))
    }

    pub(super) fn outbox_on(&self, store: impl SyncStore) -> Outbox {
        let client = self.fake.client().retry(RetryPolicy::none());
        let client = client.build().unwrap();
        client.account(self.fake.account_id()).outbox(store)
    }

    /// The same, with another login.
    pub(super) fn outbox_of(&self, tokens: impl TokenSource) -> Outbox {
        let client = self.fake.client().retry(RetryPolicy::none());
        let client = client.token_source(tokens).build().unwrap();
        let account = client.account(self.fake.account_id());
        account.outbox(Arc::clone(&self.store))
    }

    /// The outbox where nothing listens at the address of the service.
    pub(super) fn unreachable(&self, store: impl SyncStore) -> Outbox {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let client = Client::builder(address).clock(self.clock.clone());
        let client = client.retry(RetryPolicy::none());
        let client = client.token_source(StaticToken::new("a-token").unwrap());
        let client = client.build().unwrap();
        client.account(self.fake.account_id()).outbox(store)
    }

    /// A store that fails after so many commits, over the one that all share.
    pub(super) fn faulty(&self, commits: usize) -> FaultyStore {
        FaultyStore::new(&self.store, commits)
    }

    /// The records that were not there at the start, oldest first.
    pub(super) fn made(&self) -> Vec<Value> {
        let mut made = records(&self.fake);
        made.retain(|record| !self.before.contains(&id_of(record)));
        made
    }

    /// The records that were not there at the start: the status, and the number of head of each.
    pub(super) fn loads(&self) -> Vec<(String, String)> {
        let made = self.made();
        made.iter().map(load_of).collect()
    }

    pub(super) fn saves(&self) -> usize {
        self.fake.request_count(SAVE)
    }

    /// The inputs of all saves, as they came over the wire.
    pub(super) fn sent(&self) -> Vec<String> {
        #[derive(serde::Deserialize)]
        struct Body<'b> {
            #[serde(borrow)]
            variables: Variables<'b>,
        }
        #[derive(serde::Deserialize)]
        struct Variables<'b> {
            #[serde(borrow)]
            input: &'b serde_json::value::RawValue,
        }
        let saves = self.fake.requests_of::<CreateOrSaveConsignment>();
        let input = |save: &Received| {
            let body: Body<'_> = serde_json::from_slice(save.body()).unwrap();
            body.variables.input.get().to_owned()
        };
        saves.iter().map(input).collect()
    }

    pub(super) fn fault(&self, fault: Fault) {
        self.fake.on_operation(SAVE).fault(fault);
    }

    pub(super) fn edit(&self, edit: WebsiteEdit) -> String {
        self.fake.edit(self.fake.account_id(), edit)
    }

    /// A record as a person sees it.
    pub(super) async fn read(&self, outbox: &Outbox, id: &str) -> Consignment {
        outbox.account().consignment(id).await.unwrap().value
    }

    /// Passes until nothing is due any more but what fails, like [`Outbox::send`], which waits on the clock meanwhile.
    pub(super) async fn send(&self, outbox: &Outbox) -> OutboxReport {
        let mut confirmed = 0;
        loop {
            let (mut report, due) = outbox.pass().await.unwrap();
            confirmed += report.confirmed;
            let at = due.settles_at.filter(|_| report.stopped_by.is_none());
            let Some(at) = at else {
                report.confirmed = confirmed;
                return report;
            };
            let wait = outbox.time_until(at);
            assert!(wait > Duration::ZERO, "it is due now, and was not done");
            self.clock.advance(wait);
        }
    }
}

fn records(fake: &Fake) -> Vec<Value> {
    fake.consignments(fake.account_id())
}

pub(super) fn id_of(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

pub(super) fn load_of(record: &Value) -> (String, String) {
    let answers = record["answers"].as_array().unwrap();
    let head = answers.iter().find(|answer| answer["questionId"] == "3");
    let head = head.map(|answer| answer["value"].as_str().unwrap().to_owned());
    let status = record["status"].as_str().unwrap().to_owned();
    (status, head.unwrap_or_default())
}

/// What [`Farm::loads`] shows of a draft.
pub(super) fn draft(head: u32) -> (String, String) {
    ("DRAFT".to_owned(), head.to_string())
}

pub(super) fn submitted(head: u32) -> (String, String) {
    ("SUBMITTED".to_owned(), head.to_string())
}

/// A declaration of so many head that can be submitted, without a signature yet.
pub(super) fn load(head: u32) -> ConsignmentInput {
    let mut input = signed(head);
    if let Some(declaration) = input.declaration.value_mut() {
        declaration.accept = false.into();
        declaration.signature = None::<String>.into();
    }
    input
}

/// A declaration of so many head, signed.
pub(super) fn signed(head: u32) -> ConsignmentInput {
    let text = include_str!("../../../fake/seed/consignments/lpac1.json");
    let mut sample: Value = serde_json::from_str(text).unwrap();
    for answer in sample["input"]["answers"].as_array_mut().unwrap() {
        if answer["questionId"] == "3" {
            answer["value"] = head.to_string().into();
        }
    }
    serde_json::from_value(sample["input"].take()).unwrap()
}

/// A declaration of another place and day.
pub(super) fn other_load(head: u32) -> ConsignmentInput {
    let (from, to) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new([FormType::Lpac1], from, to)
        .movement("2027-01-15", "05:15")
        .answer(AnswerInput::new("3", head.to_string()).row(0))
}

/// The entry as it is now.
pub(super) async fn now(outbox: &Outbox, id: EntryId) -> Entry {
    outbox.entry(id).await.unwrap().unwrap()
}

pub(super) async fn state(outbox: &Outbox, id: EntryId) -> EntryState {
    now(outbox, id).await.state
}
