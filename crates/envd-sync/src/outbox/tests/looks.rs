//! Looks for lost records: what they read, how often, and whom they hold up.

use std::time::Duration;

use super::farm::{
    Farm, MINUTE, SAVE, assert_candidates, assert_is, draft, load, now, other_load, saved, start,
    state,
};
use crate::outbox::{Decision, EntryState, Outbox, Reason};
use crate::replica::Replica;
use envd_sdk::fake::{Fault, WebsiteEdit};
use envd_sdk::{Clock, RetryPolicy};

/// From now on no record can be read: the answer has the text of any failure.
fn hide_records(farm: &Farm) {
    farm.faults(
        "Consignment",
        Fault::internal_server_error("consignment"),
        1_000,
    );
}

#[tokio::test]
async fn a_record_that_can_never_be_read_is_left_to_a_person_and_holds_nothing_up() {
    let (farm, outbox) = start().await;
    outbox.replica().sync().await.unwrap();
    let lost = outbox.save(load(24)).await.unwrap();
    let other = outbox.save(other_load(25)).await.unwrap();
    farm.fault(Fault::dropped_after());
    hide_records(&farm);
    // It may be a failure that passes, so it is read again first.
    let (report, _) = outbox.pass().await.unwrap();
    assert_eq!((report.needs_attention, report.waiting), (0, 2), "{report}");
    let report = farm.send(&outbox).await;
    assert_eq!(
        (report.confirmed, report.needs_attention, report.waiting),
        (1, 1, 0),
        "{report}"
    );
    assert_candidates(&outbox, lost.id, &[farm.id(0)]).await;
    let lost = now(&outbox, lost.id).await;
    assert_eq!(state(&outbox, other.id).await, EntryState::Confirmed);
    assert_eq!(farm.saves(), 2);
    let record = lost.candidates[0].clone();
    farm.fake.clear_scripts();
    let adopted = Decision::Adopt(record);
    outbox.decide(lost.id, adopted).await.unwrap();
    assert_eq!(state(&outbox, lost.id).await, EntryState::Confirmed);
}

#[tokio::test]
async fn a_late_record_that_can_never_be_read_stops_nothing_and_its_watch_ends() {
    let (farm, outbox, _) = saved().await;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    farm.send(&outbox).await;
    farm.fake.process_late_requests();
    hide_records(&farm);
    let next = farm.outbox();
    next.save(other_load(25)).await.unwrap();
    let report = farm.send(&next).await;
    assert_eq!(
        (report.confirmed, report.late_duplicates),
        (1, 0),
        "{report}"
    );
    assert!(report.stopped_by.is_none(), "{report}");
    farm.clock.advance(MINUTE * 60 * 25);
    farm.send(&next).await;
    let before = farm.fake.requests().len();
    farm.clock.advance(MINUTE * 61);
    farm.send(&farm.outbox()).await;
    assert_eq!(farm.fake.requests().len(), before);
}

/// On a busy account the list often changes while it is read.
#[tokio::test]
async fn a_list_that_changes_while_it_is_read_is_read_again_at_once() {
    for (changes, is_sent) in [(1, true), (2, true), (3, false)] {
        let farm = Farm::start().await;
        let account = farm.fake.account_id().to_owned();
        let client = farm.fake.client().retry(RetryPolicy::none());
        let client = client.build().unwrap();
        let replica = Replica::new(
            &client.account(&*account),
            std::sync::Arc::clone(&farm.store),
        );
        // One page is the whole list but one record, so that each walk has two.
        let size = u32::try_from(farm.fake.consignments::<serde_json::Value>(&account).len());
        let outbox = Outbox::new(&replica.page_size(size.unwrap() - 1));
        outbox.save(load(24)).await.unwrap();
        for walk in 0..changes {
            farm.fake
                .edit_before_list(&account, 2 + 2 * walk, WebsiteEdit::insert(other_load(1)));
        }
        let (report, _) = outbox.pass().await.unwrap();
        assert_eq!(
            (report.confirmed, report.waiting),
            if is_sent { (1, 0) } else { (0, 1) },
            "{changes} changes: {report}"
        );
    }
}

#[tokio::test]
async fn what_never_gets_a_clear_answer_is_sent_later_each_time_and_a_send_ends() {
    let (farm, outbox, entry) = saved().await;
    farm.faults(SAVE, Fault::dropped_before(), 30);
    let mut waited = Duration::ZERO;
    for times in 2..9 {
        let report = farm.send(&outbox).await;
        assert_eq!((report.waiting, farm.saves()), (1, times), "{report}");
        assert_is(&outbox, entry.id, EntryState::Queued, Reason::NoClearAnswer).await;
        let shown = now(&outbox, entry.id).await;
        let wait = outbox.time_until(shown.next_at.unwrap().to_time().unwrap());
        assert!(wait > waited || wait == MINUTE * 60, "{wait:?}");
        waited = wait;
        farm.clock.advance(wait);
    }
    assert_eq!(waited, MINUTE * 60);
}

/// Another machine's clock is a second behind.
#[tokio::test]
async fn clocks_a_second_apart_shorten_neither_looks_nor_watches() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    outbox.pass().await.unwrap();
    let behind = Clock::manual(farm.clock.now() - Duration::from_secs(1));
    let other = farm.outbox().clock(behind.clone());
    let before = farm.fake.requests().len();
    let (report, due) = other.pass().await.unwrap();
    assert_eq!(farm.fake.requests().len(), before, "{report}");
    assert_eq!(
        other.time_until(due.reconciles_at.unwrap()),
        MINUTE + Duration::from_secs(1)
    );

    farm.send(&outbox).await;
    assert_eq!(state(&outbox, entry.id).await, EntryState::Confirmed);
    behind.set_wall(farm.clock.now() - Duration::from_secs(1));
    farm.outbox().clock(behind).pass().await.unwrap();
    farm.fake.process_late_requests();
    let report = farm.send(&farm.outbox()).await;
    assert_eq!(report.late_duplicates, 1, "{report}");
}

/// The later creation is in flight when the earlier one would be sent again.
#[tokio::test]
async fn what_waits_for_another_creation_wakes_no_loop() {
    let (farm, outbox, _) = saved().await;
    farm.fault(Fault::dropped_before());
    farm.fault(Fault::dropped_before());
    // Sent twice, and looked for: it waits for a minute.
    farm.send(&outbox).await;
    farm.clock.advance(MINUTE / 2);
    outbox.save(other_load(25)).await.unwrap();
    farm.lose(&outbox).await;
    for _ in 0..4 {
        let (_, due) = outbox.pass().await.unwrap();
        let Some(at) = due.at() else { break };
        let wait = outbox.time_until(at);
        assert!(wait > Duration::ZERO, "it is due now, and was not done");
        farm.clock.advance(wait);
    }
    farm.clock.advance(MINUTE * 5);
    farm.send(&outbox).await;
    let mut loads = farm.loads();
    loads.sort_unstable();
    assert_eq!(loads, [draft(24), draft(25)]);
}

/// The user has found the record on the website and changes it, before the outbox has looked.
#[tokio::test]
async fn a_record_that_the_user_writes_about_is_asked_about() {
    let (farm, outbox, lost) = saved().await;
    farm.fault(Fault::dropped_after());
    farm.faults_after_one("Consignments", 1);
    outbox.pass().await.unwrap();
    let id = farm.id(0);
    let base = farm.read(&outbox, &id).await;
    outbox.update(&base, load(30)).await.unwrap();
    farm.clock.advance(MINUTE);
    // The look comes first.
    farm.send(&outbox).await;
    assert_candidates(&outbox, lost.id, std::slice::from_ref(&id)).await;
}

/// Rule 4: other lanes go on meanwhile. The save must not pass for the maker of the record, or the creation is sent again.
#[tokio::test]
async fn a_record_that_the_user_changed_before_the_next_look_is_asked_about() {
    for change in [load(30), other_load(24)] {
        let (farm, outbox, lost) = saved().await;
        // The first look finds nothing, and the next one is due later.
        farm.fault(Fault::dropped_before().processed_after(usize::MAX));
        outbox.pass().await.unwrap();
        farm.fake.process_late_requests();
        let id = farm.id(0);
        let base = farm.read(&outbox, &id).await;
        let update = outbox.update(&base, change).await.unwrap();
        outbox.pass().await.unwrap();
        assert_eq!(state(&outbox, update.id).await, EntryState::Confirmed);
        farm.clock.advance(MINUTE);
        farm.send(&outbox).await;
        assert_candidates(&outbox, lost.id, std::slice::from_ref(&id)).await;
        assert_eq!(farm.made().len(), 1);
    }
}

/// The first request arrives when the entry says something else.
#[tokio::test]
async fn a_record_that_shows_an_earlier_text_is_asked_about() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    farm.fake.on_operation(SAVE).refuse("X", "refused");
    farm.send(&outbox).await;
    assert_eq!(state(&outbox, entry.id).await, EntryState::Refused);
    outbox.edit(entry.id, load(30)).await.unwrap();
    farm.fake.process_late_requests();
    farm.send(&outbox).await;
    assert_candidates(&outbox, entry.id, &[farm.id(0)]).await;
    assert_eq!((farm.loads(), farm.saves()), (vec![draft(24)], 2));
}

/// What was adopted may be a twin, and the request of the entry may arrive later.
#[tokio::test]
async fn an_entry_that_was_adopted_is_watched_as_well() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    farm.before_look(load(24));
    assert_eq!(farm.send(&outbox).await.confirmed, 1);
    assert!(now(&outbox, entry.id).await.is_adopted);
    farm.fake.process_late_requests();
    let report = farm.send(&farm.outbox()).await;
    assert_eq!(report.late_duplicates, 1, "{report}");
    let strays = now(&outbox, entry.id).await.late_duplicates;
    assert_eq!(strays, [farm.id(1).as_str()]);
}

/// The late record is told also when the user has written about it.
#[tokio::test]
async fn a_stray_that_the_user_has_written_about_is_told() {
    let (farm, outbox, entry) = saved().await;
    farm.fault(Fault::dropped_before().processed_after(usize::MAX));
    farm.send(&outbox).await;
    farm.fake.process_late_requests();
    let stray = farm.id(1);
    let base = farm.read(&outbox, &stray).await;
    let next = farm.outbox();
    next.update(&base, load(30)).await.unwrap();
    let report = farm.send(&next).await;
    assert_eq!(report.late_duplicates, 1, "{report}");
    assert_eq!(now(&next, entry.id).await.late_duplicates, [&*stray]);
}
