//! Custom worlds, concurrent fakes, and the shutdown of a fake.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use envd_sdk::fake::{Fake, User, UserRecord, World};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{AccountClient, ErrorKind};
use serde_json::json;

use crate::calls::input;
use crate::fixed_date::{fake_builder, manager, start_fake};

fn kim() -> UserRecord {
    let kim = UserRecord::new("kim@example.com")
        .name("Kim", "Example")
        .role("Producer");
    kim.account("envd-7", "LPA", "QAZZ7777")
}

/// The number of consignments that the account lists.
async fn listed(account: &AccountClient) -> usize {
    let filter = ConsignmentFilter::default();
    let page = account.consignments_page(&filter, None).await;
    page.unwrap().value.edges.len()
}

#[tokio::test]
async fn the_client_sees_the_records_of_a_custom_world() {
    let world = World::empty()
        .user(kim())
        .user(UserRecord::new("new@example.com"))
        .consignment("envd-7", input())
        .consignment("envd-7", input())
        .template("envd-7", json!({"name": "Weaners", "forms": ["LPAC1"]}))
        .questions(json!([{"id": "1", "type": "STRING", "forms": ["LPAC1"]}]))
        .property(json!({"PIC": "QAZZ7777", "PICName": "Own"}));
    let fake = fake_builder().world(world).start().await.unwrap();
    let client = fake.client().build().unwrap();
    let user = client.registered_user().await.unwrap().value;
    assert_eq!(user.email.as_deref(), Some("kim@example.com"));
    let producer = user.producer_accounts().next().unwrap();
    let account = client.account(producer.envd_account_id.clone().unwrap());
    assert_eq!(listed(&account).await, 2);
    assert_eq!(client.questions().await.unwrap().value.items.len(), 1);
    let _ = account.save_consignment(input()).await.unwrap();

    let other = fake.access_token_for(User::Nth(1));
    let source = envd_sdk::auth::StaticToken::new(other.expose()).unwrap();
    let client = fake.client().token_source(source).build().unwrap();
    let error = client.registered_user().await.unwrap_err();
    assert!(error.kind() == ErrorKind::NotRegistered);
}

#[tokio::test]
async fn a_user_without_accreditation_does_not_see_declarations_of_rangeland_goats() {
    let fake = fake_builder()
        .accreditation("hRG", false)
        .start()
        .await
        .unwrap();
    let account = fake.client().build().unwrap().account(fake.account_id());
    assert_eq!(listed(&account).await, 7);
    let error = account.consignment("C-900000108").await.unwrap_err();
    assert!(error.kind() == ErrorKind::NotFound);
    assert!(account.consignment("C-900000101").await.is_ok());
}

#[tokio::test]
async fn a_token_of_a_user_whom_the_world_lacks_reads_no_user() {
    let fake = start_fake().await;
    let token = fake.access_token_for(User::Nth(9));
    let token = envd_sdk::auth::StaticToken::new(token.expose()).unwrap();
    let client = fake.client().token_source(token).build().unwrap();
    assert!(client.user_details().await.is_err());
}

#[tokio::test]
async fn an_unusable_world_is_an_error_with_the_reason() {
    let with_kim = || World::empty().user(kim());
    for (world, part) in [
        (World::empty(), "no such user"),
        (with_kim().consignment("envd-8", input()), "envd-8"),
        (with_kim().property(7), "a property is not a JSON object"),
        (
            with_kim().user(UserRecord::from_details("Kim")),
            "a user is not",
        ),
        (with_kim().questions(json!({"a": 1})), "list of questions"),
    ] {
        let error = fake_builder().world(world).start().await.unwrap_err();
        assert!(
            error.kind() == ErrorKind::Config && error.to_string().contains(part),
            "{error}"
        );
    }
}

#[tokio::test]
async fn concurrent_fakes_share_no_records() {
    let mut fakes = Vec::new();
    for _ in 0..4 {
        fakes.push(start_fake().await);
    }
    let client = fakes[0].client().build().unwrap();
    let first = client.account(fakes[0].account_id());
    let _ = first.delete_consignment("C-900000101").await.unwrap();
    for fake in &fakes[1..] {
        let account = fake.client().build().unwrap().account(fake.account_id());
        assert_eq!(listed(&account).await, 8);
        let token = fakes[0].access_token();
        assert_ne!(fake.access_token().expose(), token.expose());
    }
}

#[tokio::test]
async fn a_dropped_fake_has_closed_its_port() {
    let fake = start_fake().await;
    let address = fake.graphql_url().socket_addrs(|| None).unwrap()[0];
    assert!(std::net::TcpStream::connect(address).is_ok());
    drop(fake);
    assert!(std::net::TcpStream::connect(address).is_err());
    assert!(std::net::TcpListener::bind(address).is_ok());
}

#[tokio::test]
async fn a_client_says_that_its_fake_was_dropped() {
    let client = start_fake().await.client().build().unwrap();
    let read = client.user_details().await.map(drop);
    let deleted = client.account("envd-1").delete_consignment("C-1").await;
    for error in [read.unwrap_err(), deleted.unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(!error.may_have_applied() && error.attempts() == 0);
        let report = error.report();
        assert!(
            report.contains("the fake of this client was dropped"),
            "{report}"
        );
    }
}

#[test]
fn a_fake_starts_and_answers_without_the_callers_runtime() {
    let mut starting = pin!(Fake::start());
    let mut context = Context::from_waker(Waker::noop());
    let fake = loop {
        if let Poll::Ready(fake) = starting.as_mut().poll(&mut context) {
            break fake;
        }
        std::thread::yield_now();
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let client = fake.client().build().unwrap();
    let _ = runtime
        .block_on(client.user_details().into_future())
        .unwrap();
    drop(runtime);
    drop(client);
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn each_login_is_that_of_the_user_it_names_or_of_the_one_at_the_browser() {
    let user = |name: &str, id| {
        let user = UserRecord::new(format!("{name}@example.com"));
        user.role("Producer").account(id, "LPA", "QAZZ7777")
    };
    let world = World::empty().user(user("ann", "envd-1"));
    let world = world
        .user(user("ben", "envd-2"))
        .user(user("cat", "envd-3"));
    let fake = fake_builder().world(world).start().await.unwrap();

    fake.log_in_as(User::Nth(1)).unwrap();
    for (hint, account) in [
        ("", "envd-2"),
        ("ann@example.com", "envd-1"),
        ("CAT@example.com", "envd-3"),
    ] {
        let manager = manager(fake.provider());
        let mut login = manager.provider().authorization();
        if !hint.is_empty() {
            login = login.param("login_hint", hint);
        }
        let login = login.start().unwrap();
        let callback = fake.consent(login.url()).unwrap();
        manager
            .complete_login(login, callback.as_str())
            .await
            .unwrap();
        let client = fake.client().token_source(manager).build().unwrap();
        for known in ["envd-1", "envd-2", "envd-3"] {
            let filter = ConsignmentFilter::default();
            let page = client.account(known).consignments_page(&filter, None).await;
            assert_eq!(page.is_ok(), known == account, "{hint:?} reads {known}");
        }
    }

    let login = fake.provider().build().unwrap();
    let login = login.authorization().param("login_hint", "dan@example.com");
    let callback = fake.consent(login.start().unwrap().url()).unwrap();
    assert!(
        callback
            .query_pairs()
            .any(|pair| pair == ("error".into(), "access_denied".into()))
    );
    let error = fake.log_in_as(User::Nth(3)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
}

#[tokio::test]
async fn a_client_of_the_fake_stays_logged_in_when_days_pass() {
    let fake = start_fake().await;
    let client = fake.client().build().unwrap();
    for _ in 0..3 {
        fake.clock().advance(Duration::from_secs(86_400));
        assert!(client.user_details().await.is_ok());
    }
    // A token that the service has revoked is refused.
    fake.expire_access_tokens();
    let error = client.user_details().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
}
