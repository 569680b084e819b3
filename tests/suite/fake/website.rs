//! Edits on the website, before and between the requests of a client.

use std::time::Duration;

use envd_sdk::Clock;
use envd_sdk::fake::{Fake, User, WebsiteEdit};
use serde_json::{Value, json};

use super::http::{call, data, fixture_day};
use crate::fixed_date::fake_builder;

const ACCOUNT: &str = "envd-100201";
const LIST: &str = "query List($first: Int, $after: String) {
  consignments(envdAccountId: \"envd-100201\", first: $first, after: $after) {
    totalCount pageInfo { endCursor } edges { node { number status updatedAt } }
  }
}";
const READ: &str = "query Read($id: String!) {
  consignment(envdAccountId: \"envd-100201\", id: $id) { number status updatedAt submittedAt heads owner { name } }
}";

async fn start() -> (Fake, Clock) {
    let clock = fixture_day();
    let fake = fake_builder().clock(clock.clone()).start().await.unwrap();
    (fake, clock)
}

async fn list(fake: &Fake, variables: Value) -> Value {
    data(fake, LIST, variables).await["consignments"].take()
}

async fn read(fake: &Fake, name: &str) -> Value {
    data(fake, READ, json!({"id": name})).await["consignment"].take()
}

#[tokio::test]
async fn an_edit_replaces_fields_without_rules() {
    let (fake, clock) = start().await;
    let id = "00000000-0000-4000-8000-000000000101";
    let before = read(&fake, id).await;
    assert_eq!(before["number"], "C-900000101");
    clock.advance(Duration::from_secs(1));
    // No rule allows a heads of 99,999 in a locked record without an owner's PIC.
    let edit = json!({"status": "LOCKED", "owner": {"name": "Kim"}, "heads": 99_999});
    assert_eq!(
        fake.edit(ACCOUNT, WebsiteEdit::change("C-900000101", edit)),
        id
    );
    let after = read(&fake, id).await;
    assert_eq!(after["status"], "LOCKED");
    assert_eq!(after["owner"]["name"], "Kim");
    assert_eq!(after["heads"], 99_999);
    assert_eq!(after["updatedAt"], "2026-11-20T03:00:01.0000000+00:00");
    // A locked record can be edited, and any date given.
    let past = "2020-01-01T10:00:00.0000001+10:00";
    let edit = WebsiteEdit::change(id, json!({"status": "SUBMITTED", "updatedAt": past}));
    fake.edit(ACCOUNT, edit);
    let after = read(&fake, id).await;
    assert_eq!(after["updatedAt"], past);
    assert!(after["submittedAt"].is_string());
}

#[tokio::test]
async fn an_insert_and_a_delete_change_the_list() {
    let (fake, _clock) = start().await;
    assert_eq!(list(&fake, json!({})).await["totalCount"], 8);
    let id = fake.edit(ACCOUNT, WebsiteEdit::insert(json!({"forms": ["LPAC1"]})));
    let made = read(&fake, &id).await;
    assert_eq!(made["status"], "DRAFT");
    assert_eq!(made["updatedAt"], "2026-11-20T03:00:00.0000000+00:00");
    let listed = list(&fake, json!({})).await;
    assert_eq!(listed["totalCount"], 9);
    assert_eq!(listed["edges"][0]["node"]["number"], made["number"]);
    fake.edit(ACCOUNT, WebsiteEdit::delete(&id));
    assert_eq!(list(&fake, json!({})).await["totalCount"], 8);
    assert_eq!(read(&fake, &id).await["status"], "DELETED");
    let held: Vec<Value> = fake.consignments(ACCOUNT);
    assert_eq!(held.len(), 9);
    assert_eq!(held[8]["id"], *id);
    assert_eq!(fake.consignments::<Value>("envd-100202").len(), 8);
}

#[tokio::test]
async fn an_edit_waits_for_its_list_request() {
    let (fake, clock) = start().await;
    let edit = |status: &str| WebsiteEdit::change("C-900000108", json!({"status": status}));
    fake.levers().edit_before_list(ACCOUNT, 3, edit("LOCKED"));
    fake.levers().edit_before_list(ACCOUNT, 2, edit("DRAFT"));
    fake.levers()
        .edit_before_list(ACCOUNT, 2, edit("SUBMITTED"));
    fake.levers().edit_before_list(
        "envd-100202",
        1,
        WebsiteEdit::insert(json!({"forms": ["LPAC1"]})),
    );
    clock.advance(Duration::from_secs(60));
    let first = list(&fake, json!({})).await;
    let before = &first["edges"][0]["node"];
    assert_eq!(before["number"], "C-900000108");
    assert_ne!(before["updatedAt"], "2026-11-20T03:01:00.0000000+00:00");
    for status in ["SUBMITTED", "LOCKED", "LOCKED"] {
        let shown = list(&fake, json!({})).await;
        let shown = &shown["edges"][0]["node"];
        assert_eq!(shown["status"], status);
        // By the clock at the time of the list request.
        assert_eq!(shown["updatedAt"], "2026-11-20T03:01:00.0000000+00:00");
    }
    assert_eq!(fake.consignments::<Value>("envd-100202").len(), 8);
    data(
        &fake,
        "{ consignments(envdAccountId: \"envd-100202\") { totalCount } }",
        json!({}),
    )
    .await;
    assert_eq!(fake.consignments::<Value>("envd-100202").len(), 9);
}

#[tokio::test]
async fn a_withdrawn_account_is_refused_like_that_of_another_user() {
    let (fake, _clock) = start().await;
    let details = "{ userDetails { accounts { envdAccountId } } userDetailsQuery { data { accounts { envdAccountId } } } edecs { number } }";
    let before = data(&fake, details, json!({})).await;
    fake.levers().withdraw_account(ACCOUNT);
    let other = LIST.replace(ACCOUNT, "envd-100301");
    let [lost, foreign] = [
        call(&fake, LIST, json!({})).await,
        call(&fake, &other, json!({})).await,
    ];
    assert_eq!((lost.status, &lost.body), (403, &foreign.body));
    let delete = format!(
        "mutation {{ deleteConsignment(envdAccountId: \"{ACCOUNT}\", id: \"C-900000101\") {{ data {{ id }} }} }}"
    );
    assert_eq!(call(&fake, &delete, json!({})).await.status, 403);
    let after = data(&fake, details, json!({})).await;
    let ids = json!([{"envdAccountId": "envd-100202"}, {"envdAccountId": "envd-100203"}]);
    assert_eq!(after["userDetails"]["accounts"], ids);
    assert_eq!(after["userDetailsQuery"]["data"]["accounts"], ids);
    assert_eq!(after["edecs"], json!([]));
    fake.levers().restore_account(ACCOUNT);
    assert_eq!(data(&fake, details, json!({})).await, before);
    assert_eq!(list(&fake, json!({})).await["totalCount"], 8);
    assert_eq!(fake.account_id(), ACCOUNT);
}

#[tokio::test]
async fn an_edit_of_something_unknown_panics_with_its_name() {
    let fails = |account: &'static str, number: &'static str, nth: Option<usize>| async move {
        let task = tokio::spawn(async move {
            let fake = fake_builder().user(User::Producer).start().await.unwrap();
            let edit = WebsiteEdit::delete(number);
            match nth {
                Some(nth) => fake.levers().edit_before_list(account, nth, edit),
                None => drop(fake.edit(account, edit)),
            }
        });
        let panic = task.await.unwrap_err().into_panic();
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    assert!(
        fails("envd-1", "C-900000101", None)
            .await
            .contains("envd-1")
    );
    for nth in [None, Some(1)] {
        assert!(
            fails(ACCOUNT, "C-900000201", nth)
                .await
                .contains("C-900000201")
        );
    }
}

#[test]
#[should_panic(expected = "the number of a record never changes")]
fn a_number_cannot_be_edited() {
    let _ = WebsiteEdit::change("C-900000101", json!({"number": "C-1"}));
}

#[test]
fn debug_shows_no_values() {
    let edit = WebsiteEdit::change("C-900000101", json!({"owner": {"name": "Kim"}}));
    let shown = format!(
        "{edit:?} {:?}",
        WebsiteEdit::insert(json!({"owner": "Kim"}))
    );
    assert!(shown.contains("owner") && !shown.contains("Kim"), "{shown}");
}
