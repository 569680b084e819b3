//! Settings of a single call, the request that it sends, and dry runs.

use std::time::{Duration, SystemTime};

use envd_sdk::auth::StaticToken;
use envd_sdk::graphql::generated::{CopyConsignment, copy_consignment};
use envd_sdk::model::{ConsignmentInput, ConsignmentSummary, FormType, PartyInput};
use envd_sdk::{Call, Client, ClientBuilder, Clock};
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

async fn serve(reply: ResponseTemplate) -> (MockServer, Client) {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(reply).mount(&server).await;
    let token = StaticToken::new("a-secret-token").unwrap();
    let client = Client::builder(server.uri())
        .token_source(token)
        .build()
        .unwrap();
    (server, client)
}

fn copied() -> ResponseTemplate {
    ResponseTemplate::new(200)
        .set_body_json(json!({"data": {"copyConsignment": {"data": {"id": "c-9"}}}}))
}

fn variables() -> copy_consignment::Variables {
    copy_consignment::Variables {
        envd_account_id: "envd-1".into(),
        id: "c-1".into(),
    }
}

#[tokio::test]
async fn a_call_has_its_own_headers_and_a_response_with_http_metadata() {
    let (server, client) = serve(copied().insert_header("x-request-id", "r-17")).await;
    let call = client
        .execute::<CopyConsignment>(variables())
        .header("x-office", "Roma")
        .timeout(Duration::from_secs(9));
    let response = call.response().await.unwrap();
    assert_eq!((response.status, response.attempts), (Some(200), 1));
    assert_eq!(response.request_id.as_deref(), Some("r-17"));
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests[0].headers["x-office"], "Roma");
    // Other calls do not have the header.
    client
        .execute::<CopyConsignment>(variables())
        .await
        .unwrap();
    let requests = server.received_requests().await.unwrap();
    assert!(!requests[1].headers.contains_key("x-office"));
}

#[tokio::test]
async fn a_dry_run_shows_exactly_what_a_send_sends_and_sends_nothing() {
    let (server, client) = serve(copied()).await;
    let call = client
        .execute::<CopyConsignment>(variables())
        .header("x-office", "Roma");
    let dry = call.dry_run().unwrap();
    assert!(server.received_requests().await.unwrap().is_empty());
    let shown = format!("{dry:?} {call:?}");
    assert!(
        !shown.contains("c-1") && !shown.contains("Roma") && !shown.contains("secret"),
        "{shown}"
    );
    call.await.unwrap();
    let requests = server.received_requests().await.unwrap();
    let real = &requests[0];
    assert_eq!(dry.method, real.method.as_str());
    assert_eq!(dry.url.as_str(), format!("{}/", server.uri()));
    assert_eq!(dry.body.as_bytes(), real.body);
    for (name, value) in &dry.headers {
        assert_eq!(real.headers[name].as_bytes(), value.as_bytes(), "{name}");
    }
    // The difference is the token and the headers that the HTTP library adds.
    let mut left: Vec<_> = real.headers.keys().map(ToString::to_string).collect();
    left.retain(|name| !dry.headers.iter().any(|(shown, _)| shown == name));
    left.sort();
    assert_eq!(left, ["authorization", "content-length", "host"]);
}

#[tokio::test]
async fn an_invalid_or_reserved_header_is_an_error_and_nothing_is_sent() {
    let (server, client) = serve(copied()).await;
    for (name, value) in [
        ("a b", "x"),
        ("x-a", "line\nbreak"),
        ("Authorization", "Bearer x"),
        ("accept", "text/xml"),
    ] {
        let call = client
            .execute::<CopyConsignment>(variables())
            .header(name, value);
        assert!(call.dry_run().unwrap_err().is_config(), "{name}");
        let error = call.await.unwrap_err();
        assert!(error.is_config() && error.attempts() == 0, "{name}");
        assert!(!error.to_string().contains("Bearer"), "{error}");
    }
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn extra_fields_of_an_input_are_sent_beside_the_known_ones() {
    let reply = json!({"data": {"createOrSaveConsignment": {"data": {"id": "c-9"}}}});
    let (server, client) = serve(ResponseTemplate::new(200).set_body_json(reply)).await;
    let account = client.account("envd-1");
    let input = ConsignmentInput::new(
        [FormType::Lpac1],
        PartyInput::new("A"),
        PartyInput::new("B"),
    );
    account
        .save_consignment(input.clone().extra("revision", 7))
        .await
        .unwrap();
    let requests = server.received_requests().await.unwrap();
    let body: Value = requests[0].body_json().unwrap();
    assert_eq!(
        body["variables"],
        json!({"envdAccountId": "envd-1", "input": {
            "forms": ["LPAC1"], "origin": {"pic": "A"}, "destination": {"pic": "B"}, "revision": 7}})
    );
    let error = account
        .save_consignment(input.extra("forms", ["LPAG3"]))
        .await
        .unwrap_err();
    assert!(error.is_config());
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_operation_kind_of_a_custom_document_is_read_from_it() {
    let (_server, client) = serve(ResponseTemplate::new(200)).await;
    for (document, in_doubt) in [("query A { a }", false), ("mutation A { a }", true)] {
        let call = client.execute_document::<Value>(document, "A", &json!({}));
        let error = call.await.unwrap_err();
        assert_eq!(error.may_have_applied(), in_doubt, "{document}");
    }
}

/// A server with a list of one record that lacks fields, and with that record; both replies have this delay.
async fn serve_list_and_record(delay: Duration) -> (MockServer, ClientBuilder) {
    let server = MockServer::start().await;
    let list = json!({"data": {"consignments": {"pageInfo": {"hasNextPage": false}, "totalCount": 1,
        "edges": [{"cursor": "x", "node": {"id": "c-1"}}]}}});
    let list = Mock::given(any()).respond_with(ResponseTemplate::new(200).set_body_json(list));
    list.up_to_n_times(1).mount(&server).await;
    let record = json!({"data": {"consignment": {"id": "c-1"}}});
    let record = ResponseTemplate::new(200).set_body_json(record);
    let record = record.insert_header("x-request-id", "r-2").set_delay(delay);
    Mock::given(any()).respond_with(record).mount(&server).await;
    let token = StaticToken::new("a-secret-token").unwrap();
    let client = Client::builder(server.uri()).token_source(token);
    (server, client)
}

fn candidates(client: ClientBuilder) -> Call<Vec<ConsignmentSummary>> {
    let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    let account = client.build().unwrap().account("envd-1");
    account.candidates(&input).find()
}

#[tokio::test]
async fn settings_of_a_call_apply_to_each_of_its_requests() {
    let (server, client) = serve_list_and_record(Duration::ZERO).await;
    let call = candidates(client).header("x-office", "Roma");
    assert!(call.dry_run().unwrap().body.contains("query Consignments"));
    let response = call.response().await.unwrap();
    assert_eq!((response.value.len(), response.attempts), (1, 2));
    assert_eq!(response.request_id.as_deref(), Some("r-2"));
    let requests = server.received_requests().await.unwrap();
    assert_eq!(requests.len(), 2);
    assert!(
        requests
            .iter()
            .all(|request| request.headers["x-office"] == "Roma")
    );
}

#[tokio::test]
async fn the_deadline_of_a_call_covers_all_its_requests() {
    let (server, client) = serve_list_and_record(Duration::from_secs(3_600)).await;
    let clock = Clock::manual(SystemTime::UNIX_EPOCH);
    let call = candidates(client.clock(clock.clone())).deadline(Duration::from_secs(5));
    let running = tokio::spawn(call.into_future());
    while server.received_requests().await.unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    clock.advance(Duration::from_secs(5));
    let error = running.await.unwrap().unwrap_err();
    assert!(error.is_timeout() && !error.is_connect(), "{error}");
    assert_eq!(error.operation(), Some("consignment"));
}

#[tokio::test]
async fn a_call_that_is_not_awaited_sends_nothing() {
    let (server, client) = serve(copied()).await;
    drop(client.execute::<CopyConsignment>(variables()));
    drop(client.execute::<CopyConsignment>(variables()).into_future());
    drop(client.account("envd-1").consignment("c-1").response());
    assert!(server.received_requests().await.unwrap().is_empty());
}
