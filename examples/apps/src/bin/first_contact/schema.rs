//! The schema of the service, if it permits introspection: the paths of records in replies, how an update names its record, and the forms.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt;

use apollo_compiler::Name;
use apollo_compiler::ast::{Definition, Document};
use envd_sdk::ErrorKind;
use envd_sdk::model::FormType;
use envd_sdk::profile::{FurtherForm, RecordNames, Sourced};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::cli::Failure;
use super::contact::Contact;
use super::finding::Verdict;
use super::renames::renames;
use super::shape;

const DOCUMENT: &str = "query FirstContact { __schema { queryType { name } mutationType { name } types {
    kind name possibleTypes { name }
    fields(includeDeprecated: true) { name args { name defaultValue type { ...T } } type { ...T } }
    inputFields { name defaultValue type { ...T } } enumValues(includeDeprecated: true) { name } } } }
    fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }";

/// The most fields that are tried for an operation without a field of its own name.
const MOST: usize = 50;

/// Operations with their arguments, and the fields that identify their record. A change returns it under `data`.
const OPERATIONS: [(&str, bool, &[&str], &[&str]); 15] = [
    ("userDetails", false, &[], &["isNewUser", "accounts"]),
    ("questions", false, &[], &["items"]),
    (
        "consignments",
        false,
        &["envdAccountId", "searchText"],
        &["edges", "pageInfo"],
    ),
    (
        "consignment",
        false,
        &["envdAccountId", "id"],
        &["id", "number", "answers"],
    ),
    (
        "templates",
        false,
        &["envdAccountId", "first"],
        &["edges", "pageInfo"],
    ),
    (
        "template",
        false,
        &["envdAccountId", "id"],
        &["id", "name", "forms"],
    ),
    (
        "comments",
        false,
        &["envdAccountId", "consignmentNumber"],
        &["commentText"],
    ),
    (
        "consignmentUserMapping",
        false,
        &["consignmentNumber", "role"],
        &["email", "role"],
    ),
    ("edecs", false, &[], &["number"]),
    (
        "createOrSaveConsignment",
        true,
        &["envdAccountId", "input"],
        &["id", "number", "status"],
    ),
    (
        "createOrSaveTemplate",
        true,
        &["envdAccountId", "input"],
        &["id", "name"],
    ),
    (
        "copyConsignment",
        true,
        &["envdAccountId", "id"],
        &["id", "number", "status"],
    ),
    (
        "deleteConsignment",
        true,
        &["envdAccountId", "id"],
        &["id", "number", "status"],
    ),
    (
        "deleteTemplate",
        true,
        &["envdAccountId", "id"],
        &["id", "name"],
    ),
    (
        "createComment",
        true,
        &["envdAccountId", "input"],
        &["commentText"],
    ),
];

/// Reads the schema, and records in the profile how the crate's documents have to adapt to it.
pub(crate) async fn compare(contact: &mut Contact<'_>) -> Result<(), Failure> {
    let read = contact
        .client
        .execute_document::<Value>(DOCUMENT, "FirstContact", &json!({}));
    let what = ("the schema", "operations");
    let shown = match read.await {
        Ok(reply) if reply.value["__schema"].is_null() => None,
        Ok(reply) => match Shown::deserialize(&reply.value["__schema"]) {
            Ok(shown) => Some(shown),
            Err(error) => {
                let found = "a schema with an invalid name or value";
                contact.tell(what, "shown", found, Verdict::Look);
                contact.quote(error.to_string());
                return Ok(());
            }
        },
        Err(error) if !error.server_errors().is_empty() || error.http_status() == Some(400) => None,
        Err(error) => {
            // A service may refuse introspection and still answer the operations.
            let is_silent = matches!(
                error.kind(),
                ErrorKind::Connect | ErrorKind::Timeout | ErrorKind::Transport
            );
            let failed = contact.fail(what, "shown", error);
            return if is_silent { failed } else { Ok(()) };
        }
    };
    let Some(shown) = shown else {
        contact.tell(
            what,
            "shown",
            "hidden: operations are tried one by one",
            Verdict::Open,
        );
        return Ok(());
    };
    contact.schema = Some(shown.to_string());
    contact.words.learn(&shown);
    let mut schema = Schema::from(shown);
    contact.tell(
        what,
        "shown",
        format!("{} types", schema.types.len()),
        Verdict::AsAssumed,
    );
    renames(contact, &mut schema)?;
    for operation in OPERATIONS {
        locate(contact, &schema, operation)?;
    }
    input(contact, &schema)
}

/// The schema from the introspection. Its names and default values go into a file from which code is generated, so each is
/// parsed: a text that is not a valid name or value is an error.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    query_type: Named,
    mutation_type: Option<Named>,
    types: Vec<Type>,
}

#[derive(Deserialize)]
struct Named {
    name: Name,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Type {
    #[serde(default)]
    kind: String,
    name: Name,
    possible_types: Option<Vec<Named>>,
    fields: Option<Vec<Field>>,
    input_fields: Option<Vec<Field>>,
    enum_values: Option<Vec<Named>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Field {
    pub(crate) name: Name,
    #[serde(default)]
    args: Vec<Field>,
    #[serde(default, deserialize_with = "default_value")]
    default_value: Option<String>,
    #[serde(rename = "type")]
    pub(crate) of: TypeReference,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TypeReference {
    kind: String,
    name: Option<Name>,
    of_type: Option<Box<TypeReference>>,
}

/// Parses a default value, which the introspection returns as GraphQL source.
fn default_value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let value = written_value(&text);
    let value = value.ok_or_else(|| D::Error::custom("an invalid default value"))?;
    Ok(Some(value))
}

/// Parses a text as a single value, and serializes it again.
fn written_value(text: &str) -> Option<String> {
    let document = Document::parse(format!("input I {{ i: I = {text}\n}}"), "value").ok()?;
    let [Definition::InputObjectTypeDefinition(input)] = document.definitions.as_slice() else {
        return None;
    };
    let [field] = input.fields.as_slice() else {
        return None;
    };
    let value = field.default_value.as_ref()?;
    let is_alone = field.directives.is_empty() && input.directives.is_empty();
    is_alone.then(|| value.serialize().no_indent().to_string())
}

impl Shown {
    /// The names of fields, arguments and inputs.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let types = self.types.iter();
        let fields = types.flat_map(|of| of.fields.iter().chain(&of.input_fields).flatten());
        let with_arguments = fields.flat_map(|field| field.args.iter().chain([field]));
        with_arguments.map(|field| field.name.as_str())
    }

    /// The values of enums.
    pub(crate) fn codes(&self) -> impl Iterator<Item = &str> {
        let values = self
            .types
            .iter()
            .flat_map(|of| of.enum_values.iter().flatten());
        values.map(|value| value.name.as_str())
    }
}

impl TypeReference {
    pub(crate) fn name(&self) -> &str {
        match &self.of_type {
            Some(inner) => inner.name(),
            None => self.name.as_ref().map_or("", Name::as_str),
        }
    }

    fn is_list(&self) -> bool {
        self.kind == "LIST" || self.of_type.as_ref().is_some_and(|inner| inner.is_list())
    }
}

/// In the schema definition language, which `envd-codegen` reads.
impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mutation = self
            .mutation_type
            .as_ref()
            .map(|root| format!(" mutation: {}", root.name));
        let mutation = mutation.unwrap_or_default();
        writeln!(f, "schema {{ query: {}{mutation} }}", self.query_type.name)?;
        let is_built_in = |name: &str| {
            name.starts_with("__") || ["Boolean", "Float", "ID", "Int", "String"].contains(&name)
        };
        let types = self.types.iter();
        for described in types.filter(|described| !is_built_in(&described.name)) {
            write!(f, "\n{described}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        let names = |named: &Option<Vec<Named>>, between: &str| {
            let names = named.iter().flatten().map(|named| named.name.as_str());
            names.collect::<Vec<_>>().join(between)
        };
        let fields = |fields: &Option<Vec<Field>>| {
            let fields = fields.iter().flatten();
            let lines: Vec<_> = fields.map(|field| format!("  {field}\n")).collect();
            lines.concat()
        };
        match self.kind.as_str() {
            "ENUM" => writeln!(
                f,
                "enum {name} {{\n  {}\n}}",
                names(&self.enum_values, "\n  ")
            ),
            "INPUT_OBJECT" => writeln!(f, "input {name} {{\n{}}}", fields(&self.input_fields)),
            "INTERFACE" => writeln!(f, "interface {name} {{\n{}}}", fields(&self.fields)),
            "SCALAR" => writeln!(f, "scalar {name}"),
            "UNION" => writeln!(f, "union {name} = {}", names(&self.possible_types, " | ")),
            _ => writeln!(f, "type {name} {{\n{}}}", fields(&self.fields)),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let arguments: Vec<_> = self.args.iter().map(Field::to_string).collect();
        if !arguments.is_empty() {
            write!(f, "({})", arguments.join(", "))?;
        }
        write!(f, ": {}", self.of)?;
        self.default_value
            .as_ref()
            .map_or(Ok(()), |value| write!(f, " = {value}"))
    }
}

impl fmt::Display for TypeReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind.as_str(), &self.of_type) {
            ("LIST", Some(inner)) => write!(f, "[{inner}]"),
            (_, Some(inner)) => write!(f, "{inner}!"),
            (_, None) => f.write_str(self.name()),
        }
    }
}

pub(crate) struct Schema {
    /// The root types of queries and of mutations.
    pub(crate) roots: [String; 2],
    types: BTreeMap<String, Type>,
}

impl From<Shown> for Schema {
    fn from(shown: Shown) -> Self {
        let mutation = shown
            .mutation_type
            .map_or_else(String::new, |root| root.name.to_string());
        let types = shown
            .types
            .into_iter()
            .map(|described| (described.name.to_string(), described));
        Self {
            roots: [shown.query_type.name.to_string(), mutation],
            types: types.collect(),
        }
    }
}

impl Schema {
    fn fields(&self, of: &str) -> &[Field] {
        let described = self.types.get(of);
        described
            .and_then(|described| described.fields.as_deref())
            .unwrap_or_default()
    }

    /// The fields of an object or an input.
    pub(crate) fn members(&self, of: &str) -> impl Iterator<Item = &Field> {
        let described = self.types.get(of).into_iter();
        described.flat_map(|described| {
            described
                .fields
                .iter()
                .chain(&described.input_fields)
                .flatten()
        })
    }

    /// Renames a field of an object or an input.
    pub(crate) fn rename(&mut self, of: &str, old: &str, new: Name) {
        let described = self.types.get_mut(of).into_iter();
        let mut fields = described.flat_map(|described| {
            let fields = described.fields.iter_mut();
            fields.chain(&mut described.input_fields).flatten()
        });
        if let Some(field) = fields.find(|field| field.name == old) {
            field.name = new;
        }
    }

    /// The path from the result of a field to the nearest record that has all the identifying fields. A breadth-first search
    /// visits each type once.
    fn path(&self, field: &Field, marks: &[&str]) -> Option<Vec<String>> {
        let mut open = VecDeque::from([(field.of.name(), Vec::new())]);
        let mut seen = HashSet::from([field.of.name()]);
        while let Some((name, path)) = open.pop_front() {
            let fields = self.fields(name);
            if marks
                .iter()
                .all(|mark| fields.iter().any(|field| field.name == *mark))
            {
                return Some(path);
            }
            if path.len() < 6 {
                for field in fields.iter().filter(|field| seen.insert(field.of.name())) {
                    let mut path = path.clone();
                    path.push(field.name.to_string());
                    path.extend(field.of.is_list().then(|| "0".to_owned()));
                    open.push_back((field.of.name(), path));
                }
            }
        }
        None
    }
}

/// Finds the record of an operation: in the field of its name, or else in the only other field that matches.
fn locate(
    contact: &mut Contact<'_>,
    schema: &Schema,
    (operation, is_change, arguments, marks): (&str, bool, &[&str], &[&str]),
) -> Result<(), Failure> {
    let root = schema.fields(&schema.roots[usize::from(is_change)]);
    let is_ours = |name: &str| OPERATIONS.iter().any(|(ours, ..)| *ours == name);
    let takes = |field: &Field| {
        let mut arguments = arguments.iter();
        arguments.all(|name| field.args.iter().any(|argument| argument.name == *name))
    };
    let own = root.iter().find(|field| field.name == operation);
    let others = root
        .iter()
        .filter(|field| !is_ours(&field.name) && takes(field));
    let fitting: Vec<(&Field, Vec<String>)> = match own {
        Some(own) => schema
            .path(own, marks)
            .map(|path| (own, path))
            .into_iter()
            .collect(),
        None => others
            .take(MOST)
            .filter_map(|field| Some((field, schema.path(field, marks)?)))
            .collect(),
    };
    let entry = format!("operations.{operation}");
    let what = (operation, entry.as_str());
    let expected: &[&[&str]] = match operation {
        _ if is_change => &[&["data"], &[]],
        "userDetails" => &[&[], &["data"]],
        _ => &[&[]],
    };
    match fitting.as_slice() {
        [(field, path)] => {
            if field.name == operation && expected.iter().any(|expected| path == expected) {
                return Ok(());
            }
            let at = path.iter().fold(format!("/{}", field.name), |at, name| {
                format!("{at}/{name}")
            });
            let known = contact.profile().operations.remove(operation);
            if known.is_some_and(|known| known.value.record_at.as_ref() == Some(&at)) {
                return Ok(());
            }
            let found = format!("the record at {}", shape::path(&at));
            contact.settle(what, "our document", found, |profile| {
                let operations = &mut profile.operations;
                let known = operations.remove(operation).map(|known| known.value);
                let mut known = known.unwrap_or_default();
                known.record_at = Some(at);
                operations.insert(operation.to_owned(), Sourced::seen(known));
            })
        }
        [] if own.is_some() => {
            contact.tell(what, "our document", "another record", Verdict::Look);
            Ok(())
        }
        [] => {
            contact.tell(what, "our document", "not in the schema", Verdict::Look);
            Ok(())
        }
        several => {
            let names: Vec<&str> = several
                .iter()
                .map(|(field, _)| field.name.as_str())
                .collect();
            let found = format!("one of {}", shape::names(&names));
            contact.tell(what, "our document", found, Verdict::Look);
            Ok(())
        }
    }
}

/// Reads from the input of a save how an update names its record, and which forms are newer than the crate.
fn input(contact: &mut Contact<'_>, schema: &Schema) -> Result<(), Failure> {
    let changes = schema.fields(&schema.roots[1]).iter();
    let inputs = changes.flat_map(|field| &field.args);
    let inputs =
        inputs.filter_map(|argument| schema.types.get(argument.of.name())?.input_fields.as_ref());
    let mut saved = inputs.filter(|fields| {
        let has = |name: &str| fields.iter().any(|field| field.name == name);
        has("forms") && has("destination") && has("movementDate")
    });
    let Some(fields) = saved.next() else {
        return Ok(());
    };
    let is = |field: &&Field, names: &[&str]| names.contains(&&*field.name.to_ascii_lowercase());
    let field_of = |names: &[&str]| {
        fields
            .iter()
            .find(|field| is(field, names))
            .map(|field| field.name.to_string())
    };
    let names = RecordNames {
        id: field_of(&["id", "consignmentid", "recordid"]),
        number: field_of(&["number", "consignmentnumber"]),
    };
    let what = ("the name of an update", "updates");
    match names.clone() {
        RecordNames { id: Some(id), .. } if id == "id" => {
            contact.tell(what, "id", "id", Verdict::AsAssumed);
        }
        RecordNames {
            id: None,
            number: None,
        } => {
            contact.tell(
                what,
                "id",
                "no field of the input has such a name",
                Verdict::Look,
            );
        }
        RecordNames { id, number } => {
            let found: Vec<String> = id.into_iter().chain(number).collect();
            let found = shape::names(&found);
            contact.settle(what, "id", found, |it| it.updates = Sourced::seen(names))?;
        }
    }
    let forms = fields.iter().find(|field| field.name == "forms");
    let forms = forms.and_then(|forms| schema.types.get(forms.of.name())?.enum_values.as_ref());
    let said = contact.profile().forms.value;
    let new: Vec<FurtherForm> = forms
        .into_iter()
        .flatten()
        .filter(|form| !FormType::from(form.name.as_str()).is_known())
        .filter(|form| !said.iter().any(|said| said.id == form.name.as_str()))
        .map(|form| FurtherForm::new(form.name.as_str()))
        .collect();
    if !new.is_empty() {
        let names: Vec<&str> = new.iter().map(|form| form.id.as_str()).collect();
        let what = ("forms of the schema", "forms");
        let found = contact.words.codes(&names);
        contact.settle(what, "those of the crate", found, |profile| {
            let forms = std::mem::take(&mut profile.forms.value);
            profile.forms = Sourced::seen(forms.into_iter().chain(new).collect());
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Types that all refer to each other, like the types of a service that refer back to its accounts.
    #[test]
    fn each_type_of_a_schema_is_looked_at_once() {
        const TYPES: usize = 300;
        let of = |number: usize| json!({"kind": "OBJECT", "name": format!("T{number}")});
        let described = |number: usize| {
            let fields = (1..=30).map(|step| {
                json!({"name": format!("f{step}"), "type": of((number * 31 + step) % TYPES)})
            });
            let own = json!({"name": format!("own{number}"), "type": of(number)});
            let fields: Vec<Value> = fields.chain([own]).collect();
            json!({"name": format!("T{number}"), "fields": fields})
        };
        let types: Vec<Value> = (0..TYPES).map(described).collect();
        let shown = json!({"queryType": {"name": "T0"}, "types": types});
        let schema = Schema::from(Shown::deserialize(shown).unwrap());
        let field = &schema.fields("T0")[0];
        assert_eq!(schema.path(field, &["nowhere"]), None);
        assert_eq!(schema.path(field, &["own1"]), Some(vec![]));
        // The shortest of many paths.
        assert_eq!(
            schema.path(field, &["own33"]).map(|path| path.len()),
            Some(1)
        );
        let far = schema.path(field, &["own299"]).unwrap();
        assert!(far.len() <= 3, "{far:?}");
    }

    /// A schema with one type, with one part replaced.
    fn shown(part: &str, value: Value) -> Result<String, serde_json::Error> {
        let int = json!({"kind": "SCALAR", "name": "Int"});
        let argument = json!({"name": "b", "type": int, "defaultValue": "[{c: \"}\\n\"}]"});
        let field = json!({"name": "a", "type": int, "args": [argument]});
        let mut schema = json!({
            "queryType": {"name": "Q"},
            "types": [{
                "kind": "OBJECT", "name": "Q", "fields": [field], "possibleTypes": [{"name": "Q"}],
                "inputFields": [field], "enumValues": [{"name": "A"}],
            }],
        });
        *schema.pointer_mut(part).unwrap() = value;
        Shown::deserialize(schema).map(|shown| shown.to_string())
    }

    #[test]
    fn what_is_no_name_or_no_value_of_graphql_is_no_schema() {
        let written = shown("/queryType/name", "Q".into()).unwrap();
        let expected = "schema { query: Q }\n\ntype Q {\n  a(b: Int = [{ c: \"}\\n\" }]): Int\n}\n";
        let without_blanks = |text: &str| text.replace(' ', "");
        assert_eq!(without_blanks(&written), without_blanks(expected));
        for at in [
            "/queryType/name",
            "/types/0/name",
            "/types/0/fields/0/name",
            "/types/0/fields/0/type/name",
            "/types/0/fields/0/args/0/name",
            "/types/0/inputFields/0/name",
            "/types/0/enumValues/0/name",
            "/types/0/possibleTypes/0/name",
        ] {
            for name in [
                "",
                "A B",
                "A\n",
                "A: Int } type Evil { a",
                "\u{e9}",
                "\"\"\"x\"\"\" A",
            ] {
                assert!(shown(at, name.into()).is_err(), "{at}: {name}");
            }
        }
        for value in [
            "",
            "$a",
            "1 c: Int",
            "1 @mark",
            "1 } type Evil { a: Int",
            "1 } extend input I @mark { j: Int",
            "\"\u{b}",
        ] {
            let at = "/types/0/fields/0/args/0/defaultValue";
            assert!(shown(at, value.into()).is_err(), "{value}");
        }
        // Text after the value is not written.
        let written = shown("/types/0/fields/0/args/0/defaultValue", "1 # a\n".into());
        assert!(written.unwrap().contains("(b: Int = 1): Int"));
    }
}
