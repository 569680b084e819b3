//! The token manager and the client together.

use envd_sdk::fake::{Fake, Fault};
use envd_sdk::{Client, ErrorKind};
use test_support::{Reply, Server};

use crate::fixed_date::start_fake;
use crate::scripted::client;

/// A client with the fake's tokens, of a service that sends the same reply to all requests.
async fn client_of(answer: Reply) -> (Server, Fake, Client) {
    let service = Server::script([answer]);
    let fake = start_fake().await;
    let client = client(&service).token_source(fake.token_manager().await.unwrap());
    let client = client.build().unwrap();
    (service, fake, client)
}

/// Row 2.
#[tokio::test]
async fn two_hundred_refused_calls_cause_one_refresh_and_all_succeed() {
    let fake = start_fake().await;
    let manager = fake.token_manager().await.unwrap();
    let client = fake.client().token_source(manager.clone()).build().unwrap();
    fake.expire_access_tokens();
    let calls: Vec<_> = (0..200)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.user_details().await.map(drop) })
        })
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    // One request for the login, one for the refresh.
    assert_eq!(fake.token_requests(), 2);
    assert_eq!(manager.access_token().await.unwrap().generation(), 2);
}

/// Row 4.
#[tokio::test]
async fn a_service_that_refuses_every_token_gets_one_refresh_and_the_caller_the_refusal() {
    let (service, fake, client) = client_of(Reply::json(401, r#"{"Message": "no"}"#)).await;
    for _ in 0..5 {
        let error = client.user_details().await.unwrap_err();
        assert!(error.kind() == ErrorKind::Unauthorized && !error.is_reauth_required());
    }
    assert_eq!(fake.token_requests(), 2);
    // The first call is sent twice; the others only once, because they get no new token.
    assert_eq!(service.count(), 6);
}

#[tokio::test]
async fn a_token_refused_early_during_an_outage_of_the_token_endpoint_is_no_reason_to_log_in() {
    let (service, fake, _) = client_of(Reply::json(401, r#"{"Message": "no"}"#)).await;
    let manager = fake.token_manager().await.unwrap();
    let register = crate::scripted::register(&service).token_source(manager.clone());
    let register = register.build().unwrap();
    let client = fake.client().token_source(manager).build().unwrap();
    fake.expire_access_tokens();
    let busy = Fault::status(429).header("retry-after", "600");
    fake.on_path("/oauth/token").fault(busy);
    let pic = "QAZZ7777".parse().unwrap();
    for error in [
        client.user_details().await.unwrap_err(),
        register.property(&pic).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::TokenUnavailable, "{error}");
        assert!(error.is_retryable() && error.retry_after().is_some());
        assert!(error.kind() != ErrorKind::Unauthorized && !error.is_reauth_required());
        let source = std::error::Error::source(&error).unwrap();
        let refusal = source.downcast_ref::<envd_sdk::Error>().unwrap();
        assert!(refusal.kind() == ErrorKind::Unauthorized, "{refusal}");
    }
    // Two logins and one refresh.
    let requests = fake.requests();
    let sent = requests.iter().filter(|it| it.path() == "/oauth/token");
    assert_eq!(sent.count(), 3);
}

/// Row 5.
#[tokio::test]
async fn a_missing_permission_is_neither_refreshed_nor_sent_again() {
    let scope = "Bearer error=\"insufficient_scope\"";
    let answer = Reply::new(403).header("www-authenticate", scope);
    let (service, fake, client) = client_of(answer).await;
    assert!(client.user_details().await.unwrap_err().kind() == ErrorKind::Forbidden);
    assert_eq!(service.count(), 1);
    assert_eq!(fake.token_requests(), 1);
}
