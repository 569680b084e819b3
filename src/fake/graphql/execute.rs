//! Executes an operation: root fields ask the world, everything below is read off the JSON.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{self, OperationType};
use apollo_compiler::resolvers::{Execution, FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::objects::{Connection, Record, bytes_map, resolved};
use super::request::{Operation, Request};
use super::{Scene, mutations, queries};
use crate::fake::library::Library;
use crate::fake::listing::Page;
use crate::fake::problem::Problem;
use crate::fake::reply::Reply;
use crate::fake::user::User;

/// What a root field gives: an answer, and the warnings beside it.
pub(super) struct Given {
    pub(super) answer: Answer,
    pub(super) warnings: Vec<Problem>,
}

/// An answer; records are shared and not copied, for a page of them is large and little of it is asked for.
pub(super) enum Answer {
    Json(Value),
    Shared(Arc<Value>),
    Page(Page),
}

impl Answer {
    pub(super) fn list(items: Vec<Value>) -> Self {
        Self::Json(items.into())
    }
}

impl From<Value> for Answer {
    fn from(value: Value) -> Self {
        Self::Json(value)
    }
}

impl From<Answer> for Given {
    fn from(answer: Answer) -> Self {
        Self {
            answer,
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
    let mut errors = state.errors;
    errors.extend(executed.errors.iter().map(|error| json!(error)));
    let data = executed.data.as_ref();
    let nothing = data.is_some_and(|data| data.values().all(JsonValue::is_null));
    let status = if state.denied && nothing { 403 } else { 200 };
    let body = Body {
        data: executed.data,
        errors,
    };
    match serde_json::to_vec(&body) {
        Ok(body) => Reply::raw(status, "application/json", body),
        Err(error) => Reply::json(500, &json!({"errors": [{"message": error.to_string()}]})),
    }
}

#[derive(Serialize)]
struct Body {
    data: Option<JsonMap>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Value>,
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
        let (answer, problems) = match outcome {
            Ok(given) => (given.answer, given.warnings),
            Err(problems) => (Answer::Json(Value::Null), problems),
        };
        let key = response_key(info.field_selections());
        state.denied |= problems.iter().any(Problem::is_denial);
        state
            .errors
            .extend(problems.iter().map(|problem| problem.to_json(key)));
        let type_name = ty.inner_named_type().as_str();
        Ok(match answer {
            Answer::Json(value) => resolved(Cow::Owned(value), ty, self.library),
            Answer::Shared(value) => ResolvedValue::object(Record {
                value,
                type_name,
                library: self.library,
            }),
            Answer::Page(page) => ResolvedValue::object(Connection {
                page,
                type_name,
                library: self.library,
            }),
        })
    }
}

fn response_key<'a>(fields: &[&'a executable::Field]) -> &'a str {
    fields
        .first()
        .map_or("", |field| field.response_key().as_str())
}

fn plain(arguments: &JsonMap) -> Result<Value, FieldError> {
    serde_json::to_value(arguments).map_err(|error| FieldError {
        message: error.to_string(),
    })
}
