//! What macros of the crate give: the macro's own `pub` and `impl` lines once, and each call with what it is given.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Item;

use crate::areas::Area;
use crate::print::tidy;

pub(crate) fn read(item: &Item, area: &mut Area) {
    let Item::Macro(item) = item else { return };
    let name = item
        .mac
        .path
        .segments
        .last()
        .map(|last| last.ident.to_string());
    let name = name.unwrap_or_default();
    if let Some(defined) = &item.ident {
        let entry = area.entry(&format!("{defined}!"));
        entry.line = Some(format!("macro {defined}, not exported"));
        offers(item.mac.tokens.clone(), &mut entry.members);
        return;
    }
    let mut given = without_attributes(item.mac.tokens.clone()).into_iter();
    let Some(TokenTree::Ident(of)) = given.find(|token| !is_keyword(token)) else {
        return;
    };
    let entry = area.entry(&of.to_string());
    // An enum stands beside its call and has a line of its own.
    entry.line.get_or_insert_with(|| format!("{name}! {of}"));
    if let Some(TokenTree::Group(group)) = given.next() {
        let parts = split_at_commas(group.stream());
        entry
            .members
            .extend(parts.map(|part| format!("{name}! {part}")));
    }
}

fn is_keyword(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(word) if *word == "pub" || *word == "struct")
}

fn split_at_commas(stream: TokenStream) -> impl Iterator<Item = String> {
    let (mut parts, mut depth) = (vec![TokenStream::new()], 0);
    for token in stream {
        let mark = match &token {
            TokenTree::Punct(mark) => mark.as_char(),
            _ => ' ',
        };
        match mark {
            '<' => depth += 1,
            '>' if depth > 0 => depth -= 1,
            _ => {}
        }
        if mark == ',' && depth == 0 {
            parts.push(TokenStream::new());
        } else if let Some(part) = parts.last_mut() {
            part.extend([token]);
        }
    }
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.map(|part| tidy(&part.to_string()))
}

/// Each `pub ..` and `impl ..` of a macro's body, up to its block.
fn offers(body: TokenStream, found: &mut std::collections::BTreeSet<String>) {
    let mut line: Option<TokenStream> = None;
    for token in without_attributes(body) {
        let starts = matches!(&token, TokenTree::Ident(word) if *word == "pub" || *word == "impl");
        let ends = match &token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(mark) => mark.as_char() == ';',
            _ => false,
        };
        if ends {
            found.extend(line.take().map(|line| tidy(&line.to_string())));
        } else if starts && line.is_none() {
            line = Some(TokenStream::from(token.clone()));
        } else if let Some(line) = &mut line {
            line.extend([token.clone()]);
        }
        if let TokenTree::Group(group) = token
            && group.delimiter() == Delimiter::Brace
        {
            offers(group.stream(), found);
        }
    }
}

/// Without `#[..]`, which holds documentation.
fn without_attributes(stream: TokenStream) -> TokenStream {
    let mut kept = Vec::new();
    for token in stream {
        let follows_hash =
            matches!(kept.last(), Some(TokenTree::Punct(mark)) if mark.as_char() == '#');
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket && follows_hash => {
                kept.pop();
            }
            TokenTree::Group(group) => {
                let inner = without_attributes(group.stream());
                kept.push(proc_macro2::Group::new(group.delimiter(), inner).into());
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}
