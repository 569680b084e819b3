//! A save of a text: what was signed is what is sent, byte for byte, however the service wants its record to be named.

use envd_sdk::ErrorKind;
use envd_sdk::model::ConsignmentText;
use envd_sdk::profile::ServiceProfile;
use equipment::Server;
use equipment::script::rows;
use serde_json::json;

use crate::scripted::{client, ok};

/// Order, digits, escapes and white space that reading and writing would change.
const SIGNED: &str = "\"z\": 1.50, \"declaration\" : {\"signature\":\"c2ln\",  \"fullName\":\"Zo\\u00eb\"},\n\"forms\":[\"LPAC1\"]";

/// What the profile calls the id and the number of a record; how the signed text S, as it was read, gets names; the input that is
/// sent, or why the profile cannot name the update.
const SAVES: &str = r#"
# the profile             | text                   | named           | sent
id                        | {S}                    |                 | {S}
id                        | {S}                    | id=c-1          | {S,"id":"c-1"}
own                       | {S}                    |                 | {S}
own                       | {S}                    | id=c-1          | {S,"id":"c-1"}
consignmentId             | {S}                    |                 | {S}
consignmentId             | {S}                    | number=C-1 id=c-1 | {S,"consignmentId":"c-1"}
consignmentId             | {S, "id" :"c-1"}       |                 | {S, "consignmentId" :"c-1"}
- reference               | {S}                    | number=C-1 id=c-1 | {S,"reference":"C-1"}
id reference              | {S}                    | number=C-1 id=c-1 | {S,"reference":"C-1","id":"c-1"}
- number                  | {S}                    | id=c-1          | by the profile an update names its record by number, which the input does not have
-                         | {S}                    | id=c-1          | by the profile no update names its record
z                         | {S}                    | id=c-1          | the text of a consignment has a field twice
"#;

const OWN: &str = "mutation Mine($envdAccountId: String!, $input: SaveInput!) {
    createOrSaveConsignment(accountId: $envdAccountId, input: $input) { data { id } }
}";

fn profile(names: &str) -> ServiceProfile {
    let mut names = names
        .split(' ')
        .map(|name| Some(name).filter(|name| *name != "-"));
    let (id, number) = (names.next().unwrap(), names.next().flatten());
    let profile = if id == Some("own") {
        json!({"operations": {"createOrSaveConsignment": {"value": {"document": OWN}}}})
    } else {
        json!({"updates": {"value": {"id": id, "number": number}}})
    };
    ServiceProfile::from_json(&profile.to_string()).unwrap()
}

#[tokio::test]
async fn the_text_on_the_wire_is_the_text_that_was_signed() {
    for row in rows(SAVES) {
        let mut text = ConsignmentText::parse(&row[1].replace('S', SIGNED)).unwrap();
        for (name, value) in row[2].split(' ').filter_map(|name| name.split_once('=')) {
            text = text.with(name, value);
        }
        let record = json!({"data": {"createOrSaveConsignment": {"data": {"id": "c-1"}}}});
        let server = Server::script([ok(record)]);
        let client = client(&server).profile(&profile(row[0])).build().unwrap();
        let saved = client.account("envd-1").save_consignment_text(&text).await;
        if !row[3].starts_with('{') {
            let error = saved.unwrap_err();
            let is_config = error.kind() == ErrorKind::Config;
            assert!(is_config && error.to_string().ends_with(row[3]), "{error}");
            assert_eq!(server.count(), 0, "{row:?}");
            continue;
        }
        assert_eq!(saved.unwrap().value.id, Some("c-1".into()), "{row:?}");
        let (body, sent) = (&server.requests()[0].body, row[3].replace('S', SIGNED));
        assert!(
            body.contains(&format!(r#""input":{sent}"#)),
            "{row:?}\n{body}"
        );
    }
}
