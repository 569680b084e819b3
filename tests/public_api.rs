//! The public API as listed in `tests/public_api/listing.txt`, so that every API change shows up in review.
//!
//! `cargo test --test public_api` compares; `UPDATE_PUBLIC_API=1 cargo test --test public_api` writes. The listing is read
//! from the source without a nightly compiler: the lint `unreachable_pub` ensures that every `pub` item is reachable, so no
//! paths are resolved. For a macro of the crate, each call is listed, and the public lines of its body once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Item, UseTree, Visibility};

const LISTING: &str = "tests/public_api/listing.txt";

/// Declarations by module and name.
#[derive(Default)]
struct Listing(BTreeMap<String, BTreeMap<String, Declaration>>);

#[derive(Default)]
struct Declaration {
    line: Option<String>,
    is_private: bool,
    members: BTreeSet<String>,
}

impl Listing {
    fn of_crate() -> Self {
        let mut listing = Self::default();
        listing.read_file(Path::new("src/lib.rs"), Path::new("src"), "envd_sdk");
        listing
    }

    fn read_file(&mut self, file: &Path, folder: &Path, module: &str) {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.read(&parsed.items, folder, module);
    }

    /// `folder` holds the files of the modules that the items declare.
    fn read(&mut self, items: &[Item], folder: &Path, module: &str) {
        for item in items {
            let tokens = without_attributes(item.to_token_stream());
            let head = line(head(&tokens));
            match item {
                _ if is_for_tests(item) => {}
                Item::Mod(item) => self.read_module(item, folder, module),
                Item::Use(item) if is_public(&item.vis) => {
                    for name in imported(&item.tree) {
                        let name = format!("use {name}");
                        self.entry(module, &name).line = Some(name.clone());
                    }
                }
                Item::Impl(item) => self.read_impl(item, &tokens, module),
                Item::Macro(item) => self.read_macro(item, module),
                _ => {
                    let Some((visibility, name)) = named(item) else {
                        continue;
                    };
                    let found = self.entry(module, &name);
                    found.is_private = !is_public(visibility);
                    found.line = is_public(visibility).then(|| head + &derives(item));
                    let parts: Vec<_> = match item {
                        Item::Enum(_) => members(&tokens, ',').map(|part| line(&part)).collect(),
                        Item::Trait(_) => {
                            members(&tokens, ';').map(|part| provided(&part)).collect()
                        }
                        _ => members(&tokens, ',')
                            .filter(|part| is_pub(part))
                            .map(|part| line(&part))
                            .collect(),
                    };
                    found.members.extend(parts);
                }
            }
        }
    }

    fn read_impl(&mut self, item: &syn::ItemImpl, tokens: &[TokenTree], module: &str) {
        let header = line(head(tokens));
        let found = &mut self.entry(module, &owner(item)).members;
        if item.trait_.is_some() {
            found.insert(header);
            return;
        }
        let of = if item.generics.params.is_empty() {
            String::new()
        } else {
            format!(" // {header}")
        };
        let public = members(tokens, ';').filter(|part| is_pub(part));
        found.extend(public.map(|part| line(head(&part)) + &of));
    }

    fn read_module(&mut self, item: &syn::ItemMod, folder: &Path, module: &str) {
        let name = item.ident.to_string();
        let below = folder.join(&name);
        let mut inner = module.to_owned();
        if is_public(&item.vis) {
            self.entry(module, &name).line = Some(format!("mod {name}"));
            inner = format!("{module}::{name}");
        }
        let flat = folder.join(format!("{name}.rs"));
        match &item.content {
            Some((_, items)) => self.read(items, &below, &inner),
            None if flat.exists() => self.read_file(&flat, &below, &inner),
            None => self.read_file(&below.join("mod.rs"), &below, &inner),
        }
    }

    /// A macro with its public lines, or a call of a macro with its arguments.
    fn read_macro(&mut self, item: &syn::ItemMacro, module: &str) {
        let name = item.mac.path.to_token_stream().to_string();
        if let Some(defined) = &item.ident {
            let found = self.entry(module, &format!("{defined}!"));
            found.line = Some(format!("macro {defined}, not exported"));
            let body = line(&without_attributes(item.mac.tokens.clone()));
            let lines = body.split(['{', '}', ';']).map(str::trim);
            let lines = lines.filter(|line| line.starts_with("pub ") || line.starts_with("impl"));
            found.members.extend(lines.map(tidy));
            return;
        }
        let given = without_attributes(item.mac.tokens.clone());
        let mut of = given.iter().map(ToString::to_string);
        if let Some(of) = of.find(|word| !["pub", "struct", "&"].contains(&word.as_str())) {
            let found = self.entry(module, &of);
            found.line.get_or_insert_with(|| format!("{name}! {of}"));
            let parts = members(&given, ',').filter(|_| given.len() > 1);
            found
                .members
                .extend(parts.map(|part| format!("{name}! {}", line(&part))));
        }
    }

    fn entry(&mut self, module: &str, name: &str) -> &mut Declaration {
        let module = self.0.entry(module.to_owned()).or_default();
        module.entry(name.to_owned()).or_default()
    }

    /// Methods that one module adds to a type of another are listed under `for`. Nothing is listed twice.
    fn text(&self) -> String {
        let entries = self.0.values().flatten();
        let public: BTreeSet<_> = entries
            .filter(|(_, it)| it.line.is_some())
            .map(|(name, _)| name)
            .collect();
        let mut text = String::new();
        for (module, entries) in &self.0 {
            let _ = write!(text, "# {module}\n\n");
            for (name, entry) in entries {
                // A module lists the items of its private modules, so only re-exports of other modules are listed.
                let imported = name.strip_prefix("use ").and_then(|name| entries.get(name));
                match &entry.line {
                    _ if imported.is_some_and(|entry| entry.line.is_some()) => continue,
                    Some(line) => text += line,
                    None if public.contains(name) && !entry.is_private => {
                        let _ = write!(text, "for {name}");
                    }
                    None => continue,
                }
                text.push('\n');
                for member in &entry.members {
                    // The call of a macro lists the variant with its wire name.
                    let by_macro = |other: &String| other.contains(&format!("! {member} ="));
                    if !entry.members.iter().any(by_macro) {
                        let _ = writeln!(text, "    {member}");
                    }
                }
            }
            text.push('\n');
        }
        text.trim_end().to_owned() + "\n"
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn named(item: &Item) -> Option<(&Visibility, String)> {
    let (visibility, name) = match item {
        Item::Const(i) => (&i.vis, &i.ident),
        Item::Enum(i) => (&i.vis, &i.ident),
        Item::Fn(i) => (&i.vis, &i.sig.ident),
        Item::Static(i) => (&i.vis, &i.ident),
        Item::Struct(i) => (&i.vis, &i.ident),
        Item::Trait(i) => (&i.vis, &i.ident),
        Item::Type(i) => (&i.vis, &i.ident),
        _ => return None,
    };
    Some((visibility, name.to_string()))
}

/// `impl From<Ours> for String` belongs to `Ours`.
fn owner(item: &syn::ItemImpl) -> String {
    let last = |text: String| {
        let text = text.split('<').next().unwrap_or_default().trim();
        text.rsplit([' ', ':', '&'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let own = last(item.self_ty.to_token_stream().to_string());
    let of = item
        .trait_
        .as_ref()
        .and_then(|(_, of, _)| of.segments.last());
    let argument = of
        .map(|of| of.arguments.to_token_stream().to_string())
        .unwrap_or_default();
    match argument.trim_matches(['<', '>', ' ']) {
        argument
            if !argument.is_empty()
                && ["String", "Vec", "Option", "Box", "str"].contains(&own.as_str()) =>
        {
            last(argument.to_owned())
        }
        _ => own,
    }
}

/// The names that a `pub use` gives; of a glob the path.
fn imported(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Path(path) if matches!(*path.tree, UseTree::Glob(_)) => {
            vec![format!("{}::*", path.ident)]
        }
        UseTree::Path(path) => imported(&path.tree),
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Rename(rename) => vec![rename.rename.to_string()],
        UseTree::Glob(_) => vec!["*".to_owned()],
        UseTree::Group(group) => group.items.iter().flat_map(imported).collect(),
    }
}

fn attributes(item: &Item) -> String {
    let mut text = String::new();
    let mut tokens = item.to_token_stream().into_iter();
    while let (Some(TokenTree::Punct(mark)), Some(TokenTree::Group(group))) =
        (tokens.next(), tokens.next())
    {
        if mark.as_char() != '#' {
            break;
        }
        text += &tidy(&group.to_string());
    }
    text
}

fn is_for_tests(item: &Item) -> bool {
    let attributes = attributes(item);
    attributes.contains("[cfg(test")
        || attributes.contains("[cfg(all(test")
        || attributes.contains("[cfg(doctest")
}

/// Derives, and attributes that restrict callers.
fn derives(item: &Item) -> String {
    let attributes = attributes(item);
    let lists = attributes
        .split("[derive(")
        .skip(1)
        .filter_map(|rest| rest.split(")]").next());
    let names = lists
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let mut names: Vec<_> = names
        .map(|name| name.rsplit("::").next().unwrap_or(name))
        .collect();
    names.sort_unstable();
    names.extend(
        ["#[non_exhaustive]", "#[deprecated"]
            .into_iter()
            .filter(|mark| attributes.contains(&mark[1..])),
    );
    if names.is_empty() {
        String::new()
    } else {
        format!(": {}", names.join(" + "))
    }
}

/// Without `#[..]`, which holds documentation.
fn without_attributes(code: TokenStream) -> Vec<TokenTree> {
    let mut code_tokens: Vec<TokenTree> = Vec::new();
    for token in code {
        match token {
            TokenTree::Group(group)
                if code_tokens
                    .last()
                    .is_some_and(|last| last.to_string() == "#") =>
            {
                drop((group, code_tokens.pop()));
            }
            TokenTree::Group(group) => {
                let inner = without_attributes(group.stream()).into_iter().collect();
                code_tokens.push(proc_macro2::Group::new(group.delimiter(), inner).into());
            }
            other => code_tokens.push(other),
        }
    }
    code_tokens
}

/// A declaration up to its block or value.
fn head(tokens: &[TokenTree]) -> &[TokenTree] {
    let keywords: Vec<_> = tokens.iter().take(5).map(ToString::to_string).collect();
    let is = |keyword: &str| keywords.iter().any(|word| word == keyword);
    let is_value = is("static") || (is("const") && !is("fn"));
    let end = tokens.iter().position(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace || is("struct"),
        TokenTree::Punct(mark) => mark.as_char() == ';' || (is_value && mark.as_char() == '='),
        _ => false,
    });
    &tokens[..end.unwrap_or(tokens.len())]
}

/// The members in the block, or in the parentheses of a tuple: fields and variants between commas, otherwise items.
fn members(tokens: &[TokenTree], separator: char) -> impl Iterator<Item = Vec<TokenTree>> {
    let block = tokens.iter().rev().find_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    let (mut members, mut depth) = (vec![Vec::new()], 0);
    for token in block.unwrap_or_default() {
        let mark = match &token {
            TokenTree::Punct(mark) => mark.as_char(),
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => '{',
            _ => ' ',
        };
        depth += i32::from(mark == '<') - i32::from(mark == '>' && depth > 0);
        let ends = mark == separator && (mark == ';' || depth == 0);
        if let Some(member) = members.last_mut().filter(|_| !ends) {
            member.push(token);
        }
        if ends || (separator == ';' && mark == '{') {
            members.push(Vec::new());
            depth = 0;
        }
    }
    members.into_iter().filter(|member| !member.is_empty())
}

/// A method of a trait, marked where the trait provides its body.
fn provided(method: &[TokenTree]) -> String {
    let head = head(method);
    line(head)
        + if head.len() < method.len() {
            " { .. }"
        } else {
            ""
        }
}

/// `pub`, not `pub(crate)`.
fn is_pub(tokens: &[TokenTree]) -> bool {
    tokens
        .first()
        .is_some_and(|first| first.to_string() == "pub")
        && !tokens
            .get(1)
            .is_some_and(|next| next.to_string().starts_with('('))
}

fn line(tokens: &[TokenTree]) -> String {
    let tokens = if is_pub(tokens) { &tokens[1..] } else { tokens };
    tidy(&tokens.iter().cloned().collect::<TokenStream>().to_string())
}

/// With the usual spaces.
fn tidy(text: &str) -> String {
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for glued in ["::", "<", "[", "(", "&", "'", "#", "$"] {
        text = text.replace(&format!("{glued} "), glued);
    }
    for glued in ["::", "<", ">", ",", ":", "(", ")", "]", ";", "!"] {
        text = text.replace(&format!(" {glued}"), glued);
    }
    for (from, to) in [
        (",)", ")"),
        (",>", ">"),
        (", }", " }"),
        ("(mut self", "(self"),
        ("-> ", " -> "),
        ("=(", "= ("),
    ] {
        text = text.replace(from, to);
    }
    text.replace("  ", " ").trim_end_matches(',').to_owned()
}

/// The removed and added lines, each with its module and type.
fn changes(listed: &str, found: &str) -> Vec<String> {
    let (listed, found) = (with_owners(listed), with_owners(found));
    let gone = listed.difference(&found).map(|line| format!("- {line}"));
    gone.chain(found.difference(&listed).map(|line| format!("+ {line}")))
        .collect()
}

fn with_owners(listing: &str) -> BTreeSet<String> {
    let (mut module, mut owner) = ("", "");
    let mut lines = BTreeSet::new();
    for line in listing.lines().filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("# ") {
            module = name;
        } else if let Some(member) = line.strip_prefix("    ") {
            lines.insert(format!("[{module}] {owner} :: {member}"));
        } else {
            owner = line.split([':', '(']).next().unwrap_or(line);
            lines.insert(format!("[{module}] {line}"));
        }
    }
    lines
}

#[test]
fn the_public_api_matches_the_listing() {
    let found = Listing::of_crate().text();
    if std::env::var_os("UPDATE_PUBLIC_API").is_some() {
        fs::write(LISTING, &found).unwrap();
    }
    let changes = changes(&fs::read_to_string(LISTING).unwrap_or_default(), &found);
    assert!(
        changes.is_empty(),
        "the public API has changed:\n\n{}\n\nIf that is intended, add it to CHANGELOG.md and run\n    \
         UPDATE_PUBLIC_API=1 cargo test --test public_api\n",
        changes.join("\n")
    );
}

/// The listing of a crate of one file.
fn listing_of(text: &str) -> String {
    let mut listing = Listing::default();
    listing.read(
        &syn::parse_file(text).unwrap().items,
        Path::new(""),
        "envd_sdk",
    );
    listing.text()
}

const BEFORE: &str = "
    pub struct Yard { pub name: String, gate: u8 }
    impl Yard { pub fn open(&self, day: u8) -> bool { day > self.gate } fn close(&self) {} }
    pub(crate) struct Hidden;
    impl Clone for Hidden { fn clone(&self) -> Self { Hidden } }
    #[cfg(test)] mod tests { pub fn helper() {} }
";

#[test]
fn only_public_items_are_listed() {
    let expected =
        "# envd_sdk\n\nstruct Yard\n    fn open(&self, day: u8) -> bool\n    name: String\n";
    assert_eq!(listing_of(BEFORE), expected);
}

#[test]
fn every_change_is_reported() {
    for (from, to, seen) in [
        (
            "pub fn open",
            "pub(crate) fn open",
            "- [envd_sdk] struct Yard :: fn open(&self, day: u8) -> bool",
        ),
        (
            "day: u8) -> bool",
            "day: u8) -> u8",
            "+ [envd_sdk] struct Yard :: fn open(&self, day: u8) -> u8",
        ),
        (
            "fn open(",
            "async fn open(",
            "+ [envd_sdk] struct Yard :: async fn open(&self, day: u8) -> bool",
        ),
        (
            "pub name",
            "pub title",
            "+ [envd_sdk] struct Yard :: title: String",
        ),
        (
            "gate: u8",
            "pub gate: u8",
            "+ [envd_sdk] struct Yard :: gate: u8",
        ),
        (
            "pub struct Yard",
            "#[derive(Clone)] pub struct Yard",
            "+ [envd_sdk] struct Yard: Clone",
        ),
        (
            "pub struct Yard",
            "#[non_exhaustive] pub struct Yard",
            "+ [envd_sdk] struct Yard: #[non_exhaustive]",
        ),
        (
            "pub(crate) struct",
            "pub struct",
            "+ [envd_sdk] struct Hidden :: impl Clone for Hidden",
        ),
        (
            "pub(crate) struct",
            "pub use a::{b as c, d}; struct",
            "+ [envd_sdk] use c",
        ),
    ] {
        let after = BEFORE.replace(from, to);
        let changes = changes(&listing_of(BEFORE), &listing_of(&after));
        assert!(changes.contains(&seen.to_owned()), "{seen}: {changes:#?}");
    }
}

#[test]
fn handles_are_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    shared::<envd_sdk::Client>();
    shared::<envd_sdk::Account>();
    shared::<envd_sdk::Error>();
    shared::<envd_sdk::auth::TokenManager>();
    shared::<envd_sdk::register::Register>();
    shared::<envd_sdk::validate::Questionnaire>();
    shared::<envd_sdk::validate::Form>();
}
