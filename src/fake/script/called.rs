//! What a request calls: a path, and at the GraphQL endpoint an operation.

use apollo_compiler::Name;
use apollo_compiler::ast::{Definition, Document, Selection};
use serde_json::{Value, json};
use wiremock::Request;

use super::received::is_graphql;
use crate::fake::reply::Reply;

/// The call that a request makes. An operation need not fit the schema: it may be scripted.
pub(in crate::fake) struct Called {
    pub(super) path: String,
    body: Value,
    operation: Option<String>,
    fields: Vec<String>,
}

impl Called {
    pub(in crate::fake) fn of(request: &Request) -> Self {
        let path = request.url.path().to_owned();
        let body = if is_graphql(&path) {
            serde_json::from_slice(&request.body).unwrap_or_default()
        } else {
            Value::Null
        };
        let (operation, fields) = named(&body);
        Self {
            path,
            body,
            operation,
            fields,
        }
    }

    /// The refusal of an operation that should have had a script; none for other requests.
    pub(in crate::fake) fn unscripted(&self) -> Option<Reply> {
        let name = self.operation.as_deref().unwrap_or_else(|| self.field());
        let message = format!("The fake has no script for the operation {name}.");
        let hint = "Script it with fake.on::<Q>(), fake.on_operation(name) or fake.on_own_operation(name), or start the fake without scripted_only().";
        let error = json!({"message": message, "extensions": {"code": "UNSCRIPTED", "hint": hint}});
        is_graphql(&self.path).then(|| Reply::json(400, &json!({"errors": [error]})))
    }

    pub(super) fn variables(&self) -> Value {
        self.body["variables"].clone()
    }

    /// The first field that is asked for.
    pub(super) fn field(&self) -> &str {
        self.fields.first().map_or("", String::as_str)
    }

    /// Whether the operation, or a field of its root, has this name.
    pub(super) fn calls(&self, name: &str) -> bool {
        let operation = self.operation.iter();
        operation.chain(&self.fields).any(|known| same(known, name))
    }
}

/// The name of the operation of a body.
pub(in crate::fake) fn operation_name(body: &Value) -> Option<String> {
    named(body).0
}

/// The operation that a body names, or the only one in its document, and the fields of its root.
pub(super) fn named(body: &Value) -> (Option<String>, Vec<String>) {
    let text = body["query"].as_str().unwrap_or_default();
    let document = match Document::parse(text, "request.graphql") {
        Ok(document) => document,
        Err(broken) => broken.partial,
    };
    let wanted = body["operationName"]
        .as_str()
        .filter(|name| !name.is_empty());
    let mut operations = document.definitions.iter().filter_map(|definition| {
        let Definition::OperationDefinition(operation) = definition else {
            return None;
        };
        let name = operation.name.as_ref().map(Name::as_str);
        (wanted.is_none() || name == wanted).then_some((name, operation))
    });
    let Some((name, operation)) = operations.next() else {
        return (wanted.map(str::to_owned), Vec::new());
    };
    let fields = operation
        .selection_set
        .iter()
        .filter_map(|selection| match selection {
            Selection::Field(field) => Some(field.name.as_str().to_owned()),
            _ => None,
        });
    (name.map(str::to_owned), fields.collect())
}

/// A type that `graphql_client` derives may spell the operation's name in another case.
pub(super) fn same(a: &str, b: &str) -> bool {
    let letters = |text: &str| -> Vec<u8> {
        let bytes = text.bytes().filter(|byte| *byte != b'_');
        bytes.map(|byte| byte.to_ascii_lowercase()).collect()
    };
    letters(a) == letters(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_is_named_by_the_body_or_by_the_document() {
        let two = "query A { a } mutation B { b: save c }";
        let (name, fields) = named(&json!({"query": two, "operationName": "B"}));
        assert_eq!(
            (name.as_deref(), fields),
            (Some("B"), vec!["save".into(), "c".into()])
        );
        assert_eq!(
            named(&json!({"query": "query A { a }"})).0.as_deref(),
            Some("A")
        );
        assert_eq!(named(&json!({"query": "{ a }"})).0, None);
        assert_eq!(
            named(&json!({"operationName": "Gone"})).0.as_deref(),
            Some("Gone")
        );
    }

    #[test]
    fn names_are_the_same_in_any_case() {
        assert!(same("user_details", "UserDetails") && !same("User", "Users"));
    }
}
