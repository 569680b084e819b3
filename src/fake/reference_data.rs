//! The data that stays constant while the fake runs: users, questions, and the schema as adapted by a profile.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};

use apollo_compiler::ast::{FieldDefinition, Type};
use apollo_compiler::collections::IndexMap;
use apollo_compiler::executable::OperationType;
use apollo_compiler::schema::{Component, EnumType, ExtendedType, ObjectType};
use apollo_compiler::validation::{Valid, WithErrors};
use apollo_compiler::{ExecutableDocument, Name, Schema};
use serde_json::{Value, json};

use super::rules;
use super::world::World;
use crate::graphql::{FieldRename, FieldRenames, SCHEMA};
use crate::locked::lock;
use crate::profile::{OperationProfile, RecordNames, ServiceProfile};

pub(super) struct ReferenceData {
    pub(super) world: Arc<World>,
    pub(super) questions: OnceLock<Vec<Value>>,
    /// The schema for validating documents.
    pub(super) schema: Arc<ServedSchema>,
    /// The profile of the service.
    pub(super) profile: ServiceProfile,
    /// Root fields that the profile has moved.
    pub(super) moved: MovedFields,
    /// Fields that the profile has renamed.
    pub(super) renames: FieldRenames,
}

impl ReferenceData {
    /// The root questions, with their effective forms.
    pub(super) fn questions(&self) -> &[Value] {
        self.questions.get_or_init(|| {
            let questions = self.world.questions["items"].as_array();
            questions.map_or(Vec::new(), |list| rules::with_forms(list, &[]))
        })
    }
}

/// A schema with a cache of checked documents, shared by all fakes that serve it.
pub(super) struct ServedSchema {
    schema: Valid<Schema>,
    /// Clients repeat a few documents, and each test case starts its own fake.
    documents: Mutex<HashMap<String, Arc<CheckedDocument>>>,
}

pub(super) type CheckedDocument = Result<Valid<ExecutableDocument>, WithErrors<ExecutableDocument>>;

/// The maximum number of cached documents. An application has a few dozen; a test may send thousands.
const CAPACITY: usize = 256;

impl ServedSchema {
    /// Parses a schema. The error lists its problems.
    pub(super) fn read(text: &str) -> Result<Arc<Self>, String> {
        let parsed = Schema::parse_and_validate(text, "schema.graphql");
        parsed
            .map(Self::new)
            .map_err(|failed| failed.errors.to_string())
    }

    /// The default schema.
    pub(super) fn bundled() -> Arc<Self> {
        static BUNDLED: OnceLock<Arc<ServedSchema>> = OnceLock::new();
        let schema = BUNDLED.get_or_init(|| {
            let parsed = Self::read(SCHEMA);
            // OK because a test parses the bundled schema.
            parsed.unwrap_or_else(|_| Self::new(Valid::assume_valid(Schema::new())))
        });
        Arc::clone(schema)
    }

    fn new(schema: Valid<Schema>) -> Arc<Self> {
        let documents = Mutex::default();
        Arc::new(Self { schema, documents })
    }

    /// Returns the checked document.
    pub(super) fn document(&self, text: &str) -> Arc<CheckedDocument> {
        if let Some(checked) = lock(&self.documents).get(text) {
            return Arc::clone(checked);
        }
        let checked = ExecutableDocument::parse_and_validate(&self.schema, text, "request.graphql");
        let checked = Arc::new(checked);
        let mut documents = lock(&self.documents);
        if documents.len() >= CAPACITY {
            documents.clear();
        }
        documents.insert(text.to_owned(), Arc::clone(&checked));
        checked
    }
}

impl Deref for ServedSchema {
    type Target = Valid<Schema>;

    fn deref(&self) -> &Valid<Schema> {
        &self.schema
    }
}

/// The names of the root fields of queries and mutations.
pub(super) fn root_fields(schema: &Schema) -> impl Iterator<Item = &str> {
    let roots = [OperationType::Query, OperationType::Mutation].into_iter();
    let names = roots.filter_map(|root| schema.root_operation(root));
    let objects = names.filter_map(|name| schema.get_object(name));
    objects.flat_map(|object| object.fields.keys().map(Name::as_str))
}

/// Moved fields by field name.
pub(super) type MovedFields = HashMap<String, MovedField>;

/// A root field with a different name than its operation, and possibly with wrappers around its record.
// profile: operations.recordAt
pub(super) struct MovedField {
    pub(super) operation: String,
    /// The outermost first. A number is a list position.
    wrappers: Vec<String>,
}

impl MovedField {
    /// Wraps the result of the operation as in this field.
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

/// A schema (bundled by default), adapted to the operations, updates and forms of a profile. `Err` describes a profile that
/// cannot be served.
pub(super) fn schema(
    given: Option<&str>,
    profile: &ServiceProfile,
    renames: &FieldRenames,
) -> Result<(Arc<ServedSchema>, MovedFields), String> {
    let mut moved = MovedFields::new();
    let is_changed = !profile.operations.is_empty()
        || !renames.is_empty()
        || profile.updates.value != RecordNames::default()
        || !profile.forms.value.is_empty();
    if !is_changed {
        let schema = given.map_or_else(|| Ok(ServedSchema::bundled()), ServedSchema::read);
        return Ok((schema?, moved));
    }
    let parsed = Schema::parse(given.unwrap_or(SCHEMA), "schema.graphql");
    let mut schema = parsed.map_err(|failed| failed.errors.to_string())?;
    // Only SDL text is added; everything else is in the schema.
    let mut added = Vec::new();
    for rename in renames.iter() {
        rename_field(&mut schema, rename).map_err(|what| {
            let FieldRename { of, ours, theirs } = rename;
            format!("fields.{of}.{ours} of the profile, {theirs}, does not fit the schema: {what}")
        })?;
    }
    for (name, operation) in &profile.operations {
        let operation = &operation.value;
        serve(
            &mut schema,
            name,
            operation,
            renames,
            &mut moved,
            &mut added,
        )
        .ok_or_else(|| format!("what the profile says of {name} does not fit the schema"))?;
    }
    let keys = renamed_keys(&mut schema, &profile.updates.value);
    added.extend(keys.ok_or("the names of updates do not fit the schema")?);
    // profile: forms
    for form in &profile.forms.value {
        let name = Name::new(&form.id).map_err(|error| error.to_string())?;
        let is_known = |forms: &EnumType| forms.values.contains_key(&name);
        if !schema
            .get_enum("EFormType")
            .is_some_and(|forms| is_known(forms))
        {
            added.push(format!("extend enum EFormType {{ {name} }}"));
        }
    }
    added.push(schema.to_string());
    Ok((ServedSchema::read(&added.join("\n"))?, moved))
}

fn serve(
    schema: &mut Schema,
    name: &str,
    operation: &OperationProfile,
    renames: &FieldRenames,
    moved: &mut MovedFields,
    added: &mut Vec<String>,
) -> Option<()> {
    // The second document of an operation has a different name.
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
    // The result of a change is nested under `data`.
    let record = schema
        .get_object(found.ty.inner_named_type())
        .and_then(|result| result.fields.get("data"))
        .map_or(found.ty.clone(), |data| data.ty.clone());
    // profile: operations.leftOut
    for path in &operation.left_out {
        leave_out(schema, record.inner_named_type().clone(), path, renames)?;
    }
    // profile: operations.recordAt
    let Some(pointer) = &operation.record_at else {
        return Some(());
    };
    let mut names = pointer.split('/').skip(1).map(str::to_owned);
    let at = Name::new(&names.next()?).ok()?;
    let wrappers: Vec<String> = names.collect();
    let mut ty = record;
    for (depth, wrapper) in wrappers.iter().enumerate().rev() {
        ty = if position(wrapper).is_some() {
            Type::List(Box::new(ty))
        } else {
            let of = format!("Moved_{name}_{depth}");
            let wrapper = Name::new(wrapper).ok()?;
            added.push(format!("type {of} {{ {wrapper}: {ty} }}"));
            Type::Named(Name::new(&of).ok()?)
        };
    }
    let fields = &mut object_mut(schema, &root)?.fields;
    fields.shift_remove(field);
    fields.shift_remove(&at);
    let definition = FieldDefinition {
        name: at.clone(),
        ty,
        ..FieldDefinition::clone(&found)
    };
    added.push(format!("extend type {root} {{ {definition} }}"));
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

fn leave_out(schema: &mut Schema, mut of: Name, path: &str, renames: &FieldRenames) -> Option<()> {
    let mut names: Vec<&str> = path.split('.').collect();
    let last = names.pop()?;
    for name in names {
        let name = renames.theirs(&of, name).unwrap_or(name);
        let field = schema.get_object(&of)?.fields.get(name)?;
        of = field.ty.inner_named_type().clone();
    }
    let last = renames.theirs(&of, last).unwrap_or(last);
    // Another operation may share the type.
    object_mut(schema, &of)?.fields.shift_remove(last);
    Some(())
}

fn object_mut<'s>(schema: &'s mut Schema, name: &Name) -> Option<&'s mut ObjectType> {
    match schema.types.get_mut(name)? {
        ExtendedType::Object(object) => Some(object.make_mut()),
        _ => None,
    }
}

/// Renames a field, unless the schema already has the new name instead.
// profile: fields
fn rename_field(schema: &mut Schema, rename: &FieldRename) -> Result<(), String> {
    let FieldRename { of, ours, theirs } = rename;
    let new = Name::new(theirs).map_err(|error| error.to_string())?;
    let is_renamed = match schema.types.get_mut(of.as_str()) {
        Some(ExtendedType::Object(object)) => {
            let fields = &mut object.make_mut().fields;
            rename_in(fields, ours, new, |field, name| field.name = name)
        }
        Some(ExtendedType::InputObject(input)) => {
            let fields = &mut input.make_mut().fields;
            rename_in(fields, ours, new, |field, name| field.name = name)
        }
        _ => return Err(format!("it has no type {of}")),
    };
    if is_renamed {
        return Ok(());
    }
    Err(format!("{of} must have one of {ours} and {theirs}"))
}

/// Whether exactly one of the two fields was there.
fn rename_in<T: Clone>(
    fields: &mut IndexMap<Name, Component<T>>,
    ours: &str,
    new: Name,
    set_name: fn(&mut T, Name),
) -> bool {
    let has_new = fields.contains_key(&new);
    let Some(mut field) = fields.shift_remove(ours) else {
        return has_new;
    };
    set_name(field.make_mut(), new.clone());
    fields.insert(new, field);
    !has_new
}

/// Removes the fields that identify the record of an update from the input, and adds them under the profile's names.
// profile: updates
fn renamed_keys(schema: &mut Schema, names: &RecordNames) -> Option<Vec<String>> {
    const INPUT: &str = "CreateOrSaveConsignmentInput";
    let mut added = Vec::new();
    if *names == RecordNames::default() {
        return Some(added);
    }
    let ExtendedType::InputObject(input) = schema.types.get_mut(INPUT)? else {
        return None;
    };
    for (ours, theirs) in [("id", &names.id), ("number", &names.number)] {
        let field = input.make_mut().fields.shift_remove(ours)?;
        if let Some(theirs) = theirs {
            let theirs = Name::new(theirs).ok()?;
            added.push(format!("extend input {INPUT} {{ {theirs}: {} }}", field.ty));
        }
    }
    Some(added)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_checked_once() {
        let schema = ServedSchema::read(include_str!("../../graphql/schema.graphql")).unwrap();
        let document = || schema.document("{ questions { items { id } } }");
        assert!(document().is_ok());
        assert!(Arc::ptr_eq(&document(), &document()));
        for n in 0..2 * CAPACITY {
            schema.document(&format!("{{ a{n} }}"));
        }
        assert!(schema.documents.lock().unwrap().len() <= CAPACITY);
    }
}
