//! What the attributes of an item say about it.

use syn::{Attribute, Expr, Item, Lit, Meta};

use crate::print::tokens;

/// Whether the item is compiled for tests only.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else {
            return false;
        };
        let text = list.tokens.to_string();
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        list.path.is_ident("cfg") && words.any(|word| matches!(word, "test" | "doctest"))
    })
}

/// The file that `#[path = ".."]` names.
pub(crate) fn path(attributes: &[Attribute]) -> Option<String> {
    attributes
        .iter()
        .find_map(|attribute| match &attribute.meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
                Expr::Lit(value) => match &value.lit {
                    Lit::Str(text) => Some(text.value()),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        })
}

/// What a derive gives, and what a caller must not do.
pub(crate) fn marks(attributes: &[Attribute]) -> String {
    let mut marks = Vec::new();
    for attribute in attributes {
        match &attribute.meta {
            Meta::Path(path) if path.is_ident("non_exhaustive") => {
                marks.push("#[non_exhaustive]".to_owned());
            }
            Meta::List(list) if list.path.is_ident("derive") => {
                let text = list.tokens.to_string().replace(' ', "");
                let mut traits: Vec<_> = text
                    .split(',')
                    .filter(|name| !name.is_empty())
                    .map(last)
                    .collect();
                traits.sort_unstable();
                marks.extend(traits.into_iter().map(str::to_owned));
            }
            meta if meta.path().is_ident("deprecated") => marks.push("#[deprecated]".to_owned()),
            _ => {}
        }
    }
    if marks.is_empty() {
        String::new()
    } else {
        format!(": {}", marks.join(" + "))
    }
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// The `cfg` that an item stands under.
pub(crate) fn gates(attributes: &[Attribute]) -> String {
    let gates = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"));
    gates.fold(String::new(), |all, gate| all + " " + &tokens(gate))
}

pub(crate) fn of(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        _ => &[],
    }
}
