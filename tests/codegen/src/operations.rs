//! `src/graphql/generated.rs`: the operations, with their documents, variables and replies.

use std::collections::{BTreeMap, BTreeSet};

use apollo_compiler::ast::{self, Selection};

use crate::docs::Docs;
use crate::documents::{Documents, Operation, record_name};
use crate::model::plain_type;
use crate::names;
use crate::rust_text::{comment, fill, import, indent, rename_all, serde, structure};

pub(crate) fn file(documents: &Documents, docs: &Docs) -> String {
    let (mut queries, mut modules) = (String::new(), String::new());
    let mut shared = BTreeMap::new();
    for operation in &documents.operations {
        let (query, module) = one(documents, docs, operation, &mut shared);
        queries += &query;
        modules += &module;
    }
    let all = documents
        .operations
        .iter()
        .map(|operation| format!("&{}::DOCUMENT", names::snake_case(&operation.name)));
    format!(
        "use super::document::{{Document, OperationKind, Selection, operation_types}};\n\
         operation_types! {{\n{}}}\n\
         /// The documents of all operations.\n\
         pub(super) static DOCUMENTS: [&Document; {}] = [\n{}\n];\n\
         {}{modules}",
        indent(&queries),
        documents.operations.len(),
        fill("   ", all, "    ", 100),
        selections(documents),
    )
}

/// The selections of each fragment as data.
fn selections(documents: &Documents) -> String {
    let fragments = documents.fragments.iter().filter_map(|(name, fragment)| {
        let fields: Vec<_> = fragment.selection_set.iter().map(plain_field).collect();
        // The result of a change: its document has the selections of its record.
        if fields.iter().all(|field| field.name == "data") {
            return None;
        }
        let fields = fields
            .iter()
            .map(|field| format!("Selection({:?}, {})", field.name.as_str(), selected(field)));
        let fields: Vec<String> = fields.collect();
        Some(format!(
            "pub(super) const {}: &[Selection] = &[{}];\n",
            constant(name),
            fields.join(", ")
        ))
    });
    let fragments = indent(&fragments.collect::<String>());
    format!(
        "/// The selections of each fragment.\nmod selections {{\n    use super::Selection;\n{fragments}}}\n"
    )
}

/// A field of a record, which the documents select as it is.
fn plain_field(selection: &Selection) -> &ast::Field {
    let Selection::Field(field) = selection else {
        panic!("a fragment selects fields")
    };
    let is_plain = field.alias.is_none() && field.arguments.is_empty();
    assert!(is_plain && field.directives.is_empty(), "{}", field.name);
    field
}

/// The constant with the selections of a field, which are those of one fragment.
fn selected(field: &ast::Field) -> String {
    match field.selection_set.as_slice() {
        [] => "&[]".to_owned(),
        [Selection::FragmentSpread(spread)] => constant(&spread.fragment_name),
        _ => panic!("{}: a field selects exactly one fragment", field.name),
    }
}

fn constant(fragment: &str) -> String {
    names::snake_case(fragment).to_uppercase()
}

/// The document of an operation as data.
fn document(documents: &Documents, operation: &Operation) -> String {
    let Operation {
        name, kind, sent, ..
    } = operation;
    let root = &operation.root;
    let arguments = root.arguments.iter();
    let arguments: Vec<_> = arguments
        .map(|argument| (argument.name.as_str(), argument.value.as_variable()))
        .collect();
    let variables = operation.variables.iter();
    let same = variables.clone().map(|variable| {
        assert!(variable.default_value.is_none(), "{name} has a default");
        (variable.name.as_str(), Some(&variable.name))
    });
    assert!(
        arguments.into_iter().eq(same),
        "{name}: each argument is the variable of its name"
    );
    let variables =
        variables.map(|one| format!("({:?}, {:?})", one.name.as_str(), one.ty.to_string()));
    let variables: Vec<String> = variables.collect();
    let coordinate = operation.coordinate();
    let (of, field) = coordinate.split_once('.').unwrap();
    let ty = &documents.schema.type_field(of, field).unwrap().ty;
    let fragment = &documents.fragments[record_name(root, ty)];
    let fields: Vec<_> = fragment.selection_set.iter().map(plain_field).collect();
    let record = match fields.as_slice() {
        // The result of a change has its record under `data`.
        [data] if *kind == "mutation" && data.name == "data" => selected(data),
        _ if *kind == "mutation" => panic!("{name}: the result of a change has `data` alone"),
        _ => selected(root),
    };
    let edges = fields.iter().any(|field| field.name == "edges");
    let list = match ty.is_list() {
        true => format!("&[{:?}]", operation.alias()),
        false if edges => format!("&[{:?}, \"edges\"]", operation.alias()),
        false => "&[]".to_owned(),
    };
    let kind = names::upper_camel_case(kind);
    let members = [
        format!("kind: super::OperationKind::{kind}"),
        format!("operation: {name:?}"),
        format!("name: {:?}", operation.alias()),
        format!("field: {:?}", root.name.as_str()),
        format!("variables: &[{}]", variables.join(", ")),
        format!("record: super::selections::{record}"),
        format!("list: {list}"),
    ];
    format!(
        "pub(crate) static DOCUMENT: super::Document = super::Document {{\n    text: {sent:?},\n{}\n}};\n",
        fill("   ", members, "    ", 96)
    )
}

/// The module with the variables of these names and types.
type SharedVariables = BTreeMap<BTreeSet<(String, String)>, String>;

/// The type of an operation, and its module.
fn one(
    documents: &Documents,
    docs: &Docs,
    operation: &Operation,
    shared: &mut SharedVariables,
) -> (String, String) {
    let Operation { name, kind, .. } = operation;
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
    let body = variables(docs, operation, shared, &mut used)
        + &reply(documents, docs, operation, &mut used);
    let body = format!(
        "{}{}{body}",
        import("crate::model", used.iter().map(String::as_str), 1),
        document(documents, operation),
    );
    (
        format!("{}{name} => {module};\n", comment(head)),
        format!(
            "/// Variables and reply of `{root}`.\npub mod {module} {{\n{}}}\n",
            indent(&body)
        ),
    )
}

fn variables(
    docs: &Docs,
    operation: &Operation,
    shared: &mut SharedVariables,
    used: &mut BTreeSet<String>,
) -> String {
    let (mut fields, mut names, mut of_model) = (String::new(), Vec::new(), BTreeSet::new());
    let mut types = BTreeSet::new();
    for variable in &operation.variables {
        let (wire, rust) = (variable.name.as_str(), names::snake_case(&variable.name));
        let leaf = names::variable_type(&operation.name, wire);
        let leaf = leaf.unwrap_or(names::type_name(variable.ty.inner_named_type()));
        use_of_model(&mut of_model, leaf);
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
        types.insert((rust.clone(), rust_type));
        names.push((rust, wire));
    }
    let module = names::snake_case(&operation.name);
    let owner = shared.entry(types).or_insert_with(|| module.clone());
    if *owner != module {
        return format!("pub use super::{owner}::Variables;\n");
    }
    used.extend(of_model);
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
        + "#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]\n"
        + &rename_all(names, &[])
}

fn use_of_model(used: &mut BTreeSet<String>, leaf: &str) {
    let names = leaf.trim_end_matches('>').split('<');
    let of_model = names.filter(|name| !matches!(*name, "String" | "bool" | "i64" | "f64"));
    used.extend(of_model.map(str::to_owned));
}
