use serde_json::json;

use super::schema_table::SchemaTable;
use super::{ChangeClass, ChangeKind, Coverage, SchemaChange, SchemaDrift};
use crate::graphql::catalogue::operation_names;

#[test]
fn a_name_of_the_server_stays_on_its_line() {
    let change = SchemaChange {
        coordinate: "Query.a\nSafe:\u{1b}[2J".to_owned(),
        kind: ChangeKind::Retyped,
        class: ChangeClass::Breaking,
        before: Some("Int".to_owned()),
        after: Some("\u{202e}".to_owned()),
        operations: Vec::new(),
    };
    assert_eq!(
        change.to_string(),
        r"Query.a\nSafe:\u{1b}[2J was Int and is \u{202e}"
    );
}

#[test]
fn the_documents_that_break_are_counted_out_of_all() {
    let change = SchemaChange {
        coordinate: "Party.pic".to_owned(),
        kind: ChangeKind::Removed,
        class: ChangeClass::Breaking,
        before: Some("String".to_owned()),
        after: None,
        operations: operation_names().map(str::to_owned).collect(),
    };
    let drift = SchemaDrift {
        coverage: Coverage::Whole,
        changes: vec![change.clone(), change],
        unchecked: Vec::new(),
    };
    let text = drift.to_string();
    assert!(
        text.starts_with("2 differences; documents that break: 16 of 16.\n"),
        "{text}"
    );
}

#[test]
fn root_types_are_recognised_by_their_role_and_not_by_their_name() {
    let data = json!({"__schema": {
        "queryType": {"name": "EnvdQuery"}, "mutationType": null,
        "types": [
            {"kind": "OBJECT", "name": "EnvdQuery", "fields": [
                {"name": "comments", "isDeprecated": false, "args": [
                    {"name": "first", "defaultValue": "10", "type": {"kind": "SCALAR", "name": "Int"}}],
                 "type": {"kind": "NON_NULL", "ofType": {"kind": "LIST", "ofType": {"kind": "OBJECT", "name": "Comment"}}}}]},
            {"kind": "SCALAR", "name": "Int"},
            {"kind": "OBJECT", "name": "__Type", "fields": []}]}});
    let table = SchemaTable::read_whole(&data).unwrap();
    let all: Vec<_> = table
        .0
        .iter()
        .map(|(at, element)| (at.as_str(), element.text.as_str()))
        .collect();
    assert_eq!(
        all,
        [
            ("Query", "object"),
            ("Query.comments", "[Comment]!"),
            ("Query.comments(first:)", "Int"),
        ]
    );
    assert_eq!(
        table.0["Query.comments(first:)"].default.as_deref(),
        Some("10")
    );
    assert!(SchemaTable::read_whole(&json!({})).is_none());
}
