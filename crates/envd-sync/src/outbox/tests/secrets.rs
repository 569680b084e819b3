//! What is written holds personal data: only the fields of an entry show it.

use std::fmt::Debug;

use super::farm::{SAVE, signed, start};
use crate::outbox::{Decision, EntryId, Outbox, OutboxEvent};
use envd_sdk::fake::{Fault, WebsiteEdit};
use envd_sdk::model::{CommentInput, ConsignmentInput};

const MARKER: &str = "Marker7f3";

#[track_caller]
fn assert_hidden(shown: &impl Debug) {
    let shown = format!("{shown:?} {shown:#?}");
    assert!(
        !shown.to_lowercase().contains(&MARKER.to_lowercase()),
        "{shown}"
    );
}

fn marked() -> ConsignmentInput {
    let mut input = signed(24);
    input.origin.name = MARKER.into();
    if let Some(declaration) = input.declaration.value_mut() {
        declaration.full_name = MARKER.into();
    }
    input
}

/// Decisions that do not fit are told in words.
async fn assert_refusals_hidden(outbox: &Outbox, refused: EntryId) {
    for decision in [
        Decision::KeepMine,
        Decision::TakeTheirs,
        Decision::Resend,
        Decision::Adopt(MARKER.into()),
    ] {
        if let Err(error) = outbox.decide(refused, decision).await {
            assert_hidden(&error);
            assert_hidden(&error.to_string());
        }
    }
}

#[tokio::test]
async fn nothing_that_is_shown_or_told_has_what_was_written() {
    let (farm, outbox) = start().await;
    let mut events = outbox.events();
    let id = farm.edit(WebsiteEdit::insert(signed(24)));
    let base = farm.read(&outbox, &id).await;
    let created = outbox.save(marked()).await.unwrap();
    outbox.submit(created.id).await.unwrap();
    let conflict = outbox.update(&base, marked()).await.unwrap();
    outbox
        .comment(CommentInput::new("C-900000102", MARKER))
        .await
        .unwrap();
    let refused = outbox.save(marked()).await.unwrap();
    farm.edit(WebsiteEdit::change(
        &*id,
        serde_json::json!({"owner": {"name": MARKER}}),
    ));
    farm.fault(Fault::dropped_after());
    farm.fault(Fault::none());
    farm.fake
        .on_operation(SAVE)
        .refuse(MARKER, format!("{MARKER} is wrong"));
    let report = farm.send(&outbox).await;
    assert_eq!((report.refused, report.needs_attention), (1, 1), "{report}");
    assert_hidden(&report);
    assert_hidden(&report.to_string());
    assert_hidden(&OutboxEvent::Passed { report });
    let entries = outbox.entries().await.unwrap();
    assert_eq!(entries.len(), 2);
    assert_hidden(&entries);
    for entry in &entries {
        assert_hidden(&entry.attempts);
        assert_hidden(&entry.reason.map(|reason| reason.to_string()));
        assert_hidden(&entry.conflict);
    }
    let history = outbox.history(None).await.unwrap();
    assert_eq!(history.entries.len(), 3);
    assert_hidden(&history);
    for entry in &history.entries {
        assert_hidden(&entry.attempts);
    }
    let page = outbox.replica().consignments().list().await.unwrap();
    assert_hidden(&outbox.with_waiting(page).await.unwrap());
    assert_hidden(&outbox);
    assert_hidden(&Decision::Edit(Box::new(marked().into())));
    assert_refusals_hidden(&outbox, refused.id).await;
    outbox.decide(conflict.id, Decision::Discard).await.unwrap();
    let mut told = 0;
    while let Some(Some(entry)) = futures_util::FutureExt::now_or_never(events.next()) {
        assert_hidden(&entry);
        told += 1;
    }
    assert!(told > 10);
    assert_eq!(
        outbox.entry(refused.id).await.unwrap().unwrap().input,
        Some(marked())
    );
}
