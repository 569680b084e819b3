//! The data that a screen gets, the data that stays hidden, and the cost of many declarations.

use std::fmt::Debug;

use super::farm::{Farm, SAVE, load, signed};
use crate::outbox::{Decision, OutboxEvent};
use envd_sdk::fake::{Fault, WebsiteEdit};
use envd_sdk::model::ConsignmentInput;
use test_support::schedules::count;

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

/// The user's text contains personal data, and only the fields of a declaration show it.
#[tokio::test]
async fn debug_output_and_errors_never_contain_the_text() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let mut events = outbox.events();
    let id = farm.edit(WebsiteEdit::insert(signed(24)));
    let base = farm.read(&outbox, &id).await;
    outbox.submit(marked()).await.unwrap();
    let conflict = outbox.update(&base, marked()).await.unwrap();
    let refused = outbox.save(marked()).await.unwrap();
    let owner = serde_json::json!({"owner": {"name": MARKER}});
    farm.edit(WebsiteEdit::change(&*id, owner));
    farm.fault(Fault::dropped_after());
    farm.fault(Fault::none());
    let script = farm.fake.on_operation(SAVE);
    script.refuse(MARKER, format!("{MARKER} is wrong"));
    let report = farm.send(&outbox).await;
    assert_eq!((report.refused, report.needs_attention), (1, 1), "{report}");
    assert_hidden(&report);
    assert_hidden(&report.to_string());
    assert_hidden(&OutboxEvent::Passed { report });
    let open = outbox.declarations().await.unwrap();
    let history = outbox.history(None).await.unwrap();
    assert_eq!((open.len(), history.declarations.len()), (2, 1));
    assert_hidden(&history);
    for one in open.iter().chain(&history.declarations) {
        assert_hidden(one);
        assert_hidden(&one.history);
        assert_hidden(&one.reason.map(|reason| reason.to_string()));
        assert_hidden(&one.conflict);
        assert_hidden(&one.sentence());
    }
    let page = outbox.replica().consignments().list().await.unwrap();
    assert_hidden(&outbox.with_waiting(page).await.unwrap());
    assert_hidden(&outbox);
    for decision in [
        Decision::KeepMine,
        Decision::TakeTheirs,
        Decision::Adopt(MARKER.into()),
    ] {
        let name = decision.to_string();
        assert_hidden(&name);
        let error = outbox.decide(refused.id, decision).await.unwrap_err();
        assert_hidden(&error);
        assert_hidden(&error.to_string());
        assert!(error.to_string().contains(&name), "{error}");
    }
    outbox.decide(conflict.id, Decision::Discard).await.unwrap();
    let mut reported = 0;
    while let Some(Some(one)) = futures_util::FutureExt::now_or_never(events.next()) {
        assert_hidden(&one);
        reported += 1;
    }
    assert!(reported > 10);
    let shown = super::farm::now(&outbox, refused.id).await;
    assert_eq!(shown.input, Some(marked()));
}

#[tokio::test]
async fn next_state_skips_changes_that_leave_the_state() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let mut all = outbox.events();
    let mut states = outbox.events();
    let id = outbox.save(load(10)).await.unwrap().id;
    // A change that leaves the state.
    outbox.edit(id, load(11)).await.unwrap();
    farm.send(&outbox).await;
    drop(outbox);
    let mut written = 0;
    while all.next().await.is_some() {
        written += 1;
    }
    let mut seen = Vec::new();
    while let Some(one) = states.next_state().await {
        seen.push(one.state.to_string());
    }
    let all = ["queued", "sending", "confirmed"];
    assert_eq!(seen, all);
    assert!(written > seen.len(), "{written}");
}

/// Late duplicates are events too.
#[tokio::test]
async fn a_late_duplicate_is_an_event() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let id = outbox.save(load(24)).await.unwrap().id;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    farm.send(&outbox).await;
    farm.fake.controls().process_late_requests();
    let next = farm.outbox();
    let mut events = next.events();
    farm.send(&next).await;
    let reported = events.next().await.unwrap();
    assert_eq!((reported.id, reported.late_duplicates.len()), (id, 1));
}

/// The file contains no token, and only its owner can read it.
#[cfg(feature = "sqlite")]
#[tokio::test]
async fn the_file_holds_no_token() {
    let farm = Farm::start().await;
    let folder = test_support::TestFolder::new();
    let store = crate::store::SqliteSync::open(folder.path().join("farm.db"));
    let outbox = farm.outbox_on(store.unwrap());
    outbox.submit(signed(24)).await.unwrap();
    farm.fault(Fault::dropped_after());
    farm.done(&outbox, 1).await;
    outbox.save(load(25)).await.unwrap();
    farm.fake.expire_access_tokens();
    assert!(farm.send(&outbox).await.login_needed);
    let token = farm.fake.access_token();
    let token = token.expose().as_bytes();
    let mut files = 0;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let has_token = bytes.windows(token.len()).any(|part| part == token);
        assert!(!has_token, "{}", path.display());
        files += usize::from(bytes.windows(10).any(|part| part == b"Sam Sample"));
    }
    assert!(files > 0, "what is looked through is what was written");
}

/// An intent takes one commit, and an undisturbed creation takes two. Each pass adds one commit for the list and one for the lease. A run
/// with nothing to do makes no commit.
#[tokio::test]
async fn many_waiting_declarations_are_all_confirmed_at_a_cost_in_proportion() {
    let all = u32::try_from(count(50).min(5_000)).unwrap();
    let number = all as usize;
    let farm = Farm::start().await;
    let store = farm.faulty(usize::MAX);
    let outbox = farm.outbox_on(store.clone());
    // No declaration equals an existing record.
    for head in 1..=all {
        outbox.save(load(10_000 + head)).await.unwrap();
    }
    assert_eq!(store.commits(), number);
    let (report, _) = outbox.pass().await.unwrap();
    let left = (report.confirmed, report.waiting);
    assert_eq!(left, (u64::from(all), 0), "{report}");
    assert_eq!((farm.made().len(), farm.saves()), (number, number));
    // Each declaration takes a save and a read, and the list is read from time to time.
    assert!(report.requests <= 2 * u64::from(all) + 100, "{report}");
    let commits = store.commits() - number;
    assert!(commits <= 2 * number + 10 + number / 10, "{commits}");
    outbox.pass().await.unwrap();
    assert_eq!(store.commits(), commits + number, "nothing is left");
}
