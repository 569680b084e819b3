//! The tables for the comparison of schemas: all coordinates of the schema, and those that each operation uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use apollo_compiler::ExecutableDocument;
use apollo_compiler::ast::{InputValueDefinition, Type};
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;

use crate::documents::{Documents, Operation};

/// A line for each coordinate, with its type or its kind.
pub(crate) fn table(documents: &Documents) -> String {
    let mut lines = BTreeMap::new();
    let types = documents.schema.types.iter();
    for (name, kind) in types.filter(|(_, kind)| !kind.is_built_in()) {
        let kind_or_type = match kind {
            ExtendedType::Scalar(_) => "scalar",
            ExtendedType::Object(_) => "object",
            ExtendedType::Interface(_) => "interface",
            ExtendedType::Union(_) => "union",
            ExtendedType::Enum(_) => "enum",
            ExtendedType::InputObject(_) => "input",
        };
        lines.insert(name.to_string(), kind_or_type.to_owned());
        match kind {
            ExtendedType::Object(object) => {
                for (field, definition) in &object.fields {
                    let coordinate = format!("{name}.{field}");
                    lines.insert(coordinate.clone(), definition.ty.to_string());
                    for argument in &definition.arguments {
                        let coordinate = format!("{coordinate}({}:)", argument.name);
                        lines.insert(coordinate, input(argument));
                    }
                }
            }
            ExtendedType::Enum(values) => {
                for value in values.values.keys() {
                    lines.insert(format!("{name}.{value}"), "value".to_owned());
                }
            }
            ExtendedType::InputObject(object) => {
                for (field, definition) in &object.fields {
                    lines.insert(format!("{name}.{field}"), input(definition));
                }
            }
            ExtendedType::Scalar(_) => {}
            _ => panic!("{name}: interfaces and unions are not supported"),
        }
    }
    let mut table = String::new();
    for (coordinate, kind_or_type) in lines {
        writeln!(table, "{coordinate} {kind_or_type}").unwrap();
    }
    table
}

fn input(definition: &InputValueDefinition) -> String {
    match &definition.default_value {
        Some(value) => format!("{} = {value}", definition.ty),
        None => definition.ty.to_string(),
    }
}

/// A line for each operation, with the coordinates that it uses.
pub(crate) fn used(documents: &Documents) -> String {
    let mut text = String::new();
    for operation in documents.operations() {
        let used: Vec<String> = of(documents, operation).into_iter().collect();
        writeln!(text, "{} {}", operation.alias, used.join(" ")).unwrap();
    }
    text
}

/// The coordinates that an operation reads, names or sends.
pub(crate) fn of(documents: &Documents, operation: &Operation) -> BTreeSet<String> {
    let text = operation.document.as_str();
    let parsed =
        ExecutableDocument::parse_and_validate(&documents.schema, text, "document.graphql");
    let document = parsed.unwrap();
    let definition = document.operations.get(Some(&operation.name)).unwrap();
    let mut used = BTreeSet::new();
    for variable in &definition.variables {
        named(documents, &variable.ty, &mut used);
    }
    selected(documents, &document, &definition.selection_set, &mut used);
    used
}

fn selected(
    documents: &Documents,
    document: &ExecutableDocument,
    selections: &SelectionSet,
    used: &mut BTreeSet<String>,
) {
    used.insert(selections.ty.to_string());
    for selection in &selections.selections {
        match selection {
            Selection::Field(field) => {
                let coordinate = format!("{}.{}", selections.ty, field.name);
                for argument in &field.arguments {
                    used.insert(format!("{coordinate}({}:)", argument.name));
                }
                used.insert(coordinate);
                named(documents, field.ty(), used);
                selected_below(documents, document, &field.selection_set, used);
            }
            Selection::FragmentSpread(spread) => {
                let fragment = spread.fragment_def(document).unwrap();
                selected(documents, document, &fragment.selection_set, used);
            }
            Selection::InlineFragment(inline) => {
                selected(documents, document, &inline.selection_set, used);
            }
        }
    }
}

fn selected_below(
    documents: &Documents,
    document: &ExecutableDocument,
    selections: &SelectionSet,
    used: &mut BTreeSet<String>,
) {
    if !selections.selections.is_empty() {
        selected(documents, document, selections, used);
    }
}

/// Adds a type that is read or sent, and all fields of an input, since callers may send any of them.
fn named(documents: &Documents, ty: &Type, used: &mut BTreeSet<String>) {
    let name = ty.inner_named_type();
    let Some(kind) = documents.schema.types.get(name) else {
        return;
    };
    if kind.is_built_in() || !used.insert(name.to_string()) {
        return;
    }
    if let ExtendedType::InputObject(object) = kind {
        for (field, definition) in &object.fields {
            used.insert(format!("{name}.{field}"));
            named(documents, &definition.ty, used);
        }
    }
}
