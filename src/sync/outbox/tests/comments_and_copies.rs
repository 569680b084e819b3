//! Comments and copies, which have no name before they are there.

use serde_json::Value;

use super::farm::{Farm, MINUTE, draft, load, now, state, submitted};
use crate::fake::{Fault, WebsiteEdit};
use crate::graphql::generated::CreateComment;
use crate::model::CommentInput;
use crate::sync::outbox::{EntryState, Reason};

const NUMBER: &str = "C-900000102";

async fn comments(farm: &Farm) -> Vec<String> {
    let comments = farm
        .outbox()
        .account()
        .comments(NUMBER)
        .await
        .unwrap()
        .value;
    let texts = comments
        .into_iter()
        .map(|comment| comment.comment_text.unwrap());
    texts.collect()
}

fn sent(farm: &Farm) -> Vec<String> {
    let requests = farm.fake.requests_of::<CreateComment>();
    let texts = requests.iter().map(|request| {
        let variables: Value = request.variables().unwrap();
        variables["input"]["commentText"]
            .as_str()
            .unwrap()
            .to_owned()
    });
    texts.collect()
}

/// Holds: rule 2: a comment and a copy are looked for.
#[tokio::test]
async fn a_comment_whose_reply_is_lost_is_there_once() {
    for was_applied in [false, true] {
        let farm = Farm::start().await;
        let outbox = farm.outbox();
        let first = outbox
            .comment(CommentInput::new(NUMBER, "the gate is closed"))
            .await
            .unwrap();
        // The same words again are another comment.
        let second = outbox
            .comment(CommentInput::new(NUMBER, "the gate is closed"))
            .await
            .unwrap();
        let fault = Fault::dropped_before();
        farm.fake
            .on_operation("CreateComment")
            .fault(if was_applied {
                fault.processed()
            } else {
                fault
            });
        let report = farm.send(&outbox).await;
        assert_eq!((report.confirmed, report.waiting), (2, 0), "{report}");
        assert_eq!(comments(&farm).await, ["the gate is closed"; 2]);
        assert_eq!(sent(&farm).len(), if was_applied { 2 } else { 3 });
        for id in [first.id, second.id] {
            assert_eq!(state(&outbox, id).await, EntryState::Confirmed);
        }
    }
}

/// Between the second look and the second request, as after a restart.
#[tokio::test]
async fn a_comment_that_arrives_late_is_found_before_it_is_sent_again() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    outbox
        .comment(CommentInput::new(NUMBER, "the gate is closed"))
        .await
        .unwrap();
    // It is processed with the second look, after that has read.
    farm.fake
        .on_operation("CreateComment")
        .fault(Fault::dropped_before().processed_after(2));
    let report = farm.send(&outbox).await;
    assert_eq!(report.confirmed, 1, "{report}");
    assert_eq!((comments(&farm).await.len(), sent(&farm).len()), (1, 1));
}

#[tokio::test]
async fn a_service_that_fails_is_no_consignment_that_is_gone() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let entry = outbox
        .comment(CommentInput::new(NUMBER, "the gate is closed"))
        .await
        .unwrap();
    farm.fake
        .on_operation("Comments")
        .fault(Fault::internal_server_error("comments"))
        .times(2);
    for _ in 0..4 {
        farm.send(&outbox).await;
        farm.clock.advance(MINUTE);
    }
    assert_eq!(state(&outbox, entry.id).await, EntryState::Confirmed);
    assert_eq!(comments(&farm).await, ["the gate is closed"]);
}

#[tokio::test]
async fn a_comment_on_a_consignment_that_is_not_there_needs_a_person() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let entry = outbox
        .comment(CommentInput::new("C-999999999", "the gate is closed"))
        .await
        .unwrap();
    farm.send(&outbox).await;
    let shown = now(&outbox, entry.id).await;
    assert!(
        shown.state == EntryState::Refused || shown.reason == Some(Reason::Gone),
        "{shown:?}"
    );
    assert_eq!(
        farm.fake.request_count("CreateComment"),
        usize::from(shown.state == EntryState::Refused)
    );
}

#[tokio::test]
async fn a_copy_whose_reply_is_lost_is_made_once_and_can_be_edited_and_submitted() {
    for was_applied in [false, true] {
        let farm = Farm::start().await;
        let outbox = farm.outbox();
        let id = farm.edit(WebsiteEdit::insert(load(24)));
        let copy = outbox.copy(&*id).await.unwrap();
        let edit = outbox.edit(copy.id, load(25)).await.unwrap();
        outbox.submit(copy.id).await.unwrap();
        assert_ne!(edit.id, copy.id);
        let fault = Fault::dropped_before();
        farm.fake
            .on_operation("CopyConsignment")
            .fault(if was_applied {
                fault.processed()
            } else {
                fault
            });
        let report = farm.send(&outbox).await;
        assert_eq!(
            (report.confirmed, report.waiting, report.needs_attention),
            (3, 0, 0),
            "{report}"
        );
        assert_eq!(farm.loads(), [draft(24), submitted(25)]);
        assert_eq!(
            farm.fake.request_count("CopyConsignment"),
            if was_applied { 1 } else { 2 }
        );
    }
}

#[tokio::test]
async fn a_copy_of_a_record_that_is_gone_needs_a_person() {
    let farm = Farm::start().await;
    let outbox = farm.outbox();
    let entry = outbox
        .copy("00000000-0000-4000-8000-000000000999")
        .await
        .unwrap();
    farm.send(&outbox).await;
    assert_eq!(now(&outbox, entry.id).await.reason, Some(Reason::Gone));
    assert_eq!(farm.fake.request_count("CopyConsignment"), 0);
}
