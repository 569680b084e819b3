//! Other locations of a record, and the error texts of other servers.

use envd_sdk::graphql::SCHEMA;
use serde_json::json;
use test_support::script::rows;
use test_support::{Reply, Server};

use super::{client_of, without};
use crate::scripted::{body, client, ok};

/// The user details under `data`, and under the other field name (spec 2.8 and 4.1).
#[tokio::test]
async fn the_user_details_are_read_from_each_location() {
    let under_data = SCHEMA.replace(
        "type UserDetails {",
        "type UserDetails { data: UserRecord }\n\ntype UserRecord {",
    );
    let other_name = without(&[("Query", "userDetails")]);
    for (schema, at) in [
        (under_data.as_str(), "/userDetails/data"),
        (other_name.as_str(), "/userDetailsQuery/data"),
    ] {
        let (fake, client) = client_of(schema).await;
        for _ in 0..2 {
            let user = client.registered_user().await.unwrap().value;
            assert_eq!(user.first_name.as_deref(), Some("Sam"));
            assert_eq!(user.accounts.len(), 3);
        }
        let adapted = client.profile().operations;
        let [adapted] = adapted.values().collect::<Vec<_>>()[..] else {
            panic!("{adapted:?}");
        };
        assert_eq!(adapted.value.record_at.as_deref(), Some(at));
        assert!(adapted.value.left_out.is_empty(), "{adapted:?}");
        let sent = fake.requests().len();
        let _ = client.user_details().await.unwrap();
        assert_eq!(fake.requests().len(), sent + 1);
    }
}

/// Refusals of other servers. From each the client either learns where the user details are, or fails after this number of
/// requests. If there is a further error, or the message names another field, the record may be at another of the four
/// locations.
const REFUSALS: &str = r#"
learned | {"message": "Cannot query field '<F>' on type 'UserDetails'.", "locations": <AT>, "extensions": {"code": "FIELDS_ON_CORRECT_TYPE", "codes": ["FIELDS_ON_CORRECT_TYPE"], "number": "5.3.1"}}
learned | {"message": "Cannot query field \"<F>\" on type \"UserDetails\".", "locations": <AT>}
learned | {"message": "Cannot query field \"<F>\" on type \"UserDetails\".", "locations": <AT>, "extensions": {"code": "GRAPHQL_VALIDATION_FAILED"}}
1       | {"message": "Error trying to resolve field '<F>'.", "locations": <AT>, "path": ["userDetails", "<F>"], "extensions": {"code": "NULL_REFERENCE", "codes": ["NULL_REFERENCE"]}}
1       | {"message": "Cannot query field \"<F>\" on type \"UserDetails\".", "locations": <AT>}, {"message": "Access denied", "extensions": {"code": "ACCESS_DENIED"}}
4       | {"message": "Cannot query field \"tail\" on type \"UserDetails\".", "locations": <AT>}
"#;

/// A server that accepts one form of one query, and refuses others with these errors.
fn strict(takes: &'static str, errors: &'static str) -> Server {
    Server::start(move |request| {
        let body = body(&request);
        let query = body["query"].as_str().unwrap();
        let at = |name: &&str| query.find(&format!(" {name} "));
        let mut fields = ["data", "roles", "isNewUser"].into_iter();
        let reply = if query.contains(takes) {
            ok(json!({"data": {"userDetails": {"isNewUser": false, "firstName": "Sam"}}}))
        } else {
            let field = fields.find(|name| at(name).is_some()).unwrap();
            let place = json!([{"line": 1, "column": at(&field).unwrap() + 2}]).to_string();
            let errors = errors.replace("<F>", field).replace("<AT>", &place);
            Reply::json(400, format!(r#"{{"errors": [{errors}]}}"#))
        };
        async { reply }
    })
}

#[tokio::test]
async fn only_what_the_document_is_refused_for_is_taken_as_missing() {
    for row in rows(REFUSALS) {
        let is_learned = row[0] == "learned";
        // The last of the four locations: the other name, without `data`.
        let takes = if is_learned {
            "userDetails: userDetailsQuery { auth0Id"
        } else {
            "nothing"
        };
        let server = strict(takes, row[1]);
        let client = client(&server).build().unwrap();
        let user = client.user_details().await;
        assert_eq!(user.is_ok(), is_learned, "{row:?}");
        if let Ok(user) = user {
            assert_eq!(user.value.first_name.as_deref(), Some("Sam"));
            let _ = client.user_details().await.unwrap();
            assert!(server.count() < 9);
        } else {
            assert_eq!(server.count().to_string(), row[0]);
            assert!(client.profile().operations.is_empty());
        }
    }
}
