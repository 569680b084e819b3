//! Runs `graphql_client_codegen` for each operation and parses its output.

use std::collections::BTreeMap;
use std::path::Path;

use apollo_compiler::schema::ExtendedType;
use graphql_client_codegen::normalization::Normalization;
use graphql_client_codegen::{
    CodegenMode, GraphQLClientCodegenOptions, generate_module_token_stream_from_string,
};
use syn::{Fields, Item, Type};

use crate::documents::{Documents, Operation, SCHEMA};

/// What was generated for one operation.
pub(crate) struct Generated {
    pub(crate) name: String,
    pub(crate) module: String,
    pub(crate) kind: &'static str,
    pub(crate) root_field: String,
    pub(crate) sent: String,
    pub(crate) structs: BTreeMap<String, Struct>,
}

#[derive(Clone)]
pub(crate) struct Struct {
    pub(crate) fields: Vec<Field>,
}

#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) rust: String,
    pub(crate) wire: String,
    /// Aliases are resolved: a fragment is named by its own name.
    pub(crate) rust_type: Type,
}

pub(crate) fn generate(documents: &Documents) -> Vec<Generated> {
    documents
        .operations()
        .map(|operation| one(documents, operation))
        .collect()
}

fn one(documents: &Documents, operation: &Operation) -> Generated {
    let mut options = GraphQLClientCodegenOptions::new(CodegenMode::Cli);
    options.set_normalization(Normalization::Rust);
    // Enums are declared external: those of graphql_client collide with a value named OTHER and reject unknown values.
    let enums = documents
        .schema
        .types
        .values()
        .filter(|kind| matches!(kind, ExtendedType::Enum(_)));
    options.set_extern_enums(enums.map(|kind| kind.name().to_string()).collect());
    let stream =
        generate_module_token_stream_from_string(&operation.document, Path::new(SCHEMA), options)
            .unwrap();
    let file: syn::File = syn::parse2(stream).unwrap();
    let module = file.items.into_iter().find_map(|item| match item {
        Item::Mod(module) => Some(module),
        _ => None,
    });
    let module = module.unwrap();
    let items = module.content.unwrap().1;
    let aliases: BTreeMap<String, Type> = items
        .iter()
        .filter_map(|item| match item {
            // Aliases of scalars (`type Int = i64`) are resolved by name instead.
            Item::Type(alias) if matches!(alias.vis, syn::Visibility::Public(_)) => {
                Some((alias.ident.to_string(), (*alias.ty).clone()))
            }
            _ => None,
        })
        .collect();
    let structs = items.iter().filter_map(|item| match item {
        Item::Struct(item) => Some((item.ident.to_string(), fields(&item.fields, &aliases))),
        _ => None,
    });
    Generated {
        name: operation.name.clone(),
        module: module.ident.to_string(),
        kind: operation.kind,
        root_field: operation.root_field.clone(),
        sent: operation.sent.clone(),
        structs: structs.collect(),
    }
}

fn fields(fields: &Fields, aliases: &BTreeMap<String, Type>) -> Struct {
    let fields = fields.iter().map(|field| {
        let rust = field.ident.as_ref().unwrap().to_string();
        let mut wire = rust.clone();
        for attribute in field
            .attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("serde"))
        {
            let read = attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("rename") {
                    wire = meta.value()?.parse::<syn::LitStr>()?.value();
                }
                assert!(!meta.path.is_ident("flatten"), "{rust} is flattened");
                Ok(())
            });
            read.unwrap();
        }
        let mut rust_type = field.ty.clone();
        resolve(&mut rust_type, aliases);
        Field {
            rust,
            wire,
            rust_type,
        }
    });
    Struct {
        fields: fields.collect(),
    }
}

/// Follows `type ConsignmentOrigin = Party` to `Party`, inside `Option` and `Vec` too.
fn resolve(rust_type: &mut Type, aliases: &BTreeMap<String, Type>) {
    let Type::Path(path) = rust_type else { return };
    let last = path.path.segments.last_mut().unwrap();
    if let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments {
        for argument in &mut arguments.args {
            if let syn::GenericArgument::Type(inner) = argument {
                resolve(inner, aliases);
            }
        }
    } else if let Some(aliased) = aliases.get(&last.ident.to_string()) {
        *rust_type = aliased.clone();
        resolve(rust_type, aliases);
    }
}
