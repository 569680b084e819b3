//! The parsed files of `graphql/`.

use std::collections::BTreeMap;
use std::fs;

use apollo_compiler::ast::{self, Definition, Selection, Type};
use apollo_compiler::parser::Parser;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Node, Schema};

use crate::{ROOT, names};

pub(crate) struct Documents {
    pub(crate) schema: Valid<Schema>,
    /// In the order of the schema.
    pub(crate) elements: Vec<Element>,
    pub(crate) fragments: BTreeMap<String, Node<ast::FragmentDefinition>>,
    pub(crate) operations: Vec<Operation>,
}

/// A type of the schema (`Type`), a field or an enum value (`Type.field`), or an argument (`Type.field(argument:)`).
pub(crate) struct Element {
    pub(crate) coordinate: String,
    /// The type in GraphQL; of a type `object`, `input`, `enum` or `scalar`, of an enum value `value`.
    pub(crate) kind: String,
    pub(crate) description: String,
}

pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    /// The one field of the root type.
    pub(crate) root: Node<ast::Field>,
    pub(crate) variables: Vec<Node<ast::VariableDefinition>>,
    /// The document that is sent, on one line. It has no fragments: they name object types, and the names of the live
    /// schema are not published.
    pub(crate) sent: String,
}

/// A field of a record or an input.
pub(crate) struct Field {
    pub(crate) coordinate: String,
    pub(crate) wire: String,
    pub(crate) rust: String,
    pub(crate) ty: Type,
    /// The Rust type inside all lists and options.
    pub(crate) leaf: String,
}

impl Field {
    fn new(of: &str, wire: &str, ty: &Type, leaf: &str) -> Self {
        let coordinate = format!("{of}.{wire}");
        let leaf = names::text_type(&coordinate).unwrap_or(names::type_name(leaf));
        let rust = names::field_name(&coordinate);
        Self {
            rust: rust.map_or_else(|| names::snake_case(wire), str::to_owned),
            leaf: leaf.to_owned(),
            wire: wire.to_owned(),
            ty: ty.clone(),
            coordinate,
        }
    }
}

impl Operation {
    /// The field in the reply. Its name is an alias where a second document reads the same field.
    pub(crate) fn alias(&self) -> &str {
        self.root.alias.as_ref().unwrap_or(&self.root.name)
    }

    pub(crate) fn coordinate(&self) -> String {
        let root = if self.kind == "mutation" {
            "Mutation"
        } else {
            "Query"
        };
        format!("{root}.{}", self.root.name)
    }
}

impl Documents {
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(format!("{ROOT}/graphql/schema.graphql")).unwrap();
        let schema = Schema::parse_and_validate(text, "schema.graphql");
        let schema = schema.unwrap_or_else(|error| panic!("{}", error.errors));
        let fragments = definitions_in("fragments")
            .into_iter()
            .map(|one| match one {
                Definition::FragmentDefinition(fragment) => (fragment.name.to_string(), fragment),
                _ => panic!("not a fragment"),
            });
        let mut documents = Self {
            elements: elements(&schema),
            fragments: fragments.collect(),
            operations: Vec::new(),
            schema,
        };
        for definition in definitions_in("operations") {
            let Definition::OperationDefinition(operation) = definition else {
                panic!("not an operation")
            };
            let operation = documents.operation(&operation);
            documents.operations.push(operation);
        }
        documents
    }

    fn operation(&self, operation: &Node<ast::OperationDefinition>) -> Operation {
        let [Selection::Field(root)] = operation.selection_set.as_slice() else {
            panic!("an operation needs exactly one root field")
        };
        let mut sent = operation.clone();
        sent.make_mut().selection_set = self.without_fragments(&operation.selection_set);
        Operation {
            name: operation.name.as_ref().unwrap().to_string(),
            kind: operation.operation_type.name(),
            root: root.clone(),
            variables: operation.variables.clone(),
            sent: sent.serialize().no_indent().to_string(),
        }
    }

    /// The selections with each fragment replaced by its fields.
    fn without_fragments(&self, selections: &[Selection]) -> Vec<Selection> {
        let fields = selections.iter().flat_map(|selection| match selection {
            Selection::FragmentSpread(spread) => {
                let fragment = &self.fragments[spread.fragment_name.as_str()];
                self.without_fragments(&fragment.selection_set)
            }
            Selection::Field(field) => {
                let mut field = field.clone();
                field.make_mut().selection_set = self.without_fragments(&field.selection_set);
                vec![Selection::Field(field)]
            }
            Selection::InlineFragment(_) => panic!("inline fragments are not supported"),
        });
        fields.collect()
    }

    /// The fields of the record of a fragment.
    pub(crate) fn record(&self, fragment: &ast::FragmentDefinition) -> Vec<Field> {
        let of = fragment.type_condition.as_str();
        let fields = fragment.selection_set.iter().map(|selection| {
            let Selection::Field(field) = selection else {
                panic!("{}: a fragment selects fields", fragment.name)
            };
            let definition = self.schema.type_field(of, &field.name);
            let definition = definition.unwrap_or_else(|_| panic!("{of} has no {}", field.name));
            let leaf = self.rust_type(record_name(field, &definition.ty));
            Field::new(of, &field.name, &definition.ty, &leaf)
        });
        fields.collect()
    }

    /// The inputs: the GraphQL name and the fields.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&str, Vec<Field>)> {
        let inputs = self
            .schema
            .types
            .values()
            .filter_map(|one| one.as_input_object());
        inputs.map(|input| {
            let name = input.name.as_str();
            let fields = input.fields.values();
            let fields = fields
                .map(|field| Field::new(name, &field.name, &field.ty, field.ty.inner_named_type()));
            (name, fields.collect())
        })
    }

    /// The type that a fragment is read into: its own record, or one of the generic types of `src/model/connection.rs` with the
    /// record inside.
    pub(crate) fn rust_type(&self, name: &str) -> String {
        let Some(fragment) = self.fragments.get(name) else {
            return names::type_name(name).to_owned();
        };
        let fields = self.record(fragment);
        let wire: Vec<&str> = fields.iter().map(|field| &*field.wire).collect();
        match (names::generic(&wire), fields.last()) {
            (Some(generic), Some(inner)) => {
                let inner = inner.leaf.trim_start_matches("Edge<").trim_end_matches('>');
                format!("{generic}<{inner}>")
            }
            _ => names::type_name(name).to_owned(),
        }
    }

    pub(crate) fn validate(&self, document: &str) -> Result<Valid<ExecutableDocument>, String> {
        ExecutableDocument::parse_and_validate(&self.schema, document, "document.graphql")
            .map_err(|error| error.errors.to_string())
    }
}

/// The record that a field is read into: that of the one fragment that it selects, or its type if that has no fields.
pub(crate) fn record_name<'a>(field: &'a ast::Field, ty: &'a Type) -> &'a str {
    match field.selection_set.as_slice() {
        [] => ty.inner_named_type(),
        [Selection::FragmentSpread(spread)] => &spread.fragment_name,
        _ => panic!(
            "{}: a field of records selects exactly one fragment",
            field.name
        ),
    }
}

/// All definitions in the files of a folder, in the order of the file names. A file holds one operation.
fn definitions_in(folder: &str) -> Vec<Definition> {
    let entries = fs::read_dir(format!("{ROOT}/graphql/{folder}")).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let definitions = paths.iter().flat_map(|path| {
        let text = fs::read_to_string(path).unwrap();
        let parsed = Parser::new().parse_ast(text, path);
        let found = parsed
            .unwrap_or_else(|error| panic!("{}", error.errors))
            .definitions;
        let fine = folder != "operations" || found.len() == 1;
        assert!(fine, "{} holds several operations", path.display());
        found
    });
    definitions.collect()
}

fn elements(schema: &Schema) -> Vec<Element> {
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
                        add(
                            coordinate,
                            &input_type(argument),
                            argument.description.as_ref(),
                        );
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
                    add(
                        coordinate,
                        &input_type(definition),
                        definition.description.as_ref(),
                    );
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
