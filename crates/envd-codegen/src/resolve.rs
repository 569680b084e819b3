//! From documents and a schema to a [`Program`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use apollo_compiler::ast::{
    self, Definition, InputValueDefinition, OperationType, Selection, Type,
};
use apollo_compiler::collections::IndexSet;
use apollo_compiler::parser::{Parser, SourceMap, SourceSpan};
use apollo_compiler::schema::{Component, ExtendedType};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Node, Schema};

use crate::ir::{Field, Leaf, OpenEnum, Operation, Origin, Program, Record};
use crate::problem::{Error, Problem, at, found, instead};
use crate::{docs, names};

/// How many fields an operation selects at most, with those of its fragments.
const MOST_FIELDS: usize = 20_000;

/// How deep fragments stand in fragments.
const MOST_FRAGMENTS: usize = 64;

/// A selected field, with the fields of its fragments.
struct Selected {
    /// Without its selections.
    field: Node<ast::Field>,
    coordinate: String,
    ty: Type,
    description: Option<String>,
    selections: Vec<Selected>,
    spread: Option<Name>,
}

struct Fragment {
    definition: Node<ast::FragmentDefinition>,
    is_sdk: bool,
}

pub(crate) struct Resolver<'a> {
    schema: &'a Valid<Schema>,
    sdk: &'a Valid<Schema>,
    scalars: &'a BTreeMap<String, String>,
    sources: SourceMap,
    fragments: BTreeMap<Name, Fragment>,
    operations: Vec<Node<ast::OperationDefinition>>,
    problems: Vec<Problem>,
    /// Inputs and enums that are not of the SDK.
    own: IndexSet<Name>,
    /// Of each variable the argument that it is first passed for: coordinate and description.
    arguments: HashMap<Name, (String, Option<String>)>,
    /// Fields that the operation may still select.
    fields_left: usize,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(
        schema: &'a Valid<Schema>,
        sdk: &'a Valid<Schema>,
        scalars: &'a BTreeMap<String, String>,
    ) -> Self {
        Self {
            schema,
            sdk,
            scalars,
            sources: schema.sources.clone(),
            fragments: BTreeMap::new(),
            operations: Vec::new(),
            problems: Vec::new(),
            own: IndexSet::default(),
            arguments: HashMap::new(),
            fields_left: 0,
        }
    }

    fn is_sdk(&self) -> bool {
        std::ptr::eq(self.schema, self.sdk)
    }

    fn problem(&mut self, span: Option<SourceSpan>, message: String) {
        self.problems.push(at(&self.sources, span, message));
    }

    /// Takes in the definitions of a file.
    pub(crate) fn add(&mut self, (file, text): (&str, &str), is_sdk: bool) {
        let parsed = Parser::new().parse_ast(text, file);
        let document = match parsed {
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
                    if let Some(other) = self.fragments.insert(name.clone(), fragment) {
                        let of = if other.is_sdk {
                            "envd-sdk has"
                        } else {
                            "there is"
                        };
                        let place = name.location();
                        self.problem(place, format!("{of} a fragment {name} already: rename it"));
                    }
                }
                _ => self.problem(place, "neither an operation nor a fragment".to_owned()),
            }
        }
    }

    /// Resolves all that was taken in.
    pub(crate) fn program(mut self) -> Result<Program, Error> {
        let mut program = Program::default();
        for operation in std::mem::take(&mut self.operations) {
            program.operations.extend(self.operation(&operation));
        }
        let emitted = self.fragments.iter();
        let emitted = emitted.filter(|(_, fragment)| fragment.is_sdk == self.is_sdk());
        let emitted: Vec<_> = emitted
            .map(|(_, fragment)| fragment.definition.clone())
            .collect();
        for definition in emitted {
            self.fragment(&definition, &mut program.records);
        }
        if self.is_sdk() {
            let types = self.schema.types.values().filter(|one| !one.is_built_in());
            self.own = types.map(|one| one.name().clone()).collect();
        }
        self.types(&mut program);
        match self.problems.is_empty() {
            true => Ok(program),
            false => Err(Error::new(self.problems)),
        }
    }

    fn operation(&mut self, operation: &Node<ast::OperationDefinition>) -> Option<Operation> {
        let before = self.problems.len();
        let Some(name) = &operation.name else {
            self.problem(operation.location(), "an operation needs a name".to_owned());
            return None;
        };
        let kind = operation.operation_type.name();
        if operation.operation_type == OperationType::Subscription {
            self.problem(
                name.location(),
                "subscriptions are not supported".to_owned(),
            );
            return None;
        }
        let Some(root) = self.schema.root_operation(operation.operation_type) else {
            self.problem(name.location(), format!("the schema has no {kind} type"));
            return None;
        };
        self.arguments.clear();
        self.fields_left = MOST_FIELDS;
        let selected = self.select(&operation.selection_set, root, &names::capitalized(kind));
        let mut sent = operation.clone();
        sent.make_mut().selection_set = selected.iter().map(Selected::sent).collect();
        if self.problems.len() == before {
            let document = ast::Document {
                sources: self.sources.clone(),
                definitions: vec![Definition::OperationDefinition(sent.clone())],
            };
            if let Err(errors) = document.to_executable_validate(self.schema) {
                self.problems.extend(found(&errors.errors));
            }
        }
        if self.problems.len() > before {
            return None;
        }
        let mut variables = Vec::new();
        for variable in &operation.variables {
            let argument = self.arguments.remove(&variable.name);
            let (coordinate, description) =
                argument.unwrap_or_else(|| (format!("${}", variable.name), None));
            let has_default = variable.default_value.is_some();
            let place = variable.name.location();
            let wire = variable.name.as_str();
            let mut field = self.field(
                &coordinate,
                wire,
                &variable.ty,
                description.as_deref(),
                place,
            );
            field.required &= !has_default;
            variables.push((field, variable.ty.to_string()));
        }
        let mut records = Vec::new();
        let reply = self.fields(&selected, "", Origin::Operation, &mut records);
        distinct(variables.iter_mut().map(|(field, _)| &mut field.rust));
        Some(Operation {
            name: name.to_string(),
            kind,
            sent: sent.serialize().no_indent().to_string(),
            variables,
            reply,
            records,
        })
    }

    /// The record of a fragment, and those of selections inside it.
    fn fragment(&mut self, definition: &ast::FragmentDefinition, records: &mut Vec<Record>) {
        let of = &definition.type_condition;
        let Some(ty) = self.schema.types.get(of) else {
            let types = self.schema.types.keys().map(Name::as_str);
            let types = types.filter(|name| !name.starts_with("__"));
            let instead = instead(of, types);
            return self.problem(
                of.location(),
                format!("there is no type `{of}`, but {instead}"),
            );
        };
        let description = ty.description().map(ToString::to_string);
        self.fields_left = MOST_FIELDS;
        let before = self.problems.len();
        let selected = self.select(&definition.selection_set, of, of);
        if self.problems.len() > before {
            return;
        }
        let mut inner = Vec::new();
        let name = names::type_name(&definition.name);
        let fields = self.fields(&selected, name, Origin::Shared, &mut inner);
        records.push(Record {
            // The name of the fragment: the outermost record has all fields and is used for all levels of a tree.
            name: definition.name.to_string(),
            graphql: of.to_string(),
            docs: docs::lines(description.as_deref(), of),
            fields,
            generic: generic(&selected).map(|(generic, _)| generic),
        });
        records.extend(inner);
    }

    /// The fields of a selection, each response name once.
    fn select(&mut self, selections: &[Selection], parent: &Name, of: &str) -> Vec<Selected> {
        let reads = self.spread(selections).and_then(|name| {
            let fragment = &self.fragments[&name];
            let of_sdk = fragment.is_sdk && !self.is_sdk();
            of_sdk.then(|| fragment.definition.type_condition.clone())
        });
        let mut fields = Vec::new();
        self.flatten(selections, parent, &mut Vec::new(), &mut fields);
        let mut selected = Vec::new();
        for field in fields {
            selected.extend(self.selected(&field, parent, of, reads.as_ref()));
        }
        selected
    }

    /// The fragment that is selected alone.
    fn spread(&self, selections: &[Selection]) -> Option<Name> {
        match selections {
            [Selection::FragmentSpread(spread)] => {
                Some(spread.fragment_name.clone()).filter(|name| self.fragments.contains_key(name))
            }
            _ => None,
        }
    }

    fn flatten(
        &mut self,
        selections: &[Selection],
        parent: &Name,
        within: &mut Vec<Name>,
        fields: &mut Vec<Node<ast::Field>>,
    ) {
        for selection in selections {
            match selection {
                Selection::Field(field) => self.merge(field, fields),
                Selection::FragmentSpread(spread) => {
                    let name = &spread.fragment_name;
                    let place = name.location();
                    let Some(fragment) = self.fragments.get(name) else {
                        let fragments = self.fragments.keys().map(Name::as_str);
                        let instead = instead(name, fragments);
                        self.problem(
                            place,
                            format!("there is no fragment `{name}`, but {instead}"),
                        );
                        continue;
                    };
                    if within.contains(name) || within.len() == MOST_FRAGMENTS {
                        self.problem(place, format!("the fragment {name} contains itself"));
                        continue;
                    }
                    let definition = fragment.definition.clone();
                    // A service may have other names for its object types: then a fragment of the SDK fits any of them.
                    let of = Some(&definition.type_condition);
                    let of =
                        of.filter(|of| !fragment.is_sdk || self.schema.types.contains_key(*of));
                    if self.is_plain(place, parent, of, &spread.directives) {
                        within.push(name.clone());
                        self.flatten(&definition.selection_set, parent, within, fields);
                        within.pop();
                    }
                }
                Selection::InlineFragment(inline) => {
                    let of = inline.type_condition.as_ref();
                    if self.is_plain(inline.location(), parent, of, &inline.directives) {
                        self.flatten(&inline.selection_set, parent, within, fields);
                    }
                }
            }
        }
    }

    /// Adds a field, or its selections to the same field.
    fn merge(&mut self, field: &Node<ast::Field>, fields: &mut Vec<Node<ast::Field>>) {
        if self.fields_left == 0 {
            return;
        }
        self.fields_left -= 1;
        if self.fields_left == 0 {
            let message = format!("more than {MOST_FIELDS} fields are selected");
            self.problem(field.name.location(), message);
        }
        let same = fields
            .iter_mut()
            .find(|known| known.response_name() == field.response_name());
        let Some(known) = same else {
            return fields.push(field.clone());
        };
        if known.name == field.name
            && known.arguments == field.arguments
            && known.directives == field.directives
        {
            let more = field.selection_set.clone();
            known.make_mut().selection_set.extend(more);
        } else {
            let message = format!("`{}` is selected twice, and differs", field.response_name());
            self.problem(field.name.location(), message);
        }
    }

    /// Whether the fields of a fragment can stand in its place.
    fn is_plain(
        &mut self,
        place: Option<SourceSpan>,
        parent: &Name,
        of: Option<&Name>,
        directives: &ast::DirectiveList,
    ) -> bool {
        if let Some(directive) = directives.first() {
            let message = format!(
                "@{0} on a fragment is not supported: put it on its fields",
                directive.name
            );
            self.problem(place, message);
            return false;
        }
        let Some(of) = of.filter(|of| *of != parent) else {
            return true;
        };
        let is_abstract = self.schema.types.get(parent);
        let is_abstract = is_abstract.is_some_and(|ty| ty.is_interface() || ty.is_union());
        let message = if is_abstract {
            format!(
                "`{parent}` is an interface or a union, of which only common fields and `__typename` can be selected"
            )
        } else {
            format!("a fragment on `{of}` does not fit `{parent}`")
        };
        self.problem(place, message);
        false
    }

    fn selected(
        &mut self,
        field: &Node<ast::Field>,
        parent: &Name,
        of: &str,
        reads: Option<&Name>,
    ) -> Option<Selected> {
        let (schema, name) = (self.schema, &field.name);
        let Ok(definition) = schema.type_field(parent, name) else {
            let names = fields_of(&schema.types[parent]);
            let instead = instead(name, names.into_iter());
            self.problem(
                name.location(),
                format!("`{parent}` has no field `{name}`; it has {instead}"),
            );
            return None;
        };
        let coordinate = format!("{of}.{name}");
        for argument in &field.arguments {
            let Some(known) = definition.argument_by_name(&argument.name) else {
                let names = definition.arguments.iter().map(|known| known.name.as_str());
                let instead = instead(&argument.name, names);
                let message = format!(
                    "`{parent}.{name}` has no argument `{}`; it has {instead}",
                    argument.name
                );
                self.problem(argument.name.location(), message);
                continue;
            };
            if let Some(variable) = argument.value.as_variable() {
                let description = known.description.as_ref().map(ToString::to_string);
                let at = format!("{coordinate}({}:)", argument.name);
                self.arguments
                    .entry(variable.clone())
                    .or_insert((at, description));
            }
        }
        if let Some(reads) = reads {
            self.compare(field, parent, &definition.ty, reads);
        }
        let inner = definition.ty.inner_named_type();
        let mut bare = field.clone();
        let selections = std::mem::take(&mut bare.make_mut().selection_set);
        let is_composite = !schema.types[inner].is_leaf();
        if selections.is_empty() == is_composite {
            let message = match is_composite {
                true => format!(
                    "`{parent}.{name}` is a `{inner}`: select fields of it, which has {}",
                    instead("", fields_of(&schema.types[inner]).into_iter())
                ),
                false => format!("`{parent}.{name}` is a `{inner}`, which has no fields"),
            };
            self.problem(name.location(), message);
            return None;
        }
        let spread = self.spread(&selections);
        let selections = match is_composite {
            true => self.select(&selections, inner, inner),
            false => Vec::new(),
        };
        Some(Selected {
            field: bare,
            coordinate,
            ty: definition.ty.clone(),
            description: definition.description.as_ref().map(ToString::to_string),
            selections,
            spread,
        })
    }

    /// Whether the record of the SDK can read a field of this type.
    fn compare(&mut self, field: &ast::Field, parent: &Name, ty: &Type, reads: &Name) {
        let Ok(ours) = self.sdk.type_field(reads, &field.name) else {
            return;
        };
        let shape = |schema: &Schema, ty: &Type| {
            let name = ty.inner_named_type();
            let kind = match (&schema.types[name], name.as_str()) {
                (ExtendedType::Scalar(_), "Int" | "Float" | "Boolean") => name.as_str().to_owned(),
                (kind, _) if kind.is_leaf() => "text".to_owned(),
                _ => "record".to_owned(),
            };
            (lists(ty), kind)
        };
        if shape(self.schema, ty) != shape(self.sdk, &ours.ty) {
            let message = format!(
                "`{parent}.{}` is `{ty}`, and the record of envd-sdk reads `{}`: select the fields without the fragment",
                field.name, ours.ty
            );
            self.problem(field.name.location(), message);
        }
    }

    fn fields(
        &mut self,
        selected: &[Selected],
        path: &str,
        origin: Origin,
        records: &mut Vec<Record>,
    ) -> Vec<Field> {
        let mut fields = Vec::new();
        for one in selected {
            let wire = one.field.response_name();
            let description = one.description.as_deref();
            let place = one.field.name.location();
            let mut field = self.field(&one.coordinate, wire, &one.ty, description, place);
            if !one.selections.is_empty() {
                let path = match one.field.name.as_str() {
                    "edges" => path.to_owned(),
                    _ => path.to_owned() + &names::capitalized(wire),
                };
                field.leaf = self.record(one, path, origin, records);
                field.spread = one.spread.as_ref().map(ToString::to_string);
            }
            fields.push(field);
        }
        distinct(fields.iter_mut().map(|field| &mut field.rust));
        fields
    }

    /// What a selection is read into: a generic type of the SDK, the record of its fragment, or a record of its own.
    fn record(
        &mut self,
        selected: &Selected,
        path: String,
        origin: Origin,
        records: &mut Vec<Record>,
    ) -> Leaf {
        if let Some((generic, inner)) = generic(&selected.selections) {
            let path = match inner.field.name.as_str() {
                "edges" | "data" => path,
                name => path + &names::capitalized(name),
            };
            let leaf = self.record(inner, path, origin, records);
            return Leaf {
                generic: Some(generic),
                ..leaf
            };
        }
        if let Some(name) = &selected.spread {
            let is_sdk = self.fragments[name].is_sdk;
            let origin = if is_sdk { Origin::Sdk } else { Origin::Shared };
            let name = names::type_name(name).to_owned();
            return Leaf {
                origin,
                name,
                generic: None,
            };
        }
        let mut name = names::identifier(path);
        while records.iter().any(|record| record.name == name) {
            name.push('_');
        }
        let ty = selected.ty.inner_named_type();
        let description = self.schema.types[ty].description();
        let docs = docs::lines(description.map(|text| &**text), ty);
        let place = records.len();
        records.push(Record {
            name: name.clone(),
            graphql: ty.to_string(),
            docs,
            fields: Vec::new(),
            generic: None,
        });
        records[place].fields = self.fields(&selected.selections, &name, origin, records);
        Leaf {
            origin,
            name,
            generic: None,
        }
    }

    /// A field of a leaf type, or with the type of its record still open.
    fn field(
        &mut self,
        coordinate: &str,
        wire: &str,
        ty: &Type,
        description: Option<&str>,
        place: Option<SourceSpan>,
    ) -> Field {
        let leaf = self.leaf(coordinate, ty.inner_named_type(), place);
        let has_default = !self.schema.types[ty.inner_named_type()].is_enum()
            && leaf.origin != Origin::Rust
            || ["String", "bool", "i64", "f64"].contains(&leaf.name.as_str());
        Field {
            coordinate: coordinate.to_owned(),
            wire: wire.to_owned(),
            rust: names::field_name(coordinate, wire),
            docs: docs::lines(description, coordinate),
            aliases: Vec::new(),
            lists: lists(ty),
            // A value without a default can be left out, as any other.
            required: ty.is_non_null() && (has_default || ty.is_list()),
            boxed: false,
            spread: None,
            leaf,
        }
    }

    fn leaf(&mut self, coordinate: &str, name: &Name, place: Option<SourceSpan>) -> Leaf {
        let (origin, rust) = match name.as_str() {
            "String" | "ID" => match names::text_type(coordinate) {
                Some(text) => (Origin::Sdk, text.to_owned()),
                None => (Origin::Rust, "String".to_owned()),
            },
            "Boolean" => (Origin::Rust, "bool".to_owned()),
            "Int" => (Origin::Rust, "i64".to_owned()),
            "Float" => (Origin::Rust, "f64".to_owned()),
            scalar if self.schema.types[name].is_scalar() => match self.scalars.get(scalar) {
                Some(path) => (Origin::Rust, path.clone()),
                None if scalar == "DateTime" => (Origin::Sdk, names::type_name(scalar).to_owned()),
                None => {
                    let message = format!(
                        "the scalar `{scalar}` of `{coordinate}` has no type in Rust: map it, as in `scalar(\"{scalar}\", \"String\")` \
                         or `--scalar {scalar}=String`"
                    );
                    self.problem(place, message);
                    (Origin::Rust, "String".to_owned())
                }
            },
            _ if self.is_same(name) => (Origin::Sdk, names::type_name(name).to_owned()),
            _ => {
                if self.schema.types[name].is_input_type() {
                    self.own.insert(name.clone());
                }
                (Origin::Shared, own_name(name))
            }
        };
        Leaf {
            origin,
            name: rust,
            generic: None,
        }
    }

    /// Whether an input or an enum is that of the SDK: with the same fields or values.
    fn is_same(&self, name: &Name) -> bool {
        if self.is_sdk() {
            return true;
        }
        // It ends: no input of the SDK contains itself.
        match (self.schema.types.get(name), self.sdk.types.get(name)) {
            (Some(ExtendedType::Enum(theirs)), Some(ExtendedType::Enum(ours))) => {
                let (theirs, ours) = (&theirs.values, &ours.values);
                theirs.len() == ours.len() && theirs.keys().all(|value| ours.contains_key(value))
            }
            (Some(ExtendedType::InputObject(theirs)), Some(ExtendedType::InputObject(ours))) => {
                let is_same = |(name, theirs): (&Name, &Component<InputValueDefinition>)| {
                    let ours = ours.fields.get(name);
                    ours.is_some_and(|ours| ours.ty == theirs.ty)
                        && self.is_same(theirs.ty.inner_named_type())
                };
                theirs.fields.len() == ours.fields.len() && theirs.fields.iter().all(is_same)
            }
            (Some(ExtendedType::Scalar(_)), ours) => ours.is_some(),
            _ => false,
        }
    }

    /// The inputs and enums that are declared beside the operations, with those that they contain.
    fn types(&mut self, program: &mut Program) {
        let mut next = 0;
        while let Some(name) = self.own.get_index(next).cloned() {
            next += 1;
            let schema = self.schema;
            let rust = if self.is_sdk() {
                names::type_name(&name).to_owned()
            } else {
                own_name(&name)
            };
            match &schema.types[&name] {
                ExtendedType::Enum(ty) => program.enums.push(open_enum(rust, ty)),
                ExtendedType::InputObject(ty) => {
                    let mut fields = Vec::new();
                    for (wire, field) in &ty.fields {
                        let coordinate = format!("{name}.{wire}");
                        let description = field.description.as_deref();
                        let place = field.name.location();
                        let mut one = self.field(&coordinate, wire, &field.ty, description, place);
                        one.required &= field.default_value.is_none();
                        fields.push(one);
                    }
                    distinct(fields.iter_mut().map(|field| &mut field.rust));
                    program.inputs.push(Record {
                        name: rust,
                        graphql: name.to_string(),
                        docs: docs::lines(ty.description.as_deref(), &name),
                        fields,
                        generic: None,
                    });
                }
                _ => {}
            }
        }
        program.inputs.sort_by(|a, b| a.name.cmp(&b.name));
        box_cycles(&mut program.inputs);
    }
}

impl Selected {
    fn sent(&self) -> Selection {
        let mut field = self.field.clone();
        field.make_mut().selection_set = self.selections.iter().map(Self::sent).collect();
        Selection::Field(field)
    }
}

/// The generic type of the SDK that these fields are read into, and the field inside it.
fn generic(selected: &[Selected]) -> Option<(&'static str, &Selected)> {
    let find = |name: &str| selected.iter().find(|one| one.field.name == name);
    let only = |names: &[&str]| {
        let plain =
            |one: &Selected| one.field.alias.is_none() && names.contains(&one.field.name.as_str());
        selected.iter().all(plain)
    };
    let one = |field: &&Selected| {
        let is_record = !field.selections.is_empty() && !field.ty.is_list();
        is_record && generic(&field.selections).is_none()
    };
    if let Some(data) = find("data").filter(one).filter(|_| only(&["data"])) {
        return Some(("Saved", data));
    }
    if let Some(node) = find("node")
        .filter(one)
        .filter(|_| only(&["cursor", "node"]))
    {
        return Some(("Edge", node));
    }
    let edges = find("edges").filter(|edges| lists(&edges.ty) == 1)?;
    let is_page_info = |page_info: &Selected| {
        let mut names = page_info
            .selections
            .iter()
            .map(|one| one.field.response_name());
        names.all(|name| ["hasNextPage", "endCursor"].contains(&name.as_str()))
    };
    let is_page = matches!(generic(&edges.selections), Some(("Edge", _)))
        && find("pageInfo").is_none_or(is_page_info)
        && only(&["totalCount", "pageInfo", "edges"]);
    is_page.then_some(("Connection", edges))
}

fn lists(ty: &Type) -> usize {
    match ty {
        Type::List(inner) | Type::NonNullList(inner) => 1 + lists(inner),
        _ => 0,
    }
}

fn fields_of(ty: &ExtendedType) -> Vec<&str> {
    match ty {
        ExtendedType::Object(object) => object.fields.keys().map(Name::as_str).collect(),
        ExtendedType::Interface(interface) => interface.fields.keys().map(Name::as_str).collect(),
        _ => vec!["__typename"],
    }
}

/// A type of the schema in Rust, if the SDK has none.
fn own_name(graphql: &str) -> String {
    names::identifier(graphql.split('_').map(names::capitalized).collect())
}

fn open_enum(name: String, ty: &apollo_compiler::schema::EnumType) -> OpenEnum {
    let values = ty.values.iter().map(|(value, definition)| {
        let variant = names::identifier(names::upper_camel_case(value));
        let docs = docs::lines(
            definition.description.as_deref(),
            &format!("{}.{value}", ty.name),
        );
        (variant, value.to_string(), docs)
    });
    let mut values: Vec<_> = values.collect();
    distinct(values.iter_mut().map(|(variant, ..)| variant));
    OpenEnum {
        name,
        graphql: ty.name.to_string(),
        docs: docs::lines(ty.description.as_deref(), &ty.name),
        values,
    }
}

/// Makes equal names differ.
fn distinct<'a>(names: impl Iterator<Item = &'a mut String>) {
    let mut known = BTreeSet::new();
    for name in names {
        while !known.insert(name.clone()) {
            name.push('_');
        }
    }
}

/// Boxes the fields by which an input may contain itself: those to inputs that are left when each one is taken away that has none of
/// the others inside.
fn box_cycles(inputs: &mut [Record]) {
    let names = inputs.iter().enumerate();
    let places: HashMap<String, usize> = names.map(|(at, one)| (one.name.clone(), at)).collect();
    let place = |field: &Field| places.get(&field.leaf.name).filter(|_| field.lists == 0).copied();
    let mut inside = vec![0_usize; inputs.len()];
    let mut outside = vec![Vec::new(); inputs.len()];
    for (at, input) in inputs.iter().enumerate() {
        for inner in input.fields.iter().filter_map(place) {
            inside[at] += 1;
            outside[inner].push(at);
        }
    }
    let mut free: Vec<usize> = (0..inputs.len()).filter(|at| inside[*at] == 0).collect();
    while let Some(inner) = free.pop() {
        for outer in &outside[inner] {
            inside[*outer] -= 1;
            free.extend(Some(*outer).filter(|outer| inside[*outer] == 0));
        }
    }
    for field in inputs.iter_mut().flat_map(|input| &mut input.fields) {
        field.boxed = place(field).is_some_and(|inner| inside[inner] > 0);
    }
}
