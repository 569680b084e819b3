//! What becomes of requests: answered, refused, lost before or after they are carried out, or carried out late.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use equipment::plain_service::{Author, Habits, Outcome, START, Service};
use serde_json::{Value, json};

use super::ledger::Ledger;
use super::note;
use super::replies::{failed, reply_to};
use super::service::{page, shown};
use crate::tests::replies::{json_reply, not_found};
use envd_sdk::Clock;
use envd_sdk::fake::{InProcess, InProcessReply, NoReply};

/// Everything outside the programs.
pub(super) struct World {
    pub(super) service: Service,
    pub(super) ledger: Ledger,
    pub(super) random: fastrand::Rng,
    /// Of 100 requests so many fail in some way.
    pub(super) trouble: u8,
    pub(super) is_offline: bool,
    pub(super) login_is_dead: bool,
    /// Changes that the service carries out later.
    pub(super) late: Vec<Late>,
    /// What the website has filled in so soon that it could pass for the service.
    quick: Vec<Value>,
}

pub(super) type Shared = Arc<Mutex<World>>;

/// A change on its way.
#[derive(Clone, Debug)]
pub(super) struct Late {
    pub(super) at: u64,
    row: u64,
    operation: String,
    variables: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Answered,
    Unreachable,
    /// The connection is lost before the service carries it out.
    LostBefore,
    LostAfter,
    /// The connection is lost, and the service carries it out later.
    Late(u64),
    /// Carried out or not, and then a reply that does not say so.
    Failed(bool, u8),
    /// Carried out, and the reply shows the record of another row.
    OtherRecord,
    Refused,
    TooMany,
}

/// The network of one process.
pub(super) fn network(world: &Shared, process: usize, clock: &Clock) -> InProcess {
    let (world, clock) = (Arc::clone(world), clock.clone());
    InProcess::new(move |request| {
        let (world, clock) = (Arc::clone(&world), clock.clone());
        async move {
            let body: Value = serde_json::from_slice(request.body()).unwrap();
            send(world, process, clock, body).await
        }
    })
}

/// A change that its program gives up, by ending, before the service has it may still be on its way.
struct OnTheWay {
    world: Shared,
    change: Option<Late>,
}

impl Drop for OnTheWay {
    fn drop(&mut self) {
        let Some(change) = self.change.take() else {
            return;
        };
        let mut world = self.world.lock().unwrap();
        let arrives = world.random.u8(..3) > 0;
        let delay = if world.random.bool() {
            0
        } else {
            world.random.u64(..300)
        };
        if arrives {
            let at = world.service.now + delay;
            world.late.push(Late { at, ..change });
        }
    }
}

/// An await point at which other programs go on.
pub(super) async fn pause() {
    let mut is_over = false;
    poll_fn(|context| {
        if std::mem::replace(&mut is_over, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn send(
    world: Shared,
    process: usize,
    clock: Clock,
    body: Value,
) -> Result<InProcessReply, NoReply> {
    let operation = body["operationName"].as_str().unwrap().to_owned();
    let variables = body["variables"].clone();
    let (fate, row, pauses, slow) = {
        let mut world = world.lock().unwrap();
        world.service.event();
        let row = world.departs(process, clock.now(), &operation, &variables);
        let fate = world.fate(row.is_some());
        let pauses = (world.random.u8(..4), world.random.u8(..3));
        let slow = if world.random.u8(..40) == 0 {
            world.random.u64(1..90)
        } else {
            0
        };
        (fate, row, pauses, slow)
    };
    let change = row.map(|row| Late {
        at: 0,
        row,
        operation: operation.clone(),
        variables: variables.clone(),
    });
    let mut on_the_way = OnTheWay {
        world: Arc::clone(&world),
        change,
    };
    for _ in 0..pauses.0 {
        pause().await;
    }
    if slow > 0 {
        clock.sleep(Duration::from_secs(slow)).await;
    }
    let change = on_the_way.change.take();
    let reply = world
        .lock()
        .unwrap()
        .arrives(process, fate, change, &operation, &variables);
    for _ in 0..pauses.1 {
        pause().await;
    }
    reply
}

impl World {
    pub(super) fn new(random: fastrand::Rng) -> Self {
        Self {
            service: Service {
                now: START,
                habits: Habits {
                    ignores_null: true,
                    locks: true,
                    locks_website: true,
                    ..Habits::default()
                },
                ..Service::default()
            },
            ledger: Ledger::default(),
            random,
            trouble: 0,
            is_offline: false,
            login_is_dead: false,
            late: Vec::new(),
            quick: Vec::new(),
        }
    }

    fn fate(&mut self, is_change: bool) -> Fate {
        if self.is_offline {
            return Fate::Unreachable;
        }
        if self.random.u8(..100) >= self.trouble {
            return Fate::Answered;
        }
        let random = &mut self.random;
        match random.u8(..if is_change { 15 } else { 5 }) {
            0 => Fate::Unreachable,
            1 => Fate::TooMany,
            2 => Fate::LostBefore,
            3 | 4 => Fate::Failed(false, random.u8(..4)),
            5 | 6 => Fate::Refused,
            7..=9 => Fate::LostAfter,
            10 | 11 => Fate::Late(if random.bool() {
                random.u64(..50)
            } else {
                random.u64(50..400)
            }),
            12 => Fate::OtherRecord,
            _ => Fate::Failed(random.bool(), random.u8(..5)),
        }
    }

    /// Checks a request that a program begins to send. Of a change: the row.
    fn departs(
        &mut self,
        process: usize,
        now: SystemTime,
        operation: &str,
        variables: &Value,
    ) -> Option<u64> {
        if operation == "Consignments" {
            if variables["after"].is_null() {
                let is_full = variables["fromDate"].is_null();
                self.ledger.lists(process, is_full, self.service.events);
            }
            return None;
        }
        if operation == "Consignment" {
            return None;
        }
        let ledger = &mut self.ledger;
        Some(ledger.sends(process, now, operation, variables, &self.service))
    }

    fn arrives(
        &mut self,
        process: usize,
        fate: Fate,
        change: Option<Late>,
        operation: &str,
        variables: &Value,
    ) -> Result<InProcessReply, NoReply> {
        note(|| {
            format!(
                "{process}: {operation} {} {change:?} {fate:?}",
                variables["id"]
            )
        });
        if let (Some(change), Fate::Unreachable | Fate::Refused | Fate::TooMany) = (&change, fate) {
            self.ledger.turned_down(change.row);
        }
        if self.is_offline {
            return Err(match fate {
                Fate::Unreachable => NoReply::Unreachable,
                _ => NoReply::ConnectionLost,
            });
        }
        let Some(change) = change else {
            return match fate {
                Fate::Answered => Ok(self.query(process, operation, variables)),
                _ => failed(fate, operation),
            };
        };
        match fate {
            Fate::Answered => {
                let outcome = self.carry_out(&change);
                let reply = reply_to(operation, &outcome, &self.service);
                self.website_is_quick(&outcome);
                Ok(reply)
            }
            Fate::OtherRecord => {
                let outcome = self.carry_out(&change);
                let other = self
                    .random
                    .choice(self.ledger.records_of_others(change.row));
                let outcome = other.map_or(outcome, Outcome::Saved);
                Ok(reply_to(operation, &outcome, &self.service))
            }
            Fate::LostAfter | Fate::Failed(true, _) => {
                let outcome = self.carry_out(&change);
                self.website_is_quick(&outcome);
                failed(fate, operation)
            }
            Fate::Late(delay) => {
                let at = self.service.now + delay;
                self.late.push(Late { at, ..change });
                failed(fate, operation)
            }
            Fate::LostBefore | Fate::Failed(false, _) => {
                self.colleague_writes(&change);
                failed(fate, operation)
            }
            _ => failed(fate, operation),
        }
    }

    /// A colleague writes the load of a creation that was lost, and more than was sent.
    fn colleague_writes(&mut self, lost: &Late) {
        let input = &lost.variables["input"];
        let is_creation = lost.operation == "CreateOrSaveConsignment" && input["id"].is_null();
        if is_creation && self.random.u8(..3) == 0 {
            let mut record = as_record(input);
            let filled_in = filled_in(&mut self.random);
            let fields = filled_in.as_object().unwrap().clone();
            record.as_object_mut().unwrap().extend(fields);
            note(|| format!("a colleague writes {record}"));
            self.service.insert(Author::Website, record);
        }
    }

    /// Somebody edits a record on the website before its reply arrives, or before it is read after that. Each field once: two
    /// records are how the outbox learns what the service fills in.
    fn website_is_quick(&mut self, outcome: &Outcome) {
        if let Outcome::Saved(id) = outcome
            && self.random.u8(..12) == 0
        {
            let fields = filled_in(&mut self.random);
            if self.quick.contains(&fields) {
                return;
            }
            self.quick.push(fields.clone());
            note(|| format!("the website is quick: {id} {fields}"));
            self.service.save(id, Author::Website, &fields);
        }
    }

    /// Whether somebody may fill in a field on the website: of a record with a reply that is not kept yet once, as above.
    pub(super) fn may_fill_in(&mut self, id: &str, fields: &Value) -> bool {
        let is_ours = self.service.records[id].maker() != Author::Website;
        let is_kept = !is_ours || self.ledger.is_kept(id);
        let is_first = is_kept || !self.quick.contains(fields);
        if is_first && !is_kept {
            self.quick.push(fields.clone());
        }
        is_first
    }

    /// Carries out what has arrived late by now.
    pub(super) fn arrive_late(&mut self) {
        let now = self.service.now;
        let due: Vec<Late> = self.late.extract_if(.., |late| late.at <= now).collect();
        self.service.is_late = true;
        for change in due {
            self.carry_out(&change);
        }
        self.service.is_late = false;
    }

    fn carry_out(&mut self, change: &Late) -> Outcome {
        note(|| format!("the service carries out what row {} sent", change.row));
        let (service, variables) = (&mut self.service, &change.variables);
        let id = variables["id"].as_str();
        let author = Author::Row(change.row);
        match change.operation.as_str() {
            "CreateOrSaveConsignment" => {
                let mut input = as_record(&variables["input"]);
                let id = input.as_object_mut().unwrap().remove("id");
                match id.as_ref().and_then(Value::as_str) {
                    Some(id) => service.save(id, author, &input),
                    None => Outcome::Saved(service.insert(author, input)),
                }
            }
            "DeleteConsignment" => service.delete(id.unwrap(), author),
            other => panic!("{other}"),
        }
    }

    fn query(&mut self, process: usize, operation: &str, variables: &Value) -> InProcessReply {
        match operation {
            "Consignments" => {
                let page = page(&mut self.service, variables);
                let has_next = &page["consignments"]["pageInfo"]["hasNextPage"];
                if *has_next == json!(false) {
                    self.ledger.listed(process);
                }
                json_reply(200, &json!({"data": page}))
            }
            "Consignment" => {
                let id = variables["id"].as_str().unwrap();
                let Some(record) = self.service.read(id) else {
                    if self.service.habits.answers_null {
                        return json_reply(200, &json!({"data": {"consignment": null}}));
                    }
                    return not_found("consignment");
                };
                self.ledger.reads(process, id, record.versions.len());
                json_reply(200, &json!({"data": {"consignment": shown(id, record)}}))
            }
            other => panic!("{other}"),
        }
    }
}

/// A record has its forms as objects.
fn as_record(input: &Value) -> Value {
    let mut record = input.clone();
    if let Some(forms) = input["forms"].as_array() {
        record["forms"] = forms.iter().map(|form| json!({"type": form})).collect();
    }
    record
}

/// What somebody fills in on the website, and the outbox has not sent.
pub(super) fn filled_in(random: &mut fastrand::Rng) -> Value {
    match random.u8(..3) {
        0 => json!({"consignee": {"name": "Pat Sample"}}),
        1 => json!({"owner": {"name": "Pat Sample", "pic": "QBZZ2222"}}),
        _ => json!({"destination": {"pic": "QDZZ3333", "name": "Other Yards"}}),
    }
}
