//! Walks through a list that changes on the website during the walk, as an application sees them.

use envd_sdk::fake::WebsiteEdit;
use envd_sdk::fake::controls::Assumptions;
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::profile::{ListOrder, Lists};
use serde_json::json;

use crate::fixed_date::fake_builder;

/// The last digits of the numbers of all records, on pages of three, with this edit before the second page.
async fn walk(assumptions: Assumptions, edit: WebsiteEdit) -> String {
    let fake = fake_builder().assume(assumptions).start().await.unwrap();
    fake.controls().edit_before_list(fake.account_id(), 2, edit);
    let account = fake.client().build().unwrap().account(fake.account_id());
    let filter = ConsignmentFilter::default().page_size(3);
    let mut pager = account.consignments(&filter).look_ahead(0);
    let mut seen = String::new();
    while let Some(page) = pager.next_page().await.unwrap() {
        let numbers = page.records.iter().filter_map(|it| it.number.as_ref());
        seen.extend(numbers.map(|number| &number.as_str()[10..]));
    }
    seen
}

#[tokio::test]
async fn walks_lose_and_repeat_records_as_their_cursors_and_their_order_say() {
    let by_name = Assumptions::default;
    let by_position = || by_name().cursors_by_position();
    let ordered = |order| by_name().lists(Lists::default().ordered(order));
    let earliest = ordered(ListOrder::EarliestUpdateFirst);
    let latest = ordered(ListOrder::LatestUpdateFirst);
    let insert = || WebsiteEdit::insert(json!({"forms": ["LPAC1"]}));
    let delete = || WebsiteEdit::delete("C-900000107");
    let change = || WebsiteEdit::change("C-900000102", json!({"status": "LOCKED"}));
    for (assumptions, edit, seen) in [
        (by_name(), insert(), "87654321"),
        (by_name(), delete(), "87654321"),
        (by_position(), insert(), "876654321"),
        (by_position(), delete(), "8764321"),
        // The change is behind the walk.
        (earliest, change(), "123456782"),
        // A record that changes before the walk reaches it moves to the front, and the walk misses it.
        (latest, change(), "8765431"),
    ] {
        assert_eq!(walk(assumptions, edit).await, seen);
    }
}
