//! Parses generated code with `syn`, as rustc would, and checks that each used name exists and is unique.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Expr, Fields, GenericArgument, Ident, Item, ItemStruct, LitStr, Path, PathArguments,
    Token, Type, braced,
};

/// Names that the code uses without a path.
const PRELUDE: [&str; 7] = ["Box", "Option", "String", "Vec", "bool", "f64", "i64"];

/// Names that macros and derives use without a path: rustc would resolve them to an item with the same name.
const OF_MACROS: &str = "Err From None Ok Result Self Some char core alloc envd_sdk f32 i8 i16 i32 i128 isize std str u8 u16 u32 u64 \
    u128 usize";

/// Enums of the SDK, which have no default.
const SDK_ENUMS: [&str; 3] = ["ConsignmentStatus", "FormType", "Species"];

/// The code without comments, deprecation reasons and documents: the code that runs.
pub(super) fn without_texts(code: &str) -> String {
    syn::parse_file(code).unwrap_or_else(|error| panic!("{error}\n{code}"));
    let tokens: TokenStream = code.parse().unwrap();
    let mut kept = String::new();
    keep(tokens, &mut kept);
    kept
}

fn keep(tokens: TokenStream, kept: &mut String) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let text_of = |next: Option<&TokenTree>| match next {
            Some(TokenTree::Group(group)) => group.stream().to_string(),
            _ => String::new(),
        };
        let is_mark = token.to_string() == "#";
        let attribute = text_of(tokens.peek());
        if is_mark && (attribute.starts_with("doc ") || attribute.starts_with("deprecated")) {
            tokens.next();
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                kept.push_str("( ");
                keep(group.stream(), kept);
                kept.push_str(") ");
            }
            TokenTree::Literal(text) if is_document(&text.to_string()) => {
                kept.push_str("DOCUMENT ");
            }
            other => kept.extend([&other.to_string(), " "]),
        }
    }
}

fn is_document(literal: &str) -> bool {
    ["\"query ", "\"mutation "]
        .iter()
        .any(|kind| literal.starts_with(kind))
}

/// `operations! { name => module, document; }`
struct Operation(Ident, Ident);

impl Parse for Operation {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Attribute::parse_outer(input)?;
        let name = input.parse()?;
        input.parse::<Token![=>]>()?;
        let module = input.parse()?;
        input.parse::<Token![,]>()?;
        input.parse::<Expr>()?;
        input.parse::<Token![;]>()?;
        Ok(Self(name, module))
    }
}

/// A call of the macro `open_enum` with the variants and their names on the wire.
struct OpenEnum(Ident, Vec<Ident>);

impl Parse for OpenEnum {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        Attribute::parse_outer(input)?;
        let name = input.parse()?;
        let (values, mut variants) = {
            let inside;
            braced!(inside in input);
            (inside, Vec::new())
        };
        while !values.is_empty() {
            Attribute::parse_outer(&values)?;
            variants.push(values.parse()?);
            values.parse::<Token![=]>()?;
            values.parse::<LitStr>()?;
            values.parse::<Token![,]>()?;
        }
        Ok(Self(name, variants))
    }
}

/// The items of a module.
#[derive(Default)]
struct Scope {
    /// Types and modules.
    types: BTreeSet<String>,
    values: BTreeSet<String>,
    /// The types with a default.
    defaults: BTreeSet<String>,
    structs: Vec<ItemStruct>,
    modules: Vec<(String, Scope)>,
    /// The modules of the operations.
    operations: Vec<String>,
}

impl Scope {
    fn of(items: Vec<Item>) -> Self {
        let mut scope = Self::default();
        for item in items {
            match item {
                Item::Macro(item) => scope.add_macro(&item.mac),
                Item::Mod(item) => {
                    scope.add_type(&item.ident);
                    let inside = Scope::of(item.content.unwrap().1);
                    scope.modules.push((item.ident.to_string(), inside));
                }
                Item::Struct(item) => {
                    scope.add_type(&item.ident);
                    if derives(&item).contains(" Default ") {
                        scope.defaults.insert(item.ident.to_string());
                    }
                    scope.structs.push(item);
                }
                Item::Const(item) => {
                    assert_eq!(item.ident, "QUERY");
                    assert!(scope.values.insert(item.ident.to_string()));
                }
                Item::Impl(item) => {
                    let (_, of, _) = item.trait_.unwrap();
                    assert_eq!(text(&of), "std::fmt::Debug");
                }
                _ => panic!("an item that no document asks for"),
            }
        }
        scope
    }

    fn add_type(&mut self, name: &Ident) {
        let name = name.to_string();
        let mut taken = OF_MACROS.split_whitespace().chain(PRELUDE);
        assert!(!taken.any(|taken| taken == name), "{name} is taken");
        assert!(self.types.insert(name.clone()), "{name} is there twice");
    }

    fn add_macro(&mut self, called: &syn::Macro) {
        match text(&called.path).as_str() {
            "envd_sdk::operations" => {
                let Operation(name, module) = called.parse_body().unwrap();
                self.add_type(&name);
                assert!(self.values.insert(name.to_string()), "{name}");
                self.operations.push(module.to_string());
            }
            "envd_sdk::open_enum" => {
                let OpenEnum(name, variants) = called.parse_body().unwrap();
                self.add_type(&name);
                let mut known = BTreeSet::from(["Err".to_owned(), "Unrecognized".to_owned()]);
                for variant in variants {
                    assert!(known.insert(variant.to_string()), "{name}::{variant}");
                }
            }
            other => panic!("the macro {other}"),
        }
    }

    /// Asserts that the type of each field exists, and that the fields of a type with a default have defaults.
    fn check(&self, above: Option<&Scope>) {
        for item in &self.structs {
            let is_default = self.defaults.contains(&item.ident.to_string());
            let mut known = BTreeSet::new();
            let Fields::Named(fields) = &item.fields else {
                panic!("{}", item.ident)
            };
            for field in &fields.named {
                let name = field.ident.as_ref().unwrap();
                assert!(known.insert(name.to_string()), "{}.{name}", item.ident);
                let has_default = self.check_type(above, &field.ty);
                assert!(!is_default || has_default, "{}.{name}", item.ident);
            }
        }
        for (name, module) in &self.modules {
            assert!(self.operations.contains(name), "{name}");
            for there in ["Variables", "ResponseData"] {
                assert!(module.types.contains(there), "{name}::{there}");
            }
            module.check(Some(self));
        }
        assert_eq!(self.operations.len(), self.modules.len());
    }

    /// Asserts that a type exists, and returns whether it has a default.
    fn check_type(&self, above: Option<&Scope>, ty: &Type) -> bool {
        let Type::Path(path) = ty else {
            panic!("another type than a path")
        };
        let named = text(&path.path);
        let mut inside_has = true;
        for segment in &path.path.segments {
            if let PathArguments::AngleBracketed(arguments) = &segment.arguments {
                for argument in &arguments.args {
                    let GenericArgument::Type(inside) = argument else {
                        panic!("{named}")
                    };
                    inside_has = self.check_type(above, inside);
                }
            }
        }
        if let Some(model) = named.strip_prefix("envd_sdk::model::") {
            assert!(path.path.leading_colon.is_some() && !model.starts_with('_'));
            return !SDK_ENUMS.contains(&model);
        }
        let (scope, name) = match named.strip_prefix("super::") {
            Some(name) => (above.unwrap(), name),
            None => (self, named.as_str()),
        };
        if name == "Box" {
            return inside_has;
        }
        let is_prelude = name == named && PRELUDE.contains(&name);
        assert!(is_prelude || scope.types.contains(name), "no type {named}");
        is_prelude || scope.defaults.contains(name)
    }
}

fn derives(item: &ItemStruct) -> String {
    let attributes = item
        .attrs
        .iter()
        .filter(|one| one.path().is_ident("derive"));
    let lists = attributes.map(|one| one.meta.require_list().unwrap().tokens.to_string());
    lists.collect::<String>().replace(',', " ")
}

fn text(path: &Path) -> String {
    let segments = path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string());
    segments.collect::<Vec<_>>().join("::")
}

/// Asserts that rustc would accept the code, as far as names are concerned.
pub(super) fn check(code: &str) {
    let file = syn::parse_file(code).unwrap_or_else(|error| panic!("{error}\n{code}"));
    Scope::of(file.items).check(None);
}
