//! The schema of the service that a profile describes.

use std::collections::HashMap;
use std::sync::Arc;

use apollo_compiler::ast::{self, FieldDefinition, InputValueDefinition, Type};
use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::executable::OperationType;
use apollo_compiler::schema::{
    Component, DirectiveList, EnumValueDefinition, ExtendedType, ObjectType,
};
use apollo_compiler::{Name, Node, Schema};
use serde_json::{Value, json};

use super::reference_data::ServedSchema;
use crate::graphql::SCHEMA;
use crate::profile::{OperationProfile, RecordNames, ServiceProfile};

/// The fields by the operation that they stand for.
pub(super) type MovedFields = HashMap<String, MovedField>;

/// A root field with another name than that of its operation, and perhaps with wrappers around its record.
pub(super) struct MovedField {
    pub(super) operation: String,
    /// Outermost first; a number is a position in a list.
    wrappers: Vec<String>,
}

impl MovedField {
    /// The result of the operation, as this field has it.
    pub(super) fn wrapped(&self, result: Value) -> Value {
        let wrappers = self.wrappers.iter().rev();
        wrappers.fold(result, |inner, name| match position(name) {
            Some(at) => {
                let mut items = vec![Value::Null; at];
                items.push(inner);
                items.into()
            }
            None => json!({name.as_str(): inner}),
        })
    }
}

fn position(name: &str) -> Option<usize> {
    name.parse().ok()
}

/// A schema, the bundled one unless another is given, with what a profile says of operations, updates and forms. `Err` says what
/// cannot be served.
pub(super) fn schema(
    given: Option<&str>,
    profile: &ServiceProfile,
) -> Result<(Arc<ServedSchema>, MovedFields), String> {
    let mut moved = MovedFields::new();
    let is_changed = !profile.operations.is_empty()
        || profile.updates.value != RecordNames::default()
        || !profile.forms.value.is_empty();
    if !is_changed {
        let schema = given.map_or_else(|| Ok(ServedSchema::bundled()), ServedSchema::read);
        return Ok((schema?, moved));
    }
    let parsed = Schema::parse(given.unwrap_or(SCHEMA), "schema.graphql");
    let mut schema = parsed.map_err(|failed| failed.errors.to_string())?;
    for (name, operation) in &profile.operations {
        serve(&mut schema, name, &operation.value, &mut moved)
            .ok_or_else(|| format!("what the profile says of {name} does not fit the schema"))?;
    }
    rename_keys(&mut schema, profile).ok_or("the names of updates do not fit the schema")?;
    add_forms(&mut schema, profile).ok_or("the forms of the profile do not fit the schema")?;
    Ok((ServedSchema::read(&schema.to_string())?, moved))
}

fn serve(
    schema: &mut Schema,
    name: &str,
    operation: &OperationProfile,
    moved: &mut MovedFields,
) -> Option<()> {
    // A second document of the operation has a name of its own.
    let field = if name == "fullConsignments" {
        "consignments"
    } else {
        name
    };
    let roots = [OperationType::Query, OperationType::Mutation].into_iter();
    let (root, found) = roots
        .filter_map(|kind| schema.root_operation(kind))
        .find_map(|root| {
            let definition = schema.get_object(root)?.fields.get(field)?;
            Some((root.clone(), definition.as_ref().clone()))
        })?;
    // The result of a change is under `data`.
    let record = object(schema, found.ty.inner_named_type())
        .and_then(|result| result.fields.get("data"))
        .map_or(found.ty.clone(), |data| data.ty.clone());
    for path in &operation.left_out {
        leave_out(schema, record.inner_named_type().clone(), path)?;
    }
    let Some(pointer) = &operation.record_at else {
        return Some(());
    };
    let mut names = pointer.split('/').skip(1).map(str::to_owned);
    let at = Name::new(&names.next()?).ok()?;
    let wrappers: Vec<String> = names.collect();
    let mut ty = record;
    for (depth, wrapper) in wrappers.iter().enumerate().rev() {
        if position(wrapper).is_some() {
            ty = Type::List(Box::new(ty));
            continue;
        }
        let of = Name::new(&format!("Moved_{name}_{depth}")).ok()?;
        let field = FieldDefinition {
            description: None,
            name: Name::new(wrapper).ok()?,
            arguments: Vec::new(),
            ty,
            directives: ast::DirectiveList::default(),
        };
        let mut object = ObjectType {
            description: None,
            name: of.clone(),
            implements_interfaces: IndexSet::default(),
            directives: DirectiveList::default(),
            fields: IndexMap::default(),
        };
        object
            .fields
            .insert(field.name.clone(), Component::new(field));
        schema
            .types
            .insert(of.clone(), ExtendedType::Object(Node::new(object)));
        ty = Type::Named(of);
    }
    let root = object_mut(schema, &root)?;
    root.fields.shift_remove(field);
    let definition = FieldDefinition {
        name: at.clone(),
        ty,
        ..found
    };
    root.fields.insert(at.clone(), Component::new(definition));
    let operation = field.to_owned();
    moved.insert(
        at.to_string(),
        MovedField {
            operation,
            wrappers,
        },
    );
    Some(())
}

fn leave_out(schema: &mut Schema, mut of: Name, path: &str) -> Option<()> {
    let mut names: Vec<&str> = path.split('.').collect();
    let last = names.pop()?;
    for name in names {
        let field = object(schema, &of)?.fields.get(name)?;
        of = field.ty.inner_named_type().clone();
    }
    // Another operation may have the same type.
    object_mut(schema, &of)?.fields.shift_remove(last);
    Some(())
}

fn object<'s>(schema: &'s Schema, name: &Name) -> Option<&'s ObjectType> {
    schema.get_object(name).map(AsRef::as_ref)
}

fn object_mut<'s>(schema: &'s mut Schema, name: &Name) -> Option<&'s mut ObjectType> {
    match schema.types.get_mut(name)? {
        ExtendedType::Object(object) => Some(object.make_mut()),
        _ => None,
    }
}

/// The fields by which an update names its record.
fn rename_keys(schema: &mut Schema, profile: &ServiceProfile) -> Option<()> {
    let names = &profile.updates.value;
    if *names == RecordNames::default() {
        return Some(());
    }
    let ExtendedType::InputObject(input) = schema.types.get_mut("CreateOrSaveConsignmentInput")?
    else {
        return None;
    };
    let input = input.make_mut();
    for (ours, theirs) in [("id", &names.id), ("number", &names.number)] {
        let field: InputValueDefinition = input.fields.shift_remove(ours)?.as_ref().clone();
        if let Some(theirs) = theirs {
            let name = Name::new(theirs).ok()?;
            let field = InputValueDefinition {
                name: name.clone(),
                ..field
            };
            input.fields.insert(name, Component::new(field));
        }
    }
    Some(())
}

fn add_forms(schema: &mut Schema, profile: &ServiceProfile) -> Option<()> {
    if profile.forms.value.is_empty() {
        return Some(());
    }
    let ExtendedType::Enum(forms) = schema.types.get_mut("EFormType")? else {
        return None;
    };
    for form in &profile.forms.value {
        let value = Name::new(&form.id).ok()?;
        let definition = EnumValueDefinition {
            description: None,
            value: value.clone(),
            directives: ast::DirectiveList::default(),
        };
        forms
            .make_mut()
            .values
            .insert(value, Component::new(definition));
    }
    Some(())
}
