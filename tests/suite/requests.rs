//! Settings of a call, its request, and dry runs.

use envd_sdk::auth::StaticToken;
use envd_sdk::model::{CommentInput, ConsignmentStatus, FormType, Role, Species, TemplateInput};
use envd_sdk::ops::{ConsignmentFilter, TemplateFilter};
use envd_sdk::{Call, Client, ErrorKind};
use serde_json::{Value, json};
use test_support::script::rows;
use test_support::{Reply, Server};

use crate::calls::input;
use crate::scripted::{client, ok};

fn serve(reply: Reply) -> (Server, Client) {
    let server = Server::script([reply]);
    let token = StaticToken::new("a-secret-token").unwrap();
    let client = client(&server).token_source(token).build().unwrap();
    (server, client)
}

#[tokio::test]
async fn a_dry_run_shows_exactly_what_a_send_sends_and_sends_nothing() {
    let copied = json!({"data": {"copyConsignment": {"data": {"id": "c-9"}}}});
    let (server, client) = serve(ok(copied));
    let call = client
        .account("envd-1")
        .copy_consignment("c-1")
        .header("x-office", "Roma");
    let dry = call.dry_run().unwrap();
    assert!(server.requests().is_empty());
    let shown = format!("{dry:?} {call:?}");
    for hidden in ["c-1", "Roma", "secret"] {
        assert!(!shown.contains(hidden), "{shown}");
    }
    let _ = call.await.unwrap();
    let requests = server.requests();
    let real = &requests[0];
    assert!(real.head.starts_with(&format!("{} / HTTP", dry.method)));
    assert_eq!(dry.url.as_str(), format!("{}/", server.url()));
    assert_eq!(dry.body, real.body);
    for (name, value) in &dry.headers {
        assert_eq!(real.header(name), Some(value.as_str()), "{name}");
    }
    // The difference is the token and the headers that the HTTP library adds.
    let lines = real.head.lines().skip(1);
    let mut left: Vec<_> = lines.map(|line| line.split(':').next().unwrap()).collect();
    left.retain(|name| !dry.headers.iter().any(|(shown, _)| shown == name));
    left.sort_unstable();
    assert_eq!(left, ["authorization", "content-length", "host"]);
}

#[tokio::test]
async fn a_field_that_is_there_twice_is_named_and_nothing_is_sent() {
    let (server, client) = serve(Reply::new(500));
    let input = input().extra("forms", ["LPAG3"]);
    let error = client.account("envd-1").save_consignment(input).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    let named = "the field forms is there twice";
    assert!(error.to_string().contains(named), "{error}");
    assert_eq!(server.count(), 0);
}

/// The operation and the variables of a call.
fn sent<T: Send + 'static>(call: &Call<T>) -> (String, Value) {
    let body: Value = serde_json::from_str(&call.dry_run().unwrap().body).unwrap();
    let operation = body["operationName"].as_str().unwrap();
    (operation.to_owned(), body["variables"].clone())
}

/// The operations of these calls, with their variables; A is the account.
const SENT: &str = r#"
UserDetails | {}
Questions | {}
Consignments | {A}
Consignments | {A, "after": "c"}
Consignments | {A, "first": 5, "status": "LOCKED", "species": "GOAT", "searchText": "yards", "fromDate": "2026-01-01T00:00:00Z", "toDate": "2026-02-01T00:00:00Z", "onlySubmitted": true}
Templates | {A, "first": 5, "after": "c"}
Consignment | {A, "id": "c-1"}
Template | {A, "id": "t-1"}
Comments | {A, "consignmentNumber": "C1"}
ConsignmentUserMapping | {A, "consignmentNumber": "C1", "role": "AUTHVIEWER"}
ConsignmentUserMapping | {A, "consignmentNumber": "C1", "role": "Authenticated Viewer"}
Edecs | {A}
CreateOrSaveConsignment | {A, "input": {"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}}}
CreateOrSaveConsignment | {A, "input": {"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}, "revision": 7}}
CreateOrSaveConsignment | {A, "input": {"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"}, "status": "SUBMITTED"}}
CopyConsignment | {A, "id": "c-1"}
DeleteConsignment | {A, "id": "c-1"}
CreateOrSaveTemplate | {A, "input": {"name": "To the works", "forms": ["LPAC1"]}}
DeleteTemplate | {A, "id": "t-1"}
CreateComment | {A, "input": {"consignmentNumber": "C1", "commentText": "once"}}
"#;

#[tokio::test]
async fn each_call_sends_its_arguments() {
    let (_, client) = serve(Reply::new(500));
    let account = client.account("envd-1");
    let none = ConsignmentFilter::default();
    let all = none
        .clone()
        .page_size(5)
        .status(ConsignmentStatus::Locked)
        .species(Species::Goat)
        .search_text("yards")
        .from("2026-01-01T00:00:00Z")
        .to("2026-02-01T00:00:00Z")
        .only_submitted();
    let templates = TemplateFilter::default().page_size(5);
    let template = TemplateInput::new("To the works", [FormType::Lpac1]);
    let calls = [
        sent(&client.user_details()),
        sent(&client.questions()),
        sent(&account.consignments_page(&none, None)),
        sent(&account.consignments_page(&none, Some("c"))),
        sent(&account.consignments_page(&all, None)),
        sent(&account.templates_page(&templates, Some("c"))),
        sent(&account.consignment("c-1")),
        sent(&account.template("t-1")),
        sent(&account.comments("C1")),
        sent(&account.user_mappings("C1", Role::AuthenticatedViewer)),
        sent(&account.user_mappings("C1", "Authenticated Viewer")),
        sent(&account.edecs()),
        sent(&account.save_consignment(input())),
        sent(&account.save_consignment(input().extra("revision", 7))),
        sent(&account.submit_consignment(input())),
        sent(&account.copy_consignment("c-1")),
        sent(&account.delete_consignment("c-1")),
        sent(&account.save_template(template)),
        sent(&account.delete_template("t-1")),
        sent(&account.create_comment(CommentInput::new("C1", "once"))),
    ];
    let expected = rows(SENT).map(|row| {
        let variables = row[1].replace("{A", r#"{"envdAccountId": "envd-1""#);
        (row[0].to_owned(), serde_json::from_str(&variables).unwrap())
    });
    assert_eq!(calls.to_vec(), expected.collect::<Vec<_>>());
}
