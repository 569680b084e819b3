//! What is refused before execution: bodies, documents and variables that do not fit. Errors have the shape of GraphQL.NET
//! (`guide::sources`). Its wording is kept where the specification or a client reads it: for variables (spec 7.2) and unknown
//! fields. All else is said by the compiler.

use apollo_compiler::ast::Type;
use apollo_compiler::executable::Operation;
use apollo_compiler::parser::{LineColumn, SourceMap};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::{Valid, WithErrors};
use apollo_compiler::{ExecutableDocument, Schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::fake::instant;
use crate::fake::reply::Reply;

pub(super) struct Request {
    pub(super) query: String,
    pub(super) operation_name: Option<String>,
    pub(super) variables: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestBody {
    query: Option<String>,
    operation_name: Option<String>,
    variables: Option<Map<String, Value>>,
    #[serde(rename = "extensions")]
    _extensions: Option<Map<String, Value>>,
}

impl Request {
    pub(super) fn parse(media_type: &str, body: &[u8]) -> Result<Self, RequestError> {
        if !media_type.to_ascii_lowercase().contains("json") {
            return Err(RequestError::new(
                "INVALID_CONTENT_TYPE",
                "Invalid 'Content-Type' header: must be 'application/json'.",
            ));
        }
        // An object only: serde would also read a struct from an array.
        let body: RequestBody = serde_json::from_slice(body)
            .and_then(|object: Map<String, Value>| serde_json::from_value(object.into()))
            .map_err(|_| {
                RequestError::new("JSON_INVALID", "JSON body text could not be parsed.")
            })?;
        let query = body.query.filter(|query| !query.trim().is_empty());
        Ok(Self {
            query: query
                .ok_or_else(|| RequestError::new("QUERY_MISSING", "GraphQL query is missing."))?,
            operation_name: body.operation_name.filter(|name| !name.is_empty()),
            variables: body.variables.unwrap_or_default(),
        })
    }

    /// The operation to execute.
    pub(super) fn operation<'d>(
        &self,
        document: &'d Valid<ExecutableDocument>,
    ) -> Result<&'d Operation, RequestError> {
        let name = self.operation_name.as_deref();
        let operation = document.operations.get(name).map(AsRef::as_ref);
        operation.map_err(|error| match name {
            Some(name) => RequestError::new(
                "INVALID_OPERATION_NAME",
                format!("Document does not contain an operation named '{name}'."),
            ),
            None => RequestError::new("INVALID_OPERATION", error.message().to_string()),
        })
    }

    /// Checks the values of the variables against their types. There is one error for each invalid variable.
    pub(super) fn check_variables(
        &self,
        schema: &Schema,
        operation: &Operation,
        sources: &SourceMap,
    ) -> Result<(), Vec<RequestError>> {
        let errors = operation.variables.iter().filter_map(|variable| {
            let path = format!("${}", variable.name);
            let error = match self.variables.get(variable.name.as_str()) {
                Some(value) => invalid_value(schema, &variable.ty, value, &path)?,
                None if variable.ty.is_non_null() && variable.default_value.is_none() => {
                    invalid(&path, MISSING)
                }
                None => return None,
            };
            Some(RequestError {
                location: variable
                    .location()
                    .and_then(|span| span.line_column(sources)),
                ..error
            })
        });
        let errors: Vec<_> = errors.collect();
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }
}

const MISSING: &str = "No value provided for a non-null variable.";
const NULL: &str = "Received a null input for a non-null variable.";

fn invalid(path: &str, reason: &str) -> RequestError {
    let message = format!("Variable '{path}' is invalid. {reason}");
    RequestError {
        rule: Some("5.8"),
        ..RequestError::new("INVALID_VALUE", message)
    }
}

fn invalid_value(schema: &Schema, ty: &Type, value: &Value, path: &str) -> Option<RequestError> {
    if value.is_null() {
        return ty.is_non_null().then(|| invalid(path, NULL));
    }
    if let (Type::List(inner) | Type::NonNullList(inner), Value::Array(items)) = (ty, value) {
        let mut items = items.iter().enumerate();
        return items
            .find_map(|(i, item)| invalid_value(schema, inner, item, &format!("{path}[{i}]")));
    }
    // A single value stands for a list of one.
    let name = ty.inner_named_type().as_str();
    let fits = match schema.types.get(name)? {
        ExtendedType::Enum(known) => value
            .as_str()
            .is_some_and(|value| known.values.contains_key(value)),
        ExtendedType::InputObject(known) => {
            let Some(fields) = value.as_object() else {
                return Some(invalid(
                    path,
                    &format!(
                        "Unable to parse input as a '{name}' type. Did you provide a List or Scalar value accidentally?"
                    ),
                ));
            };
            let mut definitions = known.fields.iter();
            let invalid_field = definitions.find_map(|(field, definition)| {
                let path = format!("{path}.{field}");
                match fields.get(field.as_str()) {
                    Some(value) => invalid_value(schema, &definition.ty, value, &path),
                    None => definition.is_required().then(|| invalid(&path, MISSING)),
                }
            });
            let unknown = fields
                .keys()
                .filter(|field| !known.fields.contains_key(field.as_str()));
            let unknown: Vec<String> = unknown.map(|field| format!("'{field}'")).collect();
            return invalid_field.or_else(|| {
                let unknown = Some(unknown.join(", ")).filter(|names| !names.is_empty())?;
                let reason = format!("Unrecognized input fields {unknown} for type '{name}'.");
                Some(invalid(path, &reason))
            });
        }
        _ => fits_scalar(name, value),
    };
    (!fits).then(|| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let mut error = invalid(path, &format!("Unable to convert '{text}' to '{name}'"));
        // GraphQL.NET reports an inner exception.
        error.codes.push("INVALID_OPERATION");
        error
    })
}

/// Whether a value that is not null fits a scalar of the schema.
fn fits_scalar(scalar: &str, value: &Value) -> bool {
    match scalar {
        "String" | "ID" => value.is_string(),
        "Boolean" => value.is_boolean(),
        "Int" => value.as_i64().is_some_and(|n| i32::try_from(n).is_ok()),
        "Float" => value.is_number(),
        "DateTime" => value.as_str().and_then(instant::parse).is_some(),
        _ => true,
    }
}

/// All errors of a document that does not fit the schema.
///
/// The structured form of the compiler's errors is not public, so names are read from its messages, where they stand in
/// backticks.
pub(super) fn document_errors(failed: &WithErrors<ExecutableDocument>) -> Vec<RequestError> {
    let errors = failed.errors.iter().map(|error| {
        let message = error.error.to_string();
        let location = error.line_column_range().map(|range| range.start);
        let is_syntax = message.starts_with("syntax error") || message.contains("limit reached");
        let (code, rule, message) = if is_syntax {
            (
                "SYNTAX_ERROR",
                None,
                format!("Error parsing query: {message}"),
            )
        } else if message.contains("does not have a field") {
            let mut names = message.split('`').skip(1).step_by(2);
            let (ty, field) = (
                names.next().unwrap_or_default(),
                names.next().unwrap_or_default(),
            );
            let words = format!("Cannot query field '{field}' on type '{ty}'.");
            (UNKNOWN_FIELD, Some("5.3.1"), words)
        } else {
            // Section 5 of the GraphQL specification has all rules of documents.
            ("VALIDATION_ERROR", Some("5"), message)
        };
        RequestError {
            location,
            rule,
            ..RequestError::new(code, message)
        }
    });
    let mut errors: Vec<_> = errors.collect();
    // The others may only follow from these: an object of which all selected fields are unknown has no selection.
    for first in ["SYNTAX_ERROR", UNKNOWN_FIELD] {
        if errors.iter().any(|error| error.codes[0] == first) {
            errors.retain(|error| error.codes[0] == first);
        }
    }
    errors
}

const UNKNOWN_FIELD: &str = "FIELDS_ON_CORRECT_TYPE";

/// An error that refuses the whole request.
#[derive(Clone, Debug)]
pub(super) struct RequestError {
    message: String,
    location: Option<LineColumn>,
    codes: Vec<&'static str>,
    /// The section of the GraphQL specification with the violated rule.
    rule: Option<&'static str>,
}

impl RequestError {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            location: None,
            codes: vec![code],
            rule: None,
        }
    }

    fn to_json(&self) -> Value {
        let mut extensions = json!({"code": self.codes[0], "codes": self.codes});
        if let Some(rule) = self.rule {
            extensions["number"] = rule.into();
        }
        let mut error = json!({"message": self.message, "extensions": extensions});
        if let Some(at) = self.location {
            error["locations"] = json!([{"line": at.line, "column": at.column}]);
        }
        error
    }
}

impl From<RequestError> for Vec<RequestError> {
    fn from(error: RequestError) -> Self {
        vec![error]
    }
}

/// The reply with these errors: HTTP 400 without data. assumed: the specification does not map errors to statuses
pub(super) fn error_reply(errors: &[RequestError]) -> Reply {
    let errors: Vec<Value> = errors.iter().map(RequestError::to_json).collect();
    Reply::json(400, &json!({"errors": errors}))
}
