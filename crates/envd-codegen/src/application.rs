//! Writes the file of an application: its operations, and the types that the SDK does not have.

use crate::ir::{Operation, Program};
use crate::names;
use crate::rust::{Style, comment, debug, indent, open_enum};

const STYLE: Style = Style {
    serde: "::envd_sdk::serde::",
    serde_crate: "crate = \"::envd_sdk::serde\"",
    model: "::envd_sdk::model::",
    lenient: "::envd_sdk::model::lenient::",
    shared: "",
};

/// An application may leave parts of the code unused.
const ALLOW: &str = "#[allow(clippy::pedantic, clippy::upper_case_acronyms, dead_code, deprecated, non_camel_case_types, unreachable_pub)]\n";

pub(crate) fn file(program: &Program) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut code =
        format!("// Written by envd-codegen {version} from GraphQL documents; change those.\n");
    for one in &program.operations {
        code += &operation(one);
    }
    for record in program.structs() {
        code.extend(["\n", ALLOW, &STYLE.record(record), &debug(record)]);
    }
    for input in &program.inputs {
        code.extend(["\n", ALLOW, &STYLE.input(input, ""), &debug(input)]);
    }
    for one in &program.enums {
        code.extend(["\n", &open_enum(one, "::envd_sdk::open_enum", ALLOW)]);
    }
    code
}

/// The type of an operation, and the module with its variables and its reply.
fn operation(operation: &Operation) -> String {
    let (name, kind) = (&operation.name, operation.kind);
    let module = names::module(name);
    let inside = Style {
        shared: "super::",
        ..STYLE
    };
    let mut body = format!(
        "/// The document that is sent.\npub const QUERY: &str = {:?};\n\n",
        operation.sent
    );
    body += &inside.variables(operation);
    body += &debug(&operation.variables);
    for record in [&operation.reply].into_iter().chain(&operation.records) {
        body.extend(["\n", &inside.record(record), &debug(record)]);
    }
    let mut docs = vec![format!(
        "The {kind} `{name}`, with variables and reply in [`{module}`](self::{module})."
    )];
    for field in &operation.reply.fields {
        docs.push(String::new());
        docs.extend(field.docs.iter().cloned());
    }
    let ty = format!(
        "{}{ALLOW}{name} => {module}, {module}::QUERY;\n",
        comment(docs)
    );
    format!(
        "\n::envd_sdk::operations! {{\n{}}}\n\n/// Variables and reply of [`{name}`].\n{ALLOW}pub mod {module} {{\n{}}}\n",
        indent(&ty),
        indent(&body),
    )
}
