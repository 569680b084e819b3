//! The parsed files of `graphql/`.

use std::collections::BTreeMap;
use std::fs;

use apollo_compiler::ast::{self, Definition, Selection};
use apollo_compiler::parser::Parser;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Node, Schema};

pub(crate) const SCHEMA: &str = "graphql/schema.graphql";

pub(crate) struct Documents {
    pub(crate) schema: Valid<Schema>,
    fragments: BTreeMap<String, Node<ast::FragmentDefinition>>,
    operations: Vec<Operation>,
}

pub(crate) struct Operation {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    /// The field of the root type, such as `createOrSaveConsignment`.
    pub(crate) root_field: String,
    /// The alias of the field in the document, which names a second document for the same field; otherwise the field.
    pub(crate) alias: String,
    /// The operation with the fragments that it uses, from which the types are generated.
    pub(crate) document: String,
    /// The document that is sent, on one line. It has no fragments: they name object types, and the names of the live
    /// schema are not published.
    pub(crate) sent: String,
}

impl Documents {
    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(SCHEMA).unwrap();
        let schema = Schema::parse_and_validate(text, SCHEMA)
            .unwrap_or_else(|error| panic!("{}", error.errors));
        let fragments: BTreeMap<_, _> = definitions_in("graphql/fragments")
            .into_iter()
            .filter_map(|definition| match definition {
                Definition::FragmentDefinition(fragment) => {
                    Some((fragment.name.to_string(), fragment))
                }
                _ => None,
            })
            .collect();
        let mut documents = Self {
            schema,
            fragments,
            operations: Vec::new(),
        };
        for definition in definitions_in("graphql/operations") {
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
        let mut document = operation.serialize().no_indent().to_string();
        let mut reached = Vec::new();
        self.reach(&operation.selection_set, &mut reached);
        for name in reached {
            document.push(' ');
            document.push_str(&self.fragments[&name].serialize().no_indent().to_string());
        }
        let mut sent = operation.clone();
        sent.make_mut().selection_set = self.spread(&operation.selection_set);
        Operation {
            name: operation.name.as_ref().unwrap().to_string(),
            kind: operation.operation_type.name(),
            root_field: root.name.to_string(),
            alias: root.alias.as_ref().unwrap_or(&root.name).to_string(),
            document,
            sent: sent.serialize().no_indent().to_string(),
        }
    }

    /// The selections with each fragment replaced by its fields.
    fn spread(&self, selections: &[Selection]) -> Vec<Selection> {
        let fields = selections.iter().flat_map(|selection| match selection {
            Selection::FragmentSpread(spread) => {
                self.spread(&self.fragments[spread.fragment_name.as_str()].selection_set)
            }
            Selection::Field(field) => {
                let mut field = field.clone();
                field.make_mut().selection_set = self.spread(&field.selection_set);
                vec![Selection::Field(field)]
            }
            Selection::InlineFragment(_) => panic!("inline fragments are not supported"),
        });
        fields.collect()
    }

    fn reach(&self, selections: &[Selection], reached: &mut Vec<String>) {
        for selection in selections {
            match selection {
                Selection::Field(field) => self.reach(&field.selection_set, reached),
                Selection::FragmentSpread(spread) => {
                    let name = spread.fragment_name.to_string();
                    if !reached.contains(&name) {
                        reached.push(name.clone());
                        self.reach(&self.fragments[&name].selection_set, reached);
                    }
                }
                Selection::InlineFragment(_) => panic!("inline fragments are not supported"),
            }
        }
    }

    pub(crate) fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter()
    }

    /// The GraphQL type that a fragment is on.
    pub(crate) fn fragment_type(&self, fragment: &str) -> Option<&str> {
        self.fragments
            .get(fragment)
            .map(|fragment| fragment.type_condition.as_str())
    }

    pub(crate) fn validate(&self, document: &str) -> Result<(), String> {
        ExecutableDocument::parse_and_validate(&self.schema, document, "document.graphql")
            .map(drop)
            .map_err(|error| error.errors.to_string())
    }

    pub(crate) fn definitions(text: &str) -> Vec<Definition> {
        Parser::new()
            .parse_ast(text, "document.graphql")
            .unwrap_or_else(|error| panic!("{}", error.errors))
            .definitions
    }

    /// Each element of the schema with its description, types as `Type`, fields and enum values as `Type.field`.
    pub(crate) fn elements(&self) -> impl Iterator<Item = (String, String)> {
        let text =
            |description: &Option<Node<str>>| description.as_deref().unwrap_or_default().to_owned();
        let mut elements = Vec::new();
        for (name, kind) in self
            .schema
            .types
            .iter()
            .filter(|(_, kind)| !kind.is_built_in())
        {
            elements.push((name.to_string(), text(&kind.description().cloned())));
            match kind {
                ExtendedType::Object(object) => {
                    for (field, definition) in &object.fields {
                        elements.push((format!("{name}.{field}"), text(&definition.description)));
                        for argument in &definition.arguments {
                            elements.push((
                                format!("{name}.{field}({}:)", argument.name),
                                text(&argument.description),
                            ));
                        }
                    }
                }
                ExtendedType::Enum(values) => elements.extend(
                    values
                        .values
                        .iter()
                        .map(|(value, d)| (format!("{name}.{value}"), text(&d.description))),
                ),
                ExtendedType::InputObject(input) => elements.extend(
                    input
                        .fields
                        .iter()
                        .map(|(field, d)| (format!("{name}.{field}"), text(&d.description))),
                ),
                _ => {}
            }
        }
        elements.into_iter()
    }

    /// Fails on a selection that `graphql_client` would turn into serde(flatten).
    pub(crate) fn check_selections(&self) {
        fn check(name: &str, selections: &[Selection]) {
            let spreads = selections
                .iter()
                .filter(|s| matches!(s, Selection::FragmentSpread(_)))
                .count();
            assert!(
                spreads == 0 || selections.len() == 1,
                "{name} mixes fields and fragments"
            );
            for selection in selections {
                if let Selection::Field(field) = selection {
                    check(name, &field.selection_set);
                }
            }
        }
        for (name, fragment) in &self.fragments {
            check(name, &fragment.selection_set);
        }
    }
}

/// All definitions in the files of a folder, in the order of the file names.
fn definitions_in(folder: &str) -> Vec<Definition> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
        .iter()
        .flat_map(|path| Documents::definitions(&fs::read_to_string(path).unwrap()))
        .collect()
}
