//! Executes an operation: resolvers return the root fields, and nested fields are read from their JSON.

use std::borrow::Cow;
use std::cell::RefCell;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast::Type;
use apollo_compiler::executable::{Operation, OperationType};
use apollo_compiler::resolvers::{Execution, FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::request::GraphqlRequest;
use super::{ResolverContext, resolvers};
use crate::fake::problem::ErrorItem;
use crate::fake::records::{form_names, list};
use crate::fake::reference_data::ReferenceData;
use crate::fake::reply::FakeReply;
use crate::fake::rules;

/// Executes an operation.
pub(super) fn execute(
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    variables: Map<String, Value>,
    context: ResolverContext<'_>,
) -> FakeReply {
    let root = Root {
        data: context.data,
        kind: operation.operation_type,
        context: RefCell::new(context),
        problems: RefCell::new(Vec::new()),
    };
    let variables = variables.into_iter();
    let variables = variables.map(|(name, value)| (name.into(), value.into()));
    let variables: JsonMap = variables.collect();
    let executed = Execution::new(&root.data.schema, document)
        .operation(operation)
        .raw_variable_values(&variables)
        .enable_schema_introspection(true)
        .execute_sync(&root);
    let executed = match executed {
        Ok(executed) => executed,
        Err(error) => {
            let error = error.to_graphql_error(&document.sources);
            return FakeReply::json(400, &json!({"errors": [error]}));
        }
    };
    let problems = root.problems.into_inner();
    let problem_errors = problems.iter().map(|(key, problem)| problem.to_json(key));
    let other_errors = executed.errors.iter().map(|error| json!(error));
    let errors = problem_errors.chain(other_errors).collect();
    let is_denied = problems.iter().any(|(_, problem)| problem.is_denial());
    let data = executed.data.as_ref();
    let is_empty = data.is_some_and(|data| data.values().all(JsonValue::is_null));
    let status = if is_denied && is_empty { 403 } else { 200 };
    let body = ResponseBody {
        data: executed.data,
        errors,
    };
    match serde_json::to_vec(&body) {
        Ok(body) => FakeReply::raw(status, "application/json", body),
        Err(error) => FakeReply::json(500, &json!({"errors": [{"message": error.to_string()}]})),
    }
}

#[derive(Serialize)]
struct ResponseBody {
    data: Option<JsonMap>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Value>,
}

/// The reply to a request without a valid token (spec 5.7): one error per selected root field.
pub(super) fn unauthorized(
    document: Option<&Valid<ExecutableDocument>>,
    request: &GraphqlRequest,
) -> FakeReply {
    let operation = document.and_then(|document| request.operation(document).ok());
    let fields = operation.zip(document).into_iter();
    let keys: Vec<&str> = fields
        .flat_map(|(operation, document)| operation.root_fields(document))
        .map(|field| field.response_key().as_str())
        .collect();
    let error = ErrorItem::unauthorized();
    let named = if keys.is_empty() { &[""] } else { &*keys };
    let errors: Vec<Value> = named.iter().map(|key| error.to_json(key)).collect();
    let data: Map<String, Value> = keys
        .iter()
        .map(|key| ((*key).to_owned(), Value::Null))
        .collect();
    FakeReply::json(401, &json!({"data": data, "errors": errors}))
}

struct Root<'s> {
    data: &'s ReferenceData,
    kind: OperationType,
    context: RefCell<ResolverContext<'s>>,
    /// Each with the response key of its field.
    problems: RefCell<Vec<(String, ErrorItem)>>,
}

impl Root<'_> {
    /// The arguments of a field, without the new names of renamed input fields.
    // profile: fields
    fn in_our_names(&self, info: &ResolveInfo<'_>, arguments: Value) -> Value {
        let Value::Object(arguments) = arguments else {
            return arguments;
        };
        let definition = info.field_definition();
        let renamed = arguments.into_iter().map(|(name, value)| {
            let argument = definition.argument_by_name(&name);
            match argument.filter(|_| !self.data.renames.is_empty()) {
                Some(argument) => {
                    let of = argument.ty.inner_named_type();
                    (name, unrenamed(value, of, self.data))
                }
                None => (name, value),
            }
        });
        renamed.collect()
    }
}

/// An input with our names of its fields.
fn unrenamed(input: Value, of: &str, data: &ReferenceData) -> Value {
    match (input, data.schema.get_input_object(of)) {
        (Value::Array(items), Some(_)) => items
            .into_iter()
            .map(|item| unrenamed(item, of, data))
            .collect(),
        (Value::Object(fields), Some(definition)) => {
            let fields = fields.into_iter().map(|(name, value)| {
                let field = definition.fields.get(name.as_str());
                let value = match field {
                    Some(field) => unrenamed(value, field.ty.inner_named_type(), data),
                    None => value,
                };
                let ours = data.renames.ours(of, &name);
                (ours.map(str::to_owned).unwrap_or(name), value)
            });
            fields.collect()
        }
        (input, _) => input,
    }
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
        let arguments = serde_json::to_value(info.arguments()).map_err(|error| FieldError {
            message: error.to_string(),
        })?;
        let arguments = self.in_our_names(info, arguments);
        let field = info.field_name();
        let context = &mut *self.context.borrow_mut();
        let resolved = if self.kind == OperationType::Mutation {
            resolvers::mutation(field, &arguments, context)
                .map(|(value, warnings)| (Cow::Owned(value), warnings))
        } else {
            resolvers::query(field, &arguments, context)
                .map(|value| (value, Vec::new()))
                .map_err(Into::into)
        };
        let (value, problems) =
            resolved.unwrap_or_else(|problems| (Cow::Owned(Value::Null), problems));
        let selection = info.field_selections().first();
        let key = selection.map_or("", |field| field.response_key().as_str());
        let problems = problems
            .into_iter()
            .map(|problem| (key.to_owned(), problem));
        self.problems.borrow_mut().extend(problems);
        Ok(resolve(value, &info.field_definition().ty, self.data))
    }
}

/// Converts a value to the type that the schema expects.
fn resolve<'a>(value: Cow<'a, Value>, ty: &'a Type, data: &'a ReferenceData) -> ResolvedValue<'a> {
    let items: Box<dyn Iterator<Item = Cow<'a, Value>> + 'a> = match value {
        Cow::Owned(Value::Array(items)) if ty.is_list() => {
            Box::new(items.into_iter().map(Cow::Owned))
        }
        Cow::Borrowed(Value::Array(items)) if ty.is_list() => {
            Box::new(items.iter().map(Cow::Borrowed))
        }
        value => {
            let type_name = ty.inner_named_type().as_str();
            if !value.is_object() || data.schema.get_object(type_name).is_none() {
                return ResolvedValue::leaf(value.into_owned());
            }
            return ResolvedValue::object(Object {
                value,
                type_name,
                data,
            });
        }
    };
    ResolvedValue::List(Box::new(
        items.map(move |item| Ok(resolve(item, ty.item_type(), data))),
    ))
}

/// An object below the root.
struct Object<'a> {
    value: Cow<'a, Value>,
    type_name: &'a str,
    data: &'a ReferenceData,
}

impl ObjectValue for Object<'_> {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let object = &*self.value;
        let sent = info.field_name();
        // profile: fields
        let ours = self.data.renames.ours(self.type_name, sent);
        let name = ours.unwrap_or(sent);
        let value = match (self.type_name, name) {
            ("Consignment", "questions") => {
                let forms = form_names(object);
                Cow::Owned(rules::questions_of(self.data.questions(), &forms).into())
            }
            // The specification may be read as nesting the record under `data`.
            ("UserDetails", "data") => Cow::Borrowed(object),
            // The records of a page, in addition to its edges.
            (_, "items") if object["edges"].is_array() => {
                let edges = list(&object["edges"]).iter();
                Cow::Owned(edges.map(|edge| edge["node"].clone()).collect())
            }
            _ => Cow::Borrowed(&object[name]),
        };
        Ok(resolve(value, &info.field_definition().ty, self.data))
    }
}
