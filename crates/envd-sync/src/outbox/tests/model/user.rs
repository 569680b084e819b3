//! What the user does, one thing after another.

use serde_json::{Value, json};

use super::ledger::{Text, certificate};
use super::network::{Shared, World};
use super::note;
use super::service::shown;
use crate::error::{Error, Result};
use crate::outbox::{Decision, Declaration, DeclarationId, DeclarationState, Outbox, Reason};
use envd_sdk::model::{Consignment, ConsignmentInput};

/// What a text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    New,
    Record,
    Row,
}

/// A load. Few differ, so that many are identical.
pub(super) fn content(random: &mut fastrand::Rng) -> Value {
    let time = ["05:15", "06:30"][random.usize(..2)];
    let answer = ["Yes", "No"][random.usize(..2)];
    json!({
        "forms": ["LPAC1"],
        "origin": {"pic": "QAZZ7777"},
        "destination": {"pic": "QDZZ3333"},
        "movementDate": "2027-06-01",
        "movementTime": time,
        "declaration": {"certificateNumber": "A"},
        "answers": [{"questionId": "17", "index": null, "value": answer}],
    })
}

impl World {
    /// A text that the user begins to write.
    fn text(&mut self, seen: Option<usize>, is_submitted: bool) -> (usize, ConsignmentInput) {
        let mut input = content(&mut self.random);
        let number = self.ledger.texts.len();
        input["declaration"]["certificateNumber"] = certificate(number);
        if self.random.u8(..6) == 0 {
            input["declaration"]["signature"] = json!("c2ln");
        }
        self.ledger.texts.push(Text {
            seen,
            is_submitted,
            is_acknowledged: false,
        });
        (number, serde_json::from_value(input).unwrap())
    }

    /// A record that is there, if any is.
    pub(super) fn any_record(&mut self) -> Option<String> {
        let records = self.service.records.iter();
        let ids = records.filter(|(_, record)| !record.is_deleted);
        self.random
            .choice(ids.map(|(id, _)| id.clone()).collect::<Vec<_>>())
    }

    /// A row that the user knows.
    fn any_row(&mut self) -> Option<DeclarationId> {
        let id = self.random.choice(&self.ledger.acknowledged).copied();
        id.map(DeclarationId)
    }
}

pub(super) const CHOICES: u8 = 28;

/// Does something. An error is one of the store, or says that it does not fit any more.
pub(super) async fn act(outbox: Outbox, world: Shared, choice: u8) {
    match choice {
        0..=5 => write(&outbox, &world, About::New).await,
        6..=8 => write(&outbox, &world, About::Record).await,
        9..=12 => write(&outbox, &world, About::Row).await,
        13..=16 => submit(&outbox, &world).await,
        17 => withdraw(&outbox, &world).await,
        18 => delete_record(&outbox, &world).await,
        19 => delete(&outbox, &world).await,
        _ => decide(&outbox, &world).await,
    };
}

fn is_done(result: Result<Declaration>) -> Option<u64> {
    match result {
        Ok(declaration) => Some(declaration.id.0),
        Err(Error::Usage(_) | Error::Store(_)) => None,
        Err(error) => panic!("{error:?}"),
    }
}

async fn write(outbox: &Outbox, world: &Shared, about: About) -> Option<()> {
    let (mut row, mut base) = (None, None);
    let (text, is_submitted, input) = {
        let mut world = world.lock().unwrap();
        let mut seen = None;
        match about {
            About::New => {}
            About::Row => row = Some(world.any_row()?),
            About::Record => {
                let id = world.any_record()?;
                let record = &world.service.records[&id];
                seen = Some(record.versions.len());
                base = serde_json::from_value::<Consignment>(shown(&id, record)).ok();
            }
        }
        let is_submitted = world.random.u8(..4) == 0;
        let (text, input) = world.text(seen, is_submitted);
        (text, is_submitted, input)
    };
    note(|| format!("the user writes {text} about {row:?} {about:?}, submitted: {is_submitted}"));
    let written = match (row, base, is_submitted) {
        (Some(row), _, false) => outbox.edit(row, input).await,
        (Some(row), _, true) => outbox.edit_and_submit(row, input).await,
        (None, Some(base), false) => outbox.update(&base, input).await,
        (None, Some(base), true) => outbox.submit_record(&base, input).await,
        (None, None, false) => outbox.save(input).await,
        (None, None, true) => outbox.submit(input).await,
    };
    let row = is_done(written)?;
    world.lock().unwrap().ledger.acknowledge(row, text);
    Some(())
}

async fn submit(outbox: &Outbox, world: &Shared) -> Option<()> {
    let row = world.lock().unwrap().any_row()?;
    world.lock().unwrap().ledger.row(row.0).may_submit = true;
    is_done(outbox.submit_saved(row).await).map(drop)
}

async fn withdraw(outbox: &Outbox, world: &Shared) -> Option<()> {
    let row = world.lock().unwrap().any_row()?;
    let row = is_done(outbox.withdraw(row).await)?;
    world.lock().unwrap().ledger.row(row).may_submit = false;
    Some(())
}

async fn delete(outbox: &Outbox, world: &Shared) -> Option<()> {
    let row = world.lock().unwrap().any_row()?;
    world.lock().unwrap().ledger.row(row.0).may_delete = true;
    let row = is_done(outbox.delete(row).await)?;
    world.lock().unwrap().ledger.row(row).may_submit = false;
    Some(())
}

async fn delete_record(outbox: &Outbox, world: &Shared) -> Option<()> {
    let id = world.lock().unwrap().any_record()?;
    world.lock().unwrap().ledger.deletes.insert(id.clone());
    let row = is_done(outbox.delete_record(id).await)?;
    world.lock().unwrap().ledger.acknowledged.insert(row);
    Some(())
}

/// Decides about a declaration that needs it, in any way that fits.
async fn decide(outbox: &Outbox, world: &Shared) -> Option<()> {
    let mut open = outbox.declarations().await.ok()?;
    open.retain(|one| {
        use DeclarationState::{NeedsAttention, Refused, Unconfirmed};
        matches!(one.state, NeedsAttention | Refused | Unconfirmed)
    });
    let (one, decision) = {
        let mut world = world.lock().unwrap();
        let one = world.random.choice(open)?;
        let decision = world.decision(&one)?;
        (one, decision)
    };
    is_done(outbox.decide(one.id, decision).await).map(drop)
}

impl World {
    fn decision(&mut self, one: &Declaration) -> Option<Decision> {
        // Rarely: a person who gives up in doubt takes the risk.
        if one.state == DeclarationState::Unconfirmed && self.random.u8(..4) > 0 {
            return None;
        }
        let decision = self.random.choice(one.decisions())?;
        note(|| format!("the user decides {decision:?} about {one:?}"));
        let late = one
            .not_after
            .clone()
            .filter(|_| one.reason == Some(Reason::NotAfterPassed));
        let (is_kept, is_resent) = (decision == Decision::KeepMine, decision == Decision::Resend);
        self.ledger.decided(one.id.0, is_kept, is_resent, late);
        Some(decision)
    }
}
