//! What the user does, one thing after another.

use envd_sdk::ErrorKind;
use serde_json::{Value, json};

use super::network::{Shared, World};
use super::note;
use super::written::{Declaration, Text, text_of};
use crate::outbox::{Decision, Entry, EntryId, EntryState, Outbox, Reason};
use envd_sdk::model::{CommentInput, Consignment, ConsignmentInput};

/// How the text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Write {
    New,
    Update,
    Blind,
    Edit,
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
        "answers": [{"questionId": "17", "index": null, "value": answer}],
    })
}

impl World {
    /// A text of a declaration that the user begins to write.
    fn text(&mut self, declaration: usize, write: Write) -> (usize, ConsignmentInput) {
        let content = content(&mut self.random);
        let number = self.ledger.texts.len();
        let mut input = content.clone();
        input["declaration"] = json!({"certificateNumber": number.to_string()});
        if self.random.u8(..6) == 0 {
            input["declaration"]["signature"] = json!("c2ln");
        }
        if let (Write::Blind, Some(record)) = (write, &self.ledger.declarations[declaration].record)
        {
            input["id"] = json!(record);
        }
        let before = self
            .ledger
            .texts
            .iter()
            .enumerate()
            .rfind(|(at, _)| self.ledger.declaration_of(*at) == declaration);
        // What is edited in place is as blind as it was.
        let is_blind = write == Write::Blind
            || write == Write::Edit && before.is_some_and(|(_, text)| text.is_blind);
        self.ledger.texts.push(Text {
            declaration,
            content,
            is_blind,
            is_acknowledged: false,
            is_given_up: false,
        });
        (number, serde_json::from_value(input).unwrap())
    }

    /// A record that is there, if any is.
    pub(super) fn any_record(&mut self) -> Option<String> {
        let ids: Vec<String> = (self.service.records.iter())
            .filter(|(_, record)| !record.is_deleted)
            .map(|(id, _)| id.clone())
            .collect();
        (!ids.is_empty()).then(|| ids[self.random.usize(..ids.len())].clone())
    }

    /// The declaration about a record.
    fn about(&mut self, record: &str) -> usize {
        let found = self
            .ledger
            .declarations
            .iter()
            .position(|one| one.record.as_deref() == Some(record));
        found.unwrap_or_else(|| {
            self.ledger.declarations.push(Declaration {
                record: Some(record.to_owned()),
                ..Declaration::default()
            });
            self.ledger.declarations.len() - 1
        })
    }

    /// A declaration that has an entry.
    fn any_declaration(&mut self) -> Option<(usize, u64)> {
        let with_entry = self.ledger.declarations.iter().enumerate();
        let with_entry: Vec<(usize, u64)> = with_entry
            .filter_map(|(at, one)| Some((at, one.entry?)))
            .collect();
        (!with_entry.is_empty()).then(|| with_entry[self.random.usize(..with_entry.len())])
    }

    fn acknowledge(&mut self, declaration: usize, entry: &Entry, is_handle: bool) {
        let declaration = self.ledger.united(declaration);
        self.ledger.acknowledged.insert(entry.id.0);
        if is_handle {
            self.ledger.declarations[declaration].entry = Some(entry.id.0);
        }
    }
}

/// Does something. An error is one of the store, or says that it does not fit any more.
pub(super) async fn act(outbox: Outbox, world: Shared, choice: u8) {
    match choice {
        0..=5 => write(&outbox, &world, Write::New).await,
        6 | 7 => write(&outbox, &world, Write::Update).await,
        8 => write(&outbox, &world, Write::Blind).await,
        9..=12 => write(&outbox, &world, Write::Edit).await,
        13..=17 => submit(&outbox, &world).await,
        18 => delete(&outbox, &world).await,
        19 => comment(&outbox, &world).await,
        _ => decide(&outbox, &world).await,
    };
}

pub(super) const CHOICES: u8 = 28;

async fn write(outbox: &Outbox, world: &Shared, write: Write) -> Option<()> {
    let mut entry = None;
    let mut base = None;
    let (declaration, text, input) = {
        let mut world = world.lock().unwrap();
        let world = &mut *world;
        let declaration = match write {
            Write::New => {
                world.ledger.declarations.push(Declaration::default());
                world.ledger.declarations.len() - 1
            }
            Write::Edit => {
                let (declaration, of) = world.any_declaration()?;
                entry = Some(EntryId(of));
                declaration
            }
            Write::Update | Write::Blind => {
                let id = world.any_record()?;
                let declaration = world.about(&id);
                let record = &world.service.records[&id];
                if write == Write::Update {
                    let seen = &mut world.ledger.declarations[declaration].seen;
                    *seen = record.versions.len().max(*seen);
                    base = Some(
                        serde_json::from_value::<Consignment>(record.last().value.clone()).unwrap(),
                    );
                }
                declaration
            }
        };
        let (text, input) = world.text(declaration, write);
        (declaration, text, input)
    };
    note(|| format!("the user writes {text} of {declaration}: {write:?} {entry:?}"));
    let written = match (entry, base) {
        (Some(entry), _) => outbox.edit(entry, input).await,
        (None, Some(base)) => outbox.update(&base, input).await,
        (None, None) => outbox.save(input).await,
    };
    let mut world = world.lock().unwrap();
    match written {
        Ok(entry) => {
            world.ledger.texts[text].is_acknowledged = true;
            world.acknowledge(declaration, &entry, true);
        }
        Err(error) if error.kind() == ErrorKind::Config => {
            world.ledger.texts[text].is_given_up = true;
        }
        Err(error) => assert!(error.kind() == ErrorKind::Store, "{error:?}"),
    }
    Some(())
}

async fn submit(outbox: &Outbox, world: &Shared) -> Option<()> {
    let (declaration, entry) = {
        let mut world = world.lock().unwrap();
        let (declaration, entry) = world.any_declaration()?;
        world.ledger.declarations[declaration].wants_submit = true;
        (declaration, entry)
    };
    if let Ok(entry) = outbox.submit(EntryId(entry)).await {
        world
            .lock()
            .unwrap()
            .acknowledge(declaration, &entry, false);
    }
    Some(())
}

async fn delete(outbox: &Outbox, world: &Shared) -> Option<()> {
    let (declaration, id) = {
        let mut world = world.lock().unwrap();
        let id = world.any_record()?;
        let declaration = world.about(&id);
        world.ledger.declarations[declaration].wants_delete = true;
        (declaration, id)
    };
    if let Ok(entry) = outbox.delete(id).await {
        world
            .lock()
            .unwrap()
            .acknowledge(declaration, &entry, false);
    }
    Some(())
}

async fn comment(outbox: &Outbox, world: &Shared) -> Option<()> {
    let id = world.lock().unwrap().any_record()?;
    let number = world.lock().unwrap().service.records[&id].last().value["number"].clone();
    let input = CommentInput::new(number.as_str().unwrap(), "Gate 4");
    if let Ok(entry) = outbox.comment(input).await {
        world.lock().unwrap().ledger.acknowledged.insert(entry.id.0);
    }
    Some(())
}

/// Decides about an entry that needs it, in any way that fits.
async fn decide(outbox: &Outbox, world: &Shared) -> Option<()> {
    let entries = outbox.entries().await.ok()?;
    let open: Vec<&Entry> = entries
        .iter()
        .filter(|entry| {
            matches!(
                entry.state,
                EntryState::NeedsAttention | EntryState::Refused | EntryState::Unconfirmed
            )
        })
        .collect();
    let (entry, decision) = {
        let mut world = world.lock().unwrap();
        let entry = *open.get(world.random.usize(..open.len().max(1)))?;
        (entry, world.decision(entry)?)
    };
    // It reads the record, and the service may refuse that.
    let reads = matches!(decision, Decision::Adopt(_));
    let decided = outbox.decide(entry.id, decision).await;
    if let Err(error) = decided {
        let is_said = error.kind() == ErrorKind::Store || error.kind() == ErrorKind::Config;
        assert!(
            is_said || reads && error.kind() == ErrorKind::Rejected,
            "{error:?}"
        );
    }
    Some(())
}

impl World {
    fn decision(&mut self, entry: &Entry) -> Option<Decision> {
        let mut decisions = vec![Decision::Discard];
        match (entry.state, entry.reason) {
            (EntryState::Unconfirmed, _) => {
                // Rarely: a person who resends at once takes the risk.
                decisions = vec![Decision::Resend];
                if self.random.u8(..4) > 0 {
                    return None;
                }
            }
            (EntryState::Refused, _) => decisions.extend([Decision::Resend, Decision::Resend]),
            (
                _,
                Some(Reason::Conflict | Reason::NotADraft | Reason::Gone | Reason::EarlierGivenUp),
            ) => {
                decisions.extend([Decision::KeepMine, Decision::KeepMine, Decision::TakeTheirs]);
            }
            (_, Some(Reason::MovementPassed)) => decisions.push(Decision::KeepMine),
            (_, Some(Reason::Candidates)) => {
                decisions.push(Decision::Resend);
                decisions.extend(entry.candidates.iter().cloned().map(Decision::Adopt));
            }
            (_, Some(Reason::Forbidden)) => decisions.push(Decision::Resend),
            _ => {}
        }
        let decision = decisions.swap_remove(self.random.usize(..decisions.len()));
        note(|| format!("the user decides {decision:?} about {entry:?}"));
        if let Decision::Adopt(id) = &decision {
            // What is adopted is what the user has seen of it.
            let seen = self.service.records[id.as_str()].versions.len();
            let text = entry.input.as_ref().and_then(text_of_input);
            if let Some(text) = text {
                let declaration = self.ledger.declaration_of(text);
                self.ledger.declarations[declaration].seen = seen;
            }
        }
        let noted = self.ledger.entries.entry(entry.id.0).or_default();
        noted.is_resent |= matches!(decision, Decision::Resend | Decision::KeepMine);
        noted.is_decided = true;
        Some(decision)
    }
}

fn text_of_input(input: &ConsignmentInput) -> Option<usize> {
    text_of(&serde_json::to_value(input).unwrap())
}
