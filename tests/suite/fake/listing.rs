//! Lists under each of the assumptions that the specification allows.

use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::fake::levers::{Assumptions, Deleted, TotalCount};
use envd_sdk::fake::{Fake, UserRecord, WebsiteEdit, World};
use envd_sdk::profile::{ComparedDate, ListOrder, Lists};
use serde_json::{Value, json};

use super::http::{call, data, fixture_day};
use crate::fixed_date::fake_builder;

const ACCOUNT: &str = "envd-7";
const LIST: &str = "query List($account: String!, $first: Int, $after: String, $status: ConsignmentStatus, $from: DateTime, $to: DateTime) {
  consignments(envdAccountId: $account, first: $first, after: $after, status: $status, fromDate: $from, toDate: $to) {
    totalCount pageInfo { hasNextPage hasPreviousPage endCursor } edges { cursor node { number status } }
  }
}";
const READ: &str = "query Read($account: String!, $id: String!) {
  consignment(envdAccountId: $account, id: $id) { number status updatedAt movementDate }
}";
const DELETE: &str = "mutation Delete($account: String!, $id: String!) {
  deleteConsignment(envdAccountId: $account, id: $id) { data { status } }
}";

/// A fake on a clock that stands still, with an account and no consignments.
fn ordered(order: ListOrder) -> Assumptions {
    Assumptions::default().lists(Lists::default().ordered(order))
}

fn comparing(date: ComparedDate) -> Assumptions {
    Assumptions::default().lists(Lists::default().comparing(date))
}

async fn start(assumptions: Assumptions) -> (Fake, Clock) {
    let kim = UserRecord::new("kim@example.com").role("Producer");
    let world = World::empty().user(kim.account(ACCOUNT, "LPA", "QAZZ7777"));
    let clock = fixture_day();
    let builder = fake_builder().world(world).clock(clock.clone());
    let fake = builder.assume(assumptions).start().await.unwrap();
    (fake, clock)
}

/// A consignment on the website, a minute after the one before; its number.
fn insert(fake: &Fake, clock: &Clock, movement: &str) -> String {
    clock.advance(Duration::from_secs(60));
    let parties = ["QAZZ7777", "QDZZ3333"].map(|pic| json!({"pic": pic}));
    let [origin, destination] = parties;
    let input = json!({
        "forms": ["LPAC1"], "origin": origin, "destination": destination, "movementDate": movement,
    });
    let id = fake.edit(ACCOUNT, WebsiteEdit::insert(input));
    let held: Vec<Value> = fake.consignments(ACCOUNT);
    let made = held.iter().find(|record| record["id"] == *id).unwrap();
    made["number"].as_str().unwrap().to_owned()
}

fn change(fake: &Fake, clock: &Clock, number: &str) {
    clock.advance(Duration::from_secs(60));
    fake.edit(
        ACCOUNT,
        WebsiteEdit::change(number, json!({"movementTime": "10:00"})),
    );
}

async fn list(fake: &Fake, mut variables: Value) -> Value {
    variables["account"] = ACCOUNT.into();
    data(fake, LIST, variables).await["consignments"].take()
}

fn numbers(list: &Value) -> Vec<&str> {
    let edges = list["edges"].as_array().unwrap();
    let numbers = edges.iter().map(|edge| edge["node"]["number"].as_str());
    numbers.map(Option::unwrap).collect()
}

async fn read(fake: &Fake, number: &str) -> Value {
    let read = call(fake, READ, json!({"account": ACCOUNT, "id": number})).await;
    read.body["data"]["consignment"].clone()
}

#[tokio::test]
async fn the_order_of_lists_can_be_set() {
    let (fake, clock) = start(Assumptions::default()).await;
    let [a, b, c] = [(); 3].map(|()| insert(&fake, &clock, "2026-11-21"));
    change(&fake, &clock, &a);
    for (order, expected) in [
        (ListOrder::NewestFirst, [&c, &b, &a]),
        (ListOrder::OldestFirst, [&a, &b, &c]),
        (ListOrder::LatestUpdateFirst, [&a, &c, &b]),
        (ListOrder::EarliestUpdateFirst, [&b, &c, &a]),
        (ListOrder::Number, [&a, &b, &c]),
    ] {
        fake.levers().assume(ordered(order));
        let whole = list(&fake, json!({})).await;
        assert_eq!(numbers(&whole), expected, "{order:?}");
        let first = list(&fake, json!({"first": 2})).await;
        let after = &first["pageInfo"]["endCursor"];
        let second = list(&fake, json!({"first": 2, "after": after})).await;
        let pages = [numbers(&first), numbers(&second)].concat();
        assert_eq!(pages, expected, "{order:?}");
    }
    // Equal instants are in order of creation.
    fake.levers().assume(ordered(ListOrder::LatestUpdateFirst));
    clock.advance(Duration::from_secs(60));
    for number in [&c, &b] {
        fake.edit(ACCOUNT, WebsiteEdit::change(number, json!({})));
    }
    assert_eq!(numbers(&list(&fake, json!({})).await), [&c, &b, &a]);
}

#[tokio::test]
async fn bounds_compare_the_date_that_is_set() {
    let (fake, clock) = start(Assumptions::default()).await;
    let old = insert(&fake, &clock, "2026-12-24");
    let new = insert(&fake, &clock, "2026-10-01");
    clock.advance(Duration::from_secs(3_600));
    let undated = insert(&fake, &clock, "2026-12-01");
    fake.edit(
        ACCOUNT,
        WebsiteEdit::change(&undated, json!({"movementDate": null})),
    );
    change(&fake, &clock, &old);
    // The clock began at 03:00; the creations are at 03:01, 03:02 and 04:03, the change is at 04:04.
    let from = json!({"from": "2026-11-20T14:04:00+10:00"});
    let to = json!({"to": "2026-11-20T03:02:00Z"});
    for (date, after, before) in [
        (ComparedDate::LastChange, vec![&old], vec![&new]),
        (ComparedDate::Creation, vec![], vec![&new, &old]),
        (ComparedDate::Movement, vec![&old], vec![&new]),
    ] {
        fake.levers().assume(comparing(date));
        assert_eq!(numbers(&list(&fake, from.clone()).await), after, "{date:?}");
        assert_eq!(numbers(&list(&fake, to.clone()).await), before, "{date:?}");
    }
    fake.levers().assume(comparing(ComparedDate::Creation));
    let created = list(&fake, json!({"from": "2026-11-20T04:03:00Z"})).await;
    assert_eq!(numbers(&created), [&undated]);
}

#[tokio::test]
async fn a_position_beyond_the_end_is_an_empty_page_and_an_unknown_one_is_refused() {
    let (fake, clock) = start(Assumptions::default().cursors_by_position()).await;
    insert(&fake, &clock, "2026-11-21");
    let first = list(&fake, json!({})).await;
    let beyond = json!({"after": first["edges"][0]["cursor"], "status": "LOCKED"});
    assert_eq!(list(&fake, beyond).await["edges"], json!([]));
    let unknown = json!({"account": ACCOUNT, "after": "QzE="});
    let refused = call(&fake, LIST, unknown).await;
    assert_eq!(refused.body["errors"][0]["message"], "Bad request");
}

#[tokio::test]
async fn a_cursor_of_a_hidden_record_is_refused() {
    for (deleted, is_refused) in [(Deleted::Filtered, false), (Deleted::Hidden, true)] {
        let (fake, clock) = start(Assumptions::default().deleted(deleted)).await;
        let [a, b, _] = [(); 3].map(|()| insert(&fake, &clock, "2026-11-21"));
        let first = list(&fake, json!({"first": 2})).await;
        fake.edit(ACCOUNT, WebsiteEdit::delete(&b));
        let next = json!({"account": ACCOUNT, "after": first["pageInfo"]["endCursor"]});
        let reply = call(&fake, LIST, next).await.body;
        assert_eq!(reply["errors"].is_array(), is_refused, "{reply}");
        if !is_refused {
            assert_eq!(numbers(&reply["data"]["consignments"]), [&a]);
        }
    }
}

#[tokio::test]
async fn the_total_can_be_missing_or_wrong() {
    let (fake, clock) = start(Assumptions::default()).await;
    for _ in 0..3 {
        insert(&fake, &clock, "2026-11-21");
    }
    for (total, shown) in [
        (TotalCount::Exact, json!(3)),
        (TotalCount::Null, Value::Null),
        (TotalCount::Fixed(7), json!(7)),
        (TotalCount::OffBy(2), json!(5)),
        (TotalCount::OffBy(-9), json!(0)),
    ] {
        fake.levers()
            .assume(Assumptions::default().total_count(total));
        let page = list(&fake, json!({"first": 2})).await;
        assert_eq!(page["totalCount"], shown, "{total:?}");
        assert_eq!(page["pageInfo"]["hasNextPage"], true, "{total:?}");
    }
}

#[tokio::test]
async fn a_deleted_consignment_is_found_where_it_is_assumed() {
    for (deleted, in_list, by_status, by_id) in [
        (Deleted::Filtered, 0, 1, json!("DELETED")),
        (Deleted::Hidden, 0, 0, Value::Null),
        (Deleted::Listed, 1, 1, json!("DELETED")),
    ] {
        let (fake, clock) = start(Assumptions::default().deleted(deleted)).await;
        let number = insert(&fake, &clock, "2026-11-21");
        let named = json!({"account": ACCOUNT, "id": number});
        let reply = data(&fake, DELETE, named.clone()).await;
        assert_eq!(reply["deleteConsignment"]["data"]["status"], "DELETED");
        for (filter, total) in [
            (json!({}), in_list),
            (json!({"status": "DELETED"}), by_status),
        ] {
            assert_eq!(
                list(&fake, filter).await["totalCount"],
                total,
                "{deleted:?}"
            );
        }
        assert_eq!(read(&fake, &number).await["status"], by_id, "{deleted:?}");
        let held: Vec<Value> = fake.consignments(ACCOUNT);
        assert_eq!(held.is_empty(), by_id.is_null(), "{deleted:?}");
        // As for an unknown one.
        let unknown = json!({"account": ACCOUNT, "id": "C-1"});
        let replies = [
            call(&fake, READ, named).await,
            call(&fake, READ, unknown).await,
        ];
        let is_same = replies[0].body == replies[1].body;
        assert_eq!(is_same, by_id.is_null(), "{deleted:?}");
    }
}

#[tokio::test]
async fn lists_lag_behind_reads_by_a_number_of_lists() {
    let (fake, clock) = start(Assumptions::default()).await;
    let old = insert(&fake, &clock, "2026-11-21");
    fake.levers().assume(Assumptions::default().list_lag(2));
    let new = insert(&fake, &clock, "2026-11-21");
    fake.edit(
        ACCOUNT,
        WebsiteEdit::change(&old, json!({"status": "LOCKED"})),
    );
    assert_eq!(read(&fake, &new).await["number"], *new);
    assert_eq!(read(&fake, &old).await["status"], "LOCKED");
    assert_eq!(numbers(&list(&fake, json!({})).await), [&old]);
    fake.edit(ACCOUNT, WebsiteEdit::delete(&old));
    // Equal requests do not get the reply of the one before, and those of other lists do not count.
    data(
        &fake,
        "{ templates(envdAccountId: \"envd-7\") { totalCount } }",
        json!({}),
    )
    .await;
    assert_eq!(numbers(&list(&fake, json!({})).await), [&old]);
    let third = list(&fake, json!({})).await;
    assert_eq!(numbers(&third), [&new, &old]);
    assert_eq!(third["edges"][1]["node"]["status"], "LOCKED");
    assert_eq!(numbers(&list(&fake, json!({})).await), [&new]);
    // Other assumptions end the lag.
    let last = insert(&fake, &clock, "2026-11-21");
    fake.levers().assume(Assumptions::default());
    assert_eq!(numbers(&list(&fake, json!({})).await), [&last, &new]);
}

#[tokio::test]
async fn all_fraction_digits_of_an_instant_count() {
    let (fake, clock) = start(Assumptions::default()).await;
    clock.advance(Duration::from_nanos(1_234_567_899));
    let number = insert(&fake, &clock, "2026-11-21");
    let instant = "2026-11-20T03:01:01.2345678+00:00";
    assert_eq!(read(&fake, &number).await["updatedAt"], instant);
    for (from, total) in [("01.2345678", 1), ("01.23456781", 0)] {
        let from = format!("2026-11-20T03:01:{from}Z");
        assert_eq!(
            list(&fake, json!({"from": from})).await["totalCount"],
            total
        );
    }
}
