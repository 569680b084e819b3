//! `src/graphql/generated.rs`: the operations, with their documents, variables and replies.

use std::collections::BTreeSet;

use crate::docs::Docs;
use crate::documents::{Documents, Operation, record_name};
use crate::model::plain_type;
use crate::names;
use crate::rust_text::{comment, import, indent, rename_all, serde, structure};

pub(crate) fn file(documents: &Documents, docs: &Docs) -> String {
    let (mut queries, mut modules) = (String::new(), String::new());
    for operation in &documents.operations {
        let (query, module) = one(documents, docs, operation);
        queries += &query;
        modules += &module;
    }
    let queries = indent(&queries);
    format!("use super::document::operation_types;\noperation_types! {{\n{queries}}}\n{modules}")
}

/// The type of an operation, and its module.
fn one(documents: &Documents, docs: &Docs, operation: &Operation) -> (String, String) {
    let Operation {
        name, kind, sent, ..
    } = operation;
    let module = names::snake_case(name);
    let method = names::method(name);
    let root = operation.root.name.as_str();
    // Two operations may read one field; then the name tells them apart.
    let by_name = if name.eq_ignore_ascii_case(root) {
        String::new()
    } else {
        format!(", by the name `{name}`")
    };
    let mut head = vec![format!("The {kind} `{root}`{by_name}.")];
    head.extend(docs.lines(&operation.coordinate()));
    head.push(String::new());
    head.push(format!(
        "[`{method}`](crate::{method}) runs it and has an example. The [module](self) shows what else the type is for."
    ));
    let mut used = BTreeSet::new();
    let body =
        variables(docs, operation, &mut used) + &reply(documents, docs, operation, &mut used);
    let body = format!(
        "use serde::{{Deserialize, Serialize}};\n{}pub(crate) const QUERY: &str = {sent:?};\n{body}",
        import("crate::model", used.iter().map(String::as_str), 1),
    );
    (
        format!("{}{name} => {module};\n", comment(head)),
        format!(
            "/// Variables and reply of `{root}`.\npub mod {module} {{\n{}}}\n",
            indent(&body)
        ),
    )
}

fn variables(docs: &Docs, operation: &Operation, used: &mut BTreeSet<String>) -> String {
    let (mut fields, mut names) = (String::new(), Vec::new());
    for variable in &operation.variables {
        let (wire, rust) = (variable.name.as_str(), names::snake_case(&variable.name));
        let leaf = names::variable_type(&operation.name, wire);
        let leaf = leaf.unwrap_or(names::type_name(variable.ty.inner_named_type()));
        use_of_model(used, leaf);
        let plain = plain_type(&variable.ty, leaf);
        let (rust_type, settings) = if variable.ty.is_non_null() {
            (plain, vec![])
        } else {
            let skip = "skip_serializing_if = \"Option::is_none\"".to_owned();
            (format!("Option<{plain}>"), vec![skip])
        };
        fields += &comment(docs.lines(&format!("{}({wire}:)", operation.coordinate())));
        fields += &serde(&rust, wire, &settings);
        fields.extend(["pub ", &rust, ": ", &rust_type, ",\n"]);
        names.push((rust, wire));
    }
    let first = "The variables; those that are `None` are not sent.";
    part(
        operation,
        first,
        names.iter().map(|(rust, wire)| (rust.as_str(), *wire)),
    ) + &structure("Variables", &fields)
}

fn reply(
    documents: &Documents,
    docs: &Docs,
    operation: &Operation,
    used: &mut BTreeSet<String>,
) -> String {
    let (wire, rust) = (operation.alias(), names::snake_case(operation.alias()));
    let coordinate = operation.coordinate();
    let (root, field) = coordinate.split_once('.').unwrap();
    let ty = &documents.schema.type_field(root, field).unwrap().ty;
    let leaf = documents.rust_type(record_name(&operation.root, ty));
    use_of_model(used, &leaf);
    let mut settings = Vec::new();
    let reader = names::reader(&format!("operation {}.{wire}", operation.name));
    let reader = reader.or_else(|| ty.is_list().then_some("list"));
    if reader.is_some() {
        settings.push("default".to_owned());
    }
    settings.extend(reader.map(|reader| format!("deserialize_with = \"crate::model::{reader}\"")));
    let around = if ty.is_list() { "Vec" } else { "Option" };
    let field = comment(docs.lines(&coordinate))
        + &serde(&rust, wire, &settings)
        + &format!("pub {rust}: {around}<{leaf}>,\n");
    part(operation, "The `data` of the reply.", [(&*rust, wire)])
        + "#[non_exhaustive]\n"
        + &structure("ResponseData", &field)
}

/// The head of a struct of an operation, which has the fields of these names.
fn part<'a>(
    operation: &Operation,
    first: &str,
    names: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> String {
    let name = &operation.name;
    let link = format!(
        "Of the operation [`{name}`](super::{name}). See the [module](super) for an example."
    );
    comment([first, "", &link])
        + "#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]\n"
        + rename_all(names)
}

fn use_of_model(used: &mut BTreeSet<String>, leaf: &str) {
    let names = leaf.trim_end_matches('>').split('<');
    let of_model = names.filter(|name| !matches!(*name, "String" | "bool" | "i64" | "f64"));
    used.extend(of_model.map(str::to_owned));
}
