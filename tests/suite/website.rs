//! Walks through a list that changes on the website meanwhile, as an application sees them.

use envd_sdk::fake::levers::Assumptions;
use envd_sdk::fake::{Fake, WebsiteEdit};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::profile::{ListOrder, Lists};
use serde_json::json;

use crate::fixed_date::fake_builder;

/// The last digits of the numbers of all records on pages of three, with this edit before the second page.
fn ordered(order: ListOrder) -> Assumptions {
    Assumptions::default().lists(Lists::default().ordered(order))
}

async fn walk(assumptions: Assumptions, edit: WebsiteEdit) -> Vec<u32> {
    let fake = fake_builder().assume(assumptions).start().await.unwrap();
    fake.levers().edit_before_list(fake.account_id(), 2, edit);
    numbers(&fake).await
}

async fn numbers(fake: &Fake) -> Vec<u32> {
    let account = fake.client().build().unwrap().account(fake.account_id());
    let filter = ConsignmentFilter::default().page_size(3);
    let mut pager = account.consignments(&filter).look_ahead(0);
    let mut seen = Vec::new();
    while let Some(page) = pager.next_page().await.unwrap() {
        let records = page.records.iter();
        let numbers = records.filter_map(|record| record.number.as_ref());
        seen.extend(numbers.map(|number| number.as_str()[9..].parse::<u32>().unwrap()));
    }
    seen
}

fn insert() -> WebsiteEdit {
    WebsiteEdit::insert(json!({"forms": ["LPAC1"]}))
}

#[tokio::test]
async fn cursors_that_name_records_lose_and_repeat_none() {
    let whole = [8, 7, 6, 5, 4, 3, 2, 1];
    assert_eq!(walk(Assumptions::default(), insert()).await, whole);
    let delete = WebsiteEdit::delete("C-900000107");
    assert_eq!(walk(Assumptions::default(), delete).await, whole);
}

#[tokio::test]
async fn cursors_that_count_records_repeat_one_and_lose_one() {
    let by_position = || Assumptions::default().cursors_by_position();
    let repeated = [8, 7, 6, 6, 5, 4, 3, 2, 1];
    assert_eq!(walk(by_position(), insert()).await, repeated);
    let delete = WebsiteEdit::delete("C-900000107");
    assert_eq!(walk(by_position(), delete).await, [8, 7, 6, 4, 3, 2, 1]);
}

#[tokio::test]
async fn a_record_that_is_changed_behind_the_walk_comes_twice_in_the_order_of_updates() {
    let order = ordered(ListOrder::EarliestUpdateFirst);
    let change = WebsiteEdit::change("C-900000102", json!({"status": "LOCKED"}));
    assert_eq!(walk(order, change).await, [1, 2, 3, 4, 5, 6, 7, 8, 2]);
    // Changed before the walk reaches it, it moves to the front and is not seen at all.
    let order = ordered(ListOrder::LatestUpdateFirst);
    let change = WebsiteEdit::change("C-900000102", json!({"status": "LOCKED"}));
    assert_eq!(walk(order, change).await, [8, 7, 6, 5, 4, 3, 1]);
}
