//! A service, a clock that stands still, and a store that several processes share.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde::Serialize;
use serde_json::Value;

use crate::outbox::{Entry, EntryId, EntryState, Outbox, OutboxReport, Reason};
use crate::replica::Replica;
use crate::store::tests::faulty_store::FaultyStore;
use crate::store::{MemorySync, SyncStore};
use crate::tests::replies::client_of;
use envd_sdk::auth::{StaticToken, TokenSource};
use envd_sdk::fake::{
    Assumptions, Fake, Fault, InProcess, NoReply, Received, UserRecord, WebsiteEdit, World,
};
use envd_sdk::graphql::generated::CreateOrSaveConsignment;
use envd_sdk::model::{
    AnswerInput, Consignment, ConsignmentId, ConsignmentInput, FormType, PartyInput,
};
use envd_sdk::{Clock, RetryPolicy};

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
        let sam = UserRecord::new("sam.sample@example.com")
            .role("Producer")
            .account("envd-100201", "LPA", "QAZZ7777");
        // A small world without compression: most of the time of these tests goes into lists.
        let world = (70..73).fold(World::empty().user(sam), |world, head| {
            world.consignment("envd-100201", load(head))
        });
        let fake = Fake::builder()
            .world(world)
            .clock(clock.clone())
            .gzip(false)
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
        Outbox::new(&Replica::new(
            &client.account(self.fake.account_id()),
            store,
        ))
    }

    /// The same, with another login.
    pub(super) fn outbox_of(&self, tokens: impl TokenSource) -> Outbox {
        let client = self.fake.client().retry(RetryPolicy::none());
        let client = client.token_source(tokens).build().unwrap();
        let account = client.account(self.fake.account_id());
        Outbox::new(&Replica::new(&account, Arc::clone(&self.store)))
    }

    /// The outbox where nothing listens at the address of the service.
    pub(super) fn unreachable(&self, store: impl SyncStore) -> Outbox {
        let nowhere = InProcess::new(|_| async { Err(NoReply::Unreachable) });
        let client = client_of(nowhere).clock(self.clock.clone());
        let client = client.token_source(StaticToken::new("a-token").unwrap());
        let account = client.build().unwrap().account(self.fake.account_id());
        Outbox::new(&Replica::new(&account, store))
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

    /// Somebody changes fields of a record on the website.
    pub(super) fn change(&self, id: &str, fields: Value) {
        self.edit(WebsiteEdit::change(id, fields));
    }

    /// Somebody makes a record after the list before the creation, and before the first look.
    pub(super) fn before_look(&self, record: impl Serialize) {
        let edit = WebsiteEdit::insert(record);
        self.fake.edit_before_list(self.fake.account_id(), 2, edit);
    }

    /// A draft of 24 head from the website.
    pub(super) async fn listed(&self, outbox: &Outbox) -> (String, Consignment) {
        let id = self.edit(WebsiteEdit::insert(load(24)));
        let record = self.read(outbox, &id).await;
        (id, record)
    }

    /// The id of a record that was not there at the start, by its age.
    pub(super) fn id(&self, at: usize) -> String {
        id_of(&self.made()[at])
    }

    /// A record as a person sees it.
    pub(super) async fn read(&self, outbox: &Outbox, id: &str) -> Consignment {
        outbox.account().consignment(id).await.unwrap().value
    }

    /// Polls a pass until the reply to its save is on its way.
    pub(super) async fn until_delayed<T>(&self, pass: impl Future<Output = T>) {
        tokio::select! {
            biased;
            () = self.fake.until_delayed() => {}
            _ = pass => panic!("the reply is delayed"),
        }
    }

    /// Ends a pass while the reply to a save is on its way: what was sent is in flight.
    pub(super) async fn interrupt(&self, outbox: &Outbox) {
        self.fault(Fault::latency(Duration::from_secs(5)));
        Box::pin(self.until_delayed(outbox.pass())).await;
    }

    /// One pass, whose save is lost before the service has it.
    pub(super) async fn lose(&self, outbox: &Outbox) {
        self.fault(Fault::dropped_before());
        outbox.pass().await.unwrap();
    }

    /// Faults of further requests of an operation.
    pub(super) fn faults(&self, operation: &str, fault: Fault, times: usize) {
        self.fake.on_operation(operation).fault(fault).times(times);
    }

    /// From its second request on, the operation fails so often.
    pub(super) fn faults_after_one(&self, operation: &str, times: usize) {
        let script = self.fake.on_operation(operation);
        script.fault(Fault::none()).fault(Fault::html(503));
        script.times(times);
    }

    /// Sends everything: nothing is refused, waits or needs a person.
    pub(super) async fn all_done(&self, outbox: &Outbox) -> u64 {
        let report = self.send(outbox).await;
        let left = (report.waiting, report.refused, report.needs_attention);
        assert_eq!(left, (0, 0, 0), "{report}");
        report.confirmed
    }

    /// As [`all_done`](Self::all_done), and so many entries are confirmed.
    pub(super) async fn done(&self, outbox: &Outbox, confirmed: u64) {
        assert_eq!(self.all_done(outbox).await, confirmed);
    }

    /// Passes until nothing is due any more but what fails, like [`Outbox::send`], which waits on the clock meanwhile.
    pub(super) async fn send(&self, outbox: &Outbox) -> OutboxReport {
        let mut confirmed = 0;
        loop {
            let (mut report, due) = outbox.pass().await.unwrap();
            confirmed += report.confirmed;
            let at = due.reconciles_at.filter(|_| report.stopped_by.is_none());
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

/// A farm, and the outbox of one process.
pub(super) async fn start() -> (Farm, Outbox) {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    (farm, outbox)
}

/// A farm, an outbox, and its entry of 24 head, which waits.
pub(super) async fn saved() -> (Farm, Outbox, Entry) {
    let (farm, outbox) = start().await;
    let entry = outbox.save(load(24)).await.unwrap();
    (farm, outbox, entry)
}

/// As [`saved`], with the submit behind the entry.
pub(super) async fn saved_with_submit() -> (Farm, Outbox, Entry, Entry) {
    let (farm, outbox, entry) = saved().await;
    let submit = outbox.submit(entry.id).await.unwrap();
    (farm, outbox, entry, submit)
}

/// A fault after the request was carried out, or instead.
pub(super) fn processed_if(was_applied: bool, fault: Fault) -> Fault {
    if was_applied {
        fault.processed()
    } else {
        fault
    }
}

/// The connection is lost after the request was carried out, or before.
pub(super) fn lost(was_applied: bool) -> Fault {
    processed_if(was_applied, Fault::dropped_before())
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
    let text = include_str!("../../../../../src/fake/seed/consignments/lpac1.json");
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

/// The entry is in this state for this reason.
pub(super) async fn assert_is(outbox: &Outbox, id: EntryId, state: EntryState, reason: Reason) {
    let entry = now(outbox, id).await;
    assert_eq!(
        (entry.state, entry.reason),
        (state, Some(reason)),
        "{entry:?}"
    );
}

/// A person is asked for this reason.
pub(super) async fn assert_asks(outbox: &Outbox, id: EntryId, reason: Reason) {
    assert_is(outbox, id, EntryState::NeedsAttention, reason).await;
}

/// A person is asked whether one of these records is that of the entry.
pub(super) async fn assert_candidates(outbox: &Outbox, id: EntryId, records: &[String]) {
    assert_asks(outbox, id, Reason::Candidates).await;
    let found = now(outbox, id).await.candidates;
    let mut found: Vec<&str> = found.iter().map(ConsignmentId::as_str).collect();
    found.sort_unstable();
    assert_eq!(found, records);
}

/// The entry as it is now.
pub(super) async fn now(outbox: &Outbox, id: EntryId) -> Entry {
    outbox.entry(id).await.unwrap().unwrap()
}

pub(super) async fn state(outbox: &Outbox, id: EntryId) -> EntryState {
    now(outbox, id).await.state
}
