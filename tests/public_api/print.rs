//! Rust as one line, spaced as people write it.

use quote::ToTokens;
use syn::{Item, ItemFn, ItemImpl, Signature};

/// A function without its body.
pub(crate) fn signature(sig: &Signature) -> String {
    let item: ItemFn = syn::parse_quote!(#sig {});
    without_body(Item::Fn(item))
}

/// `impl Trait for Type where ..`.
pub(crate) fn impl_header(item: &ItemImpl) -> String {
    let mut item = item.clone();
    item.attrs.clear();
    item.items.clear();
    without_body(Item::Impl(item))
}

fn without_body(item: Item) -> String {
    let file = syn::File {
        shebang: None,
        attrs: Vec::new(),
        items: vec![item],
    };
    let text = prettyplease::unparse(&file);
    // Long ones are broken over lines.
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line
        .replace("( ", "(")
        .replace(", )", ")")
        .replace("< ", "<")
        .replace(", >", ">");
    let line = line.strip_suffix("{}").unwrap_or(&line);
    // Whether a method changes its own copy of the value is nobody's concern.
    let line = line.replace("(mut self", "(self");
    line.trim_end().trim_end_matches(',').to_owned()
}

/// A type, generics or bounds.
pub(crate) fn tokens(part: &impl ToTokens) -> String {
    tidy(&part.to_token_stream().to_string())
}

/// Takes out the spaces that tokens have between them.
pub(crate) fn tidy(text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
        (" < ", "<"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        (" :", ":"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        ("# ", "#"),
        ("$ ", "$"),
        (" !", "!"),
        ("-> ", "-> "),
        ("' ", "'"),
    ] {
        text = text.replace(from, to);
    }
    text
}
