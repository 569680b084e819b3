//! The shape of a generated type, and how records, inputs and variables spell it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{GenericArgument, PathArguments, Type};

use crate::names;

/// A GraphQL type as `graphql_client` spelled it in Rust.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    Optional(Box<Shape>),
    List(Box<Shape>),
    Named(String),
}

impl Shape {
    pub(crate) fn of(rust_type: &Type) -> Self {
        let Type::Path(path) = rust_type else {
            panic!("not a path: {rust_type:?}")
        };
        let last = path.path.segments.last().unwrap();
        let inner = || match &last.arguments {
            PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
                Some(GenericArgument::Type(inner)) => Box::new(Self::of(inner)),
                _ => panic!("no type argument"),
            },
            _ => panic!("no type argument"),
        };
        match last.ident.to_string().as_str() {
            "Option" => Self::Optional(inner()),
            "Vec" => Self::List(inner()),
            "Box" => *inner(),
            name => Self::Named(name.to_owned()),
        }
    }

    pub(crate) fn is_list(&self) -> bool {
        match self {
            Self::Optional(inner) => inner.is_list(),
            Self::List(_) => true,
            Self::Named(_) => false,
        }
    }

    /// The name inside all lists and options.
    pub(crate) fn innermost(&self) -> &str {
        match self {
            Self::Optional(inner) | Self::List(inner) => inner.innermost(),
            Self::Named(name) => name,
        }
    }

    /// As a field of a record: every field is optional, and a list preserves its nulls.
    pub(crate) fn in_record(&self, leaf: &str) -> TokenStream {
        let leaf = format_ident!("{leaf}");
        if self.is_list() {
            quote!(List<#leaf>)
        } else {
            quote!(Option<#leaf>)
        }
    }

    /// As a field of an input: a nullable field has three states.
    pub(crate) fn in_input(&self, leaf: &str) -> TokenStream {
        match self {
            Self::Optional(inner) => {
                let inner = inner.plain(leaf);
                quote!(Maybe<#inner>)
            }
            shape => shape.plain(leaf),
        }
    }

    /// As a variable: `None` is not sent.
    pub(crate) fn in_variables(&self, leaf: &str) -> TokenStream {
        match self {
            Self::Optional(inner) => {
                let inner = inner.plain(leaf);
                quote!(Option<#inner>)
            }
            shape => shape.plain(leaf),
        }
    }

    fn plain(&self, leaf: &str) -> TokenStream {
        match self {
            Self::Optional(inner) => inner.plain(leaf),
            Self::List(inner) => {
                let inner = inner.plain(leaf);
                quote!(Vec<#inner>)
            }
            Self::Named(_) => {
                let leaf = format_ident!("{leaf}");
                quote!(#leaf)
            }
        }
    }
}

/// The Rust name of the innermost type of a field.
pub(crate) fn leaf(shape: &Shape, text_type: Option<&'static str>) -> String {
    text_type.map_or_else(
        || names::type_name(shape.innermost()).to_owned(),
        str::to_owned,
    )
}
