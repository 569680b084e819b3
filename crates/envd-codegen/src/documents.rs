//! The documents: their fragments are put in place of each spread, and they are validated without them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use apollo_compiler::ast::{self, Definition, OperationDefinition, Selection};
use apollo_compiler::parser::{Parser, SourceMap, SourceSpan};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name, Node, Schema, name};

use crate::problem::{Error, Problem, at, found, instead};

/// How many fields the documents select at most, with those of their fragments.
const MOST_FIELDS: usize = 100_000;

/// How deep fragments stand in fragments.
const MOST_FRAGMENTS: usize = 64;

pub(crate) struct Fragment {
    pub(crate) definition: Node<ast::FragmentDefinition>,
    pub(crate) is_sdk: bool,
}

pub(crate) struct DocumentOrigin {
    /// The type of the fragment that the field comes from.
    pub(crate) condition: Option<Name>,
    /// The fragment that is selected of the field, alone.
    pub(crate) spread: Option<Name>,
}

pub(crate) struct Documents<'a> {
    pub(crate) schema: &'a Valid<Schema>,
    pub(crate) sources: SourceMap,
    pub(crate) fragments: BTreeMap<Name, Fragment>,
    /// How fragments stood around fields and inside them, by the places of the fields.
    pub(crate) origins: HashMap<SourceSpan, DocumentOrigin>,
    operations: Vec<Node<OperationDefinition>>,
    problems: Vec<Problem>,
    fields: usize,
}

impl<'a> Documents<'a> {
    pub(crate) fn new(schema: &'a Valid<Schema>) -> Self {
        Self {
            schema,
            sources: schema.sources.clone(),
            fragments: BTreeMap::new(),
            origins: HashMap::new(),
            operations: Vec::new(),
            problems: Vec::new(),
            fields: 0,
        }
    }

    /// Takes in the definitions of a file.
    pub(crate) fn add(&mut self, (file, text): (&str, &str), is_sdk: bool) {
        let document = match Parser::new().parse_ast(text, file) {
            Ok(document) => document,
            Err(errors) => return self.problems.extend(found(&errors.errors)),
        };
        for (id, source) in document.sources.iter() {
            Arc::make_mut(&mut self.sources).insert(*id, source.clone());
        }
        for definition in document.definitions {
            let place = definition.location();
            match definition {
                Definition::OperationDefinition(operation) => self.operations.push(operation),
                Definition::FragmentDefinition(definition) => {
                    let name = definition.name.clone();
                    let fragment = Fragment { definition, is_sdk };
                    if self.fragments.insert(name, fragment).is_some() {
                        self.problem(place, "there is a fragment of this name: rename this one");
                    }
                }
                _ => self.problem(place, "neither an operation nor a fragment"),
            }
        }
    }

    fn problem(&mut self, span: Option<SourceSpan>, message: &str) {
        let problem = at(&self.sources, span, message.to_owned());
        self.problems.push(problem);
    }

    /// The operations, without fragments.
    ///
    /// Each is validated alone, so that what is wrong with one hides nothing of another.
    pub(crate) fn validate(&mut self) -> Result<Vec<Valid<ExecutableDocument>>, Error> {
        let mut valid = Vec::new();
        for mut operation in std::mem::take(&mut self.operations) {
            let (given, mut selections) = (&operation.selection_set, Vec::new());
            self.expand(given, None, &mut Vec::new(), &mut selections);
            operation.make_mut().selection_set = selections;
            if operation.name.is_none() {
                self.problem(operation.location(), "an operation needs a name");
            }
            if operation.operation_type.is_subscription() {
                self.problem(operation.location(), "subscriptions are not supported");
                continue;
            }
            let name = operation.name.clone().unwrap_or(name!("unnamed"));
            let selected = |mut problem: Problem| {
                if problem.file.starts_with("envd-sdk/") {
                    problem.message.extend([" (selected by ", &name, ")"]);
                }
                problem
            };
            let mut document = ast::Document::new();
            document.sources = self.sources.clone();
            document
                .definitions
                .push(Definition::OperationDefinition(operation));
            match document.to_executable_validate(self.schema) {
                Ok(document) => valid.push(document),
                Err(errors) => self
                    .problems
                    .extend(found(&errors.errors).into_iter().map(selected)),
            }
        }
        if self.fields > MOST_FIELDS {
            self.problem(None, "the documents select more than 100,000 fields");
        }
        let mut problems = std::mem::take(&mut self.problems);
        for problem in &mut problems {
            problem.message += &self.existing(&problem.message).unwrap_or_default();
        }
        Error::unless_empty(problems, valid)
    }

    /// Puts the fields of fragments in place of their spreads.
    fn expand(
        &mut self,
        selections: &[Selection],
        of: Option<&Name>,
        within: &mut Vec<Name>,
        expanded: &mut Vec<Selection>,
    ) {
        for selection in selections {
            self.fields += 1;
            if self.fields > MOST_FIELDS {
                return;
            }
            let directive = match selection {
                Selection::Field(_) => None,
                Selection::FragmentSpread(spread) => spread.directives.first(),
                Selection::InlineFragment(inline) => inline.directives.first(),
            };
            if let Some(directive) = directive {
                self.problem(
                    directive.location(),
                    "directives on fragments are not supported: put it on the fields",
                );
            }
            match selection {
                Selection::Field(field) => {
                    let mut field = field.clone();
                    if let Some(place) = field.location() {
                        let (condition, spread) = (of.cloned(), alone(&field.selection_set));
                        self.origins
                            .insert(place, DocumentOrigin { condition, spread });
                    }
                    let inside = std::mem::take(&mut field.make_mut().selection_set);
                    self.expand(&inside, None, within, &mut field.make_mut().selection_set);
                    expanded.push(Selection::Field(field));
                }
                Selection::InlineFragment(inline) => {
                    let of = inline.type_condition.as_ref().or(of);
                    self.expand(&inline.selection_set, of, within, expanded);
                }
                Selection::FragmentSpread(spread) => {
                    let name = &spread.fragment_name;
                    let Some(Fragment { definition, is_sdk }) = self.fragments.get(name) else {
                        expanded.push(selection.clone());
                        continue;
                    };
                    let (definition, is_sdk) = (definition.clone(), *is_sdk);
                    if within.contains(name) || within.len() == MOST_FRAGMENTS {
                        self.problem(name.location(), "this fragment contains itself");
                        continue;
                    }
                    // A service may have other names for its object types: then a fragment of the SDK fits any of them.
                    let of = Some(&definition.type_condition);
                    let of = of.filter(|of| !is_sdk || self.schema.types.contains_key(*of));
                    within.push(name.clone());
                    self.expand(&definition.selection_set, of, within, expanded);
                    within.pop();
                }
            }
        }
    }

    /// What exists in place of the name that is wrong, by the messages of apollo-compiler.
    fn existing(&self, message: &str) -> Option<String> {
        let types = &self.schema.types;
        let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let (wrong, names): (_, Vec<&Name>) = match quoted.as_slice() {
            [of, wrong] if message.contains("does not have a field") => match types.get(*of)? {
                ExtendedType::Object(object) => (wrong, object.fields.keys().collect()),
                ExtendedType::Interface(interface) => (wrong, interface.fields.keys().collect()),
                _ => (wrong, Vec::new()),
            },
            [wrong, coordinate] if message.contains("is not supported by") => {
                let (of, field) = coordinate.split_once('.')?;
                let arguments = &self.schema.type_field(of, field).ok()?.arguments;
                (
                    wrong,
                    arguments.iter().map(|argument| &argument.name).collect(),
                )
            }
            [wrong, of] if message.contains("does not exist on") => match types.get(*of)? {
                ExtendedType::Enum(values) => (wrong, values.values.keys().collect()),
                ExtendedType::InputObject(input) => (wrong, input.fields.keys().collect()),
                _ => return None,
            },
            [wrong] if message.contains("cannot find fragment") => {
                (wrong, self.fragments.keys().collect())
            }
            [wrong] if message.contains("type") => {
                let names = types.keys().filter(|name| !name.starts_with("__"));
                (wrong, names.collect())
            }
            _ => return None,
        };
        let names = instead(wrong, names.into_iter().map(Name::as_str));
        Some(format!("; there is {names}"))
    }
}

/// The fragment that is selected alone.
fn alone(selections: &[Selection]) -> Option<Name> {
    match selections {
        [Selection::FragmentSpread(spread)] => Some(spread.fragment_name.clone()),
        _ => None,
    }
}
