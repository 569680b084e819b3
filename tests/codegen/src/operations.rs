//! `src/graphql/generated.rs`: the operations, with their documents, variables and replies.

use std::collections::{BTreeMap, BTreeSet};

use envd_codegen::ir::{Field, Leaf, Operation, Origin, Program};
use envd_codegen::rust::{Style, comment, indent};
use heck::{ToSnakeCase, ToUpperCamelCase};

use crate::names;

const STYLE: Style = Style {
    serde: "serde::",
    serde_crate: "",
    model: "",
    lenient: "crate::model::",
    shared: "",
};

pub(crate) fn file(program: &Program) -> String {
    let mut queries = String::new();
    let mut modules = String::new();
    let mut shared = BTreeMap::new();
    for operation in &program.operations {
        let (query, module) = one(program, operation, &mut shared);
        queries += &query;
        modules += &module;
    }
    let all = program.operations.iter();
    let all = all.map(|operation| format!("&{}::DOCUMENT", operation.name.to_snake_case()));
    format!(
        "use super::document::{{OperationDocument, OperationKind, Selection}};\n\
         crate::operations! {{\n{}}}\n\
         /// The documents of all operations.\n\
         pub(super) static DOCUMENTS: [&OperationDocument; {}] = [\n{}\n];\n\
         {}{modules}",
        indent(&queries),
        program.operations.len(),
        fill("   ", all, "    ", 100),
        selections(program),
    )
}

/// The selections of each fragment as data.
fn selections(program: &Program) -> String {
    // The result of a mutation: its document contains the selections of its record.
    let records = program.records.iter();
    let records = records.filter(|record| record.generic != Some("Saved"));
    let records = records.map(|record| {
        let one = |field: &Field| format!("Selection({:?}, {})", field.wire, selected(field));
        let fields: Vec<String> = record.fields.iter().map(one).collect();
        let name = constant(&record.name);
        let fields = fields.join(", ");
        format!("pub(super) const {name}: &[Selection] = &[{fields}];\n")
    });
    let records = indent(&records.collect::<String>());
    format!(
        "/// The selections of each fragment.\nmod selections {{\n    use super::Selection;\n{records}}}\n"
    )
}

/// The constant with the selections of a field, which come from one fragment.
fn selected(field: &Field) -> String {
    let fragment = field.spread.as_deref();
    fragment.map_or_else(|| "&[]".to_owned(), constant)
}

fn constant(fragment: &str) -> String {
    fragment.to_snake_case().to_uppercase()
}

/// The document of an operation as data, from which a test of the SDK writes the text.
fn document(program: &Program, operation: &Operation) -> String {
    let Operation {
        name, kind, sent, ..
    } = operation;
    let root = root(operation);
    let variables = operation.variables.fields.iter();
    let variables = variables.map(|field| format!("({:?}, {:?})", field.wire, field.graphql));
    let variables: Vec<String> = variables.collect();
    let mut records = program.records.iter();
    let record = records.find(|record| root.spread.as_ref() == Some(&record.name));
    let result = record.filter(|record| record.generic == Some("Saved"));
    let record = result.and_then(|result| result.fields.first());
    let record = record.unwrap_or(root);
    let list = match (root.lists, root.leaf.generic) {
        (0, Some("Connection")) => format!("&[{:?}, \"edges\"]", root.wire),
        (0, _) => "&[]".to_owned(),
        _ => format!("&[{:?}]", root.wire),
    };
    let field = root.coordinate.split('.').nth(1).unwrap_or_default();
    let members = [
        format!("kind: super::OperationKind::{}", kind.to_upper_camel_case()),
        format!("operation: {name:?}"),
        format!("name: {:?}", root.wire),
        format!("field: {field:?}"),
        format!("variables: &[{}]", variables.join(", ")),
        format!("record: super::selections::{}", selected(record)),
        format!("list: {list}"),
    ];
    format!(
        "pub(crate) static DOCUMENT: super::OperationDocument = super::OperationDocument {{\n    text: {sent:?},\n{}\n}};\n",
        fill("   ", members, "    ", 96)
    )
}

/// The only field of the root type.
pub(crate) fn root(operation: &Operation) -> &Field {
    let Operation { name, reply, .. } = operation;
    assert!(reply.fields.len() == 1, "{name} has several fields");
    &reply.fields[0]
}

/// The module with the variables of these names and types.
type SharedVariables = BTreeMap<BTreeSet<(String, String)>, String>;

/// The type of an operation, and its module.
fn one(program: &Program, operation: &Operation, shared: &mut SharedVariables) -> (String, String) {
    let Operation { name, kind, .. } = operation;
    let module = name.to_snake_case();
    let method = names::method(name);
    let field = root(operation);
    let root = field.coordinate.split('.').nth(1).unwrap_or_default();
    // Two operations may read the same field; then the name distinguishes them.
    let by_name = if name.eq_ignore_ascii_case(root) {
        String::new()
    } else {
        format!(", by the name `{name}`")
    };
    let mut head = vec![format!("The {kind} `{root}`{by_name}.")];
    head.extend(field.docs.iter().cloned());
    head.push(String::new());
    head.push(format!(
        "[`{method}`](crate::{method}) runs it and has an example. The [module](self) shows what else the type is for."
    ));
    let mut used = BTreeSet::new();
    let variables = variables(operation, shared, &mut used);
    use_of_model(&mut used, &field.leaf);
    let reply = STYLE.record(&operation.reply);
    let import = import("crate::model", used.iter().map(String::as_str), 1);
    let body = import + &document(program, operation) + &variables + &reply;
    let head = comment(head);
    let body = indent(&body);
    let query = format!("{head}{name} => {module}, {module}::DOCUMENT.text;\n");
    let module = format!("/// Variables and reply of `{root}`.\npub mod {module} {{\n{body}}}\n");
    (query, module)
}

fn variables(
    operation: &Operation,
    shared: &mut SharedVariables,
    used: &mut BTreeSet<String>,
) -> String {
    let types = operation.variables.fields.iter().map(|field| {
        let plain = STYLE.plain(field);
        let optional = || format!("Option<{plain}>");
        let rust_type = if field.required {
            plain.clone()
        } else {
            optional()
        };
        (field.rust.clone(), rust_type)
    });
    let module = operation.name.to_snake_case();
    let owner = shared.entry(types.collect()).or_insert(module.clone());
    if *owner != module {
        return format!("pub use super::{owner}::Variables;\n");
    }
    for field in &operation.variables.fields {
        use_of_model(used, &field.leaf);
    }
    STYLE.variables(operation)
}

fn use_of_model(used: &mut BTreeSet<String>, leaf: &Leaf) {
    used.extend(leaf.generic.map(str::to_owned));
    if leaf.origin == Origin::Sdk {
        used.insert(leaf.name.clone());
    }
}

/// A `use` of names from one module, indented by `levels` blocks.
pub(crate) fn import<'a>(
    module: &str,
    names: impl IntoIterator<Item = &'a str>,
    levels: usize,
) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    if let [name] = names.as_slice() {
        return format!("use {module}::{name};\n");
    }
    let line = format!("use {module}::{{{}}};", names.join(", "));
    let width = 89 - 4 * levels;
    if line.len() <= width {
        return line + "\n";
    }
    let names = fill("   ", names, "    ", width);
    format!("use {module}::{{\n{names}\n}};\n")
}

/// Words with a comma after each, in lines of at most `width`. Lines after the first one are indented.
pub(crate) fn fill(
    start: &str,
    words: impl IntoIterator<Item = impl AsRef<str>>,
    indent: &str,
    width: usize,
) -> String {
    let mut lines = vec![start.to_owned()];
    for word in words {
        let word = format!("{},", word.as_ref());
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => line.extend([" ", &word]),
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines.join("\n")
}
