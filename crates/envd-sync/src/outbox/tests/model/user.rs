//! One user, who makes one call to an outbox after another.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::network::Shared;
use super::people::{About, next_act};
use super::service::{seen, shown};
use crate::error::Error;
use crate::outbox::apply::{Intent, RowEvent};
use crate::outbox::row::Text;
use crate::outbox::{DeclarationId, Outbox};
use envd_sdk::model::{Consignment, ConsignmentInput};

/// Makes one call. It may fail only because the store fails, or because it no longer fits the declaration.
pub(super) async fn act(mut outbox: Outbox, world: Shared, now: SystemTime) {
    let now = now.duration_since(UNIX_EPOCH).unwrap().as_secs();
    let (about, event, record) = {
        let world = &mut *world.lock().unwrap();
        let random = &mut world.random;
        let ledger = &mut world.ledger;
        let service = &world.service;
        let Some((about, event)) = next_act(random, service, &ledger.known(), now, seen) else {
            return;
        };
        ledger.act = Some(event.clone());
        let record = match &about {
            About::Record(record) => {
                let shown = shown(service, &record.id);
                serde_json::from_value::<Consignment>(shown).unwrap()
            }
            _ => Consignment::default(),
        };
        (about, event, record)
    };
    let input = |text: &Text| serde_json::from_value::<ConsignmentInput>(text.value()).unwrap();
    let row = match about {
        About::Row(row) => Some(DeclarationId(row)),
        _ => None,
    };
    let written = match (event, row) {
        (RowEvent::Decided(decision), Some(row)) => outbox.decide(row, decision).await,
        (
            RowEvent::Requested {
                intent, not_after, ..
            },
            row,
        ) => {
            if let Some(limit) = not_after {
                outbox = outbox.not_after(UNIX_EPOCH + Duration::from_secs(limit.at));
            }
            match (intent, row, about) {
                (Intent::Save(text), Some(row), _) => outbox.edit(row, input(&text)).await,
                (Intent::Submit(None), Some(row), _) => outbox.submit_saved(row).await,
                (Intent::Submit(Some(text)), Some(row), _) => {
                    outbox.edit_and_submit(row, input(&text)).await
                }
                (Intent::Withdraw, Some(row), _) => outbox.withdraw(row).await,
                (Intent::Delete, Some(row), _) => outbox.delete(row).await,
                (Intent::Save(text), None, About::Record(_)) => {
                    outbox.update(&record, input(&text)).await
                }
                (Intent::Submit(Some(text)), None, About::Record(_)) => {
                    outbox.submit_record(&record, input(&text)).await
                }
                (Intent::Save(text), None, _) => outbox.save(input(&text)).await,
                (Intent::Submit(Some(text)), None, _) => outbox.submit(input(&text)).await,
                (Intent::Delete, None, About::Record(record)) => {
                    outbox.delete_record(record.id).await
                }
                (intent, ..) => panic!("{intent:?}"),
            }
        }
        (event, _) => panic!("{event:?}"),
    };
    let ledger = &mut world.lock().unwrap().ledger;
    let pending = ledger.act.take();
    match written {
        Ok(declaration) => {
            assert_eq!(pending, None, "{declaration:?} is not written");
            ledger.acknowledged.insert(declaration.id.0);
        }
        Err(Error::Usage(_) | Error::Store(_)) => {}
        Err(error) => panic!("{error:?}"),
    }
}
