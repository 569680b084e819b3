//! Saves of a text: the signed bytes are sent unchanged, for each way in which a service may identify the record.

use envd_sdk::ErrorKind;
use envd_sdk::model::ConsignmentText;
use envd_sdk::profile::ServiceProfile;
use serde_json::json;
use test_support::Server;
use test_support::script::rows;

use crate::scripted::{client, ok};

/// Field order, digits, escapes and white space that parsing and serializing would change.
const SIGNED: &str = "\"z\": 1.50, \"declaration\" : {\"signature\":\"c2ln\",  \"fullName\":\"Zo\\u00eb\"},\n\"forms\":[\"LPAC1\"]";

/// Columns: the profile; how the signed text S identifies its record; the sent input, or why the profile cannot identify the record.
const SAVES: &str = r#"
{}                                                              | {S} |                   | {S}
{}                                                              | {S} | id=c-1            | {S,"id":"c-1"}
{"updates": {"value": {"id": "consignmentId", "number": null}}} | {S} |                   | {S}
{"updates": {"value": {"id": "consignmentId", "number": null}}} | {S} | number=C-1 id=c-1 | {S,"consignmentId":"c-1"}
{"updates": {"value": {"id": "consignmentId", "number": null}}} | {S, "id" :"c-1"} |      | {S, "consignmentId" :"c-1"}
{"updates": {"value": {"id": null, "number": "reference"}}}     | {S} | number=C-1 id=c-1 | {S,"reference":"C-1"}
{"updates": {"value": {"id": "id", "number": "reference"}}}     | {S} | number=C-1 id=c-1 | {S,"reference":"C-1","id":"c-1"}
{"updates": {"value": {"id": null, "number": "number"}}}        | {S} | id=c-1            | the profile identifies the record to update by number, which the input does not have
{"updates": {"value": {"id": null, "number": null}}}            | {S} | id=c-1            | the profile names no field that identifies the record to update
{"updates": {"value": {"id": "z", "number": null}}}             | {S} | id=c-1            | the text of a consignment has a field twice
{"operations": {"createOrSaveConsignment": {"value": {"document": "mutation($envdAccountId: ID!, $input: I!) { createOrSaveConsignment(a: $envdAccountId, b: $input) { data { id } } }"}}}} | {S} | id=c-1 | {S,"id":"c-1"}
"#;

#[tokio::test]
async fn the_text_on_the_wire_is_the_text_that_was_signed() {
    for row in rows(SAVES) {
        let mut text = ConsignmentText::parse(&row[1].replace('S', SIGNED)).unwrap();
        for (name, value) in row[2].split(' ').filter_map(|name| name.split_once('=')) {
            text = text.with(name, value);
        }
        let record = json!({"data": {"createOrSaveConsignment": {"data": {"id": "c-1"}}}});
        let server = Server::script([ok(record)]);
        let client = client(&server)
            .profile(&ServiceProfile::from_json(row[0]).unwrap())
            .build()
            .unwrap();
        let saved = client.account("envd-1").save_consignment_text(&text).await;
        if !row[3].starts_with('{') {
            let error = saved.unwrap_err();
            let is_config = error.kind() == ErrorKind::Config;
            assert!(is_config && error.to_string().ends_with(row[3]), "{error}");
            assert_eq!(server.count(), 0, "{row:?}");
            continue;
        }
        assert_eq!(saved.unwrap().value.id, Some("c-1".into()), "{row:?}");
        let body = &server.requests()[0].body;
        let sent = row[3].replace('S', SIGNED);
        assert!(
            body.contains(&format!(r#""input":{sent}"#)),
            "{row:?}\n{body}"
        );
    }
}
