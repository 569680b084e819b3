//! The coverage tables: each operation and where it comes from.

use std::collections::BTreeMap;
use std::fmt::Write;

use apollo_compiler::schema::ExtendedType;

use crate::documents::Documents;
use crate::provenance;

const START: &str = "<!-- coverage: written by tests/codegen.rs -->";
const END: &str = "<!-- /coverage -->";

/// The page of the docs: operations with their arguments, then every type with its fields.
pub(crate) fn page(documents: &Documents) -> String {
    let mut page = table(documents);
    let descriptions: BTreeMap<_, _> = documents.elements().collect();
    for (name, kind) in documents
        .schema
        .types
        .iter()
        .filter(|(_, kind)| !kind.is_built_in())
    {
        let fields: Vec<&str> = match kind {
            ExtendedType::Object(object) => object
                .fields
                .keys()
                .map(apollo_compiler::Name::as_str)
                .collect(),
            ExtendedType::InputObject(input) => input
                .fields
                .keys()
                .map(apollo_compiler::Name::as_str)
                .collect(),
            ExtendedType::Enum(values) => values
                .values
                .keys()
                .map(apollo_compiler::Name::as_str)
                .collect(),
            _ => continue,
        };
        if name == "Query" || name == "Mutation" {
            continue;
        }
        write!(
            page,
            "\n## `{name}`\n\n| element | source |\n| --- | --- |\n"
        )
        .unwrap();
        writeln!(page, "| (the type) | {} |", mark(&descriptions, name)).unwrap();
        for field in fields {
            writeln!(
                page,
                "| `{field}` | {} |",
                mark(&descriptions, &format!("{name}.{field}"))
            )
            .unwrap();
        }
    }
    page
}

/// One line an operation.
fn table(documents: &Documents) -> String {
    let descriptions: BTreeMap<_, _> = documents.elements().collect();
    let mut table =
        "| operation | kind | source | arguments |\n| --- | --- | --- | --- |\n".to_owned();
    for kind in ["query", "mutation"] {
        for operation in documents
            .operations()
            .filter(|operation| operation.kind == kind)
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
                        mark(&descriptions, &format!("{coordinate}({name}:)"))
                    )
                })
                .collect();
            let arguments = if arguments.is_empty() {
                "none".to_owned()
            } else {
                arguments.join("; ")
            };
            let source = mark(&descriptions, &coordinate);
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

/// The README with the table between its marks brought up to date.
pub(crate) fn into_readme(documents: &Documents, readme: &str) -> String {
    let (Some(start), Some(end)) = (readme.find(START), readme.find(END)) else {
        panic!("README.md has lost the marks of the coverage table");
    };
    format!(
        "{}{START}\n{}{}",
        &readme[..start],
        table(documents),
        &readme[end..]
    )
}

fn mark(descriptions: &BTreeMap<String, String>, coordinate: &str) -> String {
    let description = descriptions
        .get(coordinate)
        .map(String::as_str)
        .unwrap_or_default();
    provenance::split(description).map_or_else(|| "?".to_owned(), |(_, mark)| mark.to_owned())
}
