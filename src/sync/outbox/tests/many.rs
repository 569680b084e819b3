//! An account with 1,000 waiting entries.

use super::farm::{Farm, load};

#[tokio::test]
async fn a_thousand_waiting_entries_are_all_confirmed_at_a_cost_in_proportion() {
    let farm = Farm::start().await;
    let store = farm.faulty(usize::MAX);
    let outbox = farm.outbox_on(store.clone());
    for head in 1..=1_000 {
        outbox.save(load(head)).await.unwrap();
    }
    assert_eq!(store.commits(), 1_000);
    let (report, _) = outbox.pass().await.unwrap();
    assert_eq!((report.confirmed, report.waiting), (1_000, 0), "{report}");
    assert_eq!((farm.made().len(), farm.saves()), (1_000, 1_000));
    // A save and a read each, and the list from time to time.
    assert!(report.requests <= 2_100, "{report}");
    // A mark, an end and what was read each.
    assert!(store.commits() <= 1_000 + 3_100, "{}", store.commits());
}
