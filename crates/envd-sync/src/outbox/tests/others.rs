//! What others do meanwhile: a website that fills in fields, colleagues who write the same, stores that were restored or copied.

use envd_sdk::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::farm::{
    Farm, MINUTE, assert_asks, assert_candidates, draft, id_of, load, lost, now, other_load, saved,
    saved_with_submit, signed, start, state, submitted,
};
use crate::outbox::{Decision, EntryState, Outbox, Reason};
use envd_sdk::fake::{Assumptions, Deleted, Fault, WebsiteEdit};

/// What somebody fills in on the website, each in another way.
fn additions() -> [Value; 4] {
    let mut sample = serde_json::to_value(load(24)).unwrap();
    let mut destination = sample["destination"].take();
    destination["name"] = json!("Other Yards");
    let mut town = destination.clone();
    town["address"]["town"] = json!("Other Creek");
    let mut answers = sample["answers"].take();
    let added = json!({"questionId": "152", "index": null, "value": "No"});
    answers.as_array_mut().unwrap().push(added);
    [
        json!({"consignee": {"name": "Pat Sample", "pic": "QBZZ2222"}}),
        json!({ "destination": destination }),
        json!({ "destination": town }),
        json!({ "answers": answers }),
    ]
}

fn is_untouched(farm: &Farm, id: &str, fields: &Value) -> bool {
    let record = farm.made().into_iter().find(|record| id_of(record) == id);
    let record = record.unwrap();
    let fields = fields.as_object().unwrap();
    record["status"] == "DRAFT" && fields.iter().all(|(name, value)| record[name] == *value)
}

/// Holds: nothing that we did not write is ever submitted by us.
#[tokio::test]
async fn a_colleagues_draft_with_other_names_is_not_adopted_and_not_submitted() {
    let (farm, outbox) = start().await;
    let entry = outbox.save(other_load(24)).await.unwrap();
    outbox.submit(entry.id).await.unwrap();
    let mut theirs = serde_json::to_value(other_load(24)).unwrap();
    theirs["owner"] = json!({"name": "Pat Sample", "pic": "QBZZ2222"});
    theirs["consignee"] = json!({"name": "Pat Sample"});
    theirs["destination"]["name"] = json!("Other Yards");
    theirs["declaration"] = json!({"accept": true, "fullName": "Pat Sample", "signature": "c2ln"});
    farm.fault(Fault::dropped_before());
    farm.before_look(&theirs);
    farm.send(&outbox).await;
    assert_candidates(&outbox, entry.id, &[farm.id(0)]).await;
    assert!(is_untouched(
        &farm,
        &farm.id(0),
        &json!({"owner": theirs["owner"]})
    ));
    outbox.decide(entry.id, Decision::Resend).await.unwrap();
    farm.send(&outbox).await;
    assert!(is_untouched(
        &farm,
        &farm.id(0),
        &json!({"owner": theirs["owner"]})
    ));
    assert_eq!(farm.made().len(), 2);
}

/// Holds: after a lost reply the base is what was sent.
#[tokio::test]
async fn what_the_website_fills_in_after_a_lost_creation_is_not_submitted_unseen() {
    for fields in additions() {
        for is_read_back_lost in [false, true] {
            let (farm, outbox) = start().await;
            outbox.replica().sync().await.unwrap();
            let entry = outbox.save(load(24)).await.unwrap();
            if is_read_back_lost {
                farm.faults("Consignment", Fault::html(503), 10);
                outbox.pass().await.unwrap();
                farm.fake.clear_scripts();
                assert_eq!(state(&outbox, entry.id).await, EntryState::Confirmed);
            } else {
                farm.interrupt(&outbox).await;
            }
            let id = farm.id(0);
            farm.change(&id, fields.clone());
            let edit = outbox.edit(entry.id, load(30)).await.unwrap();
            let submit = outbox.submit(entry.id).await.unwrap();
            farm.send(&outbox).await;
            assert!(
                is_untouched(&farm, &id, &fields),
                "{fields} {is_read_back_lost}"
            );
            let asked = [entry.id, edit.id, submit.id];
            let mut asks = false;
            for id in asked {
                asks |= state(&outbox, id).await == EntryState::NeedsAttention;
            }
            assert!(asks, "{fields} {is_read_back_lost}");
        }
    }
}

#[tokio::test]
async fn what_the_website_changes_after_a_lost_update_is_asked_about_by_the_next_one() {
    for fields in additions() {
        let (farm, outbox) = start().await;
        let (id, base) = farm.listed(&outbox).await;
        let mut first = signed(25);
        first.status = envd_sdk::model::Maybe::Absent;
        outbox.update(&base, first).await.unwrap();
        outbox.update(&base, load(26)).await.unwrap();
        farm.interrupt(&outbox).await;
        farm.change(&id, fields.clone());
        let report = farm.send(&outbox).await;
        assert_eq!(report.needs_attention, 1, "{fields} {report}");
        assert!(is_untouched(&farm, &id, &fields), "{fields}");
    }
}

/// Holds: a record belongs to one entry, and nothing tells a person to delete the only record of a declaration.
#[tokio::test]
async fn the_record_of_an_equal_load_is_not_told_as_one_too_many() {
    let (farm, outbox, one) = saved().await;
    let other = outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_after());
    farm.fault(Fault::latency(Duration::from_secs(5)).processed());
    // The first one is adopted, and the program ends when the second one was carried out.
    let mut pass = Box::pin(outbox.pass());
    farm.until_delayed(&mut pass).await;
    drop(pass);
    assert_eq!(state(&outbox, one.id).await, EntryState::Confirmed);
    farm.clock.advance(MINUTE * 61);
    let next = farm.outbox();
    farm.send(&next).await;
    farm.clock.advance(MINUTE * 61);
    farm.send(&next).await;
    assert_eq!(farm.loads(), [draft(24), draft(24)]);
    assert_eq!(state(&next, other.id).await, EntryState::Confirmed);
    for entry in [one, other] {
        assert!(now(&next, entry.id).await.late_duplicates.is_empty());
    }
}

#[tokio::test]
async fn records_of_others_are_not_told_as_too_many() {
    let (farm, outbox, entry) = saved().await;
    // Whose records are ours is learnt from one whose reply came.
    farm.done(&outbox, 1).await;
    let entry = {
        let second = outbox.save(load(25)).await.unwrap();
        farm.fault(Fault::dropped_after());
        farm.done(&outbox, 1).await;
        assert_eq!(state(&outbox, entry.id).await, EntryState::Confirmed);
        second
    };
    let theirs = farm.edit(WebsiteEdit::insert(load(25)));
    farm.change(&theirs, json!({"createdBy": "pat.sample@example.com"}));
    let mut of_second_device = serde_json::to_value(signed(25)).unwrap();
    of_second_device["status"] = json!("SUBMITTED");
    farm.edit(WebsiteEdit::insert(of_second_device));
    farm.clock.advance(MINUTE * 61);
    assert_eq!(farm.send(&outbox).await.late_duplicates, 0);
    assert!(now(&outbox, entry.id).await.late_duplicates.is_empty());
}

/// Holds: look before every creation. The website's twin was there before ours was sent.
#[tokio::test]
async fn a_twin_that_was_there_before_is_asked_about_and_ours_can_be_made() {
    let (farm, outbox) = start().await;
    outbox.replica().sync().await.unwrap();
    let twin = farm.edit(WebsiteEdit::insert(load(24)));
    farm.clock.advance(MINUTE * 4);
    let entry = outbox.save(load(24)).await.unwrap();
    farm.fault(Fault::dropped_before());
    farm.send(&outbox).await;
    assert_candidates(&outbox, entry.id, &[twin]).await;
    assert_eq!(farm.saves(), 0);
    outbox.decide(entry.id, Decision::Resend).await.unwrap();
    farm.done(&outbox, 1).await;
    assert_eq!(farm.loads(), [draft(24), draft(24)]);
}

/// Holds: edits that wait are merged by field against their base.
#[tokio::test]
async fn two_updates_of_one_base_lose_neither() {
    for is_time_first in [true, false] {
        let (farm, outbox) = start().await;
        let (id, base) = farm.listed(&outbox).await;
        let edit = |day: &str, time: &str| load(24).movement(day, time);
        let before = load(24);
        let (day, time) = (
            before.movement_date.value().unwrap().clone(),
            before.movement_time.value().unwrap().clone(),
        );
        let mut edits = [edit(&day, "09:15"), edit("2027-02-03", &time)];
        if !is_time_first {
            edits.reverse();
        }
        for edit in edits {
            outbox.update(&base, edit).await.unwrap();
        }
        farm.done(&outbox, 1).await;
        let record = farm.read(&outbox, &id).await;
        assert_eq!(
            (
                record.movement_date.as_deref(),
                record.movement_time.as_deref()
            ),
            (Some("2027-02-03"), Some("09:15"))
        );
    }
}

/// Holds: a delete is sent only if the record still is the draft that the person saw.
#[tokio::test]
async fn a_delete_of_what_is_no_draft_any_more_or_was_edited_is_asked_about() {
    for (fields, reason, was_synced) in [
        (json!({"status": "SUBMITTED"}), Reason::NotADraft, false),
        (json!({"status": "LOCKED"}), Reason::NotADraft, true),
        (json!({"movementTime": "09:00"}), Reason::Conflict, true),
    ] {
        let (farm, outbox) = start().await;
        let id = farm.edit(WebsiteEdit::insert(load(24)));
        if was_synced {
            outbox.replica().sync().await.unwrap();
        }
        let delete = outbox.delete(&*id).await.unwrap();
        farm.clock.advance(MINUTE);
        farm.change(&id, fields);
        farm.send(&outbox).await;
        assert_asks(&outbox, delete.id, reason).await;
        assert_eq!(farm.fake.request_count("DeleteConsignment"), 0);
        let decision = if reason == Reason::Conflict {
            Decision::KeepMine
        } else {
            Decision::TakeTheirs
        };
        outbox.decide(delete.id, decision).await.unwrap();
        farm.send(&outbox).await;
        let deletes = usize::from(reason == Reason::Conflict);
        assert_eq!(farm.fake.request_count("DeleteConsignment"), deletes);
    }
}

/// Holds: null for a record, "not found" and absence from the list are one answer.
#[tokio::test]
async fn null_for_a_record_is_an_answer() {
    let null = || Fault::status(200).json(json!({"data": {"consignment": null}}));
    // A delete whose reply is lost, and then nothing is there.
    let (farm, outbox) = start().await;
    let id = farm.edit(WebsiteEdit::insert(load(24)));
    let delete = outbox.delete(&*id).await.unwrap();
    farm.faults("DeleteConsignment", Fault::dropped_after(), 1);
    farm.faults("Consignment", Fault::none(), 1);
    farm.faults("Consignment", null(), 100);
    farm.send(&outbox).await;
    assert_eq!(state(&outbox, delete.id).await, EntryState::Confirmed);
    // An update of what is gone.
    let (farm, outbox) = start().await;
    let (id, base) = farm.listed(&outbox).await;
    farm.edit(WebsiteEdit::delete(&*id));
    let update = outbox.update(&base, load(30)).await.unwrap();
    farm.faults("Consignment", null(), 100);
    farm.send(&outbox).await;
    assert_asks(&outbox, update.id, Reason::Gone).await;
}

/// Holds: a copy with a horizon is no list of everything, so what it lacks is not gone because a read fails.
#[tokio::test]
async fn what_a_horizon_leaves_out_is_not_gone() {
    for (has_horizon, expected) in [(false, EntryState::Confirmed), (true, EntryState::Queued)] {
        let farm = Farm::start().await;
        let replica = farm.outbox().replica().clone();
        let replica = if has_horizon {
            replica.horizon(MINUTE)
        } else {
            replica
        };
        let outbox = Outbox::new(&replica);
        let id = farm.edit(WebsiteEdit::insert(load(24)));
        farm.clock.advance(MINUTE * 60);
        let delete = outbox.delete(&*id).await.unwrap();
        if !has_horizon {
            farm.edit(WebsiteEdit::delete(&*id));
        }
        let fault = Fault::internal_server_error("consignment");
        farm.faults("Consignment", fault, 1_000);
        farm.send(&outbox).await;
        assert_eq!(state(&outbox, delete.id).await, expected);
    }
}

/// Holds: an answer that cannot be used is retried, and after a day a person is asked.
#[tokio::test]
async fn a_record_that_is_never_shown_is_left_to_a_person_after_a_day() {
    let (farm, outbox) = start().await;
    let (_, base) = farm.listed(&outbox).await;
    let update = outbox.update(&base, load(30)).await.unwrap();
    farm.faults("Consignment", Fault::garbage(), 1_000);
    for hour in 0..25 {
        let shown = state(&outbox, update.id).await;
        assert_eq!(shown == EntryState::NeedsAttention, hour > 24, "{hour}");
        farm.send(&outbox).await;
        farm.clock.advance(MINUTE * 60);
    }
    farm.send(&outbox).await;
    assert_asks(&outbox, update.id, Reason::NoUsableAnswer).await;
    farm.fake.clear_scripts();
    outbox.decide(update.id, Decision::Resend).await.unwrap();
    farm.done(&outbox, 1).await;
}

/// The outbox of a backup of the store, on a machine of its own.
fn copy_of(farm: &Farm) -> Outbox {
    farm.outbox_on(farm.store.duplicate())
}

/// Holds: a restored or copied file does not send its declarations a second time without a question.
#[tokio::test]
async fn a_store_that_was_restored_or_copied_asks_before_it_sends_again() {
    for was_listed in [false, true] {
        let (farm, outbox) = start().await;
        if was_listed {
            outbox.replica().sync().await.unwrap();
        }
        let entry = outbox.save(load(24)).await.unwrap();
        outbox.submit(entry.id).await.unwrap();
        let restored = copy_of(&farm);
        farm.done(&outbox, 2).await;
        let made = farm.made();
        farm.send(&restored).await;
        assert_eq!(farm.made(), made);
        // What was submitted meanwhile is no draft of ours any more, and is asked about as well.
        let shown = now(&restored, entry.id).await;
        assert_eq!(shown.reason, Some(Reason::Candidates), "{was_listed}");
        let adopt = Decision::Adopt(shown.candidates[0].clone());
        let adopted = restored.decide(entry.id, adopt).await.unwrap();
        assert_eq!(adopted.state, EntryState::Confirmed);
        farm.send(&restored).await;
        assert_eq!(farm.made(), made);
    }
}

/// Holds: `Retry-After` is kept with the account, across processes and passes.
#[tokio::test]
async fn a_wait_that_the_service_asked_for_holds_for_the_next_process() {
    let (farm, outbox, _) = saved().await;
    farm.fault(Fault::status(503).header("retry-after", "3600"));
    farm.send(&outbox).await;
    farm.clock.advance(MINUTE);
    let before = farm.fake.requests().len();
    let next = farm.outbox();
    let report = farm.send(&next).await;
    assert_eq!(farm.fake.requests().len(), before, "{report}");
    assert!(
        report.next_at.is_some() && report.stopped_by.is_some(),
        "{report}"
    );
    farm.clock.advance(MINUTE * 60);
    farm.done(&next, 1).await;
}

/// Holds: a creation in doubt keeps the next one waiting, also while it waits for its resend.
#[tokio::test]
async fn a_creation_waits_for_one_that_waits_to_be_sent_again() {
    let (farm, outbox, first) = saved().await;
    let second = outbox.save(load(24)).await.unwrap();
    for _ in 0..3 {
        farm.fault(Fault::dropped_before());
    }
    for _ in 0..30 {
        outbox.pass().await.unwrap();
        farm.clock.advance(MINUTE);
        if state(&outbox, first.id).await != EntryState::Confirmed {
            assert_eq!(state(&outbox, second.id).await, EntryState::Queued);
            assert!(now(&outbox, second.id).await.attempts.is_empty());
        }
    }
    farm.send(&outbox).await;
    assert_eq!(farm.loads(), [draft(24), draft(24)]);
}

/// Holds: a decision that names a record is checked against the service.
#[tokio::test]
async fn a_record_that_is_not_there_is_not_adopted() {
    let (farm, outbox, entry) = saved().await;
    farm.lose(&outbox).await;
    let nowhere = "00000000-0000-4000-8000-000000000999";
    let adopt = outbox.decide(entry.id, Decision::Adopt(nowhere.into()));
    assert!(adopt.await.unwrap_err().kind() == ErrorKind::Config);
    assert_eq!(state(&outbox, entry.id).await, EntryState::Unconfirmed);
    farm.done(&outbox, 1).await;
    assert_eq!(farm.loads(), [draft(24)]);
}

#[tokio::test]
async fn an_adoption_without_reception_is_checked_by_the_next_send() {
    for is_deleted in [false, true] {
        let (farm, outbox, entry) = saved().await;
        farm.fault(Fault::dropped_before());
        farm.before_look(load(25));
        farm.send(&outbox).await;
        let record = farm.id(0);
        assert_candidates(&outbox, entry.id, std::slice::from_ref(&record)).await;
        let offline = farm.unreachable(Arc::clone(&farm.store));
        let adopt = Decision::Adopt((&*record).into());
        let shown = offline.decide(entry.id, adopt).await.unwrap();
        assert_eq!(shown.state, EntryState::Unconfirmed);
        if is_deleted {
            farm.edit(WebsiteEdit::delete(&*record));
        }
        farm.send(&outbox).await;
        let shown = now(&outbox, entry.id).await;
        if is_deleted {
            assert_eq!(shown.reason, Some(Reason::Candidates));
        } else {
            assert_eq!(shown.state, EntryState::Confirmed, "{shown:?}");
            assert_eq!(shown.consignment.unwrap().as_str(), record);
        }
        assert_eq!(farm.saves(), 1);
    }
}

#[tokio::test]
async fn a_reply_that_names_an_older_record_is_no_answer() {
    let (farm, outbox) = start().await;
    let older = farm.edit(WebsiteEdit::insert(load(77)));
    let entry = outbox.save(load(24)).await.unwrap();
    let path = "/data/createOrSaveConsignment/data/id";
    farm.fault(Fault::replaced(path, &older));
    farm.done(&outbox, 1).await;
    let made = now(&outbox, entry.id).await.consignment.unwrap();
    assert_eq!(made.as_str(), farm.id(1));
    assert_eq!(farm.loads(), [draft(77), draft(24)]);
}

/// Holds: at most one full listing a pass however many records are gone.
#[tokio::test]
async fn many_records_that_are_gone_cost_one_list() {
    let hidden = Assumptions::default().deleted(Deleted::Hidden);
    let farm = Farm::assuming(hidden).await;
    let outbox = farm.outbox();
    for head in 1..=5 {
        let id = farm.edit(WebsiteEdit::insert(load(head)));
        let base = farm.read(&outbox, &id).await;
        outbox.update(&base, load(head + 50)).await.unwrap();
        farm.edit(WebsiteEdit::delete(id));
    }
    let lists = farm.fake.request_count("Consignments");
    let (report, _) = outbox.pass().await.unwrap();
    assert_eq!(report.needs_attention, 5, "{report}");
    assert_eq!(farm.fake.request_count("Consignments"), lists + 1);
}

/// The reply of a lost creation is never told apart from what the website has made of it by fewer fields.
#[tokio::test]
async fn a_lost_creation_is_adopted_when_nobody_touched_it() {
    for was_applied in [false, true] {
        let (farm, outbox, _, _) = saved_with_submit().await;
        farm.fault(lost(was_applied));
        farm.done(&outbox, 2).await;
        assert_eq!(farm.loads(), [submitted(24)]);
    }
}
