//! A fake service, a manual clock, and a store that several processes share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use crate::error::Result;
use crate::outbox::outbox::Outbox;
use crate::outbox::pass::Next;
use crate::outbox::{Declaration, DeclarationId, DeclarationState, OutboxReport};
use crate::replica::Replica;
use crate::store::tests::faulty_store::FaultyStore;
use crate::store::{MemorySync, SyncStore};
use crate::tests::replies::client_of;
use crate::tests::script::within;
use envd_sdk::auth::{StaticToken, TokenSource};
use envd_sdk::fake::{Fake, Fault, InProcess, NoReply, Received, UserRecord, WebsiteEdit, World};
use envd_sdk::graphql::generated::CreateOrSaveConsignment;
use envd_sdk::model::{AnswerInput, Consignment, ConsignmentInput, FormType, Maybe, PartyInput};
use envd_sdk::{Client, Clock, RetryPolicy};

/// The operation name of saves.
pub(super) const SAVE: &str = "CreateOrSaveConsignment";

pub(super) const MINUTE: Duration = Duration::from_secs(60);

pub(super) struct Farm {
    pub(super) fake: Fake,
    pub(super) clock: Clock,
    pub(super) store: Arc<MemorySync>,
    /// The ids of the records at the start.
    pub(super) before: Vec<String>,
}

impl Farm {
    /// Starts the service at noon UTC on 2026-11-20.
    pub(super) async fn start() -> Self {
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_795_176_000));
        let sam = UserRecord::new("sam.sample@example.com")
            .role("Producer")
            .account("envd-100201", "LPA", "QAZZ7777");
        // A small world without compression, because these tests spend most of their time on lists.
        let world = (70..73).fold(World::empty().user(sam), |world, head| {
            world.consignment("envd-100201", load(head))
        });
        let fake = Fake::builder()
            .world(world)
            .clock(clock.clone())
            .gzip(false)
            .access_token_lifetime(Duration::from_secs(1_000 * 24 * 3_600));
        let fake = fake.start().await.unwrap();
        let before = records(&fake).iter().map(id_of).collect();
        let farm = Self {
            fake,
            clock,
            store: Arc::new(MemorySync::new()),
            before,
        };
        farm.clear_scripts();
        farm
    }

    /// Removes all scripts. Each request takes a millisecond, so no two records have the same time.
    pub(super) fn clear_scripts(&self) {
        self.fake.clear_scripts();
        let clock = self.clock.clone();
        self.fake.on_every_request(move |_| {
            clock.advance(Duration::from_millis(1));
            None
        });
    }

    /// An outbox, as another process on the shared store has it.
    pub(super) fn outbox(&self) -> Outbox {
        self.outbox_on(Arc::clone(&self.store))
    }

    pub(super) fn outbox_on(&self, store: impl SyncStore) -> Outbox {
        Outbox::new(&self.replica_on(store))
    }

    pub(super) fn replica_on(&self, store: impl SyncStore) -> Replica {
        self.replica_with(RetryPolicy::none(), store)
    }

    /// An outbox of a client that repeats failed requests at once.
    pub(super) fn retrying(&self, store: impl SyncStore) -> Outbox {
        let retry = RetryPolicy::default().base_wait(Duration::ZERO);
        Outbox::new(&self.replica_with(retry, store))
    }

    fn replica_with(&self, retry: RetryPolicy, store: impl SyncStore) -> Replica {
        let client = self.fake.client().retry(retry);
        let client = client.build().unwrap();
        Replica::new(&client.account(self.fake.account_id()), store)
    }

    /// An outbox on the shared store, with another login.
    pub(super) fn outbox_of(&self, tokens: impl TokenSource) -> Outbox {
        let client = self.fake.client().retry(RetryPolicy::none());
        let client = client.token_source(tokens).build().unwrap();
        let account = client.account(self.fake.account_id());
        Outbox::new(&Replica::new(&account, Arc::clone(&self.store)))
    }

    /// An outbox that cannot reach the service.
    pub(super) fn unreachable(&self, store: impl SyncStore) -> Outbox {
        let nowhere = InProcess::new(|_| async { Err(NoReply::Unreachable) });
        let client = client_of(nowhere).clock(self.clock.clone());
        let client = client.token_source(StaticToken::new("a-token").unwrap());
        let account = client.build().unwrap().account(self.fake.account_id());
        Outbox::new(&Replica::new(&account, store))
    }

    /// An outbox of a program whose service address refuses connections.
    pub(super) fn refused_by(&self, address: SocketAddr) -> Outbox {
        let client = Client::builder(format!("http://{address}/graphql"))
            .clock(self.clock.clone())
            .retry(RetryPolicy::none())
            .token_source(StaticToken::new("a-token").unwrap());
        let account = client.build().unwrap().account(self.fake.account_id());
        Outbox::new(&Replica::new(&account, self.store.clone()))
    }

    /// The shared store, which fails after this number of commits.
    pub(super) fn faulty(&self, commits: usize) -> FaultyStore {
        FaultyStore::new(&self.store, commits)
    }

    /// The records created since the start, oldest first.
    pub(super) fn made(&self) -> Vec<Value> {
        let mut made = records(&self.fake);
        made.retain(|record| !self.before.contains(&id_of(record)));
        made
    }

    /// The status and number of head of each record created since the start.
    pub(super) fn loads(&self) -> Vec<String> {
        self.made().iter().map(load_of).collect()
    }

    pub(super) fn saves(&self) -> usize {
        self.fake.request_count(SAVE)
    }

    /// The inputs of all saves, exactly as sent.
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

    /// Waits until a reply is on its way.
    pub(super) async fn delayed(&self) {
        within("a reply that is delayed", self.fake.until_delayed()).await;
    }

    pub(super) fn edit(&self, edit: WebsiteEdit) -> String {
        self.fake.edit(self.fake.account_id(), edit)
    }

    /// A record as the user sees it.
    pub(super) async fn read(&self, outbox: &Outbox, id: &str) -> Consignment {
        outbox.account().consignment(id).await.unwrap().value
    }

    /// Like [`Outbox::send`], but advances the clock instead of waiting.
    pub(super) async fn send(&self, outbox: &Outbox) -> OutboxReport {
        outbox.forget_waits();
        let sends = async {
            let mut total = OutboxReport::default();
            loop {
                let (report, next) = outbox.pass().await.unwrap();
                total.add(report);
                let wait = next.searches_at.map(|at| outbox.time_until(at));
                let wait = wait.filter(|wait| total.stopped_by.is_none() && *wait <= 2 * MINUTE);
                let Some(wait) = wait else {
                    return total;
                };
                assert!(wait > Duration::ZERO, "it is due now, and was not done");
                self.clock.advance(wait);
            }
        };
        within("a send", Box::pin(sends)).await
    }

    /// Runs passes for this time, like the loop.
    pub(super) async fn run(&self, outbox: &Outbox, time: Duration) -> (OutboxReport, Next) {
        let end = self.clock.now() + time;
        let passes = async {
            loop {
                let (report, next) = outbox.pass().await.unwrap();
                let wait = next.at().map_or(time, |at| outbox.time_until(at));
                let left = end.duration_since(self.clock.now()).unwrap_or_default();
                if left.is_zero() {
                    return (report, next);
                }
                assert!(wait > Duration::ZERO, "it is due now, and was not done");
                self.clock.advance(wait.min(left));
            }
        };
        within("the loop", Box::pin(passes)).await
    }

    /// Sends everything. Nothing may be refused, wait, or need a decision.
    pub(super) async fn done(&self, outbox: &Outbox, confirmed: u64) {
        let report = self.send(outbox).await;
        let left = (report.waiting, report.refused, report.needs_attention);
        assert_eq!((report.confirmed, left), (confirmed, (0, 0, 0)), "{report}");
    }
}

impl Outbox {
    /// Makes a pass, with a time limit.
    pub(super) async fn passed(&self) -> Result<(OutboxReport, Next)> {
        within("a pass", Box::pin(self.pass())).await
    }
}

fn records(fake: &Fake) -> Vec<Value> {
    fake.consignments(fake.account_id())
}

pub(super) fn id_of(record: &Value) -> String {
    record["id"].as_str().unwrap().to_owned()
}

/// The status and the number of head, such as `draft 24`; for an update, `update 24`.
pub(super) fn load_of(record: &Value) -> String {
    let mut answers = record["answers"].as_array().into_iter().flatten();
    let head = answers.find(|answer| answer["questionId"] == "3");
    let head = head.map_or(&Value::Null, |answer| &answer["value"]);
    // An update has no status.
    let status = record["status"].as_str().unwrap_or("update").to_lowercase();
    format!("{status} {}", head.as_str().unwrap_or("-"))
}

/// A declaration with this number of head, complete but not signed.
pub(super) fn load(head: u32) -> ConsignmentInput {
    let mut input = signed(head);
    if let Some(declaration) = input.declaration.value_mut() {
        declaration.accept = false.into();
        declaration.signature = None::<String>.into();
    }
    input
}

/// A signed declaration with this number of head.
pub(super) fn signed(head: u32) -> ConsignmentInput {
    let text = include_str!("../../../../../tests/fixtures/consignments/lpac1.json");
    let mut sample: Value = serde_json::from_str(text).unwrap();
    for answer in sample["input"]["answers"].as_array_mut().unwrap() {
        if answer["questionId"] == "3" {
            answer["value"] = head.to_string().into();
        }
    }
    let mut input: ConsignmentInput = serde_json::from_value(sample["input"].take()).unwrap();
    input.status = Maybe::Absent;
    input
}

/// A declaration for another day.
pub(super) fn other_load(head: u32) -> ConsignmentInput {
    let from = PartyInput::new("QAZZ7777");
    let to = PartyInput::new("QDZZ3333");
    ConsignmentInput::new([FormType::Lpac1], from, to)
        .movement("2027-01-15", "05:15")
        .answer(AnswerInput::new("3", head.to_string()).row(0))
}

/// Reads the declaration.
pub(super) async fn now(outbox: &Outbox, id: DeclarationId) -> Declaration {
    outbox.declaration(id).await.unwrap().unwrap()
}

pub(super) async fn state(outbox: &Outbox, id: DeclarationId) -> DeclarationState {
    now(outbox, id).await.state
}
