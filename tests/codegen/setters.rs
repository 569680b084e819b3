//! Setters of the inputs, which callers use to write an input in one expression.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::model::{docs, rust_name};
use crate::names;
use crate::raw::{Field, Struct};
use crate::rust_type::{Shape, leaf};

/// A setter for each field of an input, and for the variant of it with extra fields if there is one.
pub(crate) fn of(
    name: &str,
    item: &Struct,
    descriptions: &BTreeMap<String, String>,
) -> TokenStream {
    let rust = format_ident!("{}", names::type_name(name));
    let setters = item.fields.iter().map(|field| {
        let doc = docs(descriptions, &format!("{name}.{}", field.wire));
        let (setter, argument, value) = parts(name, field);
        let member = member(name, field);
        quote! {
            #doc
            pub fn #setter(mut self, #member: #argument) -> Self {
                self.#member = #value;
                self
            }
        }
    });
    // `extra` returns the type whose setters follow.
    let forwarded = names::takes_further_fields(name).then(|| {
        let setters = item.fields.iter().map(|field| {
            let (setter, argument, _) = parts(name, field);
            let member = member(name, field);
            let doc = format!(" As [`{rust}::{setter}`].");
            quote! {
                #[doc = #doc]
                pub fn #setter(self, #member: #argument) -> Self {
                    self.map(|input| input.#setter(#member))
                }
            }
        });
        quote!(impl WithExtra<#rust> { #(#setters)* })
    });
    quote! {
        impl #rust { #(#setters)* }
        #forwarded
    }
}

fn member(name: &str, field: &Field) -> syn::Ident {
    format_ident!(
        "{}",
        rust_name(&format!("{name}.{}", field.wire), &field.rust)
    )
}

/// The name of a setter, the type of its argument, and what is stored.
fn parts(name: &str, field: &Field) -> (syn::Ident, TokenStream, TokenStream) {
    let coordinate = format!("{name}.{}", field.wire);
    let shape = Shape::of(&field.rust_type);
    let leaf = leaf(&shape, names::text_type(&coordinate));
    let member = member(name, field);
    let setter =
        names::setter_name(&coordinate).map_or(member.clone(), |name| format_ident!("{name}"));
    let (argument, value) = if shape.is_list() {
        let leaf = format_ident!("{leaf}");
        let list = quote!(#member.into_iter().collect());
        let value = match shape {
            Shape::Optional(_) => quote!(Maybe::Value(#list)),
            _ => list,
        };
        (quote!(impl IntoIterator<Item = #leaf>), value)
    } else {
        let stored = shape.in_input(&leaf);
        (quote!(impl Into<#stored>), quote!(#member.into()))
    };
    (setter, argument, value)
}
