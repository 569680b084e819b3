//! `src/model/generated.rs`: enums, inputs and the structs of fragments.

use std::collections::BTreeMap;
use std::fmt::Write;

use apollo_compiler::schema::ExtendedType;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::documents::Documents;
use crate::names;
use crate::operations::{rename, rename_all, serde_attribute};
use crate::pages::Pages;
use crate::provenance;
use crate::raw::{Field, Generated, Struct};
use crate::rust_type::{Shape, leaf};
use crate::setters;

const HEADER: &str = "// Written by tests/codegen.rs from graphql/; change it there and run UPDATE_GENERATED=1 cargo test --test codegen.\n\n";

pub(crate) fn file(documents: &Documents, operations: &[Generated]) -> String {
    let descriptions: BTreeMap<_, _> = documents.elements().collect();
    let pages = Pages::read();
    let enums = documents
        .schema
        .types
        .iter()
        .filter_map(|(name, kind)| match kind {
            ExtendedType::Enum(values) if !kind.is_built_in() => Some(open_enum(
                name,
                values.values.keys().map(apollo_compiler::Name::as_str),
                &descriptions,
                &pages,
            )),
            _ => None,
        });
    let enums: Vec<String> = enums.collect();
    let (mut records, mut inputs) = (BTreeMap::new(), BTreeMap::new());
    let mut debugs = BTreeMap::new();
    for operation in operations {
        for (name, item) in &operation.structs {
            if let Some(of) = documents.fragment_type(name) {
                // The outermost type has all fields and is used for all levels of the tree.
                if names::type_name(name) == name {
                    debugs.insert(name.as_str(), debug(name, of, item));
                    hoist(
                        &mut records,
                        name,
                        record(name, of, item, &descriptions, &pages),
                    );
                }
            } else if name != "Variables" && name != "ResponseData" {
                let rust_name = names::type_name(name);
                debugs.insert(rust_name, debug(rust_name, name, item));
                let item = input(name, item, &descriptions, &pages);
                hoist(&mut inputs, rust_name, item);
            }
        }
    }
    let (records, inputs) = (records.values(), inputs.values());
    let file = quote! {
        use serde::{Deserialize, Serialize};

        use super::open_enum::open_enum;
        use super::redact::redacted_debug;
        use super::{
            AccountId, AccountType, ConsignmentId, ConsignmentNumber, List, Maybe, PdfUrl, QuestionId,
            QuestionType, Role, TemplateId, Timestamp, ValidatorType, WithExtra,
        };

        #(#records)*
        #(#inputs)*
    };
    let file = prettyplease::unparse(&syn::parse2(file).unwrap());
    let debugs: String = debugs.into_values().flatten().collect();
    let debugs = format!("redacted_debug! {{\n{debugs}}}\n");
    format!("{HEADER}{file}{debugs}{}", enums.concat())
}

/// Keeps one of the identical types of all operations; a difference is an error in the documents.
fn hoist(items: &mut BTreeMap<String, TokenStream>, name: &str, item: TokenStream) {
    let known = items.entry(name.to_owned()).or_insert_with(|| item.clone());
    assert_eq!(
        known.to_string(),
        item.to_string(),
        "{name} differs between operations"
    );
}

pub(crate) fn docs(descriptions: &BTreeMap<String, String>, coordinate: &str) -> TokenStream {
    let lines = doc_lines(descriptions, coordinate);
    quote!(#(#[doc = #lines])*)
}

/// The text of a page: the description of the schema, and the section of the type in `pages.md`.
fn page(
    pages: &Pages,
    name: &str,
    descriptions: &BTreeMap<String, String>,
    coordinate: &str,
) -> TokenStream {
    let lines = pages.lines(name, doc_lines(descriptions, coordinate));
    let words = names::search_words(name);
    quote!(#(#[doc = #lines])* #(#[doc(alias = #words)])*)
}

fn doc_lines(descriptions: &BTreeMap<String, String>, coordinate: &str) -> Vec<String> {
    let description = descriptions
        .get(coordinate)
        .unwrap_or_else(|| panic!("no description: {coordinate}"));
    let lines = provenance::rustdoc(description).into_iter();
    lines
        .map(|line| format!(" {line}").trim_end().to_owned())
        .collect()
}

/// Returns text, because prettyplease does not format the arguments of a macro.
fn open_enum<'a>(
    name: &str,
    values: impl Iterator<Item = &'a str>,
    descriptions: &BTreeMap<String, String>,
    pages: &Pages,
) -> String {
    let comment = |lines: Vec<String>, indent: &str| {
        let lines = lines.iter().map(|line| format!("{indent}///{line}\n"));
        lines.collect::<String>()
    };
    let page = pages.lines(names::type_name(name), doc_lines(descriptions, name));
    let mut text = format!("open_enum! {{\n{}", comment(page, "    "));
    let words = names::search_words(names::type_name(name)).iter().copied();
    let wire = (names::type_name(name) != name).then_some(name);
    for word in words.chain(wire) {
        writeln!(text, "    #[doc(alias = \"{word}\")]").unwrap();
    }
    writeln!(text, "    {} {{", names::type_name(name)).unwrap();
    for value in values {
        let lines = doc_lines(descriptions, &format!("{name}.{value}"));
        text += &comment(lines, "        ");
        writeln!(text, "        {} = \"{value}\",", camel(value)).unwrap();
    }
    text + "    }\n}\n"
}

/// `BOBBY_CALVES` as `BobbyCalves`.
fn camel(value: &str) -> String {
    let words = value
        .split('_')
        .map(|word| word[..1].to_uppercase() + &word[1..].to_lowercase());
    words.collect()
}

fn record(
    name: &str,
    of: &str,
    item: &Struct,
    descriptions: &BTreeMap<String, String>,
    pages: &Pages,
) -> TokenStream {
    let fields = item.fields.iter().map(|field| {
        let coordinate = format!("{of}.{}", field.wire);
        let shape = Shape::of(&field.rust_type);
        let reader = names::reader(&coordinate);
        let leaf = leaf(&shape, names::text_type(&coordinate));
        let rust_type = match reader {
            Some("one_or_many") => Shape::List(Box::new(shape.clone())).in_record(&leaf),
            _ => shape.in_record(&leaf),
        };
        let read = match (reader, leaf.as_str()) {
            (Some(reader), _) => {
                let reader = format!("super::lenient::{reader}");
                Some(quote!(default, deserialize_with = #reader))
            }
            (None, "i64") => Some(quote!(default, deserialize_with = "super::lenient::int")),
            (None, _) if shape.is_list() => Some(quote!(default)),
            _ => None,
        };
        field_tokens(
            &field.wire,
            &field.rust,
            &coordinate,
            read,
            &rust_type,
            descriptions,
        )
    });
    let fields: Vec<_> = fields.collect();
    let derives = debug(name, of, item).is_none().then(|| quote!(Debug,));
    let rust = format_ident!("{name}");
    let rename_all = rename_fields(of, item);
    let doc = page(pages, name, descriptions, of);
    quote! {
        #doc
        #[derive(Clone, #derives Default, PartialEq, Serialize, Deserialize)]
        #rename_all
        #[non_exhaustive]
        pub struct #rust { #(#fields)* }
    }
}

fn input(
    name: &str,
    item: &Struct,
    descriptions: &BTreeMap<String, String>,
    pages: &Pages,
) -> TokenStream {
    let fields = item.fields.iter().map(|field| {
        let coordinate = format!("{name}.{}", field.wire);
        let shape = Shape::of(&field.rust_type);
        let rust_type = shape.in_input(&leaf(&shape, names::text_type(&coordinate)));
        let states = if let Shape::Optional(_) = shape {
            quote!(skip_serializing_if = "Maybe::is_absent")
        } else {
            // A draft may lack required fields: the validator reports them.
            quote!(deserialize_with = "super::lenient::or_default")
        };
        field_tokens(
            &field.wire,
            &field.rust,
            &coordinate,
            Some(states),
            &rust_type,
            descriptions,
        )
    });
    let fields: Vec<_> = fields.collect();
    let rust_name = names::type_name(name);
    let derives = debug(rust_name, name, item)
        .is_none()
        .then(|| quote!(Debug,));
    let rust = format_ident!("{rust_name}");
    let doc = page(pages, rust_name, descriptions, name);
    let alias = (rust_name != name).then(|| quote!(#[doc(alias = #name)]));
    let setters = setters::of(name, item, descriptions);
    let rename_all = rename_fields(name, item);
    quote! {
        #doc
        #alias
        #[derive(Clone, #derives Default, PartialEq, Serialize, Deserialize)]
        #rename_all
        #[serde(default)]
        #[must_use]
        #[non_exhaustive]
        pub struct #rust { #(#fields)* }
        #setters
    }
}

pub(crate) fn rust_name(coordinate: &str, rust: &str) -> String {
    names::field_name(coordinate).unwrap_or(rust).to_owned()
}

fn rename_fields(of: &str, item: &Struct) -> Option<TokenStream> {
    let names: Vec<(String, &str)> = item
        .fields
        .iter()
        .map(|field| {
            let coordinate = format!("{of}.{}", field.wire);
            (rust_name(&coordinate, &field.rust), field.wire.as_str())
        })
        .collect();
    rename_all(names.iter().map(|(rust, wire)| (rust.as_str(), *wire)))
}

fn field_tokens(
    wire: &str,
    rust: &str,
    coordinate: &str,
    attributes: Option<TokenStream>,
    rust_type: &TokenStream,
    descriptions: &BTreeMap<String, String>,
) -> TokenStream {
    let rust = rust_name(coordinate, rust);
    let serde = serde_attribute(rename(&rust, wire), attributes);
    let doc = docs(descriptions, coordinate);
    let words = names::search_words(coordinate);
    let rust = format_ident!("{rust}");
    quote!(#doc #(#[doc(alias = #words)])* #serde pub #rust: #rust_type,)
}

/// A row of the table of `Debug`: the fields, and which of them hold personal data, answers or signatures. `None` where
/// nothing is hidden.
fn debug(name: &str, of: &str, item: &Struct) -> Option<String> {
    const WIDTH: usize = 100;
    let hidden = |field: &&Field| names::is_hidden(&format!("{of}.{}", field.wire));
    item.fields.iter().find(hidden)?;
    let mut text = format!("    {name} {{");
    let mut line = text.len();
    for field in &item.fields {
        let rust = rust_name(&format!("{of}.{}", field.wire), &field.rust);
        let mode = if hidden(&field) { ": hidden" } else { "" };
        let word = format!("{rust}{mode},");
        if line + word.len() >= WIDTH {
            text += "\n       ";
            line = 7;
        }
        line += 1 + word.len();
        text.extend([" ", &word]);
    }
    Some(text.trim_end_matches(',').to_owned() + " }\n")
}
