//! Other locations of a record, and the error texts of other servers.

use envd_sdk::Client;
use envd_sdk::graphql::SCHEMA;
use equipment::{Reply, Server};
use serde_json::{Value, json};

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

/// The errors about a field at a place.
type Refusal = fn(Value, &str) -> Value;

/// A server that accepts one form of one query, and refuses others in the words of a certain software.
fn strict(takes: &'static str, refusal: Refusal) -> (Server, Client) {
    let respond = move |body: Value| {
        let query = body["query"].as_str().unwrap();
        if query.contains(takes) {
            let user = json!({"isNewUser": false, "firstName": "Sam"});
            return ok(json!({"data": {"userDetails": user}}));
        }
        let field = ["data", "roles", "isNewUser"]
            .into_iter()
            .find(|name| query.contains(&format!(" {name} ")))
            .unwrap();
        let column = query.find(&format!(" {field} ")).unwrap() + 2;
        let error = refusal(json!([{"line": 1, "column": column}]), field);
        let errors = if error.is_array() {
            error
        } else {
            json!([error])
        };
        Reply::json(400, json!({ "errors": errors }))
    };
    let server = Server::start(move |request| {
        let reply = respond(body(&request));
        async { reply }
    });
    let client = client(&server).build().unwrap();
    (server, client)
}

#[tokio::test]
async fn the_refusals_of_other_servers_are_recognised() {
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
    for refusal in [dotnet, js, apollo] as [Refusal; 3] {
        // The last of the four locations: the other name, without `data`.
        let (server, client) = strict("userDetails: userDetailsQuery { auth0Id", refusal);
        let user = client.user_details().await.unwrap().value;
        assert_eq!(user.first_name.as_deref(), Some("Sam"));
        let _ = client.user_details().await.unwrap();
        assert!(server.count() < 9);
    }
}

#[tokio::test]
async fn only_what_the_document_is_refused_for_is_taken_as_missing() {
    let failed = |at: Value, field: &str| {
        json!({
            "message": format!("Error trying to resolve field '{field}'."), "locations": at,
            "path": ["userDetails", field], "extensions": {"code": "NULL_REFERENCE", "codes": ["NULL_REFERENCE"]},
        })
    };
    // Another error stands beside it, or the message names another field than the one at the place: then the record may stand at
    // another of the four locations.
    let unnamed = |at: Value, _: &str| json!({"message": "Cannot query field \"tail\" on type \"UserDetails\".", "locations": at});
    let beside = |at: Value, field: &str| {
        let missing = json!({"message": format!("Cannot query field \"{field}\" on type \"UserDetails\"."), "locations": at});
        json!([missing, {"message": "Access denied", "extensions": {"code": "ACCESS_DENIED"}}])
    };
    let cases: [(Refusal, usize); 3] = [(failed, 1), (beside, 1), (unnamed, 4)];
    for (refusal, requests) in cases {
        let (server, client) = strict("nothing", refusal);
        assert!(client.user_details().await.is_err());
        assert_eq!(server.count(), requests);
        assert!(client.profile().operations.is_empty());
    }
}
