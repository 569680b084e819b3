//! Entries are durable before they are sent, and sent as they were written.

use envd_sdk::ErrorKind;
use serde_json::json;

use super::farm::{Farm, MINUTE, draft, load, other_load, signed, start, submitted};
use crate::outbox::EntryKind;
use envd_sdk::fake::Fault;
use envd_sdk::model::Maybe;
use equipment::schedules::count;

/// Holds: failure point 1: kill before `save` returns.
#[tokio::test]
async fn a_program_that_ends_while_it_writes_an_entry_leaves_a_whole_one_or_none() {
    let farm = Farm::start().await;
    let error = farm.outbox_on(farm.faulty(0)).save(load(24)).await;
    assert!(error.unwrap_err().kind() == ErrorKind::Store);
    assert!(farm.outbox().entries().await.unwrap().is_empty());

    let error = farm
        .outbox_on(farm.faulty(0).writing_last())
        .save(load(24))
        .await;
    assert!(error.unwrap_err().kind() == ErrorKind::Store);
    let entries = farm.outbox().entries().await.unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].input, Some(load(24)));
    assert_eq!(farm.fake.requests().len(), 0);
}

/// Holds: failure points 3 and 4: kill after the mark and before the first byte, kill after the bytes.
///
/// Ends the program at each of its commits, once before and once after it was written.
#[tokio::test]
async fn a_program_that_ends_anywhere_makes_one_record_of_an_entry_and_submits_it_once() {
    for (writes_last, commits) in [false, true]
        .into_iter()
        .flat_map(|last| (0..40).map(move |n| (last, n)))
        // Each commit once; with a larger number of schedules both ways.
        .filter(|(last, n)| count(1) > 1 || n % 2 == usize::from(*last))
    {
        let farm = Farm::start().await;
        let mut store = farm.faulty(commits);
        if writes_last {
            store = store.writing_last();
        }
        let dying = farm.outbox_on(store);
        let ends = async {
            let entry = dying.save(load(24)).await?;
            dying.submit(entry.id).await?;
            dying.pass().await?;
            Ok::<_, crate::error::Error>(())
        };
        let ended = ends.await;
        let entries = farm.outbox().entries().await.unwrap();
        let was_submitted =
            entries.iter().any(|entry| entry.kind == EntryKind::Submit) || !farm.made().is_empty();
        farm.clock.advance(MINUTE);
        let report = farm.send(&farm.outbox()).await;
        assert_eq!(report.waiting, 0, "{commits}: {report}");
        let expected = match (&*entries, was_submitted) {
            ([], false) => vec![],
            (_, false) => vec![draft(24)],
            (_, true) => vec![submitted(24)],
        };
        assert_eq!(farm.loads(), expected, "after {commits} commits");
        if ended.is_ok() {
            assert!(
                commits > 8,
                "it has at least a mark and an end for each request"
            );
            if writes_last {
                return;
            }
        }
    }
    panic!("it did not end");
}

/// Holds: failure point 2: kill after `save` has returned.
///
/// A submit differs in the name and the status only.
#[tokio::test]
async fn what_is_sent_is_what_was_written_byte_for_byte() {
    let (farm, outbox) = start().await;
    let mut input = signed(24);
    input.status = Maybe::Absent;
    let written = serde_json::to_string(&input).unwrap();
    let entry = outbox.save(input).await.unwrap();
    outbox.submit(entry.id).await.unwrap();
    drop(outbox);
    // Another process, which has nothing but the store.
    farm.send(&farm.outbox()).await;
    assert_eq!(farm.loads(), [submitted(24)]);
    let id = farm.id(0);
    let written = written.strip_suffix('}').unwrap();
    let created = format!(r#"{written},"status":"DRAFT"}}"#);
    let submitted = format!(r#"{written},"status":"SUBMITTED","id":"{id}"}}"#);
    assert_eq!(farm.sent(), [created, submitted]);
}

#[tokio::test]
async fn a_field_that_this_crate_does_not_know_is_sent_as_it_was_written() {
    let farm = Farm::start().await;
    let input = other_load(24).extra("future", json!({"b": 1.0, "a": [null, "\u{e9}"]}));
    let written = serde_json::to_string(&input).unwrap();
    farm.outbox().save(input).await.unwrap();
    farm.fault(Fault::dropped_before());
    farm.outbox().pass().await.unwrap();
    let written = written.strip_suffix('}').unwrap();
    assert_eq!(farm.sent(), [format!(r#"{written},"status":"DRAFT"}}"#)]);
}

/// Holds: rule 3: what was known before is known from a recent and complete list.
///
/// Whatever appeared since could be taken for what was sent: the list is at most a minute old, and was begun after the
/// entry was written. All creations of a pass share it.
#[tokio::test]
async fn a_creation_relies_on_no_list_that_is_old_or_older_than_itself() {
    let (farm, outbox) = start().await;
    let lists = || farm.fake.request_count("Consignments");
    let mut before = 0;
    for head in 1..=3 {
        for load in [load(head), load(head + 10), load(head + 20)] {
            outbox.save(load).await.unwrap();
        }
        farm.clock.advance(MINUTE);
        farm.done(&outbox, 3).await;
        let read = lists() - before;
        assert!((1..=3).contains(&read), "{read} lists for the load {head}");
        before = lists();
    }
}
