//! The comparison of the live schema with the bundled one.

use envd_sdk::graphql::{ChangeClass, Coverage, SCHEMA, SchemaDrift};
use equipment::{Reply, Server};
use serde_json::{Value, json};

use crate::fixed_date::{fake_builder, start_fake};
use crate::scripted::{client, ok};

/// The drift that a fake with a changed schema has.
async fn drift(changes: &[(&str, &str)]) -> SchemaDrift {
    let mut schema = SCHEMA.to_owned();
    for (before, after) in changes {
        assert_eq!(schema.matches(before).count(), 1, "{before}");
        schema = schema.replace(before, after);
    }
    let fake = fake_builder().schema(schema).start().await.unwrap();
    fake.client().build().unwrap().schema_drift().await.unwrap()
}

#[tokio::test]
async fn the_bundled_schema_does_not_differ_from_itself() {
    // Compares the generated table with the introspection of the same schema.
    let drift = drift(&[]).await;
    assert_eq!(drift.coverage(), Coverage::Whole);
    assert_eq!(drift.changes(), []);
    assert!(drift.unchecked().is_empty() && !drift.breaks());
    assert_eq!(
        drift.to_string(),
        "The schema of the server is the bundled one.\n"
    );
}

#[tokio::test]
async fn each_change_has_a_class_and_the_affected_operations() {
    use ChangeClass::{Breaking, Dangerous, Safe};

    let drift = drift(&[
        // A removed field, a removed enum value, a new required argument, a nullable type, a deprecation, an addition.
        ("  commentText: String\n", "  text: String\n"),
        ("  LPABC1\n", "  LPABC2\n"),
        (
            "    role: String!\n  ): [ConsignmentUserMapping]",
            "    role: String!\n    since: Int!\n  ): [ConsignmentUserMapping]",
        ),
        (
            "  envdAccountId: String\n  ): [Edec]",
            "  envdAccountId: Int\n  ): [Edec]",
        ),
    ])
    .await;
    let found: Vec<_> = drift
        .changes()
        .iter()
        .map(|change| {
            let types = (change.before.as_deref(), change.after.as_deref());
            (change.coordinate.as_str(), change.class, types)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("Comment.commentText", Breaking, (Some("String"), None)),
            ("Comment.text", Safe, (None, Some("String"))),
            ("EFormType.LPABC1", Breaking, (Some("value"), None)),
            ("EFormType.LPABC2", Dangerous, (None, Some("value"))),
            (
                "Query.consignmentUserMapping(since:)",
                Breaking,
                (None, Some("Int!"))
            ),
            (
                "Query.edecs(envdAccountId:)",
                Breaking,
                (Some("String"), Some("Int"))
            ),
        ]
    );
    assert_operations(&drift);
}

/// The changes of the test above, with the operations that they affect.
fn assert_operations(drift: &SchemaDrift) {
    let operations = |i: usize| drift.changes()[i].operations.join(" ");
    assert_eq!(operations(0), "comments createComment");
    assert_eq!(operations(1), "");
    assert!(operations(3).contains("createOrSaveConsignment"));
    assert_eq!(operations(4), "consignmentUserMapping");
    assert_eq!(operations(5), "edecs");
    assert!(drift.broken_operations().starts_with(&["comments"]));
    let text = drift.to_string();
    assert!(
        text.contains(
            "Comment.commentText was removed (it was String)\n    used by comments, createComment"
        ),
        "{text}"
    );
    let json = serde_json::to_value(drift).unwrap();
    assert_eq!(json["coverage"], "whole");
    let kinds: Vec<_> = json["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| &change["kind"])
        .collect();
    assert_eq!(
        kinds,
        ["removed", "added", "removed", "added", "added", "retyped"]
    );
    assert_eq!(json["changes"][0]["class"], "breaking");
}

#[tokio::test]
async fn changes_of_unused_elements_break_no_operation() {
    let description = "The other name that the specification gives to `userDetails`, with the record under `data`. stated (4.1)";
    let field = format!(
        "  \"\"\"
  {description}
  \"\"\"
  userDetailsQuery: UserDetailsResult
"
    );
    let drift = drift(&[(&field, "")]).await;
    assert_eq!(drift.changes()[0].coordinate, "Query.userDetailsQuery");
    assert!(!drift.breaks());
    assert!(drift.to_string().contains("breaks no operation"));
}

#[tokio::test]
async fn arguments_that_are_only_deprecated_are_not_reported_as_removed() {
    let drift = drift(&[
        (
            "    searchText: String\n",
            "    searchText: String @deprecated\n",
        ),
        ("  heads: Int\n", "  heads: Int! @deprecated\n"),
    ])
    .await;
    // Introspection omits deprecated arguments unless the document includes them.
    let report = drift.to_string();
    assert!(!report.contains("was removed"), "{report}");
    assert!(report.contains("is deprecated"), "{report}");
    assert!(!drift.breaks());
}

/// The drift of a server that names its types, but refuses documents with these words.
async fn refusing(words: &'static [&'static str]) -> SchemaDrift {
    let types: serde_json::Map<String, Value> = SCHEMA
        .lines()
        .filter_map(|line| line.strip_prefix("type ")?.split(' ').next())
        .filter(|name| *name != "Query")
        .enumerate()
        .map(|(i, name)| (format!("t{i}"), json!({"kind": "OBJECT", "name": name})))
        .collect();
    let server = Server::start(move |request| {
        let refused = words.iter().any(|word| request.body.contains(word));
        let reply = if refused {
            Reply::json(
                400,
                json!({"errors": [{
                "message": "Introspection is not allowed.",
                "extensions": {"code": "NO_INTROSPECTION", "number": "5"}}]}),
            )
        } else {
            ok(json!({ "data": types }))
        };
        async { reply }
    });
    let client = client(&server).build().unwrap();
    client.schema_drift().await.unwrap()
}

#[tokio::test]
async fn disabled_introspection_is_a_result() {
    let drift = refusing(&["__schema", "__type"]).await;
    assert_eq!(drift.coverage(), Coverage::Disabled);
    assert!(drift.changes().is_empty() && !drift.breaks());
    assert!(drift.unchecked().iter().any(|name| name == "Consignment"));
    assert!(drift.to_string().contains("introspection is disabled"));
}

#[tokio::test]
async fn a_server_that_allows_only_single_types_is_read_type_by_type() {
    let drift = refusing(&["__schema"]).await;
    assert_eq!(drift.coverage(), Coverage::TypeByType);
    assert_eq!(drift.unchecked(), ["Query"]);
    assert!(
        drift
            .changes()
            .iter()
            .any(|change| change.coordinate == "PartyInput")
    );
    assert!(
        drift
            .changes()
            .iter()
            .any(|change| change.coordinate == "Comment.commentText")
    );
    assert!(drift.breaks());
}

#[tokio::test]
async fn a_refused_token_is_an_error_and_not_a_drift() {
    let fake = start_fake().await;
    fake.expire_access_tokens();
    let error = fake
        .client()
        .build()
        .unwrap()
        .schema_drift()
        .await
        .unwrap_err();
    assert!(
        error.is_unauthorized() || error.is_reauth_required(),
        "{error}"
    );
}

#[tokio::test]
async fn a_schema_that_is_not_valid_does_not_start_a_fake() {
    let error = fake_builder()
        .schema("type Query { a: Nothing }")
        .start()
        .await
        .unwrap_err();
    assert!(error.is_config());
}
