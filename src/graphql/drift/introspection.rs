//! Asking a server for its schema, and reading what it says.

use serde::Deserialize;
use serde_json::Value;

use super::SchemaCoordinates;
use super::coordinates::Element;

/// How much of its schema a server showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Coverage {
    /// All of it.
    Whole,
    /// Introspection is disabled, but the types of this crate could be asked for one by one.
    TypeByType,
    /// Nothing: introspection is disabled.
    Disabled,
}

/// What a server showed of its schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Introspection {
    coverage: Coverage,
    schema: SchemaCoordinates,
}

impl Introspection {
    pub(crate) fn disabled() -> Self {
        Self {
            coverage: Coverage::Disabled,
            schema: SchemaCoordinates::default(),
        }
    }

    /// From the `data` of the reply to [`introspection_document`].
    pub(crate) fn whole(data: &Value) -> Option<Self> {
        Some(Self {
            coverage: Coverage::Whole,
            schema: whole(data)?,
        })
    }

    /// From the `data` of the reply to [`spot_check`].
    pub(crate) fn type_by_type(data: &Value) -> Option<Self> {
        let mut schema = SchemaCoordinates::default();
        for value in data.as_object()?.values() {
            if let Some(found) = Option::<Type>::deserialize(value).ok()? {
                found.list(&mut schema, &found.name);
            }
        }
        let coverage = if schema.0.is_empty() {
            Coverage::Disabled
        } else {
            Coverage::TypeByType
        };
        Some(Self { coverage, schema })
    }

    /// How much the server showed.
    #[must_use]
    pub fn coverage(&self) -> Coverage {
        self.coverage
    }

    /// What it showed; empty when introspection is disabled.
    #[must_use]
    pub fn schema(&self) -> &SchemaCoordinates {
        &self.schema
    }
}

/// What a server can be asked: older ones refuse what was added to introspection later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Abilities {
    /// Deprecated arguments are left out unless asked for.
    deprecated_arguments: bool,
    deprecated_input_fields: bool,
}

impl Abilities {
    /// From the `data` of the reply to [`introspection_probe`].
    pub(crate) fn of(data: &Value) -> Self {
        let can = |of: &str, field: &str| {
            let fields = data[of]["fields"].as_array().into_iter().flatten();
            let args = fields
                .filter(|found| found["name"] == field)
                .filter_map(|found| found["args"].as_array())
                .flatten();
            args.into_iter()
                .any(|arg| arg["name"] == "includeDeprecated")
        };
        Self {
            deprecated_arguments: can("field", "args"),
            deprecated_input_fields: can("type", "inputFields"),
        }
    }
}

/// Asks what the server can be asked.
pub(crate) fn introspection_probe() -> &'static str {
    "query EnvdIntrospectionProbe { \
     field: __type(name: \"__Field\") { fields { name args { name } } } \
     type: __type(name: \"__Type\") { fields { name args { name } } } }"
}

/// Asks for the whole schema.
pub(crate) fn introspection_document(abilities: Abilities) -> String {
    format!(
        "query EnvdIntrospection {{ __schema {{ queryType {{ name }} mutationType {{ name }} \
         types {{ ...EnvdType }} }} }} {}",
        fragments(abilities)
    )
}

/// Asks for the types of the bundled schema one by one.
pub(crate) fn spot_check() -> String {
    let bundled = SchemaCoordinates::bundled();
    let asked: Vec<String> = bundled
        .types()
        .enumerate()
        .map(|(i, name)| format!("t{i}: __type(name: \"{name}\") {{ ...EnvdType }}"))
        .collect();
    let fragments = fragments(Abilities::default());
    format!("query EnvdSpotCheck {{ {} }} {fragments}", asked.join(" "))
}

fn fragments(abilities: Abilities) -> String {
    let deprecated = |asked| {
        if asked {
            "(includeDeprecated: true)"
        } else {
            ""
        }
    };
    let arguments = deprecated(abilities.deprecated_arguments);
    let inputs = deprecated(abilities.deprecated_input_fields);
    // Lists of lists that may not be null: five levels are more than anybody writes.
    let mut reference = "kind name".to_owned();
    for _ in 0..5 {
        reference = format!("kind name ofType {{ {reference} }}");
    }
    format!(
        "fragment EnvdType on __Type {{ kind name \
         fields(includeDeprecated: true) {{ name isDeprecated args{arguments} {{ ...EnvdInput }} type {{ ...EnvdRef }} }} \
         inputFields{inputs} {{ ...EnvdInput }} enumValues(includeDeprecated: true) {{ name isDeprecated }} }} \
         fragment EnvdInput on __InputValue {{ name defaultValue type {{ ...EnvdRef }} }} \
         fragment EnvdRef on __Type {{ {reference} }}"
    )
}

/// The whole schema, from the `data` of a reply.
pub(super) fn whole(data: &Value) -> Option<SchemaCoordinates> {
    let schema = Schema::deserialize(&data["__schema"]).ok()?;
    let mut found = SchemaCoordinates::default();
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
        described.list(&mut found, name);
    }
    Some(found)
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
    fields: Option<Vec<Field>>,
    input_fields: Option<Vec<Input>>,
    enum_values: Option<Vec<EnumValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Field {
    name: String,
    #[serde(default)]
    is_deprecated: bool,
    args: Vec<Input>,
    #[serde(rename = "type")]
    of: Reference,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    name: String,
    default_value: Option<String>,
    #[serde(rename = "type")]
    of: Reference,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EnumValue {
    name: String,
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

impl Type {
    /// Enters the type and all that it has into the table.
    fn list(&self, table: &mut SchemaCoordinates, name: &str) {
        let built_in = ["String", "Int", "Float", "Boolean", "ID"];
        if name.starts_with("__") || built_in.contains(&name) {
            return;
        }
        let mut enter = |coordinate: String, text: String, default: Option<&String>, deprecated| {
            let default = default.cloned();
            let element = Element {
                text,
                default,
                deprecated,
            };
            table.0.insert(coordinate, element);
        };
        let kind = match self.kind.as_str() {
            "INPUT_OBJECT" => "input".to_owned(),
            kind => kind.to_ascii_lowercase(),
        };
        enter(name.to_owned(), kind, None, false);
        for field in self.fields.iter().flatten() {
            let coordinate = format!("{name}.{}", field.name);
            for arg in &field.args {
                let coordinate = format!("{coordinate}({}:)", arg.name);
                enter(coordinate, arg.of.text(), arg.default_value.as_ref(), false);
            }
            enter(coordinate, field.of.text(), None, field.is_deprecated);
        }
        for input in self.input_fields.iter().flatten() {
            let coordinate = format!("{name}.{}", input.name);
            enter(
                coordinate,
                input.of.text(),
                input.default_value.as_ref(),
                false,
            );
        }
        for value in self.enum_values.iter().flatten() {
            let coordinate = format!("{name}.{}", value.name);
            enter(coordinate, "value".to_owned(), None, value.is_deprecated);
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
