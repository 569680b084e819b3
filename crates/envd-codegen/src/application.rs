//! The file of an application: its operations, and the types that the SDK does not have.

use crate::ir::{Operation, Program};
use crate::names::{self, snake_case};
use crate::rust::{Style, comment, debug, indent, open_enum};

const STYLE: Style = Style {
    serde: "::envd_sdk::serde::",
    serde_crate: Some("::envd_sdk::serde"),
    model: "::envd_sdk::model::",
    lenient: "::envd_sdk::model::lenient::",
    shared: "",
};

/// An application need not use all that is written.
const ALLOW: &str =
    "#[allow(clippy::pedantic, dead_code, non_camel_case_types, unreachable_pub)]\n";

pub(crate) fn file(program: &Program) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut items = vec![format!(
        "// Written by envd-codegen {version} from GraphQL documents; change those.\n"
    )];
    items.extend(program.operations.iter().map(operation));
    for record in program
        .records
        .iter()
        .filter(|record| record.generic.is_none())
    {
        let text = STYLE.record(&record.name, &record.docs, &record.fields);
        items.push(ALLOW.to_owned() + &text + &debug(&record.name, &record.fields));
    }
    for input in &program.inputs {
        let text = STYLE.input(input, "");
        items.push(ALLOW.to_owned() + &text + &debug(&input.name, &input.fields));
    }
    items.extend(
        program
            .enums
            .iter()
            .map(|one| open_enum(one, "::envd_sdk::open_enum", ALLOW)),
    );
    items.join("\n")
}

/// The type of an operation, and the module with its variables and its reply.
fn operation(operation: &Operation) -> String {
    let Operation {
        name, kind, sent, ..
    } = operation;
    let module = names::identifier(snake_case(name));
    let inside = Style {
        shared: "super::",
        ..STYLE
    };
    let variables = operation.variables.iter().map(|(field, _)| field.clone());
    let variables: Vec<_> = variables.collect();
    let mut body = format!("/// The document that is sent.\npub const QUERY: &str = {sent:?};\n\n");
    body += &inside.variables(
        operation,
        &["The variables; those without a value are not sent.".to_owned()],
    );
    body += &debug("Variables", &variables);
    body += "\n";
    body += &inside.record(
        "ResponseData",
        &["The `data` of the reply.".to_owned()],
        &operation.reply,
    );
    body += &debug("ResponseData", &operation.reply);
    for record in &operation.records {
        body += "\n";
        body += &inside.record(&record.name, &record.docs, &record.fields);
        body += &debug(&record.name, &record.fields);
    }
    let mut docs = vec![format!(
        "The {kind} `{name}`, with variables and reply in [`{module}`](self::{module})."
    )];
    for field in &operation.reply {
        docs.push(String::new());
        docs.extend(field.docs.iter().cloned());
    }
    format!(
        "{docs}#[derive(Clone, Copy, Debug)]\n{ALLOW}pub struct {name};\n\n\
         impl ::envd_sdk::graphql_client::GraphQLQuery for {name} {{\n    \
             type Variables = {module}::Variables;\n    \
             type ResponseData = {module}::ResponseData;\n\n    \
             fn build_query(variables: Self::Variables) -> ::envd_sdk::graphql_client::QueryBody<Self::Variables> {{\n        \
                 ::envd_sdk::graphql_client::QueryBody {{\n            \
                     variables,\n            query: {module}::QUERY,\n            operation_name: {name:?},\n        }}\n    }}\n}}\n\n\
         /// Variables and reply of [`{name}`].\n{ALLOW}pub mod {module} {{\n{body}}}\n",
        docs = comment(docs),
        body = indent(&body),
    )
}
