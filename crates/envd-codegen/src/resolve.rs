//! Resolves documents and a schema into a [`Program`].

use std::collections::{BTreeMap, BTreeSet, HashMap};

use apollo_compiler::ast::{DirectiveList, InputValueDefinition, Type};
use apollo_compiler::collections::{IndexMap, IndexSet};
use apollo_compiler::executable::{self, Selection, SelectionSet};
use apollo_compiler::parser::SourceSpan;
use apollo_compiler::schema::{Component, EnumType, ExtendedType};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Node, Schema};
use heck::ToUpperCamelCase;

use crate::documents::{Documents, Fragment};
use crate::ir::{Field, Leaf, OpenEnum, Operation, Origin, Program, Struct};
use crate::problem::{Error, Problem, at};
use crate::scope::Scope;
use crate::{docs, names};

/// A selected field; each response name occurs once.
struct Selected<'d> {
    field: &'d Node<executable::Field>,
    coordinate: String,
    selections: Vec<Selected<'d>>,
    /// The fragment, if its selection is a single fragment spread.
    spread: Option<&'d Name>,
}

struct Resolver<'a> {
    schema: &'a Valid<Schema>,
    sdk: &'a Valid<Schema>,
    scalars: &'a BTreeMap<String, String>,
    documents: &'a Documents<'a>,
    problems: Vec<Problem>,
    /// The items at the level of the operations, including their types and modules.
    scope: Scope,
    /// The records of fragments and of selections inside them, by name.
    records: BTreeMap<String, Struct>,
    fragments: BTreeSet<Name>,
    /// Inputs and enums that the SDK does not have.
    own: IndexSet<Name>,
    /// For each variable, the argument to which it is first passed, with its coordinate.
    arguments: HashMap<Name, (String, &'a Node<InputValueDefinition>)>,
}

/// The maximum depth of nested lists: rustc follows a type through 128 levels, and a list takes several of them.
const MOST_LISTS: usize = 8;

/// The documentation of an element in the schema.
#[derive(Clone, Copy, Default)]
struct Described<'s> {
    description: Option<&'s Node<str>>,
    directives: Option<&'s DirectiveList>,
}

/// Resolves operations that are valid under the schema.
pub(crate) fn resolve(
    mut documents: Documents<'_>,
    sdk: &Valid<Schema>,
    scalars: &BTreeMap<String, String>,
) -> Result<Program, Error> {
    let operations = documents.validate()?;
    let schema = documents.schema;
    let mut resolver = Resolver {
        schema,
        sdk,
        scalars,
        documents: &documents,
        problems: Vec::new(),
        scope: Scope::default(),
        records: BTreeMap::new(),
        fragments: BTreeSet::new(),
        own: IndexSet::default(),
        arguments: HashMap::new(),
    };
    let mut program = Program::default();
    let named = operations.iter().map(|document| &document.operations.named);
    for (name, operation) in named.clone().flatten() {
        resolver.declare_operation(name, operation.operation_type.name());
    }
    for (name, operation) in named.flatten() {
        program.operations.push(resolver.operation(name, operation));
    }
    if resolver.is_sdk() {
        let types = schema.types.values().filter(|one| !one.is_built_in());
        resolver.own = types.map(|one| one.name().clone()).collect();
    }
    resolver.types(&mut program);
    set_defaults(&mut program);
    program.records = resolver.records.into_values().collect();
    Error::unless_empty(resolver.problems, program)
}

impl<'a> Resolver<'a> {
    fn is_sdk(&self) -> bool {
        std::ptr::eq(self.schema, self.sdk)
    }

    fn problem(&mut self, span: Option<SourceSpan>, message: String) {
        let problem = at(&self.documents.sources, span, message);
        self.problems.push(problem);
    }

    /// Reserves a name for an item of the file. Not for the SDK, whose items are in several files.
    fn declare(&mut self, name: String, what: String, place: Option<SourceSpan>) {
        if !self.is_sdk() {
            let sources = &self.documents.sources;
            let declared = self.scope.declare(name, what, place, sources);
            self.problems.extend(declared.err());
        }
    }

    /// Reserves the names of the type and the module of an operation. The type cannot be renamed, since its name is sent.
    fn declare_operation(&mut self, name: &Name, kind: &str) {
        let place = name.location();
        let module = names::module(name);
        if !names::is_free(name) {
            let message = format!(
                "`{name}` is a word of Rust, or of the code that is written: rename the {kind}"
            );
            return self.problem(place, message);
        }
        if module == name.as_str() {
            let message = format!(
                "`{name}` is the name of the module as well: begin the name of the {kind} with a capital letter"
            );
            return self.problem(place, message);
        }
        let before = self.problems.len();
        self.declare(name.to_string(), format!("the {kind} `{name}`"), place);
        if self.problems.len() > before {
            return;
        }
        self.declare(module, format!("the module of the {kind} `{name}`"), place);
    }

    fn operation(&mut self, name: &Name, operation: &'a executable::Operation) -> Operation {
        let kind = operation.operation_type.name();
        self.arguments.clear();
        let selected = self.select(&[&operation.selection_set], &names::capitalized(kind));
        let mut variables = self.declared("Variables".to_owned(), &operation.selection_set.ty);
        for variable in &operation.variables {
            let name = &variable.name;
            let mut described = Described::default();
            let mut coordinate = format!("${name}");
            if let Some((of, argument)) = self.arguments.remove(name) {
                described.description = argument.description.as_ref();
                described.directives = Some(&argument.directives);
                coordinate = of;
            }
            let mut field = self.field(&coordinate, name, &variable.ty, described);
            field.required &= variable.default_value.is_none();
            variables.fields.push(field);
        }
        distinct(&mut variables.fields, |field| &mut field.rust);
        variables.docs = vec!["The variables; those without a value are not sent.".to_owned()];
        let mut records = Vec::new();
        let mut reply = self.declared("ResponseData".to_owned(), &operation.selection_set.ty);
        reply.docs = vec!["The `data` of the reply.".to_owned()];
        reply.fields = self.fields(&selected, "", Origin::Operation, &mut records);
        Operation {
            name: name.to_string(),
            kind,
            sent: operation.serialize().no_indent().to_string(),
            variables,
            reply,
            records,
        }
    }

    /// Merges selections on one type, so that each response name occurs once.
    fn select(&mut self, sets: &[&'a SelectionSet], of: &str) -> Vec<Selected<'a>> {
        let mut fields: IndexMap<&Name, Vec<&'a Node<executable::Field>>> = IndexMap::default();
        for field in sets
            .iter()
            .flat_map(|set| &set.selections)
            .filter_map(Selection::as_field)
        {
            fields.entry(field.response_key()).or_default().push(field);
        }
        let mut selected = Vec::new();
        for same in fields.into_values() {
            let field = same[0];
            let coordinate = format!("{of}.{}", field.name);
            for argument in &field.arguments {
                let known = field.definition.argument_by_name(&argument.name);
                if let (Some(known), Some(variable)) = (known, argument.value.as_variable()) {
                    let passed = (format!("{coordinate}({}:)", argument.name), known);
                    self.arguments.entry(variable.clone()).or_insert(passed);
                }
            }
            let inside: Vec<_> = same.iter().map(|field| &field.selection_set).collect();
            let place = field.location();
            let spread = place.and_then(|place| self.documents.spreads.get(&place));
            selected.push(Selected {
                field,
                coordinate,
                selections: self.select(&inside, &inside[0].ty),
                spread: spread.filter(|_| inside.len() == 1),
            });
        }
        selected
    }

    /// Whether the record of the SDK for this type can deserialize the selections.
    fn fits(&self, selections: &[Selected<'_>], of: &Name) -> bool {
        let kind = |schema: &Schema, ty: &Type| {
            let name = ty.inner_named_type();
            let is_number = ["Int", "Float", "Boolean"].contains(&name.as_str());
            let number = Some(name.clone()).filter(|_| is_number);
            (lists(ty), number, schema.types[name].is_leaf())
        };
        selections.iter().all(|one| {
            let ours = self.sdk.type_field(of, &one.field.name);
            ours.is_ok_and(|ours| {
                kind(self.sdk, &ours.ty) == kind(self.schema, one.ty())
                    && self.fits(&one.selections, ours.ty.inner_named_type())
            })
        })
    }

    fn fields(
        &mut self,
        selected: &[Selected<'a>],
        path: &str,
        origin: Origin,
        records: &mut Vec<Struct>,
    ) -> Vec<Field> {
        let mut fields = Vec::new();
        for one in selected {
            let wire = one.field.response_key();
            let definition = &one.field.definition;
            let described = Described {
                description: definition.description.as_ref(),
                directives: Some(&definition.directives),
            };
            let mut field = self.field(&one.coordinate, wire, one.ty(), described);
            let is_record = !one.selections.is_empty();
            field.reader = names::reader(&one.coordinate, is_record, field.lists);
            if is_record {
                let is_step = one.field.name != "edges";
                let step = if is_step {
                    names::capitalized(wire)
                } else {
                    String::new()
                };
                field.leaf = self.record(one, path.to_owned() + &step, origin, records);
                field.spread = one.spread.map(ToString::to_string);
            }
            fields.push(field);
        }
        distinct(&mut fields, |field| &mut field.rust);
        fields
    }

    /// The type for a selection: a generic type of the SDK, the record of its fragment, or its own record.
    fn record(
        &mut self,
        selected: &Selected<'a>,
        path: String,
        origin: Origin,
        records: &mut Vec<Struct>,
    ) -> Leaf {
        let generic = generic(&selected.selections);
        if let Some(name) = selected.spread {
            self.fragment(name, selected, generic.map(|(generic, _)| generic));
        }
        if let Some((generic, inner)) = generic {
            let step = Some("Node").filter(|_| generic == "Edge");
            let mut leaf = self.record(inner, path + step.unwrap_or_default(), origin, records);
            leaf.generic = Some(generic);
            return leaf;
        }
        if let Some(name) = selected.spread {
            let Fragment { definition, is_sdk } = &self.documents.fragments[name];
            if *is_sdk && self.fits(&selected.selections, &definition.type_condition) {
                return Leaf::new(Origin::Sdk, names::type_name(name));
            }
            if !is_sdk && definition.type_condition == *selected.ty().inner_named_type() {
                return Leaf::new(Origin::Shared, &names::item(name.to_string()));
            }
        }
        let mut name = names::item(path);
        while records.iter().any(|record| record.name == name) {
            name.push('_');
        }
        if origin == Origin::Shared {
            let what = format!("the record of `{}`", selected.coordinate);
            self.declare(name.clone(), what, selected.field.location());
        }
        let (place, leaf) = (records.len(), Leaf::new(origin, &name));
        records.push(self.declared(name, selected.ty().inner_named_type()));
        records[place].fields = self.fields(&selected.selections, &leaf.name, origin, records);
        leaf
    }

    /// Adds the record of a fragment and those inside it, unless the SDK has them. An application gets no record if the selection
    /// becomes a generic type, or if it is on another type than the fragment.
    fn fragment(&mut self, name: &Name, selected: &Selected<'a>, generic: Option<&'static str>) {
        let Fragment { definition, is_sdk } = &self.documents.fragments[name];
        let rust = if *is_sdk {
            name.to_string()
        } else {
            names::item(name.to_string())
        };
        let of = selected.ty().inner_named_type();
        let is_written = generic.is_none() && definition.type_condition == *of;
        let is_known = self.fragments.contains(name);
        if is_known || *is_sdk != self.is_sdk() || !(is_written || *is_sdk) {
            return;
        }
        self.fragments.insert(name.clone());
        let what = format!("the record of the fragment `{name}`");
        self.declare(rust.clone(), what, definition.name.location());
        // Named after the fragment: the record of a tree's outermost level serves all levels.
        let mut record = self.declared(rust.clone(), of);
        let path = if *is_sdk {
            names::type_name(name)
        } else {
            &rust
        };
        let mut inner = Vec::new();
        record.generic = generic;
        record.fields = self.fields(&selected.selections, path, Origin::Shared, &mut inner);
        let records = inner.into_iter().chain([record]);
        self.records
            .extend(records.map(|record| (record.name.clone(), record)));
    }

    /// The description of an element, with its source if the element is in the schema of the SDK.
    fn docs(&self, description: Option<&Node<str>>, coordinate: &str) -> Vec<String> {
        let file = description.and_then(Node::location);
        let is_sdk = file.is_some_and(|place| self.sdk.sources.contains_key(&place.file_id()));
        docs::lines(description.map(|text| &**text), coordinate, is_sdk)
    }

    /// A record or an input without its fields.
    fn declared(&self, name: String, graphql: &Name) -> Struct {
        Struct {
            name,
            graphql: graphql.to_string(),
            docs: self.docs(self.schema.types[graphql].description(), graphql),
            fields: Vec::new(),
            generic: None,
            has_default: true,
        }
    }

    /// A field of a leaf type, or a field whose record is not resolved yet.
    fn field(
        &mut self,
        coordinate: &str,
        wire: &Name,
        ty: &Type,
        described: Described<'_>,
    ) -> Field {
        let name = ty.inner_named_type();
        let leaf = self.leaf(coordinate, name, wire.location());
        let lists = lists(ty);
        if lists > MOST_LISTS {
            let message = format!("`{coordinate}` has more than {MOST_LISTS} lists in each other");
            self.problem(wire.location(), message);
        }
        let is_own_scalar = self.scalars.contains_key(name.as_str());
        Field {
            coordinate: coordinate.to_owned(),
            wire: wire.to_string(),
            rust: names::field_name(coordinate, wire),
            docs: self.docs(described.description, coordinate),
            attributes: described
                .directives
                .map(docs::deprecated)
                .unwrap_or_default(),
            graphql: ty.to_string(),
            lists,
            required: ty.is_non_null(),
            has_default: lists > 0 || !self.schema.types[name].is_enum() && !is_own_scalar,
            reader: None,
            boxed: false,
            spread: None,
            leaf,
        }
    }

    fn leaf(&mut self, coordinate: &str, name: &Name, place: Option<SourceSpan>) -> Leaf {
        let is_scalar = self.schema.types[name].is_scalar();
        match name.as_str() {
            "String" | "ID" => match names::text_type(coordinate) {
                Some(text) => Leaf::new(Origin::Sdk, text),
                None => Leaf::new(Origin::Rust, "String"),
            },
            "Boolean" => Leaf::new(Origin::Rust, "bool"),
            "Int" => Leaf::new(Origin::Rust, "i64"),
            "Float" => Leaf::new(Origin::Rust, "f64"),
            scalar if self.scalars.contains_key(scalar) => {
                Leaf::new(Origin::Rust, &self.scalars[scalar])
            }
            scalar if is_scalar && scalar != "DateTime" => {
                let message = format!(
                    "the scalar `{scalar}` of `{coordinate}` has no type in Rust: map it, as in `scalar(\"{scalar}\", \"String\")` \
                     or `--scalar {scalar}=String`"
                );
                self.problem(place, message);
                Leaf::new(Origin::Rust, scalar)
            }
            _ if is_scalar || self.is_same(name) => Leaf::new(Origin::Sdk, names::type_name(name)),
            _ => {
                if self.schema.types[name].is_input_type() {
                    self.own.insert(name.clone());
                }
                Leaf::new(Origin::Shared, &own_name(name))
            }
        }
    }

    /// Whether an input or an enum equals that of the SDK: it has the same fields or values.
    fn is_same(&self, name: &Name) -> bool {
        // The recursion ends, since no input of the SDK contains itself.
        match (self.schema.types.get(name), self.sdk.types.get(name)) {
            // Enums of the introspection.
            (Some(ExtendedType::Enum(theirs)), _) if theirs.is_built_in() => false,
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

    /// Adds the inputs and enums that the code declares itself, including nested ones.
    fn types(&mut self, program: &mut Program) {
        let (schema, mut next) = (self.schema, 0);
        while let Some(name) = self.own.get_index(next).cloned() {
            next += 1;
            let (rust, place) = (own_name(&name), schema.types[&name].name().location());
            match &schema.types[&name] {
                ExtendedType::Enum(ty) => {
                    self.declare(rust.clone(), format!("the enum `{name}`"), place);
                    program.enums.push(self.open_enum(rust, ty));
                }
                ExtendedType::InputObject(ty) => {
                    self.declare(rust.clone(), format!("the input `{name}`"), place);
                    let mut input = self.declared(rust, &name);
                    for (wire, field) in &ty.fields {
                        let coordinate = format!("{name}.{wire}");
                        let described = Described {
                            description: field.description.as_ref(),
                            directives: Some(&field.directives),
                        };
                        let mut one = self.field(&coordinate, &field.name, &field.ty, described);
                        one.required &= field.default_value.is_none();
                        input.fields.push(one);
                    }
                    distinct(&mut input.fields, |field| &mut field.rust);
                    program.inputs.push(input);
                }
                _ => {}
            }
        }
        program.inputs.sort_by(|a, b| a.name.cmp(&b.name));
        box_cycles(&mut program.inputs);
    }

    fn open_enum(&self, name: String, ty: &EnumType) -> OpenEnum {
        let values = ty.values.iter().map(|(value, definition)| {
            let coordinate = format!("{}.{value}", ty.name);
            (
                names::identifier(value.to_upper_camel_case()),
                value.to_string(),
                self.docs(definition.description.as_ref(), &coordinate),
                docs::deprecated(&definition.directives),
            )
        });
        let mut values: Vec<_> = values.collect();
        distinct(&mut values, |(variant, ..)| variant);
        let docs = self.docs(ty.description.as_ref(), &ty.name);
        OpenEnum { name, docs, values }
    }
}

impl Selected<'_> {
    fn ty(&self) -> &Type {
        &self.field.definition.ty
    }

    /// Whether the field has one of these names and no alias.
    fn is_one_of(&self, names: &[&str]) -> bool {
        let name = &self.field.name;
        self.field.response_key() == name && names.contains(&name.as_str())
    }

    /// Whether it selects a single record that does not become a generic type.
    fn is_record(&self) -> bool {
        let is_one = !self.selections.is_empty() && !self.ty().is_list();
        is_one && generic(&self.selections).is_none()
    }
}

/// The generic type of the SDK for these fields, and the field inside it.
fn generic<'s, 'd>(selected: &'s [Selected<'d>]) -> Option<(&'static str, &'s Selected<'d>)> {
    let find = |name: &str| selected.iter().find(|one| one.field.name == name);
    let only = |names: &[&str]| selected.iter().all(|one| one.is_one_of(names));
    if only(&["data"]) {
        return find("data")
            .filter(|data| data.is_record())
            .map(|data| ("Saved", data));
    }
    if only(&["cursor", "node"]) {
        return find("node")
            .filter(|node| node.is_record())
            .map(|node| ("Edge", node));
    }
    let edges = find("edges").filter(|edges| lists(edges.ty()) == 1)?;
    let is_page_info = |page_info: &Selected<'_>| {
        let mut selections = page_info.selections.iter();
        selections.all(|one| one.is_one_of(&["hasNextPage", "endCursor"]))
    };
    let is_page = only(&["totalCount", "pageInfo", "edges"])
        && find("pageInfo").is_none_or(is_page_info)
        && matches!(generic(&edges.selections), Some(("Edge", _)));
    is_page.then_some(("Connection", edges))
}

fn lists(ty: &Type) -> usize {
    match ty {
        Type::List(inner) | Type::NonNullList(inner) => 1 + lists(inner),
        _ => 0,
    }
}

/// The Rust name of a type that the SDK does not have, or has with other contents.
fn own_name(graphql: &str) -> String {
    let words = names::type_name(graphql).split('_');
    names::item(words.map(names::capitalized).collect())
}

/// Determines which inputs and variables have a default: those in which every required value has a default.
fn set_defaults(program: &mut Program) {
    let mut without = BTreeSet::new();
    loop {
        let before = without.len();
        for input in &mut program.inputs {
            set_default(input, &without);
            if !input.has_default {
                without.insert(input.name.clone());
            }
        }
        if without.len() == before {
            break;
        }
    }
    for operation in &mut program.operations {
        set_default(&mut operation.variables, &without);
    }
}

fn set_default(of: &mut Struct, without: &BTreeSet<String>) {
    for field in &mut of.fields {
        let is_without = field.leaf.origin == Origin::Shared && without.contains(&field.leaf.name);
        field.has_default &= field.lists > 0 || !is_without;
    }
    let mut required = of.fields.iter().filter(|field| field.required);
    of.has_default = required.all(|field| field.has_default);
}

/// Appends `_` to repeated names.
fn distinct<T>(items: &mut [T], name: fn(&mut T) -> &mut String) {
    let mut known = BTreeSet::new();
    for name in items.iter_mut().map(name) {
        while !known.insert(name.clone()) {
            name.push('_');
        }
    }
}

/// Boxes the fields by which an input may contain itself. Inputs without unresolved inner inputs are removed one by one; fields of
/// the remaining types are boxed.
fn box_cycles(inputs: &mut [Struct]) {
    let names = inputs.iter().enumerate();
    let places: HashMap<String, usize> = names.map(|(at, one)| (one.name.clone(), at)).collect();
    let place = |field: &Field| {
        places
            .get(&field.leaf.name)
            .filter(|_| field.lists == 0)
            .copied()
    };
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
