//! For each operation, random replies that conform to the schema are decoded without loss.

use apollo_compiler::ast::Type;
use apollo_compiler::executable::{Field, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::decode;
use super::replies::JSON;
use crate::graphql::reply::is_void;
use crate::graphql::{
    OperationDocument, Overrides, ReplyReader, TypedOperation, encode_operation, generated,
};
use test_support::seeded::seed;

/// The number of replies of each kind per operation.
const REPLIES: u64 = 30;

/// The number of replies per operation with one broken value.
const BROKEN: usize = 100;

/// The kind of replies to generate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    NoNulls,
    AQuarterNull,
    /// Unknown codes, null list elements, and fields and type names that were not requested.
    OfALaterVersion,
}

struct Maker {
    schema: Valid<Schema>,
    codes: Vec<String>,
    random: fastrand::Rng,
    has_nulls: bool,
    /// The number of further list items: a question tree has five levels and would grow without end.
    items_left: usize,
}

impl Maker {
    fn new() -> Self {
        let text = include_str!("../../../graphql/schema.graphql");
        let schema = Schema::parse_and_validate(text, "schema.graphql").unwrap();
        let enums = schema.types.values().filter_map(|ty| ty.as_enum());
        let codes = enums.flat_map(|ty| ty.values.keys().map(ToString::to_string));
        Self {
            codes: codes.collect(),
            schema,
            // Generates the same replies in each run.
            random: fastrand::Rng::with_seed(seed()),
            has_nulls: false,
            items_left: 0,
        }
    }

    /// The selections of an operation in a document.
    fn selections(&self, query: &str, name: &str) -> SelectionSet {
        let document = ExecutableDocument::parse_and_validate(&self.schema, query, "x.graphql");
        let document = document.unwrap();
        let operation = document.operations.get(Some(name)).unwrap();
        operation.selection_set.clone()
    }

    fn reply(&mut self, selections: &SelectionSet, kind: Kind) -> Value {
        self.has_nulls = kind != Kind::NoNulls;
        self.items_left = self.random.usize(..100);
        self.object(selections)
    }

    fn object(&mut self, selections: &SelectionSet) -> Value {
        let fields = selections.selections.iter().map(|selection| {
            let field = selection.as_field().expect("documents have no fragments");
            let name = field.response_key().to_string();
            (name, self.value(field, field.ty()))
        });
        fields.collect()
    }

    fn value(&mut self, field: &Field, ty: &Type) -> Value {
        if self.has_nulls && !ty.is_non_null() && self.random.u8(..4) == 0 {
            return Value::Null;
        }
        if let Type::List(item) | Type::NonNullList(item) = ty {
            let length = self.random.usize(..=5).min(self.items_left);
            self.items_left -= length;
            return (0..length).map(|_| self.value(field, item)).collect();
        }
        match &self.schema.types[ty.inner_named_type()] {
            ExtendedType::Object(_) => self.object(&field.selection_set),
            ExtendedType::Enum(values) => {
                let nth = self.random.usize(..values.values.len());
                values.values.keys().nth(nth).unwrap().as_str().into()
            }
            scalar => match scalar.name().as_str() {
                "Int" => self.random.i32(..).into(),
                "Float" => (f64::from(self.random.i32(..)) / 8.0).into(),
                "Boolean" => self.random.bool().into(),
                _ => {
                    let letters = ["a", "B", "7", " ", "\"", "\\", "\n", "é", "\u{1f404}", "?"];
                    let length = self.random.usize(..12);
                    let text = (0..length).map(|_| letters[self.random.usize(..letters.len())]);
                    text.collect::<String>().into()
                }
            },
        }
    }

    /// Changes the reply into that of a later version. Fields that were not requested are added to `sent` only.
    fn later(&mut self, value: &mut Value) {
        match value {
            Value::String(text) if self.codes.contains(text) && self.random.bool() => {
                *text = format!("LATER_{text}");
            }
            Value::Array(items) => {
                for item in items.iter_mut() {
                    self.later(item);
                }
                if self.random.u8(..4) == 0 {
                    items.insert(self.random.usize(..=items.len()), Value::Null);
                }
            }
            Value::Object(fields) => fields.values_mut().for_each(|field| self.later(field)),
            _ => {}
        }
    }

    fn with_extras(&mut self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.with_extras(item)),
            Value::Object(fields) => {
                fields
                    .values_mut()
                    .for_each(|field| self.with_extras(field));
                fields.insert("__typename".to_owned(), "OfALaterVersion".into());
                let extra = json!([null, 1e300, [{"a": [true]}], "x"]);
                let extra = &extra[self.random.usize(..4)];
                fields.insert("colour".to_owned(), extra.clone());
            }
            _ => {}
        }
    }
}

fn check<Q: TypedOperation>(maker: &mut Maker, query: &str, name: &str) -> usize
where
    Q::ResponseData: Serialize + DeserializeOwned,
{
    let selections = &maker.selections(query, name);
    let mut scalars = 0;
    for kind in [Kind::NoNulls, Kind::AQuarterNull, Kind::OfALaterVersion] {
        for _ in 0..REPLIES {
            let mut wanted = maker.reply(selections, kind);
            let mut sent = wanted.clone();
            if kind == Kind::OfALaterVersion {
                maker.later(&mut wanted);
                sent = wanted.clone();
                // Not at the root, where the document determines the fields.
                for field in sent.as_object_mut().unwrap().values_mut() {
                    maker.with_extras(field);
                }
            }
            let body = json!({"data": sent}).to_string();
            let read = decode::<Q::ResponseData>(200, Some(JSON), body.as_bytes())
                .unwrap()
                .unwrap_or_else(|error| panic!("{name}: {error}\n{body}"));
            assert_eq!(read.nulls(), null_elements(&wanted), "{name}: {body}");
            let found = serde_json::to_value(&read.value).unwrap();
            scalars += count_kept(&wanted, &found, name);
        }
    }
    scalars
}

/// Checks that the decoded value has every scalar of the reply. Returns their number.
fn count_kept(wanted: &Value, found: &Value, at: &str) -> usize {
    match wanted {
        Value::Null => {
            assert!(is_void(found, true), "{at}: null became {found}");
            0
        }
        // A single record instead of a list, which some fields accept.
        Value::Object(_) if found.as_array().is_some_and(|items| items.len() == 1) => {
            count_kept(wanted, &found[0], at)
        }
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| count_kept(field, &found[name], &format!("{at}.{name}")))
            .sum(),
        Value::Array(items) => {
            // Null elements are dropped, except on pages with cursors.
            let keeps_places = at.rsplit('.').next() == Some("edges");
            let items: Vec<_> = items
                .iter()
                .filter(|item| keeps_places || !item.is_null())
                .collect();
            assert_eq!(Some(items.len()), found.as_array().map(Vec::len), "{at}");
            items
                .iter()
                .enumerate()
                .map(|(i, item)| count_kept(item, &found[i], &format!("{at}[{i}]")))
                .sum()
        }
        // The token in the address is kept but not serialized (another test checks that).
        Value::String(url) if at.ends_with(".pdfUrl") => {
            let shown = url.split(['?', '#']).next();
            assert_eq!(shown, found.as_str(), "{at}");
            1
        }
        scalar => {
            assert_eq!(scalar, found, "{at}");
            1
        }
    }
}

/// The number of null list elements.
fn null_elements(value: &Value) -> usize {
    match value {
        Value::Array(items) => {
            let nulls = items.iter().filter(|item| item.is_null()).count();
            nulls + items.iter().map(null_elements).sum::<usize>()
        }
        Value::Object(fields) => fields.values().map(null_elements).sum(),
        _ => 0,
    }
}

/// Breaks a value in a reply, including the last member of each object. The error must have its path.
fn check_path<Q: TypedOperation>(maker: &mut Maker, query: &str, name: &str) -> usize
where
    Q::ResponseData: DeserializeOwned,
{
    let selections = &maker.selections(query, name);
    let known = OperationDocument::ours(name, query).unwrap();
    let encoded = encode_operation(known, &json!({}), &Overrides::default()).unwrap();
    // A change without a record has no value to name.
    let least = if query.starts_with("mutation") { 3 } else { 1 };
    for _ in 0..BROKEN {
        let mut data = maker.reply(selections, Kind::NoNulls);
        let mut values = Vec::new();
        list_values("data", "", &data, &mut values);
        values.retain(|(_, pointer)| pointer.matches('/').count() >= least);
        let Some((path, pointer)) = maker.random.choice(&values) else {
            continue;
        };
        break_value(data.pointer_mut(pointer).unwrap());
        let body = json!({"data": data}).to_string();
        let read = ReplyReader { sent: &encoded }.decode::<Q::ResponseData, _>(
            200,
            Some(JSON),
            body.as_bytes(),
            Some,
            None,
        );
        let error = match read.unwrap() {
            Ok((mut outcome, _)) if outcome.facts.unreadable.len() == 1 => {
                outcome.facts.unreadable.remove(0).error
            }
            Ok(_) => panic!("{path} is read: {body}"),
            Err(error) => error,
        };
        assert_eq!(error.json_path(), Some(path.as_str()), "{error}: {body}");
    }
    BROKEN
}

/// Lists the values below a value, each with its path and its JSON pointer.
pub(crate) fn list_values(
    path: &str,
    pointer: &str,
    value: &Value,
    values: &mut Vec<(String, String)>,
) {
    let mut add = |path: String, pointer: String, value: &Value| {
        list_values(&path, &pointer, value, values);
        values.push((path, pointer));
    };
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
            let path = format!("{path}[{index}]");
            add(path, format!("{pointer}/{index}"), item);
        }),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let path = [path, name].join(".").trim_start_matches('.').to_owned();
            add(path, format!("{pointer}/{name}"), member);
        }),
        _ => {}
    }
}

/// Replaces a value with one that its type cannot represent.
pub(crate) fn break_value(value: &mut Value) {
    *value = match value {
        Value::String(_) => json!([7]),
        Value::Number(_) => json!(12.5),
        _ => json!(7),
    };
}

macro_rules! each_operation {
    ($check:ident($maker:ident): $($query:ident $module:ident),* $(,)?) => {
        [$((
            stringify!($query),
            $check::<generated::$query>(
                &mut $maker,
                generated::$module::DOCUMENT.text,
                stringify!($query),
            ),
        )),*]
    };
    ($check:ident, $maker:ident) => {
        each_operation!($check($maker):
            Comments comments,
            Consignment consignment,
            ConsignmentUserMapping consignment_user_mapping,
            Consignments consignments,
            CopyConsignment copy_consignment,
            CreateComment create_comment,
            CreateOrSaveConsignment create_or_save_consignment,
            CreateOrSaveTemplate create_or_save_template,
            DeleteConsignment delete_consignment,
            DeleteTemplate delete_template,
            Edecs edecs,
            FullConsignments full_consignments,
            Questions questions,
            Template template,
            Templates templates,
            UserDetails user_details,
        )
    };
}

#[test]
fn the_path_of_an_error_is_that_of_the_value_that_does_not_fit() {
    let mut maker = Maker::new();
    assert_eq!(each_operation!(check_path, maker).len(), 16);
}

#[test]
fn replies_that_are_true_to_the_schema_decode_without_loss() {
    let mut maker = Maker::new();
    let checked = each_operation!(check, maker);
    assert_eq!(checked.len(), 16);
    for (operation, scalars) in checked {
        assert!(
            scalars > 100,
            "{operation}: only {scalars} scalars were seen"
        );
    }
}

#[test]
#[should_panic(expected = "data.a[0].b")]
fn a_lost_scalar_is_noticed() {
    count_kept(&json!({"a": [{"b": 1}]}), &json!({"a": [{}]}), "data");
}
