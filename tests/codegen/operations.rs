//! `src/graphql/generated.rs`: the operations, with their documents, variables and replies.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::documents::Documents;
use crate::model::docs;
use crate::names;
use crate::raw::{Field, Generated};
use crate::rust_type::{Shape, leaf};

const HEADER: &str = "// Written by tests/codegen.rs from graphql/; change it there and run UPDATE_GENERATED=1 cargo test --test codegen.\n\n";

pub(crate) fn file(documents: &Documents, operations: &[Generated]) -> String {
    let descriptions: BTreeMap<_, _> = documents.elements().collect();
    let operations = operations
        .iter()
        .map(|operation| operation_module(operation, &descriptions));
    let operations: TokenStream = operations.collect();
    let file = quote! {
        use graphql_client::{GraphQLQuery, QueryBody};

        #operations
    };
    HEADER.to_owned() + &prettyplease::unparse(&syn::parse2(file).unwrap())
}

fn operation_module(operation: &Generated, descriptions: &BTreeMap<String, String>) -> TokenStream {
    let root = if operation.kind == "mutation" {
        "Mutation"
    } else {
        "Query"
    };
    let coordinate = format!("{root}.{}", operation.root_field);
    let doc = docs(descriptions, &coordinate);
    let (name, module) = (
        format_ident!("{}", operation.name),
        format_ident!("{}", operation.module),
    );
    let method = names::method(&operation.name);
    let summary = summary(operation);
    let method_doc = format!(
        " [`{method}`](crate::{method}) runs it and has an example. The [module](self) shows what else the type is for."
    );
    let parts_doc = format!(
        " Of the operation [`{name}`](super::{name}). See the [module](super) for an example."
    );
    let document = &operation.sent;
    let module_doc = format!(" Variables and reply of `{}`.", operation.root_field);
    let mut used = BTreeSet::new();
    let fields = &operation.structs["Variables"].fields;
    let variables: Vec<_> = fields
        .iter()
        .map(|field| variable(operation, field, &coordinate, descriptions, &mut used))
        .collect();
    let [field] = operation.structs["ResponseData"].fields.as_slice() else {
        panic!(
            "{}: an operation needs exactly one root field",
            operation.name
        )
    };
    let rename_variables = rename_all(fields.iter().map(|field| (&*field.rust, &*field.wire)));
    let rename_reply = rename_all([(&*field.rust, &*field.wire)]);
    let reply = reply(operation, field, &coordinate, descriptions, &mut used);
    let used = used.iter().map(|name| format_ident!("{name}"));
    let implementation = implementation(&name, &module);
    quote! {
        #[doc = #summary]
        #doc
        ///
        #[doc = #method_doc]
        #[derive(Clone, Copy, Debug)]
        #[non_exhaustive]
        pub struct #name;

        #[doc = #module_doc]
        pub mod #module {
            use serde::{Deserialize, Serialize};

            use crate::model::{#(#used),*};

            pub(crate) const QUERY: &str = #document;

            /// The variables; those that are `None` are not sent.
            ///
            #[doc = #parts_doc]
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
            #rename_variables
            pub struct Variables { #(#variables)* }

            /// The `data` of the reply.
            ///
            #[doc = #parts_doc]
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
            #rename_reply
            #[non_exhaustive]
            pub struct ResponseData { #reply }
        }

        #implementation
    }
}

/// Two operations may have one field; then the name tells them apart.
fn summary(operation: &Generated) -> String {
    let Generated {
        kind,
        root_field,
        name,
        ..
    } = operation;
    if name.eq_ignore_ascii_case(root_field) {
        format!(" The {kind} `{root_field}`.")
    } else {
        format!(" The {kind} `{root_field}`, by the name `{name}`.")
    }
}

fn implementation(name: &Ident, module: &Ident) -> TokenStream {
    quote! {
        impl GraphQLQuery for #name {
            type Variables = #module::Variables;
            type ResponseData = #module::ResponseData;

            fn build_query(variables: Self::Variables) -> QueryBody<Self::Variables> {
                super::request::query_body(#module::QUERY, variables)
            }
        }
    }
}

fn variable(
    operation: &Generated,
    field: &Field,
    coordinate: &str,
    descriptions: &BTreeMap<String, String>,
    used: &mut BTreeSet<String>,
) -> TokenStream {
    let doc = docs(descriptions, &format!("{coordinate}({}:)", field.wire));
    let shape = Shape::of(&field.rust_type);
    let leaf = leaf(&shape, names::variable_type(&operation.name, &field.wire));
    add_model_type(used, &leaf);
    let rust_type = shape.in_variables(&leaf);
    let skip = matches!(shape, Shape::Optional(_))
        .then(|| quote!(skip_serializing_if = "Option::is_none"));
    let serde = serde_attribute(rename(&field.rust, &field.wire), skip);
    let rust = format_ident!("{}", field.rust);
    quote!(#doc #serde pub #rust: #rust_type,)
}

fn reply(
    operation: &Generated,
    field: &Field,
    coordinate: &str,
    descriptions: &BTreeMap<String, String>,
    used: &mut BTreeSet<String>,
) -> TokenStream {
    let doc = docs(descriptions, coordinate);
    let shape = Shape::of(&field.rust_type);
    let leaf = leaf(&shape, None);
    add_model_type(used, &leaf);
    if shape.is_list() {
        used.insert("List".to_owned());
    }
    let rust_type = shape.in_record(&leaf);
    let read = match names::reader(&format!("operation {}.{}", operation.name, field.wire)) {
        Some(reader) => {
            let reader = format!("crate::model::{reader}");
            Some(quote!(default, deserialize_with = #reader))
        }
        None if shape.is_list() => Some(quote!(default)),
        None => None,
    };
    let serde = serde_attribute(rename(&field.rust, &field.wire), read);
    let rust = format_ident!("{}", field.rust);
    quote!(#doc #serde pub #rust: #rust_type,)
}

/// `rename_all` for a struct of which a field is named by it, from the Rust names and wire names.
pub(crate) fn rename_all<'a>(
    names: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Option<TokenStream> {
    let is_renamed = |(rust, wire): (&str, &str)| rust != wire && names::camel_case(rust) == wire;
    let any = names.into_iter().any(is_renamed);
    any.then(|| quote!(#[serde(rename_all = "camelCase")]))
}

/// `rename` for a field whose wire name is neither the Rust name nor what `rename_all` makes of it.
pub(crate) fn rename(rust: &str, wire: &str) -> Option<TokenStream> {
    (names::camel_case(rust) != wire).then(|| quote!(rename = #wire))
}

/// All serde settings of a field in one attribute.
pub(crate) fn serde_attribute(
    rename: Option<TokenStream>,
    other: Option<TokenStream>,
) -> Option<TokenStream> {
    let parts: Vec<_> = rename.into_iter().chain(other).collect();
    (!parts.is_empty()).then(|| quote!(#[serde(#(#parts),*)]))
}

fn add_model_type(used: &mut BTreeSet<String>, leaf: &str) {
    if !matches!(leaf, "String" | "bool" | "i64" | "f64") {
        used.insert(leaf.to_owned());
    }
}
