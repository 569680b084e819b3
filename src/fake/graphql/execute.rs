//! Executes an operation: root fields ask the world, everything below is read off the JSON.

use std::borrow::Cow;
use std::cell::RefCell;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast::Type;
use apollo_compiler::executable::{self, OperationType};
use apollo_compiler::resolvers::{Execution, FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::{JsonMap, JsonValue, serde_json_bytes};
use apollo_compiler::validation::Valid;
use serde_json::{Map, Value, json};

use super::request::{Operation, Request};
use super::{Scene, mutations, queries};
use crate::fake::library::Library;
use crate::fake::problem::Problem;
use crate::fake::record;
use crate::fake::reply::Reply;
use crate::fake::user::User;

/// What a root field gives: a value, and the warnings beside it.
pub(super) struct Given {
    pub(super) value: Value,
    pub(super) warnings: Vec<Problem>,
}

impl From<Value> for Given {
    fn from(value: Value) -> Self {
        Self {
            value,
            warnings: Vec::new(),
        }
    }
}

pub(super) type Outcome = Result<Given, Vec<Problem>>;

/// Executes an operation for a user.
pub(super) fn run(
    document: &Valid<ExecutableDocument>,
    operation: &Operation<'_>,
    request: &Request,
    scene: Scene<'_>,
    user: User,
) -> Reply {
    let root = Root {
        library: scene.library,
        user,
        kind: operation.definition.operation_type,
        state: RefCell::new(State {
            scene,
            errors: Vec::new(),
            denied: false,
        }),
    };
    let variables = bytes_map(&request.variables);
    let executed = Execution::new(&root.library.schema, document)
        .operation(operation.definition)
        .raw_variable_values(&variables)
        .enable_schema_introspection(true)
        .execute_sync(&root);
    let state = root.state.into_inner();
    let executed = match executed {
        Ok(executed) => executed,
        Err(error) => {
            let error = error.to_graphql_error(&document.sources);
            return Reply::json(400, &json!({"errors": [error]}));
        }
    };
    let mut body = json!({"data": executed.data});
    let mut errors = state.errors;
    errors.extend(executed.errors.iter().map(|error| json!(error)));
    if !errors.is_empty() {
        body["errors"] = errors.into();
    }
    let nothing = body["data"]
        .as_object()
        .is_some_and(|data| data.values().all(Value::is_null));
    let status = if state.denied && nothing { 403 } else { 200 };
    Reply::json(status, &body)
}

/// Every operation needs a token (5.7); the answer names the fields that were asked for.
pub(super) fn unauthorized(
    document: Option<&Valid<ExecutableDocument>>,
    request: &Request,
) -> Reply {
    let operation = document.and_then(|document| {
        let name = request.operation_name.as_deref();
        Some((document, document.operations.get(name).ok()?))
    });
    let (mut data, mut errors) = (Map::new(), Vec::new());
    for field in operation
        .iter()
        .flat_map(|(document, op)| op.root_fields(document))
    {
        let key = field.response_key().as_str();
        errors.push(Problem::unauthorized().to_json(key));
        data.insert(key.to_owned(), Value::Null);
    }
    if errors.is_empty() {
        let mut error = Problem::unauthorized().to_json("");
        error["path"] = json!([]);
        errors.push(error);
    }
    Reply::json(401, &json!({"data": data, "errors": errors}))
}

struct Root<'s> {
    library: &'s Library,
    user: User,
    kind: OperationType,
    state: RefCell<State<'s>>,
}

struct State<'s> {
    scene: Scene<'s>,
    errors: Vec<Value>,
    denied: bool,
}

impl ObjectValue for Root<'_> {
    fn type_name(&self) -> &str {
        match self.kind {
            OperationType::Mutation => "Mutation",
            _ => "Query",
        }
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let ty = &info.field_definition().ty;
        if info.field_name() == "questions" {
            let list = Cow::Borrowed(self.library.question_list());
            return Ok(resolved(list, ty, self.library));
        }
        let arguments = plain(info.arguments())?;
        let mut state = self.state.borrow_mut();
        let state = &mut *state;
        let outcome = if self.kind == OperationType::Mutation {
            mutations::resolve(info.field_name(), &arguments, self.user, &mut state.scene)
        } else {
            queries::resolve(info.field_name(), &arguments, self.user, &state.scene)
        };
        let (value, problems) = match outcome {
            Ok(given) => (given.value, given.warnings),
            Err(problems) => (Value::Null, problems),
        };
        let key = response_key(info.field_selections());
        state.denied |= problems.iter().any(Problem::is_denial);
        state
            .errors
            .extend(problems.iter().map(|problem| problem.to_json(key)));
        Ok(resolved(Cow::Owned(value), ty, self.library))
    }
}

fn response_key<'a>(fields: &[&'a executable::Field]) -> &'a str {
    fields
        .first()
        .map_or("", |field| field.response_key().as_str())
}

/// An object below the root: its fields are those of the JSON, but for two that are made when asked for.
struct Object<'a> {
    value: Cow<'a, Value>,
    type_name: &'a str,
    library: &'a Library,
}

impl ObjectValue for Object<'_> {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let name = info.field_name();
        let value = match (self.type_name, name) {
            ("Consignment", "questions") => {
                let forms = record::form_names(&self.value);
                Cow::Owned(self.library.questions_of(&forms).into())
            }
            // The record under `data`, for clients that read the specification so.
            ("UserDetails", "data") => Cow::Borrowed(&*self.value),
            _ => Cow::Borrowed(&self.value[name]),
        };
        Ok(resolved(value, &info.field_definition().ty, self.library))
    }
}

/// Prepares JSON for the type that the schema expects.
fn resolved<'a>(value: Cow<'a, Value>, ty: &'a Type, library: &'a Library) -> ResolvedValue<'a> {
    let name = ty.inner_named_type();
    match value {
        Cow::Owned(Value::Array(items)) if ty.is_list() => ResolvedValue::List(Box::new(
            items
                .into_iter()
                .map(|item| Ok(resolved(Cow::Owned(item), ty.item_type(), library))),
        )),
        Cow::Borrowed(Value::Array(items)) if ty.is_list() => ResolvedValue::List(Box::new(
            items
                .iter()
                .map(|item| Ok(resolved(Cow::Borrowed(item), ty.item_type(), library))),
        )),
        value if value.is_object() && library.schema.get_object(name).is_some() => {
            ResolvedValue::object(Object {
                value,
                type_name: name.as_str(),
                library,
            })
        }
        value => ResolvedValue::Leaf(bytes(&value)),
    }
}

fn bytes(value: &Value) -> JsonValue {
    match value {
        Value::Null => JsonValue::Null,
        Value::Bool(value) => JsonValue::Bool(*value),
        Value::Number(value) => JsonValue::Number(value.clone()),
        Value::String(value) => JsonValue::String(value.as_str().into()),
        Value::Array(items) => JsonValue::Array(items.iter().map(bytes).collect()),
        Value::Object(fields) => JsonValue::Object(bytes_map(fields)),
    }
}

fn bytes_map(fields: &Map<String, Value>) -> JsonMap {
    fields
        .iter()
        .map(|(name, value)| {
            (
                serde_json_bytes::ByteString::from(name.as_str()),
                bytes(value),
            )
        })
        .collect()
}

fn plain(arguments: &JsonMap) -> Result<Value, FieldError> {
    serde_json::to_value(arguments).map_err(|error| FieldError {
        message: error.to_string(),
    })
}
