//! `src/model/generated.rs`: the records of fragments, the inputs with their setters, and the enums.

use std::collections::BTreeMap;

use apollo_compiler::ast::Type;

use crate::docs::Docs;
use crate::documents::{Documents, Field};
use crate::names;
use crate::rust_text::{aliases, comment, fill, import, indent, rename_all, serde, structure};

const USES: [&str; 12] = [
    "AccountId",
    "AccountType",
    "ConsignmentId",
    "ConsignmentNumber",
    "Maybe",
    "PdfUrl",
    "QuestionId",
    "QuestionType",
    "Role",
    "TemplateId",
    "Timestamp",
    "ValidatorType",
];

pub(crate) fn file(documents: &Documents, docs: &Docs) -> String {
    let mut items = String::new();
    let mut debugs = BTreeMap::new();
    for (name, fragment) in &documents.fragments {
        // The outermost record has all fields and is used for all levels of a tree; generic types are written by hand.
        if documents.rust_type(name) == *name {
            let fields = documents.record(fragment);
            let debug = debug(name, &fields);
            items += &record(
                docs,
                name,
                &fragment.type_condition,
                &fields,
                debug.is_some(),
            );
            debugs.insert(name.as_str(), debug);
        }
    }
    let inputs = documents
        .inputs()
        .map(|(graphql, fields)| (names::type_name(graphql), graphql, fields));
    let mut inputs: Vec<_> = inputs.collect();
    inputs.sort_by_key(|(name, ..)| *name);
    for (name, graphql, fields) in &inputs {
        let debug = debug(name, fields);
        items += &input(docs, name, graphql, fields, debug.is_some());
        items += &setters(docs, name, fields);
        debugs.insert(name, debug);
    }
    let types = documents.schema.types.values();
    let enums = types
        .filter(|one| !one.is_built_in())
        .filter_map(|one| one.as_enum());
    let enums = enums.map(|one| {
        open_enum(
            docs,
            &one.name,
            one.values.keys().map(apollo_compiler::Name::as_str),
        )
    });
    format!(
        "use serde::{{Deserialize, Serialize}};\n\
         use super::open_enum::open_enum;\n\
         use super::redact::redacted_debug;\n\
         {}{items}redacted_debug! {{\n{}}}\n{}",
        import("super", USES, 0),
        debugs.into_values().flatten().collect::<String>(),
        enums.collect::<String>(),
    )
}

fn record(docs: &Docs, name: &str, graphql: &str, fields: &[Field], hides: bool) -> String {
    let lines = fields.iter().map(|field| {
        let reader = names::reader(&field.coordinate);
        let is_list = field.ty.is_list() || reader == Some("one_or_many");
        let reader = reader
            .or_else(|| (field.leaf == "i64").then_some("int"))
            .or_else(|| is_list.then_some("list"));
        let settings: Vec<String> = match reader {
            Some(reader) => vec![
                "default".to_owned(),
                format!("deserialize_with = \"super::lenient::{reader}\""),
            ],
            None => Vec::new(),
        };
        // Every field is optional; a list is empty where there is none.
        let rust_type = match (is_list, reader) {
            (true, Some("known_list")) => format!("Option<Vec<{}>>", field.leaf),
            (true, _) => format!("Vec<{}>", field.leaf),
            (false, _) => format!("Option<{}>", field.leaf),
        };
        member(docs, field, &settings, &rust_type)
    });
    let lines: String = lines.collect();
    comment(docs.page(name, graphql))
        + &derives(fields, hides, &[])
        + "#[non_exhaustive]\n"
        + &structure(name, &lines)
}

fn input(docs: &Docs, name: &str, graphql: &str, fields: &[Field], hides: bool) -> String {
    let lines = fields.iter().map(|field| {
        // A draft may lack required fields: the validator reports them.
        let setting = if field.ty.is_non_null() {
            "deserialize_with = \"super::lenient::or_default\""
        } else {
            "skip_serializing_if = \"Maybe::is_absent\""
        };
        member(docs, field, &[setting.to_owned()], &input_type(field))
    });
    let lines: String = lines.collect();
    comment(docs.page(name, graphql))
        + &derives(fields, hides, &["default"])
        + "#[must_use]\n#[non_exhaustive]\n"
        + &structure(name, &lines)
}

fn derives(fields: &[Field], hides: bool, settings: &[&str]) -> String {
    let debug = if hides { "" } else { "Debug, " };
    let names = fields.iter().map(|field| (&*field.rust, &*field.wire));
    format!("#[derive(Clone, {debug}Default, PartialEq, Serialize, Deserialize)]\n")
        + &rename_all(names, settings)
}

fn member(docs: &Docs, field: &Field, settings: &[String], rust_type: &str) -> String {
    comment(docs.lines(&field.coordinate))
        + &aliases(names::search_words(&field.coordinate).iter().copied())
        + &serde(&field.rust, &field.wire, settings)
        + &format!("pub {}: {rust_type},\n", field.rust)
}

/// A nullable field has three states.
fn input_type(field: &Field) -> String {
    let plain = plain_type(&field.ty, &field.leaf);
    if field.ty.is_non_null() {
        plain
    } else {
        format!("Maybe<{plain}>")
    }
}

/// The type without its outer option. Elements of lists are not optional.
pub(crate) fn plain_type(ty: &Type, leaf: &str) -> String {
    match ty {
        Type::List(inner) | Type::NonNullList(inner) => format!("Vec<{}>", plain_type(inner, leaf)),
        _ => leaf.to_owned(),
    }
}

/// A setter for each field.
fn setters(docs: &Docs, name: &str, fields: &[Field]) -> String {
    let mut setters = String::new();
    for field in fields {
        let Field {
            rust, coordinate, ..
        } = field;
        let setter = names::setter_name(coordinate).unwrap_or(rust);
        let argument = if field.ty.is_list() {
            format!("{rust}: impl IntoIterator<Item = {}>", field.leaf)
        } else {
            format!("{rust}: impl Into<{}>", input_type(field))
        };
        let value = match (field.ty.is_list(), field.ty.is_non_null()) {
            (true, true) => format!("{rust}.into_iter().collect()"),
            (true, false) => format!("Maybe::Value({rust}.into_iter().collect())"),
            (false, _) => format!("{rust}.into()"),
        };
        setters += &comment(docs.lines(coordinate));
        setters += &one_setter(setter, &argument, &format!("it.{rust} = {value};"));
    }
    let setters = format!("setters! {{\n{}}}\n", indent(&setters));
    format!("impl {name} {{\n{}}}\n", indent(&setters))
}

/// A line of `setters!`, or two if it is long.
fn one_setter(name: &str, argument: &str, change: &str) -> String {
    let (head, change) = (
        format!("pub fn {name}({argument})"),
        format!("|it| {change}"),
    );
    if head.len() + change.len() <= 90 {
        format!("{head} {change}\n")
    } else {
        format!("{head}\n    {change}\n")
    }
}

fn open_enum<'a>(docs: &Docs, graphql: &str, values: impl Iterator<Item = &'a str>) -> String {
    let name = names::type_name(graphql);
    let values = values.map(|value| {
        let variant = names::upper_camel_case(value);
        comment(docs.lines(&format!("{graphql}.{value}"))) + &format!("{variant} = \"{value}\",\n")
    });
    let values = indent(&values.collect::<String>());
    let head = comment(docs.page(name, graphql));
    format!(
        "open_enum! {{\n{}}}\n",
        indent(&format!("{head}{name} {{\n{values}}}\n"))
    )
}

/// A row of the table of `Debug`: the fields, and which of them hold personal data, answers or signatures. `None` where
/// nothing is hidden.
fn debug(name: &str, fields: &[Field]) -> Option<String> {
    let is_hidden = |field: &Field| names::is_hidden(&field.coordinate);
    fields.iter().find(|field| is_hidden(field))?;
    let words = fields.iter().map(|field| {
        let mode = if is_hidden(field) { ": hidden" } else { "" };
        format!("{}{mode}", field.rust)
    });
    let row = fill(&format!("    {name} {{"), words, "        ", 100);
    Some(row.trim_end_matches(',').to_owned() + " }\n")
}
