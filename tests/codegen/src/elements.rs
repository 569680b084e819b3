//! The elements of the schema, for comparison with the documents.

use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Node, Schema, ast};

pub(crate) struct Elements {
    pub(crate) schema: Valid<Schema>,
    /// In the order of the schema.
    pub(crate) all: Vec<Element>,
}

/// A type of the schema (`Type`), a field or an enum value (`Type.field`), or an argument (`Type.field(argument:)`).
pub(crate) struct Element {
    pub(crate) coordinate: String,
    /// The GraphQL type of a field or argument; for a type `object`, `input`, `enum` or `scalar`; for an enum value `value`.
    pub(crate) kind: String,
    pub(crate) description: String,
}

impl Elements {
    pub(crate) fn read() -> Self {
        let schema = Schema::parse_and_validate(envd_codegen::SCHEMA, "schema.graphql");
        let schema = schema.unwrap_or_else(|error| panic!("{}", error.errors));
        Self {
            all: listed(&schema),
            schema,
        }
    }

    pub(crate) fn validate(&self, document: &str) -> Result<Valid<ExecutableDocument>, String> {
        ExecutableDocument::parse_and_validate(&self.schema, document, "document.graphql")
            .map_err(|error| error.errors.to_string())
    }
}

fn listed(schema: &Schema) -> Vec<Element> {
    let mut elements = Vec::new();
    let mut add = |coordinate: String, kind: &str, description: Option<&Node<str>>| {
        elements.push(Element {
            coordinate,
            kind: kind.to_owned(),
            description: description.map(ToString::to_string).unwrap_or_default(),
        });
    };
    for (name, definition) in &schema.types {
        if definition.is_built_in() {
            continue;
        }
        let mut add_type = |kind| add(name.to_string(), kind, definition.description());
        match definition {
            ExtendedType::Scalar(_) => add_type("scalar"),
            ExtendedType::Object(object) => {
                add_type("object");
                for (field, definition) in &object.fields {
                    let coordinate = format!("{name}.{field}");
                    let kind = definition.ty.to_string();
                    add(coordinate.clone(), &kind, definition.description.as_ref());
                    for argument in &definition.arguments {
                        let coordinate = format!("{coordinate}({}:)", argument.name);
                        let kind = input_type(argument);
                        add(coordinate, &kind, argument.description.as_ref());
                    }
                }
            }
            ExtendedType::Enum(values) => {
                add_type("enum");
                for (value, definition) in &values.values {
                    let coordinate = format!("{name}.{value}");
                    add(coordinate, "value", definition.description.as_ref());
                }
            }
            ExtendedType::InputObject(input) => {
                add_type("input");
                for (field, definition) in &input.fields {
                    let coordinate = format!("{name}.{field}");
                    let kind = input_type(definition);
                    add(coordinate, &kind, definition.description.as_ref());
                }
            }
            _ => panic!("{name}: interfaces and unions are not supported"),
        }
    }
    elements
}

fn input_type(definition: &ast::InputValueDefinition) -> String {
    match &definition.default_value {
        Some(value) => format!("{} = {value}", definition.ty),
        None => definition.ty.to_string(),
    }
}
