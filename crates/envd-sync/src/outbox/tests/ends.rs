//! Programs and stores that end, fail or are suspended at any commit, and replies that end after any byte.

use std::sync::Arc;

use serde_json::json;

use super::farm::{Farm, MINUTE, load, now, other_load, signed, state};
use crate::error::Error;
use crate::outbox::apply::RowEvent;
use crate::outbox::row::{Row, RowState};
use crate::outbox::{DeclarationState, Reason};
use crate::store::SyncStore;
use crate::store::rows::{Batch, Document};
use crate::store::tests::faulty_store::Moment;
use crate::tests::script::within;
use envd_sdk::ErrorKind;
use envd_sdk::auth::StoreErrorKind;
use envd_sdk::fake::{Fault, WebsiteEdit};
use test_support::schedules::count;

impl Farm {
    async fn documents(&self) -> Vec<Document> {
        let account = self.fake.account_id();
        self.store.documents(account, "").await.unwrap()
    }

    async fn overwrite(&self, name: &str, text: &str) {
        let batch = Batch {
            documents: vec![(name.to_owned(), Some(text.to_owned()))],
            ..Batch::default()
        };
        let account = self.fake.account_id();
        assert!(self.store.commit(account, &batch).await.unwrap());
    }
}

/// The lease avoids this. Safety does not depend on it: a program that was suspended, and whose lease has the same number because the
/// store was restored, must not take the answer to its request for the answer to a later one.
#[tokio::test]
async fn the_answer_to_an_earlier_request_changes_nothing() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::latency(MINUTE));
    let sending = {
        let outbox = outbox.clone();
        tokio::spawn(async move { Box::pin(outbox.pass()).await })
    };
    farm.delayed().await;
    let row = outbox.store().rows().remove(0);
    assert_eq!(row.state, RowState::Sending);
    let mut suspended = Row::clone(&row);
    suspended.sent.as_mut().unwrap().listed.number -= 1;
    let mut draft = outbox.draft();
    let answer = RowEvent::Refused;
    assert!(draft.transition(&suspended, &answer).is_none());
    assert!(draft.transition(&row, &answer).is_some());
    sending.abort();
}

/// Failure points 1, 3 and 4: the program is killed before `save` returns, after the mark and before the first byte, and after the
/// last byte.
///
/// Ends the program at each of its commits, once before the commit and once after it.
#[tokio::test]
async fn a_program_that_ends_anywhere_makes_one_record_and_submits_it_once() {
    for (writes_last, commits) in [false, true]
        .into_iter()
        .flat_map(|last| (0..40).map(move |n| (last, n)))
    {
        let farm = Farm::start().await;
        let store = farm.faulty(commits);
        let dying = farm.outbox_on(if writes_last {
            store.writing_last()
        } else {
            store
        });
        let ended = match dying.submit(load(24)).await {
            Ok(_) => dying.passed().await.map(drop),
            Err(error) => Err(error),
        };
        let kind = ended.as_ref().err().map(Error::kind);
        assert!(matches!(kind, None | Some(ErrorKind::Store)));
        // The declaration is complete, or not there.
        let is_written = commits > 0 || writes_last;
        farm.clock.advance(MINUTE);
        let report = farm.send(&farm.outbox()).await;
        assert_eq!(report.waiting, 0, "{commits}: {report}");
        let expected = &["submitted 24"][..usize::from(is_written)];
        assert_eq!(farm.loads(), expected, "after {commits} commits");
        if ended.is_ok() {
            assert!(commits > 4, "a mark and an end for each request");
            if writes_last {
                return;
            }
        }
    }
    panic!("it did not end");
}

/// Failure point 2: the program is killed after `save` has returned.
///
/// A submit differs from the creation only in its id and status.
#[tokio::test]
async fn the_text_is_sent_byte_for_byte() {
    let farm = Farm::start().await;
    let input = signed(24);
    let written = serde_json::to_string(&input).unwrap();
    farm.outbox().submit(input).await.unwrap();
    // Another process, which shares only the store.
    farm.send(&farm.outbox()).await;
    let id = super::farm::id_of(&farm.made()[0]);
    let written = written.strip_suffix('}').unwrap();
    let created = format!(r#"{written},"status":"DRAFT"}}"#);
    let submitted = format!(r#"{written},"status":"SUBMITTED","id":"{id}"}}"#);
    assert_eq!(farm.sent(), [created, submitted]);
}

/// A gap in the list may hide the record of a creation, until a full scan shows a record there.
#[tokio::test]
async fn a_list_names_the_places_without_a_record() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    outbox.replica().sync().await.unwrap();
    outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    outbox.passed().await.unwrap();
    farm.clock.advance(MINUTE);
    // A gap is known once two lists have it at the same place.
    let hidden = Fault::replaced("/data/consignments/edges/0/node", serde_json::Value::Null);
    let lists = farm.fake.on_operation("Consignments");
    lists.fault(hidden).times(2);
    outbox.passed().await.unwrap();
    let gaps = || outbox.last_list().map_or(0, |list| list.gaps.len());
    assert_eq!(gaps(), 1);
    outbox.save(other_load(25)).await.unwrap();
    let known = outbox.store().rows()[1].known.gaps.len();
    assert_eq!(known, 1, "a row knows the gaps that were there before it");
    farm.clock.advance(MINUTE);
    outbox.passed().await.unwrap();
    assert_eq!(gaps(), 0);
}

/// Of two texts, one of them signed, the earlier is sent as it was written.
#[tokio::test]
async fn a_signed_text_before_another_text_is_sent_byte_for_byte() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let id = farm.edit(WebsiteEdit::insert(load(24)));
    let base = farm.read(&outbox, &id).await;
    let input = signed(25);
    let written = serde_json::to_string(&input).unwrap();
    outbox.update(&base, input).await.unwrap();
    outbox.update(&base, load(26)).await.unwrap();
    farm.done(&outbox, 1).await;
    let written = written.strip_suffix('}').unwrap();
    assert_eq!(farm.sent()[0], format!(r#"{written},"id":"{id}"}}"#));
}

#[tokio::test]
async fn an_unknown_field_is_sent_unchanged() {
    let farm = Farm::start().await;
    let input = other_load(24).extra("future", json!({"b": 1.0, "a": [null, "\u{e9}"]}));
    let written = serde_json::to_string(&input).unwrap();
    farm.outbox().save(input).await.unwrap();
    farm.fault(Fault::dropped_before());
    farm.outbox().passed().await.unwrap();
    let written = written.strip_suffix('}').unwrap();
    assert_eq!(farm.sent(), [format!(r#"{written},"status":"DRAFT"}}"#)]);
}

#[tokio::test]
async fn a_reply_that_ends_after_any_byte_leaves_one_draft() {
    // `.ci/run` tries each byte.
    let step = if count(1) > 1 { 1 } else { 23 };
    for bytes in (0..).step_by(step) {
        let farm = Farm::start().await;
        let outbox = farm.outbox();
        let mut were_adopted = 0;
        for (head, fault) in [(1, Fault::cut(bytes)), (2, Fault::truncated(bytes))] {
            let written = outbox.save(load(head)).await.unwrap();
            farm.fault(fault);
            farm.done(&outbox, 1).await;
            were_adopted += usize::from(now(&outbox, written.id).await.is_adopted);
        }
        assert_eq!(farm.loads(), ["draft 1", "draft 2"], "{bytes} bytes");
        assert_eq!(farm.saves(), 2, "{bytes} bytes");
        if were_adopted == 0 {
            assert!(bytes > 100, "a reply has more than {bytes} bytes");
            return;
        }
    }
}

/// Failure point 21: the store of an outbox fails.
///
/// The store fails from one commit of the pass on. A request after that would be sent without a mark.
#[tokio::test]
async fn a_store_that_takes_nothing_stops_the_outbox_before_a_request_that_is_not_marked() {
    for commits in 0..20 {
        let farm = Farm::start().await;
        let written = farm.outbox().save(load(24)).await.unwrap();
        let store = farm.faulty(commits);
        let outbox = farm.outbox_on(store.clone());
        let ended = outbox.passed().await;
        let marked = now(&farm.outbox(), written.id).await.attempts;
        assert_eq!(farm.saves() as u64, marked, "after {commits} commits");
        let Err(error) = ended else {
            assert!(commits > 2);
            return;
        };
        assert!(error.kind() == ErrorKind::Store, "{error}");
        let error = outbox.save(load(25)).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Store);
        // The store works again.
        store.allow(usize::MAX);
        let report = farm.send(&outbox).await;
        assert_eq!(
            (report.waiting, farm.loads()),
            (0, vec!["draft 24".to_owned()])
        );
        assert_eq!(farm.saves(), 1, "after {commits} commits");
    }
    panic!("it did not end");
}

#[tokio::test]
async fn a_damaged_store_sends_nothing_and_is_not_overwritten() {
    let farm = Farm::start().await;
    farm.outbox().save(load(24)).await.unwrap();
    let store = farm.faulty(usize::MAX);
    store.fail_reads();
    let outbox = farm.outbox_on(store);
    assert!(within("send", outbox.send()).await.unwrap_err().kind() == ErrorKind::Store);
    assert!(outbox.save(load(25)).await.unwrap_err().kind() == ErrorKind::Store);
    assert!(outbox.declarations().await.unwrap_err().kind() == ErrorKind::Store);

    let names = farm
        .documents()
        .await
        .into_iter()
        .map(|document| document.name);
    let names: Vec<String> = names.filter(|name| name.starts_with("outbox/")).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    for name in names {
        for text in ["{", r#"{"format":99}"#] {
            let farm = Farm::start().await;
            let written = farm.outbox().save(load(24)).await.unwrap();
            farm.overwrite(&name, text).await;
            let before = farm.documents().await;
            let outbox = farm.outbox();
            let sent = within("send", outbox.send()).await.unwrap_err();
            assert!(sent.kind() == ErrorKind::Store, "{name}: {sent}");
            assert!(outbox.save(load(25)).await.unwrap_err().kind() == ErrorKind::Store);
            let edited = outbox.edit(written.id, load(25)).await;
            assert!(edited.unwrap_err().kind() == ErrorKind::Store);
            assert_eq!(farm.documents().await, before, "{name}");
            assert_eq!(farm.fake.requests().len(), 0, "{name}");
        }
    }
}

#[tokio::test]
async fn unsupported_versions_are_reported_and_not_changed() {
    for (format, kind, named) in [
        (99, StoreErrorKind::NewerVersion, "newer version"),
        (2, StoreErrorKind::Unreadable, "earlier version"),
    ] {
        let farm = Farm::start().await;
        let head = format!(r#"{{"format":{format},"next":1,"leases":0,"pruned":0}}"#);
        farm.overwrite("outbox/head", &head).await;
        let before = farm.documents().await;
        let error = within("send", farm.outbox().send()).await.unwrap_err();
        let Error::Store(source) = &error else {
            panic!("{error}")
        };
        assert_eq!(source.kind(), kind, "{source}");
        let source = source.to_string();
        assert!(
            source.contains(named) && source.contains("the store"),
            "{source}"
        );
        assert_eq!(farm.documents().await, before);
    }
}

/// The replica's changes are kept for searches only until nothing is searched for any more.
#[tokio::test]
async fn changes_are_kept_as_long_as_a_search_needs_them() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    outbox.save(load(24)).await.unwrap();
    let is_held = async || {
        let documents = farm.documents().await;
        documents
            .iter()
            .any(|document| document.name == "consumer/")
    };
    farm.fault(Fault::dropped_before());
    outbox.passed().await.unwrap();
    assert!(is_held().await);
    // The outbox is not listed as a consumer of the application.
    assert_eq!(outbox.replica().consumers().await.unwrap(), []);
    farm.send(&outbox).await;
    // It was sent twice, so a late duplicate is searched for during a day.
    assert!(is_held().await);
    farm.clock.advance(25 * 60 * MINUTE);
    farm.send(&outbox).await;
    assert!(!is_held().await);
    outbox.save(load(25)).await.unwrap();
    farm.done(&outbox, 1).await;
    assert!(!is_held().await);
}

/// The clock passes the limit at any commit of a pass, so the request must not be sent even if it was marked.
#[tokio::test]
async fn nothing_is_sent_when_its_limit_passes_at_any_commit_before() {
    for number in 1.. {
        for moment in [Moment::BeforeCommit(number), Moment::AfterCommit(number)] {
            let farm = Arc::new(Farm::start().await);
            let limit = farm.clock.now() + MINUTE;
            let limited = farm.outbox().not_after(limit);
            let id = limited.save(load(24)).await.unwrap().id;
            let store = farm.faulty(usize::MAX);
            let others = Arc::clone(&farm);
            let was_sent = store.asking(moment, async move {
                others.clock.advance(2 * MINUTE);
                others.saves() > 0
            });
            let outbox = farm.outbox_on(store);
            farm.send(&outbox).await;
            let shown = now(&outbox, id).await;
            if was_sent() != Some(false) {
                assert_eq!(shown.state, DeclarationState::Confirmed);
                assert!(number > 1, "the mark is one of the commits");
                return;
            }
            let asks = (
                DeclarationState::NeedsAttention,
                Some(Reason::NotAfterPassed),
            );
            assert_eq!((shown.state, shown.reason), asks, "{moment:?}");
            assert_eq!(farm.saves(), 0, "{moment:?}");
        }
    }
}

/// The history stays until it is pruned, and pruned declarations do not come back.
///
/// Another process prunes the history at any moment of a pass.
#[tokio::test]
async fn a_declaration_that_was_pruned_meanwhile_stays_pruned() {
    for number in 1.. {
        let farm = Farm::start().await;
        let store = farm.faulty(usize::MAX);
        let outbox = farm.outbox_on(store.clone());
        let written = outbox.save(load(24)).await.unwrap();
        let other = farm.outbox();
        let commits = store.commits();
        let was_pruned = store.asking(Moment::BeforeCommit(number), async move {
            other.prune("2030-01-01T00:00:00Z").await.unwrap() > 0
        });
        let (report, _) = outbox.passed().await.unwrap();
        assert_eq!((report.confirmed, farm.saves()), (1, 1), "{report}");
        let is_there = farm.outbox().declaration(written.id).await.unwrap();
        assert_ne!(is_there.is_some(), was_pruned() == Some(true), "{number}");
        if store.commits() < commits + number {
            assert!(number > 2, "{number}");
            return;
        }
    }
}

/// Between any two reads of a pass, another process sends the same request, and gets no reply.
#[tokio::test]
async fn a_request_that_another_process_has_sent_is_not_repeated() {
    for number in 1.. {
        let farm = Arc::new(Farm::start().await);
        let store = farm.faulty(usize::MAX);
        let outbox = farm.outbox_on(store.clone());
        let id = outbox.save(load(24)).await.unwrap().id;
        let other = farm.outbox();
        farm.fault(Fault::dropped_before());
        let has_sent = store.asking(Moment::BeforeRead(number), async move {
            let is_queued = state(&other, id).await == DeclarationState::Queued;
            other.passed().await.unwrap();
            is_queued
        });
        outbox.passed().await.unwrap();
        // The second search is not due yet.
        let seen = (farm.saves(), state(&outbox, id).await);
        assert_eq!(
            seen,
            (1, DeclarationState::OutcomeUnknown),
            "before the read {number}"
        );
        if has_sent() != Some(true) {
            assert!(number > 3);
            return;
        }
    }
}

/// Before any commit of a pass, another process lists an equal record that was just created on the website.
#[tokio::test]
async fn a_creation_is_not_sent_if_another_process_has_listed_an_equal_record() {
    for number in 1.. {
        let farm = Arc::new(Farm::start().await);
        let store = farm.faulty(usize::MAX);
        let outbox = farm.outbox_on(store.clone());
        let id = outbox.save(load(24)).await.unwrap().id;
        let others = Arc::clone(&farm);
        let was_marked = store.asking(Moment::BeforeCommit(number), async move {
            let other = others.outbox();
            let is_marked = state(&other, id).await != DeclarationState::Queued;
            others.edit(WebsiteEdit::insert(load(24)));
            other.replica().sync().await.unwrap();
            is_marked
        });
        outbox.passed().await.unwrap();
        if was_marked() != Some(false) {
            assert!(number > 1, "the mark is one of the commits");
            return;
        }
        let seen = (farm.saves(), now(&outbox, id).await.reason);
        assert_eq!(
            seen,
            (0, Some(Reason::Candidates)),
            "before the commit {number}"
        );
    }
}
