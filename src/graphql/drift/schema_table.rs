//! A schema as a table of coordinates, and the introspection that reads it from a server.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Coverage;

/// Each coordinate of a schema with what is there.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SchemaTable(pub(super) BTreeMap<String, Element>);

/// What is at a coordinate.
#[derive(Debug, PartialEq)]
pub(super) struct Element {
    /// A type such as `[Comment]`, a kind of type such as `enum`, or `value`.
    pub(super) text: String,
    pub(super) default: Option<String>,
    pub(super) deprecated: bool,
}

/// In which direction an element goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A type, or a field of a record.
    Read,
    /// An argument, or a field of an input.
    Sent,
    EnumValue,
}

impl SchemaTable {
    /// The schema that this crate was written for, which is [`SCHEMA`](crate::graphql::SCHEMA).
    pub(super) fn bundled() -> Self {
        let elements = include_str!("coordinates.txt").lines().filter_map(|line| {
            let (coordinate, element) = line.split_once(' ')?;
            let (text, default) = match element.split_once(" = ") {
                Some((text, default)) => (text, Some(default.to_owned())),
                None => (element, None),
            };
            let element = Element {
                text: text.to_owned(),
                default,
                deprecated: false,
            };
            Some((coordinate.to_owned(), element))
        });
        Self(elements.collect())
    }

    /// From the `data` of a reply with the whole schema.
    pub(super) fn read_whole(data: &Value) -> Option<Self> {
        let schema = Schema::deserialize(&data["__schema"]).ok()?;
        let mut table = Self::default();
        for described in &schema.types {
            let is = |root: &Option<Root>| {
                root.as_ref()
                    .is_some_and(|root| root.name == described.name)
            };
            // Servers name their root types as they like; documents never do.
            let name = if is(&schema.query_type) {
                "Query"
            } else if is(&schema.mutation_type) {
                "Mutation"
            } else {
                &described.name
            };
            table.insert_type(name, described);
        }
        Some(table)
    }

    /// From the `data` of a reply with single types; `None` when the server showed none of them.
    pub(super) fn read_types(data: &Value) -> Option<Self> {
        let mut table = Self::default();
        let types = BTreeMap::<String, Option<Type>>::deserialize(data).ok()?;
        for described in types.values().flatten() {
            table.insert_type(&described.name, described);
        }
        (!table.0.is_empty()).then_some(table)
    }

    fn insert_type(&mut self, name: &str, described: &Type) {
        let built_in = ["String", "Int", "Float", "Boolean", "ID"];
        if name.starts_with("__") || built_in.contains(&name) {
            return;
        }
        let kind = match described.kind.as_str() {
            "INPUT_OBJECT" => "input".to_owned(),
            kind => kind.to_ascii_lowercase(),
        };
        let element = Element {
            text: kind,
            default: None,
            deprecated: false,
        };
        self.0.insert(name.to_owned(), element);
        let members = [
            &described.fields,
            &described.input_fields,
            &described.enum_values,
        ];
        for member in members.into_iter().flatten().flatten() {
            let coordinate = format!("{name}.{}", member.name);
            for argument in &member.args {
                let coordinate = format!("{coordinate}({}:)", argument.name);
                self.0.insert(coordinate, argument.element());
            }
            self.0.insert(coordinate, member.element());
        }
    }

    pub(super) fn contains(&self, coordinate: &str) -> bool {
        self.0.contains_key(coordinate)
    }

    pub(super) fn remove_type(&mut self, name: &str) {
        self.0
            .retain(|coordinate, _| coordinate.split('.').next() != Some(name));
    }

    /// The names of all types.
    pub(super) fn types(&self) -> impl Iterator<Item = &str> {
        self.0
            .keys()
            .map(String::as_str)
            .filter(|coordinate| !coordinate.contains('.'))
    }

    pub(super) fn role(&self, coordinate: &str) -> Role {
        let parent = parent(coordinate).and_then(|parent| self.0.get(parent));
        match parent.map(|parent| parent.text.as_str()) {
            _ if coordinate.contains('(') => Role::Sent,
            Some("input") => Role::Sent,
            Some("enum") => Role::EnumValue,
            _ => Role::Read,
        }
    }
}

/// The field of an argument, the type of a field.
pub(super) fn parent(coordinate: &str) -> Option<&str> {
    coordinate
        .split_once('(')
        .or_else(|| coordinate.split_once('.'))
        .map(|(parent, _)| parent)
}

/// The introspection operations, with their names and what they read, in the order in which they are tried.
pub(crate) fn introspections() -> [(Coverage, &'static str, String); 3] {
    let whole = "query EnvdIntrospection { __schema { queryType { name } mutationType { name } \
                 types { ...EnvdType } } }";
    let types: Vec<String> = SchemaTable::bundled()
        .types()
        .enumerate()
        .map(|(i, name)| format!("t{i}: __type(name: \"{name}\") {{ ...EnvdType }}"))
        .collect();
    let types = format!("query EnvdTypes {{ {} }}", types.join(" "));
    // Deprecated arguments are left out unless the document includes them, which older servers do not understand.
    [
        (
            Coverage::Whole,
            "EnvdIntrospection",
            format!("{whole} {}", fragments("(includeDeprecated: true)")),
        ),
        (
            Coverage::Whole,
            "EnvdIntrospection",
            format!("{whole} {}", fragments("")),
        ),
        (
            Coverage::TypeByType,
            "EnvdTypes",
            format!("{types} {}", fragments("")),
        ),
    ]
}

fn fragments(deprecated: &str) -> String {
    // Lists of lists that may not be null: five levels are more than any schema has.
    let mut reference = "kind name".to_owned();
    for _ in 0..5 {
        reference = format!("kind name ofType {{ {reference} }}");
    }
    format!(
        "fragment EnvdType on __Type {{ kind name \
         fields(includeDeprecated: true) {{ name isDeprecated args{deprecated} {{ ...EnvdInput }} type {{ ...EnvdRef }} }} \
         inputFields{deprecated} {{ ...EnvdInput }} enumValues(includeDeprecated: true) {{ name isDeprecated }} }} \
         fragment EnvdInput on __InputValue {{ name defaultValue type {{ ...EnvdRef }} }} \
         fragment EnvdRef on __Type {{ {reference} }}"
    )
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Schema {
    query_type: Option<Root>,
    mutation_type: Option<Root>,
    types: Vec<Type>,
}

#[derive(Deserialize)]
struct Root {
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Type {
    kind: String,
    name: String,
    fields: Option<Vec<Member>>,
    input_fields: Option<Vec<Member>>,
    enum_values: Option<Vec<Member>>,
}

/// A field, an argument, or a value of an enum, which has no type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Member {
    name: String,
    #[serde(default)]
    args: Vec<Self>,
    #[serde(rename = "type")]
    reference: Option<Reference>,
    default_value: Option<String>,
    #[serde(default)]
    is_deprecated: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reference {
    kind: String,
    name: Option<String>,
    of_type: Option<Box<Self>>,
}

impl Member {
    fn element(&self) -> Element {
        let text = self.reference.as_ref().map(Reference::text);
        Element {
            text: text.unwrap_or_else(|| "value".to_owned()),
            default: self.default_value.clone(),
            deprecated: self.is_deprecated,
        }
    }
}

impl Reference {
    fn text(&self) -> String {
        let inner = self.of_type.as_ref().map(|of| of.text());
        match (self.kind.as_str(), inner) {
            ("NON_NULL", Some(inner)) => format!("{inner}!"),
            ("LIST", Some(inner)) => format!("[{inner}]"),
            _ => self.name.clone().unwrap_or_default(),
        }
    }
}
