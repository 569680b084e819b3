//! The fate of requests: answered, refused, lost before or after they are carried out, or carried out late.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use test_support::plain_service::{Outcome, START, Service};

use super::invariants::{Flight, carry_out};
use super::ledger::Ledger;
use super::note;
use super::people::{colleague, website};
use super::replies::{failed, reply_to};
use super::service::{page, shown};
use crate::outbox::row::Text;
use crate::tests::replies::{json_reply, not_found};
use envd_sdk::Clock;
use envd_sdk::fake::{InProcess, InProcessReply, NoReply};

/// Everything outside the programs.
pub(super) struct World {
    pub(super) service: Service,
    pub(super) ledger: Ledger,
    pub(super) random: fastrand::Rng,
    /// The percentage of requests that fail in some way.
    pub(super) trouble: u8,
    pub(super) is_offline: bool,
    pub(super) login_is_dead: bool,
    /// Changes that the service carries out later, with their times.
    pub(super) late: Vec<(u64, Flight)>,
    /// The texts that were sent. The website creates equal records from them.
    texts: Vec<Value>,
}

pub(super) type Shared = Arc<Mutex<World>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Answered,
    Unreachable,
    /// The connection is lost before the service carries it out.
    LostBefore,
    LostAfter,
    /// The connection is lost, and the service carries it out later.
    Late(u64),
    /// Carried out or not, and answered with a reply that does not say so.
    Failed(bool, u8),
    /// Carried out, but the reply shows the record of another row.
    OtherRecord,
    /// The text is saved, but not the status.
    Draft,
    Refused,
    TooMany,
}

/// The network of one process.
pub(super) fn network(world: &Shared, process: usize, clock: &Clock) -> InProcess {
    let world = Arc::clone(world);
    let clock = clock.clone();
    InProcess::new(move |request| {
        let world = Arc::clone(&world);
        let clock = clock.clone();
        async move {
            let body: Value = serde_json::from_slice(request.body()).unwrap();
            send(world, process, clock, body).await
        }
    })
}

/// A change that is dropped because its program ends. It may still be on its way to the service.
struct OnTheWay {
    world: Shared,
    change: Option<Flight>,
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
            world.late.push((at, change));
        }
    }
}

/// An await point at which other programs may continue.
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
    let (fate, change, pauses, slow) = {
        let mut world = world.lock().unwrap();
        world.service.event();
        let change = world.departs(process, clock.now(), &operation, &variables);
        let fate = world.fate(change.is_some());
        let pauses = (world.random.u8(..4), world.random.u8(..3));
        let is_slow = world.random.u8(..40) == 0;
        let slow = if is_slow { world.random.u64(1..90) } else { 0 };
        (fate, change, pauses, slow)
    };
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
    pub(super) fn new(random: fastrand::Rng, settle: u64) -> Self {
        Self {
            service: Service {
                now: START,
                ..Service::default()
            },
            ledger: Ledger::new(settle),
            random,
            trouble: 0,
            is_offline: false,
            login_is_dead: false,
            late: Vec::new(),
            texts: Vec::new(),
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
        match random.u8(..if is_change { 16 } else { 5 }) {
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
            13 => Fate::Draft,
            _ => Fate::Failed(random.bool(), random.u8(..5)),
        }
    }

    /// Checks a request that a program starts to send.
    fn departs(
        &mut self,
        process: usize,
        now: SystemTime,
        operation: &str,
        variables: &Value,
    ) -> Option<Flight> {
        if operation == "Consignments" {
            if variables["after"].is_null() {
                self.ledger.lists(process, self.service.events);
            }
            return None;
        }
        if operation == "Consignment" {
            return None;
        }
        let ledger = &mut self.ledger;
        let flight = ledger.sends(process, now, operation, variables, &self.service);
        self.texts.extend(flight.request.text().map(Text::value));
        Some(flight)
    }

    fn arrives(
        &mut self,
        process: usize,
        fate: Fate,
        change: Option<Flight>,
        operation: &str,
        variables: &Value,
    ) -> Result<InProcessReply, NoReply> {
        note(|| {
            let row = change.as_ref().map(|change| change.row);
            format!(
                "{process}: {operation} {} {row:?} {fate:?}",
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
            Fate::Answered | Fate::Draft => {
                let outcome = carry_out(&mut self.service, &change.saved(fate == Fate::Draft));
                let reply = reply_to(operation, &outcome, &self.service);
                self.website_is_quick();
                Ok(reply)
            }
            Fate::OtherRecord => {
                let outcome = carry_out(&mut self.service, &change);
                let other = self
                    .random
                    .choice(self.ledger.records_of_others(change.row));
                let outcome = other.map_or(outcome, Outcome::Saved);
                Ok(reply_to(operation, &outcome, &self.service))
            }
            Fate::LostAfter | Fate::Failed(true, _) => {
                carry_out(&mut self.service, &change);
                self.website_is_quick();
                failed(fate, operation)
            }
            Fate::Late(delay) => {
                let at = self.service.now + delay;
                self.late.push((at, change));
                failed(fate, operation)
            }
            Fate::LostBefore | Fate::Failed(false, _) => {
                colleague(&mut self.random, &mut self.service, &change.request);
                failed(fate, operation)
            }
            _ => failed(fate, operation),
        }
    }

    /// Another user may change something right after the change, before its reply arrives or before the record is read.
    fn website_is_quick(&mut self) {
        if self.random.u8(..12) == 0 {
            self.website();
        }
    }

    pub(super) fn website(&mut self) {
        website(&mut self.random, &mut self.service, &self.texts);
    }

    /// Carries out the late changes that have arrived by now.
    pub(super) fn arrive_late(&mut self) {
        let now = self.service.now;
        let late: Vec<_> = self.late.extract_if(.., |(at, _)| *at <= now).collect();
        for (_, change) in late {
            carry_out(&mut self.service, &change);
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
                json_reply(
                    200,
                    &json!({"data": {"consignment": shown(&self.service, id)}}),
                )
            }
            other => panic!("{other}"),
        }
    }
}
