//! A service that names fields differently: the profile renames them in all operations, and the results stay the same.

use std::error::Error as _;

use envd_sdk::fake::{Fake, FakeBuilder};
use envd_sdk::graphql::SCHEMA;
use envd_sdk::model::{
    AddressInput, CommentInput, ConsignmentText, FormType, PartyInput, TemplateInput,
};
use envd_sdk::ops::{ConsignmentFilter, TemplateFilter};
use envd_sdk::profile::ServiceProfile;
use envd_sdk::{Client, ErrorKind};
use serde_json::{Value, json};
use test_support::script::rows;

use crate::calls::input;
use crate::fixed_date::manual;

const RENAMED: &str = r#"{"fields": {
    "Address.postcode": "postCode",
    "Comment.commentText": "text",
    "Consignment.number": "consignmentNumber",
    "CreateOrSaveConsignmentInput.movementDate": "movementOn",
    "PartyInput.pic": "propertyCode",
    "Template.name": "title"
}}"#;

fn profile(json: &str) -> ServiceProfile {
    ServiceProfile::from_json(json).unwrap()
}

fn builder() -> FakeBuilder {
    manual().0
}

/// The results of all operations, in order.
async fn all_operations(fake: &Fake, client: &Client) -> envd_sdk::Result<Vec<Value>> {
    const NUMBER: &str = "C-900000101";
    let account = client.account(fake.account_id());
    let mut results = Vec::new();
    macro_rules! keep {
        ($call:expr) => {{
            let value = $call.await?.value;
            results.push(json!(value));
            value
        }};
    }
    keep!(client.user_details());
    keep!(client.questions());
    let filter = ConsignmentFilter::default().page_size(3);
    let mut listed = account.consignments(&filter).items();
    while let Some(record) = listed.next().await {
        results.push(json!(record?));
    }
    let mut listed = account.full_consignments(&filter).items();
    while let Some(record) = listed.next().await {
        results.push(json!(record?));
    }
    keep!(account.consignment(NUMBER));
    keep!(account.comments(NUMBER));
    keep!(account.create_comment(CommentInput::new(NUMBER, "Gate 4.")));
    keep!(account.comments(NUMBER));
    keep!(account.user_mappings(NUMBER, "AUTHVIEWER"));
    keep!(account.edecs());

    let address = AddressInput::default().postcode("4455");
    let mut new = input().movement("2099-01-15", "05:15");
    new.destination = PartyInput::new("QDZZ3333").address(address);
    let saved = keep!(account.save_consignment(new.clone()));
    let id = saved.id.unwrap();
    let text = ConsignmentText::parse(&json!(new).to_string()).unwrap();
    keep!(account.save_consignment_text(&text.with("id", id.as_str())));
    let read = keep!(account.consignment(id.clone()));
    assert_eq!(read.number, saved.number);
    keep!(account.submit_consignment(envd_sdk::model::ConsignmentInput::from(&read)));
    keep!(account.copy_consignment(id.clone()));
    keep!(account.delete_consignment(id));

    keep!(account.templates_page(&TemplateFilter::default(), None));
    let template =
        TemplateInput::new("Again", [FormType::Lpac1]).origin(PartyInput::new("QAZZ7777"));
    let template = keep!(account.save_template(template)).id.unwrap();
    keep!(account.template(template.clone()));
    keep!(account.delete_template(template));
    results.extend(fake.consignments::<Value>(fake.account_id()));
    Ok(results)
}

/// The results without the address of the fake.
async fn results(fake: &Fake, client: &Client) -> Vec<Value> {
    let results = all_operations(fake, client).await;
    let results = results.unwrap_or_else(|error| panic!("{}", error.report()));
    let base = fake.graphql_url().origin().ascii_serialization();
    let text = json!(results).to_string().replace(&base, "");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_service_with_six_renamed_fields_gives_the_same_results() {
    let fake = builder().start().await.unwrap();
    let expected = results(&fake, &fake.client().build().unwrap()).await;
    let sent = fake.requests().len();

    let profile = profile(RENAMED);
    let by_profile = builder().profile(&profile).start().await.unwrap();
    // A schema with the new names is not renamed again.
    let schema = SCHEMA.replacen("  postcode: String", "  postCode: String", 1);
    let renamed = builder().schema(schema).profile(&profile);
    let renamed = renamed.start().await.unwrap();
    for fake in [by_profile, renamed] {
        let client = fake.client().profile(&profile).build().unwrap();
        let found = results(&fake, &client).await;
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected);
        }
        assert_eq!(found.len(), expected.len());
        // No document was refused.
        assert_eq!(fake.requests().len(), sent);
        assert_eq!(client.profile(), profile);
    }
}

#[tokio::test]
async fn without_the_profile_a_renamed_service_refuses_a_save() {
    let fake = builder().profile(&profile(RENAMED)).start().await.unwrap();
    let client = fake.client().build().unwrap();
    let account = client.account(fake.account_id());
    let error = account.save_consignment(input()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
}

#[tokio::test]
async fn a_renamed_field_that_the_service_lacks_is_left_out() {
    let fake = builder().start().await.unwrap();
    let client = fake.client().profile(&profile(RENAMED)).build().unwrap();
    let comments = client.account(fake.account_id()).comments("C-900000101");
    assert!(comments.await.unwrap().value[0].comment_text.is_none());
    let learned = &client.profile().operations["comments"].value.left_out;
    assert_eq!(learned, &["commentText"]);
    // A fake follows what the client has learned.
    let fake = builder().profile(&client.profile()).start().await.unwrap();
    let client = fake.client().profile(&client.profile()).build().unwrap();
    let comments = client.account(fake.account_id()).comments("C-900000101");
    assert!(comments.await.unwrap().value[0].comment_text.is_none());
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn the_input_of_an_override_has_the_names_of_the_service() {
    let fake = builder().start().await.unwrap();
    let profile = profile(r#"{"fields": {"CreateCommentInput.commentText": "text"}}"#);
    let document = "mutation($envdAccountId: String!, $input: CreateCommentInput!) { createComment(a: $a) { commentId } }";
    let client = fake.client().profile(&profile);
    let client = client
        .override_operation("createComment", document)
        .build()
        .unwrap();
    let comment = CommentInput::new("C-1", "Gate 4.");
    let call = client.account("envd-1").create_comment(comment);
    let body: Value = serde_json::from_str(&call.dry_run().unwrap().body).unwrap();
    let input = json!({"consignmentNumber": "C-1", "text": "Gate 4."});
    assert_eq!(body["variables"]["input"], input);
    assert_eq!(body["query"], document);
}

#[tokio::test]
async fn a_rename_that_does_not_fit_is_named() {
    // Columns: the line of the schema, its replacement, the error of a fake with the schema.
    for row in rows(
        "
        type Template {       | type Sample { x: Int } type Template { title: Int | fields.Template.name of the profile, title, does not fit the schema: Template must have one of name and title
        input PartyInput {    | input PartyInput { propertyCode: Int              | fields.PartyInput.pic
        ",
    ) {
        let schema = SCHEMA.replacen(row[0], row[1], 1);
        let fake = builder().schema(schema).profile(&profile(RENAMED));
        let error = fake.start().await.unwrap_err();
        let source = error.source().unwrap().to_string();
        assert!(source.contains(row[2]), "{row:?}: {source}");
    }
    let unknown = profile(r#"{"fields": {"Consignment.numbr": "no"}}"#);
    let fake = builder().profile(&unknown).start().await;
    let client = builder()
        .start()
        .await
        .unwrap()
        .client()
        .profile(&unknown)
        .build();
    for error in [fake.unwrap_err(), client.unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(
            error.to_string().contains("fields.Consignment.numbr"),
            "{error}"
        );
    }
}
