//! Keys of the application: a repeated call creates no second declaration.

use super::farm::{Farm, load, now};
use crate::error::Error;
use crate::outbox::{Decision, Declaration, DeclarationState, Outbox, Wanted};
use envd_sdk::ErrorKind;

/// Submits with a key. Returns the declaration, and whether the store was written.
async fn submitted(outbox: &Outbox, head: u32, key: &str) -> Result<(Declaration, bool), Error> {
    let before = outbox.store().version();
    let written = outbox.submit(load(head)).key(key).await?;
    Ok((written, outbox.store().version() > before))
}

async fn saved(outbox: &Outbox, head: u32, key: &str) -> Result<(Declaration, bool), Error> {
    let before = outbox.store().version();
    let written = outbox.save(load(head)).key(key).await?;
    Ok((written, outbox.store().version() > before))
}

#[tokio::test]
async fn a_repeated_call_with_a_key_makes_no_second_declaration() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let (first, _) = saved(&outbox, 24, "load 7").await.unwrap();
    assert_eq!(first.key.as_deref(), Some("load 7"));
    let (again, is_written) = saved(&outbox, 24, "load 7").await.unwrap();
    assert_eq!((again.id, is_written), (first.id, false));
    // Another process, which shares only the store.
    let (again, is_written) = submitted(&farm.outbox(), 24, "load 7").await.unwrap();
    assert_eq!((again.id, is_written), (first.id, true));
    // Another text is an edit, and the intent to submit stays.
    let (edited, is_written) = saved(&outbox, 25, "load 7").await.unwrap();
    assert_eq!((edited.id, is_written), (first.id, true));
    assert_eq!(edited.wanted, Wanted::Submit);
    let (other, _) = saved(&outbox, 26, "load 8").await.unwrap();
    assert_ne!(other.id, first.id);
    farm.done(&outbox, 2).await;
    assert_eq!(farm.loads(), ["submitted 25", "draft 26"]);
    // After the confirmation, the same call has no effect, and another text edits the record.
    let (again, is_written) = saved(&outbox, 25, "load 7").await.unwrap();
    assert_eq!(
        (again.state, is_written),
        (DeclarationState::Confirmed, false)
    );
    saved(&outbox, 27, "load 8").await.unwrap();
    farm.done(&outbox, 1).await;
    assert_eq!(farm.loads(), ["submitted 25", "draft 27"]);
}

/// The application repeats its call after the user has edited or discarded the declaration.
#[tokio::test]
async fn a_repeated_call_undoes_nothing_that_was_written_without_the_key() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let (first, _) = saved(&outbox, 24, "k").await.unwrap();
    outbox.edit(first.id, load(25)).await.unwrap();
    let (_, is_written) = saved(&outbox, 24, "k").await.unwrap();
    assert!(!is_written);
    outbox.delete(first.id).await.unwrap();
    let (again, is_written) = saved(&outbox, 24, "k").await.unwrap();
    assert_eq!((again.wanted, is_written), (Wanted::Delete, false));
    outbox.decide(first.id, Decision::Discard).await.unwrap();
    let (again, is_written) = saved(&outbox, 24, "k").await.unwrap();
    assert_eq!(
        (again.state, is_written),
        (DeclarationState::Discarded, false)
    );
    let error = saved(&outbox, 25, "k").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config, "it was given up");
    assert_eq!(farm.saves(), 0);
}

#[tokio::test]
async fn two_processes_that_write_with_one_key_at_once_make_one_declaration() {
    let farm = Farm::start().await;
    let outboxes = [farm.outbox(), farm.outbox(), farm.outbox()];
    let written = outboxes.iter().map(|outbox| async {
        let written = outbox.save(load(24)).key("k").await;
        written.unwrap().id
    });
    let ids = futures_util::future::join_all(written).await;
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    farm.done(&farm.outbox(), 1).await;
}

#[tokio::test]
async fn the_key_of_a_pruned_declaration_stays_taken() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let (first, _) = saved(&outbox, 24, "k").await.unwrap();
    farm.done(&outbox, 1).await;
    farm.clock.advance(super::farm::MINUTE);
    assert_eq!(outbox.prune(farm.clock.now()).await.unwrap(), 1);
    assert!(outbox.declaration(first.id).await.unwrap().is_none());
    let error = saved(&outbox, 24, "k").await.unwrap_err();
    assert!(
        error
            .to_string()
            .contains("declaration 1, which has the key \"k\", was pruned")
    );
    assert_eq!(farm.saves(), 1);
}

#[tokio::test]
async fn a_key_has_1_to_100_bytes_without_control_characters() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    for (key, is_one) in [
        ("", false),
        ("\n", false),
        (&*"k".repeat(101), false),
        (&*"k".repeat(100), true),
        ("load/7 \u{e9}", true),
    ] {
        let written = saved(&outbox, 24, key).await;
        assert_eq!(written.is_ok(), is_one, "{key:?}");
    }
    assert_eq!(outbox.declarations().await.unwrap().len(), 2);
}

#[tokio::test]
async fn events_and_lists_name_the_key() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let mut events = outbox.events();
    let (first, _) = saved(&outbox, 24, "k").await.unwrap();
    assert_eq!(events.next().await.unwrap().key.as_deref(), Some("k"));
    farm.done(&outbox, 1).await;
    assert_eq!(
        now(&farm.outbox(), first.id).await.key.as_deref(),
        Some("k")
    );
    let history = outbox.history(None).await.unwrap();
    assert_eq!(history.declarations[0].key.as_deref(), Some("k"));
}
