//! Parses the documents, replaces each fragment spread by its fields, and validates the result.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apollo_compiler::ast::{self, Definition, OperationDefinition, Selection};
use apollo_compiler::parser::{Parser, SourceMap, SourceSpan};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name, Node, Schema, name};

use crate::problem::{self, Error, Problem, at, found, instead};

/// The maximum number of fields that the documents select, including those of their fragments.
const MOST_FIELDS: usize = 100_000;

/// The maximum number of levels of a document, including nested fragments. rustc follows a type through 128 levels, and a record
/// takes two of them.
const MOST_LEVELS: usize = 64;

pub(crate) const EMPTY: &str = "the file is empty";

/// Messages of apollo-compiler for a record field without a selection, and for another field with one. They do not name the field.
const OF_NO_FIELD: [&str; 3] = [
    "must have a subselection set",
    "field selection of scalar type",
    "field selection of enum type",
];

pub(crate) struct Fragment {
    pub(crate) definition: Node<ast::FragmentDefinition>,
    pub(crate) is_sdk: bool,
}

pub(crate) struct Documents<'a> {
    pub(crate) schema: &'a Valid<Schema>,
    pub(crate) sources: SourceMap,
    pub(crate) fragments: BTreeMap<Name, Fragment>,
    /// For each field whose selection is a single fragment spread: the fragment, by the location of the field.
    pub(crate) spreads: HashMap<SourceSpan, Name>,
    operations: Vec<Node<OperationDefinition>>,
    problems: Vec<Problem>,
    fields: usize,
    is_too_deep: bool,
    used: BTreeSet<Name>,
}

impl<'a> Documents<'a> {
    pub(crate) fn new(schema: &'a Valid<Schema>) -> Self {
        Self {
            schema,
            sources: schema.sources.clone(),
            fragments: BTreeMap::new(),
            spreads: HashMap::new(),
            operations: Vec::new(),
            problems: Vec::new(),
            fields: 0,
            is_too_deep: false,
            used: BTreeSet::new(),
        }
    }

    /// Adds the definitions of a file.
    pub(crate) fn add(&mut self, (file, text): (&str, &str), is_sdk: bool) {
        if is_blank(text) {
            let (file, message) = (file.to_owned(), EMPTY.to_owned());
            return self.problems.push(Problem {
                file,
                place: None,
                message,
            });
        }
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
                    if let Some(other) = self.fragments.insert(name, fragment) {
                        let other = other.definition.location();
                        let other = problem::place(&self.sources, other);
                        let message =
                            format!("there is a fragment of this name at {other}: rename this one");
                        self.problem(place, &message);
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

    /// Validates the operations, with all fragments expanded.
    ///
    /// Each operation is validated alone, so that an error in one does not hide errors in others.
    pub(crate) fn validate(&mut self) -> Result<Vec<Valid<ExecutableDocument>>, Error> {
        let mut valid = Vec::new();
        for mut operation in std::mem::take(&mut self.operations) {
            let name = operation.name.clone().unwrap_or(name!("unnamed"));
            let before = self.problems.len();
            if operation.operation_type.is_subscription() {
                self.problem(operation.location(), "subscriptions are not supported");
                continue;
            }
            if operation.name.is_none() {
                self.problem(operation.location(), "an operation needs a name");
            }
            let schema = self.schema;
            let root = schema.root_operation(operation.operation_type);
            operation.make_mut().selection_set = self.expanded(&operation.selection_set, root);
            valid.extend(self.validated(Definition::OperationDefinition(operation)));
            for problem in &mut self.problems[before..] {
                if problem.file.starts_with("envd-sdk/") {
                    problem.message.extend([" (selected by ", &name, ")"]);
                }
            }
        }
        self.validate_unused();
        if self.fields > MOST_FIELDS {
            self.problem(None, "the documents select more than 100,000 fields");
        }
        let mut problems = std::mem::take(&mut self.problems);
        let names_no_field =
            |one: &Problem| OF_NO_FIELD.iter().any(|words| one.message.contains(words));
        if !problems.iter().all(names_no_field) {
            problems.retain(|one| !names_no_field(one));
        }
        for problem in &mut problems {
            problem.message += &self.existing(&problem.message).unwrap_or_default();
        }
        Error::unless_empty(problems, valid)
    }

    /// Validates the fragments of an application that no operation uses. Otherwise their errors would appear only with the first
    /// use.
    fn validate_unused(&mut self) {
        let fragments = self.fragments.values();
        let fragments =
            fragments.filter(|one| !one.is_sdk && !self.used.contains(&one.definition.name));
        let unused: Vec<_> = fragments.map(|one| one.definition.clone()).collect();
        for mut definition in unused {
            let of = definition.type_condition.clone();
            definition.make_mut().selection_set =
                self.expanded(&definition.selection_set, Some(&of));
            let before = self.problems.len();
            self.validated(Definition::FragmentDefinition(definition));
            let is_other = |one: &Problem| !one.message.contains("must be used in an operation");
            let found = self.problems.split_off(before);
            self.problems.extend(found.into_iter().filter(is_other));
        }
    }

    /// Validates a document with one definition.
    fn validated(&mut self, definition: Definition) -> Option<Valid<ExecutableDocument>> {
        let mut document = ast::Document::new();
        document.sources = self.sources.clone();
        document.definitions.push(definition);
        match document.to_executable_validate(self.schema) {
            Ok(document) => Some(document),
            Err(errors) => {
                self.problems.extend(found(&errors.errors));
                None
            }
        }
    }

    fn expanded(&mut self, selections: &[Selection], of: Option<&Name>) -> Vec<Selection> {
        let mut expanded = Vec::new();
        self.expand(selections, of, 0, &mut Vec::new(), &mut expanded);
        expanded
    }

    /// Replaces fragment spreads by their fields, in a selection on the type `of`; `None` if the type is unknown, which
    /// apollo-compiler reports.
    fn expand(
        &mut self,
        selections: &[Selection],
        of: Option<&Name>,
        level: usize,
        within: &mut Vec<Name>,
        expanded: &mut Vec<Selection>,
    ) {
        for selection in selections {
            self.fields += 1;
            if self.fields > MOST_FIELDS {
                return;
            }
            if level == MOST_LEVELS {
                if !self.is_too_deep {
                    self.problem(
                        selection.location(),
                        "more than 64 levels of selections, with those of fragments",
                    );
                }
                self.is_too_deep = true;
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
                    if let (Some(place), Some(name)) =
                        (field.location(), alone(&field.selection_set))
                    {
                        self.spreads.insert(place, name);
                    }
                    let inside = std::mem::take(&mut field.make_mut().selection_set);
                    let inner = self.inner_type(of, &field, &inside);
                    let selected = &mut field.make_mut().selection_set;
                    self.expand(&inside, inner.as_ref(), level + 1, within, selected);
                    expanded.push(Selection::Field(field));
                }
                Selection::InlineFragment(inline) => {
                    let on = inline.type_condition.as_ref();
                    if let Some(misfit) = self.misfit(on, of) {
                        self.problem(inline.location(), &misfit);
                        continue;
                    }
                    self.expand(&inline.selection_set, of, level + 1, within, expanded);
                }
                Selection::FragmentSpread(spread) => {
                    let name = &spread.fragment_name;
                    let Some(Fragment { definition, is_sdk }) = self.fragments.get(name) else {
                        expanded.push(selection.clone());
                        continue;
                    };
                    let (definition, is_sdk) = (definition.clone(), *is_sdk);
                    self.used.insert(name.clone());
                    if within.contains(name) {
                        self.problem(name.location(), "this fragment contains itself");
                        continue;
                    }
                    // The object types of a service may have other names, so a fragment of the SDK fits any type if its own type is
                    // unknown.
                    let on = Some(&definition.type_condition);
                    let on = on.filter(|on| !is_sdk || self.schema.types.contains_key(*on));
                    if let Some(misfit) = self.misfit(on, of) {
                        self.problem(name.location(), &misfit);
                        continue;
                    }
                    within.push(name.clone());
                    self.expand(&definition.selection_set, of, level + 1, within, expanded);
                    within.pop();
                }
            }
        }
    }

    /// The type that a field selects from. Reports a selection that is missing, or that must not exist.
    fn inner_type(
        &mut self,
        of: Option<&Name>,
        field: &ast::Field,
        inside: &[Selection],
    ) -> Option<Name> {
        let ty = self
            .schema
            .type_field(of?, &field.name)
            .ok()?
            .ty
            .inner_named_type();
        let ty = self.schema.types.get(ty)?;
        let name = ty.name().clone();
        let field = &field.name;
        let of_type = match ty {
            ExtendedType::Object(object) => Some(object.fields.keys().collect()),
            ExtendedType::Interface(interface) => Some(interface.fields.keys().collect()),
            ExtendedType::Union(_) => Some(Vec::new()),
            _ => None,
        };
        match of_type {
            Some(names) if inside.is_empty() => {
                let names: Vec<&Name> = names;
                let names = names.into_iter().map(Name::as_str).chain(["__typename"]);
                let names = instead("", names);
                let message = format!(
                    "`{field}` is of the type `{name}`: select its fields; there is {names}"
                );
                self.problem(field.location(), &message);
            }
            None if !inside.is_empty() => {
                let message =
                    format!("`{field}` is of the type `{name}`, which has no fields to select");
                self.problem(field.location(), &message);
            }
            _ => {}
        }
        Some(name)
    }

    /// The reason why a fragment on the type `on` cannot be used in a selection on the type `of`.
    fn misfit(&self, on: Option<&Name>, of: Option<&Name>) -> Option<String> {
        let (on, of) = (on?, of?);
        // Every object that can occur here has the type of the fragment, so its fields are fields of the selection.
        if on == of || self.schema.is_subtype(on, of) {
            return None;
        }
        let is_of = |object: &Name, ty: &Name| object == ty || self.schema.is_subtype(ty, object);
        let types = self.schema.types.iter();
        let mut objects = types.filter(|(_, ty)| ty.is_object());
        Some(
            if objects.any(|(object, _)| is_of(object, on) && is_of(object, of)) {
                format!(
                    "a fragment on `{on}` in `{of}`: types inside an interface or a union are not supported, only their common \
                 fields and `__typename`"
                )
            } else {
                format!("a fragment on `{on}` does not fit `{of}`")
            },
        )
    }

    /// Finds the existing names to suggest for a wrong one, from the messages of apollo-compiler.
    fn existing(&self, message: &str) -> Option<String> {
        let types = &self.schema.types;
        let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let (wrong, names): (_, Vec<&Name>) = match quoted.as_slice() {
            [of, wrong] if message.contains("does not have a field") => match types.get(*of)? {
                ExtendedType::Object(object) => (wrong, object.fields.keys().collect()),
                ExtendedType::Interface(interface) => (wrong, interface.fields.keys().collect()),
                _ => {
                    let alone =
                        "; there is `__typename` alone: types inside a union are not supported";
                    return Some(alone.to_owned());
                }
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
            [wrong] if message.contains("cannot find type") => {
                let names = types.keys().filter(|name| !name.starts_with("__"));
                (wrong, names.collect())
            }
            _ => return None,
        };
        let names = instead(wrong, names.into_iter().map(Name::as_str));
        Some(format!("; there is {names}"))
    }
}

/// Whether a file has only blank lines and comments.
pub(crate) fn is_blank(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.split(['\n', '\r']);
    lines.all(|line| {
        let line = line.trim_start_matches([' ', '\t', ',']);
        line.is_empty() || line.starts_with('#')
    })
}

/// The fragment, if the selection is a single fragment spread.
fn alone(selections: &[Selection]) -> Option<Name> {
    match selections {
        [Selection::FragmentSpread(spread)] => Some(spread.fragment_name.clone()),
        _ => None,
    }
}
