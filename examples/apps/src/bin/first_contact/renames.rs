//! The fields that the service names differently, with names similar to ours.

use std::collections::{BTreeMap, BTreeSet};

use apollo_compiler::Name;
use apollo_compiler::ast::{Definition, Document};
use envd_sdk::graphql::SCHEMA;

use super::cli::Failure;
use super::contact::Contact;
use super::schema::{Field, Schema};
use super::shape;

/// The fields of our types, with the types of their values.
type OurFields = BTreeMap<Name, Vec<(Name, Name)>>;

/// Our inputs, which documents name. All other types may have other names.
const INPUTS: [&str; 3] = [
    "CreateOrSaveConsignmentInput",
    "CreateOrSaveTemplateInput",
    "CreateCommentInput",
];

/// A field in a type of ours and in the type of the service for it.
struct Renamed {
    our_type: Name,
    ours: Name,
    their_type: String,
    theirs: Name,
}

/// Adds the renamed fields to the profile, and gives them our names in the schema.
pub(crate) fn renames(contact: &mut Contact<'_>, schema: &mut Schema) -> Result<(), Failure> {
    let found = find(&our_fields()?, schema, &contact.profile().fields);
    if found.is_empty() {
        return Ok(());
    }
    let mut fields = BTreeMap::new();
    for renamed in found {
        let Renamed { our_type, ours, .. } = &renamed;
        fields.insert(format!("{our_type}.{ours}"), renamed.theirs.to_string());
        schema.rename(&renamed.their_type, &renamed.theirs, renamed.ours);
    }
    let names: Vec<&String> = fields.values().collect();
    let names = shape::names(&names);
    contact.settle(
        ("renamed fields", "fields"),
        "our names",
        names,
        |profile| {
            profile.fields.extend(fields);
        },
    )
}

fn our_fields() -> Result<OurFields, Failure> {
    let document = Document::parse(SCHEMA, "schema.graphql");
    let document = document.map_err(|error| error.errors.to_string())?;
    let mut types = OurFields::new();
    for definition in &document.definitions {
        match definition {
            Definition::ObjectTypeDefinition(object) => {
                let fields = object.fields.iter();
                let fields = fields.map(|it| (it.name.clone(), it.ty.inner_named_type().clone()));
                types.insert(object.name.clone(), fields.collect());
            }
            Definition::InputObjectTypeDefinition(input) => {
                let fields = input.fields.iter();
                let fields = fields.map(|it| (it.name.clone(), it.ty.inner_named_type().clone()));
                types.insert(input.name.clone(), fields.collect());
            }
            _ => {}
        }
    }
    Ok(types)
}

/// Compares our types with those of the service, starting with the root types and the inputs. A type of the service belongs to
/// ours if it is that of the same field. `known` has the renamed fields of the profile.
fn find(ours: &OurFields, schema: &Schema, known: &BTreeMap<String, String>) -> Vec<Renamed> {
    let mut found = Vec::new();
    let [query, mutation] = &schema.roots;
    let mut open = vec![("Query", query.as_str()), ("Mutation", mutation)];
    open.extend(INPUTS.map(|name| (name, name)));
    let mut seen = BTreeSet::new();
    while let Some((our_type, their_type)) = open.pop() {
        let Some((our_type, fields)) = ours.get_key_value(our_type) else {
            continue;
        };
        if !seen.insert(our_type) {
            continue;
        }
        let is_ours = |name: &Name| fields.iter().any(|(ours, _)| ours == name);
        let mut similar = Vec::new();
        for (name, ty) in fields {
            let renamed = known.get(&format!("{our_type}.{name}"));
            let same = |field: &&Field| Some(field.name.as_str()) == renamed.map(String::as_str);
            let field = schema
                .members(their_type)
                .find(|field| field.name == *name)
                .or_else(|| schema.members(their_type).find(same));
            let field = field.or_else(|| {
                let mut fitting = schema.members(their_type).filter(|field| {
                    let is_type = ours.contains_key(ty) || field.of.name() == ty.as_str();
                    let is_new = !is_ours(&field.name) && !field.name.starts_with("__");
                    is_type && is_new && are_similar(name, &field.name)
                });
                let first = fitting.next().filter(|_| can_be_renamed(our_type, name));
                first.filter(|_| fitting.next().is_none())
            });
            let Some(field) = field else {
                continue;
            };
            open.push((ty, field.of.name()));
            if field.name != *name {
                similar.push((name, &field.name));
            }
        }
        let is_only = |theirs: &Name| similar.iter().filter(|(_, it)| *it == theirs).count() == 1;
        let only = similar.iter().filter(|(_, theirs)| is_only(theirs));
        found.extend(only.map(|(name, theirs)| Renamed {
            our_type: our_type.clone(),
            ours: Name::clone(name),
            their_type: their_type.to_owned(),
            theirs: Name::clone(theirs),
        }));
    }
    found
}

/// Other entries of the profile are for operations, for the wrapper of a record, and for the record of an update.
fn can_be_renamed(our_type: &str, field: &str) -> bool {
    !["Query", "Mutation"].contains(&our_type)
        && field != "data"
        && (our_type != INPUTS[0] || !["id", "number"].contains(&field))
}

/// Whether one name is the other one with further words, such as `consignmentNumber` and `number`.
fn are_similar(one: &str, other: &str) -> bool {
    let extends = |long: &str, short: &str| {
        let (first, rest) = short.split_at(1);
        let is_capital = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase());
        long.ends_with(&(first.to_ascii_uppercase() + rest))
            || long.strip_prefix(short).is_some_and(is_capital)
    };
    extends(one, other) || extends(other, one)
}

#[cfg(test)]
mod tests {
    use super::are_similar;

    #[test]
    fn a_similar_name_has_all_words_of_the_other_at_its_start_or_end() {
        for (one, other, expected) in [
            ("number", "consignmentNumber", true),
            ("commentText", "text", true),
            ("pic", "picCode", true),
            ("pic", "picture", false),
            ("id", "paid", false),
            ("movementDate", "movementOn", false),
            ("name", "title", false),
        ] {
            assert_eq!(are_similar(one, other), expected, "{one} {other}");
            assert_eq!(are_similar(other, one), expected, "{other} {one}");
        }
    }
}
