//! The coverage table: each operation and where it comes from.

use std::collections::BTreeMap;
use std::fmt::Write;

use apollo_compiler::schema::ExtendedType;

use crate::documents::Documents;
use crate::{coordinates, provenance};

/// The documentation page: operations with their arguments, then every type with its fields and the operations that use them.
pub(crate) fn page(documents: &Documents) -> String {
    let mut page = table(documents);
    let descriptions: BTreeMap<_, _> = documents.elements().collect();
    let used: Vec<_> = documents
        .operations()
        .map(|operation| (&operation.alias, coordinates::of(documents, operation)))
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
    for (name, kind) in documents
        .schema
        .types
        .iter()
        .filter(|(_, kind)| !kind.is_built_in())
    {
        write!(
            page,
            "\n## `{name}`\n\n| element | type | source | used by |\n| --- | --- | --- | --- |\n"
        )
        .unwrap();
        let own = provenance_of(&descriptions, name);
        let kind_name = kind_name(kind);
        writeln!(
            page,
            "| (the type) | {kind_name} | {own} | {} |",
            users(name)
        )
        .unwrap();
        for (field, ty) in elements(kind) {
            let coordinate = format!("{name}.{field}");
            let source = provenance_of(&descriptions, &coordinate);
            // Documents do not name enum values: a value is used wherever its enum is.
            let using = users(if ty == "value" { name } else { &coordinate });
            writeln!(page, "| `{field}` | `{ty}` | {source} | {using} |").unwrap();
        }
    }
    page
}

fn kind_name(kind: &ExtendedType) -> &'static str {
    match kind {
        ExtendedType::Scalar(_) => "scalar",
        ExtendedType::Enum(_) => "enum",
        ExtendedType::InputObject(_) => "input",
        _ => "object",
    }
}

/// The fields or values of a type, each with its type.
fn elements(kind: &ExtendedType) -> Vec<(String, String)> {
    match kind {
        ExtendedType::Object(object) => object
            .fields
            .iter()
            .map(|(name, field)| (name.to_string(), field.ty.to_string()))
            .collect(),
        ExtendedType::InputObject(input) => input
            .fields
            .iter()
            .map(|(name, field)| (name.to_string(), field.ty.to_string()))
            .collect(),
        ExtendedType::Enum(values) => values
            .values
            .keys()
            .map(|value| (value.to_string(), "value".to_owned()))
            .collect(),
        _ => Vec::new(),
    }
}

/// A table with one line per operation.
fn table(documents: &Documents) -> String {
    let descriptions: BTreeMap<_, _> = documents.elements().collect();
    let mut table =
        "| operation | kind | source | arguments |\n| --- | --- | --- | --- |\n".to_owned();
    for kind in ["query", "mutation"] {
        for operation in documents
            .operations()
            .filter(|operation| operation.kind == kind && operation.alias == operation.root_field)
        {
            let root = if kind == "query" { "Query" } else { "Mutation" };
            let coordinate = format!("{root}.{}", operation.root_field);
            let arguments: Vec<String> = descriptions
                .keys()
                .filter_map(|key| {
                    key.strip_prefix(&format!("{coordinate}("))?
                        .strip_suffix(":)")
                })
                .map(|name| {
                    format!(
                        "`{name}` {}",
                        provenance_of(&descriptions, &format!("{coordinate}({name}:)"))
                    )
                })
                .collect();
            let arguments = if arguments.is_empty() {
                "none".to_owned()
            } else {
                arguments.join("; ")
            };
            let source = provenance_of(&descriptions, &coordinate);
            writeln!(
                table,
                "| `{}` | {kind} | {source} | {arguments} |",
                operation.root_field
            )
            .unwrap();
        }
    }
    table
}

fn provenance_of(descriptions: &BTreeMap<String, String>, coordinate: &str) -> String {
    let description = descriptions
        .get(coordinate)
        .map(String::as_str)
        .unwrap_or_default();
    provenance::split(description)
        .map_or_else(|| "?".to_owned(), |(_, provenance)| provenance.to_owned())
}
