//! The body of a request: its operation, and the check of its variables (section 5.8 of the GraphQL specification). Errors have
//! the shape and the wording of GraphQL.NET (`guide::sources`).

use apollo_compiler::ast::Type;
use apollo_compiler::executable::Operation;
use apollo_compiler::parser::{LineColumn, SourceMap, SourceSpan};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
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

/// Whether the media type of a body is accepted.
pub(super) fn is_json(media_type: &str) -> bool {
    media_type.to_ascii_lowercase().contains("json")
}

impl Request {
    pub(super) fn parse(media_type: &str, body: &[u8]) -> Result<Self, RequestError> {
        if !is_json(media_type) {
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
        if document.operations.is_empty() {
            return Err(RequestError::new(
                "NO_OPERATION",
                "Document does not contain any operations.",
            ));
        }
        let operation = document.operations.get(name);
        operation.map(AsRef::as_ref).map_err(|_| match name {
            Some(name) => RequestError::new(
                "INVALID_OPERATION_NAME",
                format!("Document does not contain an operation named '{name}'."),
            ),
            None => RequestError::new(
                "INVALID_OPERATION",
                "Document contains more than one operation, but the operation name was not specified.",
            ),
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
            Some(error.at_span(variable.location(), sources))
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
    RequestError::new("INVALID_VALUE", message).rule(Some("5.8"))
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
        let error = invalid(path, &format!("Unable to convert '{text}' to '{name}'"));
        // GraphQL.NET reports an inner exception.
        error.inner_code("INVALID_OPERATION")
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

/// An error that refuses the whole request.
#[derive(Clone, Debug)]
pub(super) struct RequestError {
    message: String,
    locations: Vec<LineColumn>,
    codes: Vec<&'static str>,
    rule: Option<&'static str>,
}

impl RequestError {
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            locations: Vec::new(),
            codes: vec![code],
            rule: None,
        }
    }

    /// Adds the code of an inner exception.
    pub(super) fn inner_code(mut self, code: &'static str) -> Self {
        self.codes.push(code);
        self
    }

    /// The section of the GraphQL specification with the violated rule.
    pub(super) fn rule(mut self, section: Option<&'static str>) -> Self {
        self.rule = section;
        self
    }

    /// Adds a location, if it is known.
    pub(super) fn at(mut self, location: Option<LineColumn>) -> Self {
        self.locations.extend(location);
        self
    }

    pub(super) fn at_span(self, span: Option<SourceSpan>, sources: &SourceMap) -> Self {
        self.at(span.and_then(|span| span.line_column(sources)))
    }

    fn to_json(&self) -> Value {
        let mut extensions = json!({"code": self.codes[0], "codes": self.codes});
        if let Some(rule) = self.rule {
            extensions["number"] = rule.into();
        }
        let mut error = json!({"message": self.message, "extensions": extensions});
        if !self.locations.is_empty() {
            let to_json = |at: &LineColumn| json!({"line": at.line, "column": at.column});
            error["locations"] = self.locations.iter().map(to_json).collect();
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
