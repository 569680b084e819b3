//! Settings of a single call, the request that it sends, and dry runs.

use envd_sdk::auth::StaticToken;
use envd_sdk::graphql::generated::{CopyConsignment, copy_consignment};
use envd_sdk::model::{
    CommentInput, ConsignmentInput, ConsignmentStatus, FormType, PartyInput, Role, Species,
    TemplateInput,
};
use envd_sdk::ops::{ConsignmentFilter, TemplateFilter};
use envd_sdk::{Call, Client, ErrorKind};
use equipment::script::rows;
use equipment::{Reply, Server};
use serde_json::{Value, json};

use crate::scripted::{body, client, ok};

fn serve(reply: Reply) -> (Server, Client) {
    let server = Server::script([reply]);
    let token = StaticToken::new("a-secret-token").unwrap();
    let client = client(&server).token_source(token).build().unwrap();
    (server, client)
}

fn copied() -> Reply {
    ok(json!({"data": {"copyConsignment": {"data": {"id": "c-9"}}}}))
}

fn variables() -> copy_consignment::Variables {
    copy_consignment::Variables {
        envd_account_id: "envd-1".into(),
        id: "c-1".into(),
    }
}

#[tokio::test]
async fn a_dry_run_shows_exactly_what_a_send_sends_and_sends_nothing() {
    let (server, client) = serve(copied());
    let call = client
        .execute::<CopyConsignment>(variables())
        .header("x-office", "Roma");
    let dry = call.dry_run().unwrap();
    assert!(server.requests().is_empty());
    let shown = format!("{dry:?} {call:?}");
    assert!(
        !shown.contains("c-1") && !shown.contains("Roma") && !shown.contains("secret"),
        "{shown}"
    );
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
    let names = real
        .head
        .lines()
        .skip(1)
        .map(|line| line.split(':').next().unwrap());
    let mut left: Vec<_> = names.collect();
    left.retain(|name| !dry.headers.iter().any(|(shown, _)| shown == name));
    left.sort_unstable();
    assert_eq!(left, ["authorization", "content-length", "host"]);
}

#[tokio::test]
async fn extra_fields_of_an_input_are_sent_beside_the_known_ones() {
    let reply = json!({"data": {"createOrSaveConsignment": {"data": {"id": "c-9"}}}});
    let (server, client) = serve(ok(reply));
    let account = client.account("envd-1");
    let input = ConsignmentInput::new(
        [FormType::Lpac1],
        PartyInput::new("A"),
        PartyInput::new("B"),
    );
    let _ = account
        .save_consignment(input.clone().extra("revision", 7))
        .await
        .unwrap();
    let requests = server.requests();
    assert_eq!(
        body(&requests[0])["variables"],
        json!({"envdAccountId": "envd-1", "input": {
            "forms": ["LPAC1"], "origin": {"pic": "A"}, "destination": {"pic": "B"}, "revision": 7}})
    );
    let error = account
        .save_consignment(input.extra("forms", ["LPAG3"]))
        .await
        .unwrap_err();
    assert!(error.kind() == ErrorKind::Config);
    assert!(
        error.to_string().contains("the field forms is there twice"),
        "{error}"
    );
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_call_that_is_not_awaited_sends_nothing() {
    let (server, client) = serve(copied());
    drop(client.execute::<CopyConsignment>(variables()));
    drop(client.execute::<CopyConsignment>(variables()).into_future());
    drop(client.account("envd-1").consignment("c-1").response());
    assert!(server.requests().is_empty());
}

/// The operation and the variables of a call.
fn sent<T: Send + 'static>(call: &Call<T>) -> (String, Value) {
    let body: Value = serde_json::from_str(&call.dry_run().unwrap().body).unwrap();
    let operation = body["operationName"].as_str().unwrap();
    (operation.to_owned(), body["variables"].clone())
}

/// The operations of these calls with their variables, A for the account.
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
    let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
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
        sent(&account.save_consignment(input.clone())),
        sent(&account.submit_consignment(input)),
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
