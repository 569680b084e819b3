//! A server whose schema has less, or other names, than the documents of this crate ask for.

use std::collections::BTreeSet;

use envd_sdk::auth::StaticToken;
use envd_sdk::fake::{Fake, World};
use envd_sdk::graphql::SCHEMA;
use envd_sdk::model::{CommentInput, ConsignmentInput, FormType, PartyInput, TemplateInput};
use envd_sdk::ops::{ConsignmentFilter, TemplateFilter};
use envd_sdk::{Client, Error, RetryPolicy};
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

/// The records that every query reads.
const NUMBER: &str = "C-900000101";
const TEMPLATE: &str = "T-900000017";

/// Object types of replies with the fields that a server may lack: what the specification does not state, and what it
/// states in another place than the public queries.
const OPTIONAL: [(&str, &[&str]); 12] = [
    ("ConsignmentConnection", &["totalCount"]),
    (
        "Consignment",
        &[
            "species",
            "movementDate",
            "movementTime",
            "heads",
            "pdfUrl",
            "createdBy",
            "updatedAt",
            "updatedBy",
            "submittedAt",
            "owner",
            "origin",
            "destination",
            "consignee",
            "forms",
            "answers",
            "questions",
            "declaration",
        ],
    ),
    ("ConsignmentForm", &["type", "serialNumber"]),
    ("Question", &["help", "tip", "forms"]),
    (
        "Template",
        &[
            "id",
            "number",
            "name",
            "species",
            "owner",
            "origin",
            "destination",
            "consignee",
            "forms",
        ],
    ),
    ("TemplateConnection", &["totalCount"]),
    (
        "Comment",
        &[
            "commentId",
            "consignmentNumber",
            "role",
            "firstName",
            "lastName",
            "commentText",
            "createdAt",
        ],
    ),
    (
        "ConsignmentUserMapping",
        &[
            "mappingId",
            "email",
            "firstName",
            "lastName",
            "role",
            "pic",
            "numOfHeads",
        ],
    ),
    ("Edec", &["id", "number", "status", "createdAt"]),
    (
        "UserDetails",
        &["auth0Id", "mobilePhone", "accreditations", "roles"],
    ),
    ("Account", &["email", "roles", "properties"]),
    ("AccountProperty", &["propertyName", "accreditations"]),
];

/// The bundled schema without some fields. Each type keeps one, since none may be empty.
fn without(fields: &[(&str, &str)]) -> String {
    let (mut schema, mut owner) = (String::new(), "");
    let mut lines = SCHEMA.lines().peekable();
    // A description and its element are taken or left together.
    let mut description = String::new();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("type ") {
            owner = name.trim_end_matches(" {");
        }
        if line.trim() == "\"\"\"" {
            description = format!("{line}\n");
            for line in lines.by_ref() {
                description.push_str(line);
                description.push('\n');
                if line.trim() == "\"\"\"" {
                    break;
                }
            }
            continue;
        }
        let field = line.trim().split([':', '(']).next().unwrap_or_default();
        if !(line.starts_with("  ") && fields.contains(&(owner, field))) {
            schema.push_str(&description);
            schema.push_str(line);
            schema.push('\n');
            if line.starts_with("type ") && fields.iter().any(|(of, _)| *of == owner) {
                schema.push_str("  other: String\n");
            }
        }
        description.clear();
    }
    schema
}

async fn client_of(schema: &str) -> (Fake, Client) {
    let fake = Fake::builder().schema(schema).start().await.unwrap();
    let client = fake.client().retry(RetryPolicy::none()).build().unwrap();
    (fake, client)
}

/// Every typed query.
async fn every_query(fake: &Fake, client: &Client) -> Result<(), Error> {
    let account = client.account(fake.account_id());
    client.registered_user().await?;
    assert!(!client.questions().await?.value.items.is_empty());
    let filter = ConsignmentFilter::default().page_size(3);
    let page = account.consignments_page(&filter, None).await?.value;
    assert_eq!(page.edges.len(), 3);
    let (mut records, mut items) = (Vec::new(), account.consignments(&filter).items());
    items.collect_up_to(100, &mut records).await?;
    assert_eq!(records.len(), 8);
    let record = account.consignment(NUMBER).await?.value;
    assert_eq!(record.number.unwrap(), NUMBER);
    assert_eq!(
        account
            .templates_page(&TemplateFilter::default(), None)
            .await?
            .value
            .edges
            .len(),
        1
    );
    account.template(TEMPLATE).await?;
    assert_eq!(account.comments(NUMBER).await?.value.len(), 1);
    account.user_mappings(NUMBER, "AUTHVIEWER").await?;
    account.edecs().await?;
    Ok(())
}

#[tokio::test]
async fn every_query_works_without_any_one_of_the_doubtful_fields() {
    for (owner, fields) in OPTIONAL {
        for field in fields {
            let (fake, client) = client_of(&without(&[(owner, field)])).await;
            if let Err(error) = every_query(&fake, &client).await {
                panic!("{owner}.{field}: {error} {:?}", error.server_errors());
            }
            let adapted = client.adapted_operations();
            assert!(!adapted.is_empty(), "{owner}.{field}");
            for path in adapted.iter().flat_map(|adapted| &adapted.left_out) {
                // The field, or what is asked for below it.
                assert!(path.split('.').any(|name| name == *field), "{path}");
            }
        }
    }
}

#[tokio::test]
async fn every_query_works_without_all_of_the_doubtful_fields_and_asks_once_more() {
    let all: Vec<_> = OPTIONAL
        .iter()
        .flat_map(|(owner, fields)| fields.iter().map(move |field| (*owner, *field)))
        .collect();
    let (fake, client) = client_of(&without(&all)).await;
    every_query(&fake, &client).await.unwrap();
    let first = fake.requests().len();
    every_query(&fake, &client).await.unwrap();
    let second = fake.requests().len() - first;
    let adapted = client.adapted_operations();
    let names: BTreeSet<_> = adapted.iter().map(|adapted| adapted.operation).collect();
    assert_eq!(names.len(), 9, "the nine queries: {names:?}");
    // One more request for each, and only the first time; clones share what was learnt.
    assert_eq!(first, second + 9);
    assert_eq!(client.clone().adapted_operations(), adapted);
    // What is stated is still read.
    let user = client.user_details().await.unwrap().value;
    assert_eq!(user.accounts.len(), 3);
    assert!(user.first_name.is_some() && user.roles.is_empty() && user.accreditations.is_none());
}

#[tokio::test]
async fn a_field_without_which_a_list_would_end_too_early_is_never_left_out() {
    let (fake, client) = client_of(&without(&[("PageInfo", "hasNextPage")])).await;
    let account = client.account(fake.account_id());
    let error = account
        .consignments_page(&ConsignmentFilter::default(), None)
        .await
        .unwrap_err();
    assert!(error.is_schema_mismatch());
    assert_eq!(fake.requests().len(), 1);
    assert!(client.adapted_operations().is_empty());
}

#[tokio::test]
async fn a_change_is_never_sent_with_another_document() {
    let (fake, client) = client_of(&without(&[("Comment", "role")])).await;
    let account = client.account(fake.account_id());
    let comment = CommentInput::new(NUMBER, "The truck comes at five.");
    let error = account.create_comment(comment).await.unwrap_err();
    assert!(error.is_schema_mismatch());
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn an_override_is_sent_as_it_is() {
    let (fake, _) = client_of(&without(&[("UserDetails", "roles")])).await;
    let document = "{ userDetails { roles } }";
    let client = fake.client().override_operation("userDetails", document);
    let error = client.build().unwrap().user_details().await.unwrap_err();
    assert!(error.is_schema_mismatch());
    assert_eq!(fake.requests().len(), 1);
}

/// A schema whose object types have other names: those are shown nowhere, so no document may rest on them.
#[tokio::test]
async fn every_operation_works_whatever_the_object_types_are_called() {
    let mut names: Vec<_> = SCHEMA
        .lines()
        .filter_map(|line| line.strip_prefix("type ")?.strip_suffix(" {"))
        .filter(|name| !["Query", "Mutation"].contains(name))
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let mut schema = String::new();
    for line in SCHEMA.lines() {
        let renamed = names.iter().find_map(|name| {
            let declared = line
                .strip_prefix("type ")
                .filter(|rest| *rest == format!("{name} {{"));
            let (before, ty) = line.split_once(": ").unwrap_or((line, ""));
            let bare = ty.trim_matches(['[', ']', '!']);
            match declared {
                Some(_) => Some(format!("type {name}GraphType {{")),
                None if bare == *name => Some(format!(
                    "{before}: {}",
                    ty.replace(name, &format!("{name}GraphType"))
                )),
                None => None,
            }
        });
        schema.push_str(renamed.as_deref().unwrap_or(line));
        schema.push('\n');
    }
    let (fake, client) = client_of(&schema).await;
    every_query(&fake, &client).await.unwrap();
    let account = client.account(fake.account_id());
    let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    let draft = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    let saved = account.save_consignment(draft).await.unwrap().value;
    account
        .copy_consignment(saved.number.unwrap())
        .await
        .unwrap();
    account.delete_consignment(saved.id.unwrap()).await.unwrap();
    account
        .create_comment(CommentInput::new(NUMBER, "Five."))
        .await
        .unwrap();
    let template = TemplateInput::new("Again", [FormType::Lpac1]);
    let template = account.save_template(template).await.unwrap().value;
    account.delete_template(template.id.unwrap()).await.unwrap();
    assert!(client.adapted_operations().is_empty());
}

/// The user details under `data`, and under their other name (spec 2.8 and 4.1).
#[tokio::test]
async fn the_user_details_are_read_from_each_home() {
    let under_data = SCHEMA.replace(
        "type UserDetails {",
        "type UserDetails { data: UserRecord }\n\ntype UserRecord {",
    );
    let other_name = without(&[("Query", "userDetails")]);
    for (schema, root) in [
        (under_data.as_str(), "userDetails { data {"),
        (
            other_name.as_str(),
            "userDetails: userDetailsQuery { data {",
        ),
    ] {
        let (fake, client) = client_of(schema).await;
        for _ in 0..2 {
            let user = client.registered_user().await.unwrap().value;
            assert_eq!(user.first_name.as_deref(), Some("Sam"));
            assert_eq!(user.accounts.len(), 3);
        }
        let adapted = client.adapted_operations();
        assert!(
            adapted[0].document.contains(root),
            "{}",
            adapted[0].document
        );
        assert!(adapted[0].left_out.is_empty(), "{:?}", adapted[0].left_out);
        let sent = fake.requests().len();
        client.user_details().await.unwrap();
        assert_eq!(fake.requests().len(), sent + 1);
    }
}

/// A server that knows one form of one query, and words its refusals as a certain software does.
async fn strict(takes: &'static str, refusal: fn(Value, &str) -> Value) -> (MockServer, Client) {
    let server = MockServer::start().await;
    let respond = move |request: &Request| {
        let body: Value = request.body_json().unwrap();
        let query = body["query"].as_str().unwrap();
        if query.contains(takes) {
            let user = json!({"isNewUser": false, "firstName": "Sam"});
            return ResponseTemplate::new(200)
                .set_body_json(json!({"data": {"userDetails": user}}));
        }
        let field = ["data", "roles", "isNewUser"]
            .into_iter()
            .find(|name| query.contains(&format!(" {name} ")))
            .unwrap();
        let column = query.find(&format!(" {field} ")).unwrap() + 2;
        let error = refusal(json!([{"line": 1, "column": column}]), field);
        ResponseTemplate::new(400).set_body_json(json!({"errors": [error]}))
    };
    Mock::given(any())
        .respond_with(respond)
        .mount(&server)
        .await;
    let client = Client::builder(server.uri()).token_source(StaticToken::new("a-token").unwrap());
    (server, client.build().unwrap())
}

#[tokio::test]
async fn the_refusals_of_other_servers_are_understood() {
    let dotnet = |at: Value, field: &str| {
        json!({
            "message": format!("Cannot query field '{field}' on type 'UserDetails'."), "locations": at,
            "extensions": {"code": "FIELDS_ON_CORRECT_TYPE", "codes": ["FIELDS_ON_CORRECT_TYPE"], "number": "5.3.1"},
        })
    };
    let js = |at: Value, field: &str| json!({"message": format!("Cannot query field \"{field}\" on type \"UserDetails\"."), "locations": at});
    let apollo = |at: Value, field: &str| {
        json!({
            "message": format!("Cannot query field \"{field}\" on type \"UserDetails\"."), "locations": at,
            "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"},
        })
    };
    for refusal in [dotnet, js, apollo] as [fn(Value, &str) -> Value; 3] {
        // The last of the four homes: the other name, without `data`.
        let (server, client) = strict("userDetails: userDetailsQuery { auth0Id", refusal).await;
        let user = client.user_details().await.unwrap().value;
        assert_eq!(user.first_name.as_deref(), Some("Sam"));
        client.user_details().await.unwrap();
        assert!(server.received_requests().await.unwrap().len() < 9);
    }
}

#[tokio::test]
async fn a_field_that_failed_while_it_was_read_is_not_taken_for_a_missing_one() {
    let failed = |at: Value, field: &str| {
        json!({
            "message": format!("Error trying to resolve field '{field}'."), "locations": at,
            "path": ["userDetails", field], "extensions": {"code": "NULL_REFERENCE", "codes": ["NULL_REFERENCE"]},
        })
    };
    let (server, client) = strict("nothing", failed).await;
    assert!(client.user_details().await.is_err());
    assert_eq!(server.received_requests().await.unwrap().len(), 1);
}

fn nested(level: usize, last: usize) -> Value {
    let below = if level < last {
        vec![nested(level + 1, last)]
    } else {
        Vec::new()
    };
    json!({
        "id": format!("q{level}"), "order": level, "text": format!("Level {level}"), "readOnly": false,
        "forms": ["LPAC1"], "type": "STRING", "triggers": null, "validators": [], "acceptableAnswers": [],
        "childQuestions": below,
    })
}

#[tokio::test]
async fn questions_are_asked_for_until_a_level_comes_back_empty() {
    for (last, requests) in [(5, 1), (6, 2), (9, 2), (12, 3)] {
        let fake = Fake::builder().world(World::sample().questions([nested(1, last)]));
        let fake = fake.start().await.unwrap();
        let client = fake.client().build().unwrap();
        let items = client.questions().await.unwrap().value.items;
        let record = client
            .account(fake.account_id())
            .consignment(NUMBER)
            .await
            .unwrap()
            .value;
        for questions in [&items, &record.questions] {
            let (mut below, mut level) = (questions, 0);
            while let Some(question) = below.first() {
                level += 1;
                assert_eq!(
                    question.text.as_deref(),
                    Some(format!("Level {level}").as_str())
                );
                below = &question.child_questions;
            }
            assert_eq!(level, last);
        }
        assert_eq!(fake.requests().len(), 2 * requests, "{last} levels");
        client.questions().await.unwrap();
        assert_eq!(
            fake.requests().len(),
            2 * requests + 1,
            "the deeper document is kept"
        );
    }
}

#[tokio::test]
async fn questions_without_end_are_refused_with_the_limit() {
    let fake = Fake::builder().world(World::sample().questions([nested(1, 40)]));
    let fake = fake.start().await.unwrap();
    let error = fake
        .client()
        .build()
        .unwrap()
        .questions()
        .await
        .unwrap_err();
    assert!(
        error.is_protocol() && error.to_string().contains("33"),
        "{error}"
    );
}
