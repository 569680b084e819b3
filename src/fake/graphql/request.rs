//! Refusals before execution, for invalid bodies, documents and variables. Errors have the format of GraphQL.NET
//! (`guide::sources`). Its wording is used where the specification or a client depends on it: for variables (spec 7.2) and
//! unknown fields. All other messages are the compiler's.

use apollo_compiler::ast::Type;
use apollo_compiler::executable::Operation;
use apollo_compiler::parser::{LineColumn, SourceMap};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::{Valid, WithErrors};
use apollo_compiler::{ExecutableDocument, Schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::fake::instant;

pub(super) struct GraphqlRequest {
    pub(super) query: String,
    pub(super) operation_name: Option<String>,
    pub(super) variables: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireRequest {
    query: Option<String>,
    operation_name: Option<String>,
    variables: Option<Map<String, Value>>,
    #[serde(rename = "extensions")]
    _extensions: Option<Map<String, Value>>,
}

impl GraphqlRequest {
    pub(super) fn parse(media_type: &str, body: &[u8]) -> Result<Self, Vec<Value>> {
        if !media_type.to_ascii_lowercase().contains("json") {
            let message = "Invalid 'Content-Type' header: must be 'application/json'.";
            return Err(vec![error("INVALID_CONTENT_TYPE", None, message)]);
        }
        // Objects only: serde would also read a struct from an array.
        let body: WireRequest = serde_json::from_slice(body)
            .and_then(|object: Map<String, Value>| serde_json::from_value(object.into()))
            .map_err(|_| {
                let message = "JSON body text could not be parsed.";
                vec![error("JSON_INVALID", None, message)]
            })?;
        let query = body.query.filter(|query| !query.trim().is_empty());
        Ok(Self {
            query: query
                .ok_or_else(|| vec![error("QUERY_MISSING", None, "GraphQL query is missing.")])?,
            operation_name: body.operation_name.filter(|name| !name.is_empty()),
            variables: body.variables.unwrap_or_default(),
        })
    }

    /// The operation to execute.
    pub(super) fn operation<'d>(
        &self,
        document: &'d Valid<ExecutableDocument>,
    ) -> Result<&'d Operation, Vec<Value>> {
        let name = self.operation_name.as_deref();
        let operation = document.operations.get(name).map(AsRef::as_ref);
        operation.map_err(|failed| {
            let (code, message) = match name {
                Some(name) => (
                    "INVALID_OPERATION_NAME",
                    format!("Document does not contain an operation named '{name}'."),
                ),
                None => ("INVALID_OPERATION", failed.message().to_string()),
            };
            vec![error(code, None, &message)]
        })
    }

    /// The errors of variables with invalid values, one per variable.
    pub(super) fn variable_errors(
        &self,
        schema: &Schema,
        operation: &Operation,
        sources: &SourceMap,
    ) -> Vec<Value> {
        let errors = operation.variables.iter().filter_map(|variable| {
            let path = format!("${}", variable.name);
            let error = match self.variables.get(variable.name.as_str()) {
                Some(value) => invalid_value(schema, &variable.ty, value, &path)?,
                None if variable.ty.is_non_null() && variable.default_value.is_none() => {
                    invalid(&path, MISSING)
                }
                None => return None,
            };
            let location = variable.location();
            let location = location.and_then(|span| span.line_column(sources));
            Some(located(error, location))
        });
        errors.collect()
    }
}

const MISSING: &str = "No value provided for a non-null variable.";
const NULL: &str = "Received a null input for a non-null variable.";

fn invalid(path: &str, reason: &str) -> Value {
    let message = format!("Variable '{path}' is invalid. {reason}");
    error("INVALID_VALUE", Some("5.8"), &message)
}

fn invalid_value(schema: &Schema, ty: &Type, value: &Value, path: &str) -> Option<Value> {
    if value.is_null() {
        return ty.is_non_null().then(|| invalid(path, NULL));
    }
    if let (Type::List(inner) | Type::NonNullList(inner), Value::Array(items)) = (ty, value) {
        let mut items = items.iter().enumerate();
        return items
            .find_map(|(i, item)| invalid_value(schema, inner, item, &format!("{path}[{i}]")));
    }
    // A single value is coerced to a list.
    let name = ty.inner_named_type().as_str();
    let fits = match schema.types.get(name)? {
        ExtendedType::Enum(known) => value
            .as_str()
            .is_some_and(|value| known.values.contains_key(value)),
        ExtendedType::InputObject(known) => {
            let Some(fields) = value.as_object() else {
                let reason = format!(
                    "Unable to parse input as a '{name}' type. Did you provide a List or Scalar value accidentally?"
                );
                return Some(invalid(path, &reason));
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
        error["extensions"]["codes"] = json!(["INVALID_VALUE", "INVALID_OPERATION"]);
        error
    })
}

/// Whether a non-null value fits a scalar of the schema.
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

/// All errors of a document that does not match the schema.
///
/// The compiler does not expose its errors in structured form, so names are taken from its messages, which quote them in
/// backticks.
pub(super) fn document_errors(failed: &WithErrors<ExecutableDocument>) -> Vec<Value> {
    let errors = failed.errors.iter().map(|failed| {
        let message = failed.error.to_string();
        let location = failed.line_column_range().map(|range| range.start);
        let is_syntax = message.starts_with("syntax error") || message.contains("limit reached");
        let error = if is_syntax {
            error(SYNTAX_ERROR, None, &message)
        } else if message.contains("does not have a field") {
            let mut names = message.split('`').skip(1).step_by(2);
            let mut name = || names.next().unwrap_or_default();
            let ty = name();
            let field = name();
            let message = format!("Cannot query field '{field}' on type '{ty}'.");
            error(UNKNOWN_FIELD, Some("5.3.1"), &message)
        } else if let Some((field, ty)) = without_selection(&failed.to_string()) {
            let message = format!("Field {field} of type {ty} must have a sub selection");
            error("SCALAR_LEAFS", Some("5.3.3"), &message)
        } else {
            // Section 5 of the GraphQL specification has all rules for documents.
            error("VALIDATION_ERROR", Some("5"), &message)
        };
        located(error, location)
    });
    let mut errors: Vec<_> = errors.collect();
    // Other errors may only be consequences: an object with unknown fields only has no selection left.
    for first in [SYNTAX_ERROR, UNKNOWN_FIELD] {
        let is_first = |error: &Value| error["extensions"]["code"] == first;
        if errors.iter().any(is_first) {
            errors.retain(is_first);
        }
    }
    errors
}

/// The field of an object type without a selection, and its type. Only the full report names them: "`UserDetails.roles` is an
/// object type `Role` and must select fields".
fn without_selection(report: &str) -> Option<(&str, &str)> {
    let line = report
        .lines()
        .find(|line| line.contains("and must select fields"))?;
    let mut names = line.split('`').skip(1).step_by(2);
    let (_, field) = names.next()?.split_once('.')?;
    Some((field, names.next()?))
}

const SYNTAX_ERROR: &str = "SYNTAX_ERROR";
const UNKNOWN_FIELD: &str = "FIELDS_ON_CORRECT_TYPE";

/// An error that refuses the entire request, with the section of the GraphQL specification for the violated rule.
fn error(code: &str, rule: Option<&str>, message: &str) -> Value {
    let mut error = json!({"message": message, "extensions": {"code": code, "codes": [code]}});
    if let Some(rule) = rule {
        error["extensions"]["number"] = rule.into();
    }
    error
}

fn located(mut error: Value, at: Option<LineColumn>) -> Value {
    if let Some(at) = at {
        error["locations"] = json!([{"line": at.line, "column": at.column}]);
    }
    error
}
