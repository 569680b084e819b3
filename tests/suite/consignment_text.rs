//! A save of a text: what was signed is what is sent, byte for byte, however the service wants its record to be named.

use envd_sdk::ErrorKind;
use envd_sdk::model::ConsignmentText;
use envd_sdk::profile::{OperationProfile, RecordNames, ServiceProfile, Sourced};
use equipment::Server;
use serde_json::json;

use crate::scripted::{client, ok};

/// Order, digits, escapes and white space that reading and writing would change.
const SIGNED: &str = "\"z\": 1.50, \"declaration\" : {\"signature\":\"c2ln\",  \"fullName\":\"Zo\\u00eb\"},\n\"forms\":[\"LPAC1\"]";

fn updates(id: Option<&str>, number: Option<&str>) -> ServiceProfile {
    let mut profile = ServiceProfile::default();
    let [id, number] = [id, number].map(|name| name.map(str::to_owned));
    let mut names = RecordNames::default();
    (names.id, names.number) = (id, number);
    profile.updates = Sourced::seen(names);
    profile
}

fn overridden() -> ServiceProfile {
    let mut profile = ServiceProfile::default();
    let document = "mutation Mine($envdAccountId: String!, $input: SaveInput!) {
        createOrSaveConsignment(accountId: $envdAccountId, input: $input) { data { id } }
    }";
    let operation = OperationProfile::of_document(document);
    let operations = &mut profile.operations;
    operations.insert(
        "createOrSaveConsignment".to_owned(),
        Sourced::seen(operation),
    );
    profile
}

#[tokio::test]
async fn the_text_on_the_wire_is_the_text_that_was_signed() {
    let new = format!("{{{SIGNED}}}");
    let signed = ConsignmentText::parse(&new).unwrap();
    let (update, named) = (
        signed.with("id", "c-1"),
        signed.with("number", "C-1").with("id", "c-1"),
    );
    let named_before = ConsignmentText::parse(&format!("{{{SIGNED}, \"id\" :\"c-1\"}}")).unwrap();
    for (profile, text, sent) in [
        (ServiceProfile::default(), &signed, new.clone()),
        (
            ServiceProfile::default(),
            &update,
            format!(r#"{{{SIGNED},"id":"c-1"}}"#),
        ),
        (overridden(), &signed, new.clone()),
        (overridden(), &update, format!(r#"{{{SIGNED},"id":"c-1"}}"#)),
        (updates(Some("consignmentId"), None), &signed, new.clone()),
        (
            updates(Some("consignmentId"), None),
            &named,
            format!(r#"{{{SIGNED},"consignmentId":"c-1"}}"#),
        ),
        (
            updates(Some("consignmentId"), None),
            &named_before,
            format!("{{{SIGNED}, \"consignmentId\" :\"c-1\"}}"),
        ),
        (
            updates(None, Some("reference")),
            &named,
            format!(r#"{{{SIGNED},"reference":"C-1"}}"#),
        ),
        (
            updates(Some("id"), Some("reference")),
            &named,
            format!(r#"{{{SIGNED},"reference":"C-1","id":"c-1"}}"#),
        ),
    ] {
        let record = json!({"data": {"createOrSaveConsignment": {"data": {"id": "c-1"}}}});
        let server = Server::script([ok(record)]);
        let client = client(&server).profile(&profile).build().unwrap();
        let save = client.account("envd-1").save_consignment_text(text);
        assert_eq!(save.await.unwrap().value.id, Some("c-1".into()));
        let body = &server.requests()[0].body;
        assert!(
            body.contains(&format!(r#""input":{sent}"#)),
            "{sent}\n{body}"
        );
    }
}

#[tokio::test]
async fn an_update_that_the_profile_cannot_name_is_not_sent() {
    let signed = ConsignmentText::parse(&format!("{{{SIGNED}}}")).unwrap();
    for (profile, text, why) in [
        (
            updates(None, Some("number")),
            signed.with("id", "c-1"),
            "by the profile an update names its record by number, which the input does not have",
        ),
        (
            updates(None, None),
            signed.with("id", "c-1"),
            "by the profile no update names its record",
        ),
        (
            updates(Some("z"), None),
            signed.with("id", "c-1"),
            "the field z is there already",
        ),
    ] {
        let server = Server::script([ok(json!({}))]);
        let client = client(&server).profile(&profile).build().unwrap();
        let save = client.account("envd-1").save_consignment_text(&text);
        let error = save.await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        // The operation, then why.
        let said = error.to_string();
        assert!(said.ends_with(why), "{said}");
        assert_eq!(server.count(), 0);
    }
}
