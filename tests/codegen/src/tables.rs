//! The tables of operations and elements, with the uses and the source of each element.

use std::collections::BTreeSet;
use std::fmt::Write;

use apollo_compiler::ast::Type;
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;

use envd_codegen::ir::{Operation, Program};

use crate::elements::{Element, Elements};
use crate::operations::root;

/// One line for each element of the schema, in schema order: its coordinate, with its type or its kind.
pub(crate) fn coordinates(elements: &Elements) -> String {
    let elements = elements.all.iter();
    let lines = elements.map(|element| format!("{} {}\n", element.coordinate, element.kind));
    lines.collect()
}

/// The coordinates of the elements that an operation reads, names or sends.
fn used_by(elements: &Elements, operation: &Operation) -> BTreeSet<String> {
    let document = elements.validate(&operation.sent).unwrap();
    let definition = document.operations.get(Some(&operation.name)).unwrap();
    let mut used = BTreeSet::new();
    for variable in &definition.variables {
        add_type(elements, &variable.ty, &mut used);
    }
    add_selected(elements, &definition.selection_set, &mut used);
    used
}

fn add_selected(elements: &Elements, selections: &SelectionSet, used: &mut BTreeSet<String>) {
    used.insert(selections.ty.to_string());
    for selection in &selections.selections {
        let Selection::Field(field) = selection else {
            panic!("a document that is sent has no fragments")
        };
        let coordinate = format!("{}.{}", selections.ty, field.name);
        let arguments = field.arguments.iter();
        used.extend(arguments.map(|argument| format!("{coordinate}({}:)", argument.name)));
        used.insert(coordinate);
        add_type(elements, field.ty(), used);
        if !field.selection_set.is_empty() {
            add_selected(elements, &field.selection_set, used);
        }
    }
}

/// Adds a type that is read or sent. Adds all fields of an input, since callers may send any of them.
fn add_type(elements: &Elements, ty: &Type, used: &mut BTreeSet<String>) {
    let name = ty.inner_named_type();
    let kind = &elements.schema.types[name];
    if kind.is_built_in() || !used.insert(name.to_string()) {
        return;
    }
    if let ExtendedType::InputObject(object) = kind {
        for (field, definition) in &object.fields {
            used.insert(format!("{name}.{field}"));
            add_type(elements, &definition.ty, used);
        }
    }
}

/// The documentation page: operations with their arguments, then every type with its fields and the operations that use them.
pub(crate) fn coverage(elements: &Elements, program: &Program) -> String {
    let mut page =
        "| operation | kind | source | arguments |\n| --- | --- | --- | --- |\n".to_owned();
    for kind in ["query", "mutation"] {
        let is_listed = |operation: &&Operation| operation.kind == kind && !is_second(operation);
        for operation in program.operations.iter().filter(is_listed) {
            let root = root(operation);
            let (source, arguments) = sources(elements, &root.coordinate);
            writeln!(
                page,
                "| `{}` | {kind} | {source} | {arguments} |",
                root.wire
            )
            .unwrap();
        }
    }
    let operations = program.operations.iter();
    let used: Vec<_> = operations
        .map(|operation| (root(operation).wire.as_str(), used_by(elements, operation)))
        .collect();
    let users = |coordinate: &str| {
        let using = used.iter().filter(|(_, used)| used.contains(coordinate));
        let names: Vec<String> = using.map(|(name, _)| format!("`{name}`")).collect();
        match names.len() {
            0 => "none".to_owned(),
            1..=4 => names.join(", "),
            many => format!("{many} operations"),
        }
    };
    for element in &elements.all {
        let Element {
            coordinate, kind, ..
        } = element;
        let source = source(element);
        match coordinate.split_once('.') {
            None => {
                let head = "| element | type | source | used by |\n| --- | --- | --- | --- |";
                write!(page, "\n## `{coordinate}`\n\n{head}\n").unwrap();
                let using = users(coordinate);
                writeln!(page, "| (the type) | {kind} | {source} | {using} |").unwrap();
            }
            Some((_, field)) if field.ends_with(')') => {}
            Some((of, field)) => {
                // Documents do not name enum values, so a value counts as used wherever its enum is used.
                let using = users(if kind == "value" { of } else { coordinate });
                writeln!(page, "| `{field}` | `{kind}` | {source} | {using} |").unwrap();
            }
        }
    }
    page
}

/// The source of a field of a root type, and its arguments with their sources.
fn sources(elements: &Elements, coordinate: &str) -> (String, String) {
    let mut fields = elements.all.iter();
    let field = fields.find(|element| element.coordinate == coordinate);
    let arguments = elements.all.iter().filter_map(|element| {
        let name = element.coordinate.strip_prefix(coordinate)?;
        let name = name.strip_prefix('(')?.strip_suffix(":)")?;
        Some(format!("`{name}` {}", source(element)))
    });
    let mut arguments: Vec<String> = arguments.collect();
    arguments.sort();
    let arguments = match &arguments[..] {
        [] => "none".to_owned(),
        arguments => arguments.join("; "),
    };
    (source(field.unwrap()).to_owned(), arguments)
}

fn source(element: &Element) -> &str {
    envd_codegen::split(&element.description).map_or("?", |(_, source)| source)
}

/// Whether another operation reads the same field, and this one has an alias for it.
fn is_second(operation: &Operation) -> bool {
    let root = root(operation);
    !root.coordinate.ends_with(&format!(".{}", root.wire))
}
