//! An account with many waiting entries.

use super::farm::{Farm, load};
use equipment::schedules::count;

#[tokio::test]
async fn many_waiting_entries_are_all_confirmed_at_a_cost_in_proportion() {
    let entries = count(50).min(5_000);
    let (all, calls) = (
        u32::try_from(entries).unwrap(),
        usize::try_from(entries).unwrap(),
    );
    let farm = Farm::start().await;
    let store = farm.faulty(usize::MAX);
    let outbox = farm.outbox_on(store.clone());
    // None agrees with a record that is there.
    for head in 1..=all {
        outbox.save(load(10_000 + head)).await.unwrap();
    }
    assert_eq!(store.commits(), calls);
    let (report, _) = outbox.pass().await.unwrap();
    assert_eq!((report.confirmed, report.waiting), (entries, 0), "{report}");
    assert_eq!((farm.made().len(), farm.saves()), (calls, calls));
    // A save and a read each, and the list from time to time.
    assert!(report.requests <= 2 * entries + 100, "{report}");
    // A mark, an end and what was read each.
    assert!(store.commits() <= 4 * calls + 100, "{}", store.commits());
}
