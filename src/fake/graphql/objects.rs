//! Objects below the root: their fields are read off the JSON when they are asked for.

use std::borrow::Cow;
use std::sync::Arc;

use apollo_compiler::ast::Type;
use apollo_compiler::resolvers::{FieldError, ObjectValue, ResolveInfo, ResolvedValue};
use apollo_compiler::response::{JsonMap, JsonValue, serde_json_bytes};
use serde_json::{Map, Value};

use crate::fake::library::Library;
use crate::fake::listing::{self, Page};
use crate::fake::record;

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
        Ok(field(&self.value, self.type_name, info, self.library))
    }
}

/// A record of the ledger.
pub(super) struct Record<'a> {
    pub(super) value: Arc<Value>,
    pub(super) type_name: &'a str,
    pub(super) library: &'a Library,
}

impl ObjectValue for Record<'_> {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        Ok(field(&self.value, self.type_name, info, self.library))
    }
}

fn field<'a>(
    object: &'a Value,
    type_name: &str,
    info: &'a ResolveInfo<'a>,
    library: &'a Library,
) -> ResolvedValue<'a> {
    let name = info.field_name();
    let value = match (type_name, name) {
        ("Consignment", "questions") => {
            let forms = record::form_names(object);
            Cow::Owned(library.questions_of(&forms).into())
        }
        // The record under `data`, for clients that read the specification so.
        ("UserDetails", "data") => Cow::Borrowed(object),
        _ => Cow::Borrowed(&object[name]),
    };
    resolved(value, &info.field_definition().ty, library)
}

/// A page of records.
pub(super) struct Connection<'a> {
    pub(super) page: Page,
    pub(super) type_name: &'a str,
    pub(super) library: &'a Library,
}

impl ObjectValue for Connection<'_> {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        let ty = &info.field_definition().ty;
        let (type_name, library) = (ty.inner_named_type().as_str(), self.library);
        let records = self.page.records.iter();
        Ok(match info.field_name() {
            "totalCount" => ResolvedValue::leaf(self.page.total),
            "pageInfo" => resolved(Cow::Borrowed(&self.page.info), ty, library),
            "edges" => ResolvedValue::List(Box::new(records.map(move |record| {
                Ok(ResolvedValue::object(Edge {
                    record,
                    type_name,
                    library,
                }))
            }))),
            "items" => ResolvedValue::List(Box::new(records.map(move |record| {
                let value = Cow::Borrowed(&**record);
                Ok(ResolvedValue::object(Object {
                    value,
                    type_name,
                    library,
                }))
            }))),
            _ => ResolvedValue::leaf(JsonValue::Null),
        })
    }
}

struct Edge<'a> {
    record: &'a Value,
    type_name: &'a str,
    library: &'a Library,
}

impl ObjectValue for Edge<'_> {
    fn type_name(&self) -> &str {
        self.type_name
    }

    fn resolve_field<'a>(
        &'a self,
        info: &'a ResolveInfo<'a>,
    ) -> Result<ResolvedValue<'a>, FieldError> {
        Ok(match info.field_name() {
            "cursor" => ResolvedValue::leaf(listing::cursor(self.record)),
            _ => resolved(
                Cow::Borrowed(self.record),
                &info.field_definition().ty,
                self.library,
            ),
        })
    }
}

/// Prepares JSON for the type that the schema expects.
pub(super) fn resolved<'a>(
    value: Cow<'a, Value>,
    ty: &'a Type,
    library: &'a Library,
) -> ResolvedValue<'a> {
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

pub(super) fn bytes_map(fields: &Map<String, Value>) -> JsonMap {
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
