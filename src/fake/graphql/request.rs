//! The body of a request, and the operation that it names.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable;
use apollo_compiler::validation::Valid;
use serde_json::{Map, Value};

use super::refusal::Refusal;

pub(super) struct Request {
    pub(super) query: String,
    pub(super) operation_name: Option<String>,
    pub(super) variables: Map<String, Value>,
}

/// Whether a body of this media type is read.
pub(super) fn is_json(media_type: &str) -> bool {
    media_type.to_ascii_lowercase().contains("json")
}

/// Reads `{query, operationName, variables}`.
pub(super) fn read(media_type: &str, body: &[u8]) -> Result<Request, Refusal> {
    if !is_json(media_type) {
        return Err(Refusal::new(
            "INVALID_CONTENT_TYPE",
            "Invalid 'Content-Type' header: must be 'application/json'.",
        ));
    }
    let unreadable = || Refusal::new("JSON_INVALID", "JSON body text could not be parsed.");
    let body: Value = serde_json::from_slice(body).map_err(|_| unreadable())?;
    let Value::Object(mut body) = body else {
        return Err(unreadable());
    };
    let query = match body.remove("query") {
        Some(Value::String(query)) if !query.trim().is_empty() => query,
        None | Some(Value::Null | Value::String(_)) => {
            return Err(Refusal::new("QUERY_MISSING", "GraphQL query is missing."));
        }
        Some(_) => return Err(unreadable()),
    };
    let operation_name = match body.remove("operationName") {
        Some(Value::String(name)) if !name.is_empty() => Some(name),
        None | Some(Value::Null | Value::String(_)) => None,
        Some(_) => return Err(unreadable()),
    };
    let variables = match body.remove("variables") {
        Some(Value::Object(variables)) => variables,
        None | Some(Value::Null) => Map::new(),
        Some(_) => return Err(unreadable()),
    };
    if !matches!(
        body.get("extensions"),
        None | Some(Value::Null | Value::Object(_))
    ) {
        return Err(unreadable());
    }
    Ok(Request {
        query,
        operation_name,
        variables,
    })
}

/// The operation to execute.
pub(super) struct Operation<'a> {
    pub(super) definition: &'a executable::Operation,
}

impl<'a> Operation<'a> {
    pub(super) fn find(
        document: &'a Valid<ExecutableDocument>,
        request: &Request,
    ) -> Result<Self, Refusal> {
        let name = request.operation_name.as_deref();
        let operations = &document.operations;
        if operations.is_empty() {
            return Err(Refusal::new(
                "NO_OPERATION",
                "Document does not contain any operations.",
            ));
        }
        let definition = operations.get(name).map_err(|_| match name {
            Some(name) => Refusal::new(
                "INVALID_OPERATION_NAME",
                format!("Document does not contain an operation named '{name}'."),
            ),
            None => Refusal::new(
                "INVALID_OPERATION",
                "Document contains more than one operation, but the operation name was not specified.",
            ),
        })?;
        Ok(Self { definition })
    }
}
