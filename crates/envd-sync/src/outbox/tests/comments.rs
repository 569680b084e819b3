//! Comments, which have no name before they are there.

use super::farm::{Farm, MINUTE, lost, now, start, state};
use crate::outbox::{EntryId, EntryState, Outbox, Reason};
use envd_sdk::fake::Fault;
use envd_sdk::model::CommentInput;

const NUMBER: &str = "C-900000102";

const TEXT: &str = "the gate is closed";

async fn comments(farm: &Farm) -> Vec<String> {
    let comments = farm.outbox().account().comments(NUMBER).await.unwrap();
    let texts = comments.value.into_iter();
    texts.map(|one| one.comment_text.unwrap()).collect()
}

fn sent(farm: &Farm) -> usize {
    farm.fake.request_count("CreateComment")
}

/// Writes a comment about a consignment.
async fn comment(outbox: &Outbox, number: &str) -> EntryId {
    let comment = CommentInput::new(number, TEXT);
    outbox.comment(comment).await.unwrap().id
}

/// Holds: rule 2: a comment is looked for.
#[tokio::test]
async fn a_comment_whose_reply_is_lost_is_there_once() {
    for was_applied in [false, true] {
        let (farm, outbox) = start().await;
        let first = comment(&outbox, NUMBER).await;
        // The same words again are another comment.
        let second = comment(&outbox, NUMBER).await;
        farm.faults("CreateComment", lost(was_applied), 1);
        farm.done(&outbox, 2).await;
        assert_eq!(comments(&farm).await, [TEXT; 2]);
        assert_eq!(sent(&farm), if was_applied { 2 } else { 3 });
        for id in [first, second] {
            assert_eq!(state(&outbox, id).await, EntryState::Confirmed);
        }
    }
}

/// Between the second look and the second request, as after a restart.
#[tokio::test]
async fn a_comment_that_arrives_late_is_found_before_it_is_sent_again() {
    let (farm, outbox) = start().await;
    comment(&outbox, NUMBER).await;
    // It is processed with the second look, after that has read.
    farm.faults(
        "CreateComment",
        Fault::dropped_before().processed_after(2),
        1,
    );
    let report = farm.send(&outbox).await;
    assert_eq!(report.confirmed, 1, "{report}");
    assert_eq!((comments(&farm).await.len(), sent(&farm)), (1, 1));
}

#[tokio::test]
async fn a_service_that_fails_is_no_consignment_that_is_gone() {
    let (farm, outbox) = start().await;
    let entry = comment(&outbox, NUMBER).await;
    farm.faults("Comments", Fault::internal_server_error("comments"), 2);
    for _ in 0..4 {
        farm.send(&outbox).await;
        farm.clock.advance(MINUTE);
    }
    assert_eq!(state(&outbox, entry).await, EntryState::Confirmed);
    assert_eq!(comments(&farm).await, [TEXT]);
}

#[tokio::test]
async fn a_comment_on_a_consignment_that_is_not_there_needs_a_person() {
    let (farm, outbox) = start().await;
    let entry = comment(&outbox, "C-999999999").await;
    farm.send(&outbox).await;
    let shown = now(&outbox, entry).await;
    assert!(
        shown.state == EntryState::Refused || shown.reason == Some(Reason::Gone),
        "{shown:?}"
    );
    assert_eq!(
        farm.fake.request_count("CreateComment"),
        usize::from(shown.state == EntryState::Refused)
    );
}
