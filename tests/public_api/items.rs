//! Items of the source as entries of the listing.

use syn::{Fields, ImplItem, Item, ItemImpl, ItemTrait, TraitItem, Type, UseTree, Visibility};

use crate::areas::Area;
use crate::attributes::{gates, marks, of};
use crate::print::{impl_header, signature, tokens};

/// Writes what is public about an item into the entries that `entry` finds by name.
pub(crate) fn read(item: &Item, area: &mut Area) {
    let mut list = |vis: &Visibility, name: &syn::Ident, line: String| {
        let entry = area.entry(&name.to_string());
        if is_public(vis) {
            entry.line = Some(line + &marks(of(item)));
        } else {
            entry.is_private = true;
        }
    };
    match item {
        Item::Const(i) => list(
            &i.vis,
            &i.ident,
            format!("const {}: {}", i.ident, tokens(&i.ty)),
        ),
        Item::Static(i) => list(
            &i.vis,
            &i.ident,
            format!("static {}: {}", i.ident, tokens(&i.ty)),
        ),
        Item::Fn(i) => list(&i.vis, &i.sig.ident, signature(&i.sig)),
        Item::Type(i) => {
            let line = format!(
                "type {}{} = {}",
                i.ident,
                tokens(&i.generics),
                tokens(&i.ty)
            );
            list(&i.vis, &i.ident, line);
        }
        Item::Struct(i) => {
            list(
                &i.vis,
                &i.ident,
                format!("struct {}{}", i.ident, tokens(&i.generics)),
            );
            if is_public(&i.vis) {
                area.entry(&i.ident.to_string())
                    .members
                    .extend(fields(&i.fields, is_public));
            }
        }
        Item::Enum(i) => {
            list(
                &i.vis,
                &i.ident,
                format!("enum {}{}", i.ident, tokens(&i.generics)),
            );
            let variants = i.variants.iter().map(|variant| {
                let fields: Vec<_> = fields(&variant.fields, |_| true).collect();
                let fields = if fields.is_empty() {
                    String::new()
                } else {
                    format!("({})", fields.join(", "))
                };
                format!("variant {}{fields}{}", variant.ident, marks(&variant.attrs))
            });
            area.entry(&i.ident.to_string()).members.extend(variants);
        }
        Item::Trait(i) => read_trait(i, area),
        Item::Impl(i) => read_impl(i, area),
        Item::Use(i) if is_public(&i.vis) => {
            for name in names(&i.tree) {
                area.entry(&format!("use {name}")).line =
                    Some(format!("use {name}{}", gates(&i.attrs)));
            }
        }
        _ => {}
    }
}

fn read_trait(item: &ItemTrait, area: &mut Area) {
    let entry = area.entry(&item.ident.to_string());
    if is_public(&item.vis) {
        let bounds = tokens(&item.supertraits);
        let bounds = if bounds.is_empty() {
            bounds
        } else {
            format!(": {bounds}")
        };
        entry.line = Some(format!(
            "trait {}{}{bounds}",
            item.ident,
            tokens(&item.generics)
        ));
    }
    entry
        .members
        .extend(item.items.iter().map(|item| match item {
            TraitItem::Fn(method) => {
                let given = if method.default.is_some() {
                    " { .. }"
                } else {
                    ""
                };
                signature(&method.sig) + given
            }
            other => tokens(other),
        }));
}

/// Methods and traits of a type. Those of a private type are never shown, because its entry has no line.
fn read_impl(item: &ItemImpl, area: &mut Area) {
    let header = impl_header(item);
    let Some(owner) = owner(&item.self_ty) else {
        return;
    };
    if let Some((_, of, _)) = &item.trait_ {
        // `impl From<Ours> for String` belongs to Ours.
        let foreign = ["String", "Vec", "Option", "Box", "str"];
        let argument = of.segments.last().and_then(|last| match &last.arguments {
            syn::PathArguments::AngleBracketed(list) => list.args.first().map(tokens),
            _ => None,
        });
        let owner = match argument {
            Some(argument) if foreign.contains(&owner.as_str()) => argument
                .trim_start_matches('&')
                .split('<')
                .next()
                .unwrap_or_default()
                .to_owned(),
            _ => owner,
        };
        area.entry(&owner).members.insert(header);
        return;
    }
    let place = if item.generics.params.is_empty() {
        String::new()
    } else {
        format!(" // {header}")
    };
    for member in &item.items {
        let line = match member {
            ImplItem::Fn(method) if is_public(&method.vis) => signature(&method.sig),
            ImplItem::Const(i) if is_public(&i.vis) => {
                format!("const {}: {}", i.ident, tokens(&i.ty))
            }
            _ => continue,
        };
        area.entry(&owner).members.insert(line + &place);
    }
}

fn owner(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        Type::Reference(of) => owner(&of.elem),
        _ => None,
    }
}

fn fields(fields: &Fields, is_shown: fn(&Visibility) -> bool) -> impl Iterator<Item = String> {
    let shown = fields.iter().filter(move |field| is_shown(&field.vis));
    shown.map(|field| {
        let of = tokens(&field.ty);
        field
            .ident
            .as_ref()
            .map_or(of.clone(), |name| format!("{name}: {of}"))
    })
}

/// The names that a `pub use` gives; of a glob the path.
fn names(tree: &UseTree) -> Vec<String> {
    match tree {
        UseTree::Path(path) => names(&path.tree)
            .into_iter()
            .map(|name| match name.as_str() {
                "*" => format!("{}::*", path.ident),
                _ => name,
            })
            .collect(),
        UseTree::Name(name) => vec![name.ident.to_string()],
        UseTree::Rename(rename) => vec![rename.rename.to_string()],
        UseTree::Glob(_) => vec!["*".to_owned()],
        UseTree::Group(group) => group.items.iter().flat_map(names).collect(),
    }
}

fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}
