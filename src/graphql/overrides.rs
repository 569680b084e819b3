//! What a profile says of operations: documents that replace ours, and how ours are fitted to a live schema that differs.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::adapted_operation::{DATA, fitted};
use super::catalogue::{KnownOperation, named, operation_names};
use super::document::{OperationDefinition, OperationKind, operations};
use super::request::RawVariables;
use crate::error::Error;
use crate::locked::lock;
use crate::model::json_path::joined;
use crate::profile::{OperationProfile, ServiceProfile};

/// The documents that a client sends instead of ours.
#[derive(Default)]
pub(crate) struct Overrides {
    /// The documents of the caller, by the name of our operation.
    given: HashMap<&'static str, Override>,
    /// Our documents, fitted to the profile or adapted by the client.
    pub(super) adapted: Adapted,
    /// Where the record is in a reply, if not where our types expect it.
    locations: HashMap<&'static str, RecordLocation>,
}

/// Adapted documents, by the name of our operation.
#[derive(Default)]
pub(super) struct Adapted(Mutex<BTreeMap<&'static str, Arc<str>>>);

impl Adapted {
    /// The document to send for an operation.
    pub(super) fn of(&self, known: &KnownOperation) -> Cow<'static, str> {
        let documents = lock(&self.0);
        let adapted = documents.get(known.operation);
        adapted.map_or(Cow::Borrowed(known.document), |document| {
            Cow::Owned(document.to_string())
        })
    }

    pub(super) fn insert(&self, known: &KnownOperation, document: &str) {
        lock(&self.0).insert(known.operation, document.into());
    }
}

/// A document that replaces ours.
pub(super) struct Override {
    pub(super) document: String,
    pub(super) operation: Option<String>,
    declared: Vec<DeclaredVariable>,
}

/// A variable that a document of the caller declares.
struct DeclaredVariable {
    name: String,
    required: bool,
}

/// Where a record is, and where our types expect it; both below `data` of the reply.
#[derive(Clone, Debug)]
pub(crate) struct RecordLocation {
    /// A JSON pointer (RFC 6901).
    from: String,
    field: &'static str,
    wrapped: bool,
    /// The name of the id by which a record is recognised; with a pointer of the caller any object is one.
    id: Option<&'static str>,
    /// Whether `true` in place of the record is an answer: a deleted one needs no name.
    deletes: bool,
}

/// The variable that our documents have for the record of a save or a comment.
const INPUT: &str = "input";

impl Overrides {
    /// Checks what a profile says of operations, as far as that goes without the live schema.
    pub(crate) fn new(profile: &ServiceProfile) -> Result<Self, Error> {
        let mut overrides = Self::default();
        for (name, entry) in &profile.operations {
            overrides.add(name, &entry.value)?;
        }
        Ok(overrides)
    }

    fn add(&mut self, name: &str, profile: &OperationProfile) -> Result<(), Error> {
        let Some(known) = named(name) else {
            let names: Vec<_> = operation_names().collect();
            return Err(Error::config(format!(
                "no operation {name} to override; the operations are {}",
                names.join(", ")
            )));
        };
        let wrong = |what: &str| Error::config(format!("the override of {}: {what}", known.name));
        let pointer = profile.record_at.as_deref();
        if pointer.is_some_and(|at| !at.is_empty() && !at.starts_with('/')) {
            return Err(wrong("a JSON pointer starts with a slash (RFC 6901)"));
        }
        let Some(document) = &profile.document else {
            let (document, record_at) = fitted(known, profile).map_err(|what| wrong(&what))?;
            self.adapted.insert(known, &document);
            self.locate(known, record_at.as_deref());
            return Ok(());
        };
        if !profile.left_out.is_empty() {
            return Err(wrong("fields are left out of our document, not of another"));
        }
        let (operation, declared) = check(known, document).map_err(|what| wrong(&what))?;
        let given = Override {
            document: document.clone(),
            operation,
            declared,
        };
        self.given.insert(known.operation, given);
        self.locate(known, pointer);
        Ok(())
    }

    fn locate(&mut self, known: &KnownOperation, pointer: Option<&str>) {
        let location = pointer.map(|from| RecordLocation::at(known, from.to_owned()));
        match location {
            Some(location) => self.locations.insert(known.operation, location),
            None => self.locations.remove(known.operation),
        };
    }

    /// Where the record of an operation is: as the profile says, or as the specification does.
    pub(super) fn location(&self, known: &KnownOperation) -> Option<RecordLocation> {
        let location = self.locations.get(known.operation).cloned();
        location.or_else(|| RecordLocation::stated(known))
    }

    pub(super) fn of(&self, known: &KnownOperation) -> Option<&Override> {
        self.given.get(known.operation)
    }
}

fn deletes(known: &KnownOperation) -> bool {
    known.name.starts_with("delete")
}

type Checked = (Option<String>, Vec<DeclaredVariable>);

/// The name of the one operation, and the variables it declares.
fn check(known: &KnownOperation, document: &str) -> Result<Checked, String> {
    let found = operations(document).ok_or("it is not a GraphQL document")?;
    let [found] = found.as_slice() else {
        return Err(format!("it has {} operations, not one", found.len()));
    };
    let ours = operations(known.document).unwrap_or_default();
    let ours: &OperationDefinition<'_> = ours.first().ok_or("our document cannot be read")?;
    if found.kind != ours.kind {
        return Err(match ours.kind {
            Some(OperationKind::Query) => "it must be a query".to_owned(),
            _ => "it must be a mutation".to_owned(),
        });
    }
    let has_input = ours.variables.iter().any(|ours| ours.name == INPUT);
    for variable in found.variables.iter().filter(|variable| variable.required) {
        let name = variable.name;
        match ours.variables.iter().find(|ours| ours.name == name) {
            Some(sent) if sent.required => {}
            Some(_) => return Err(format!("it requires ${name}, which is not always sent")),
            // It may be a field of the input, which each call decides.
            None if has_input => {}
            None => return Err(format!("it requires ${name}, which is never sent")),
        }
    }
    let declared = found.variables.iter().map(|variable| DeclaredVariable {
        name: variable.name.to_owned(),
        required: variable.required,
    });
    Ok((found.name.map(str::to_owned), declared.collect()))
}

impl Override {
    /// The variables that the document declares: ours, and the fields of `input` among them. One that has a value and is not
    /// declared is an error: a filter or a field that is left out silently would give wrong records.
    pub(super) fn variables(&self, mut given: RawVariables) -> Result<RawVariables, Error> {
        let undeclared = |name: &str| {
            Error::config(format!(
                "the override does not declare ${name}, which has a value"
            ))
        };
        let takes_input = self.declares(INPUT);
        let input = given.get(INPUT).map(|input| input.get());
        // What is no object has no fields.
        let input = input.and_then(|input| serde_json::from_str::<RawVariables>(input).ok());
        let input = input.unwrap_or_default();
        if !input.is_empty() && !takes_input {
            given.remove(INPUT);
            // A null clears the field, so it is a value.
            if let Some(name) = input.keys().find(|name| !self.declares(name)) {
                return Err(undeclared(name));
            }
        }
        let mut values = given.iter().filter(|(_, value)| !is_null(value));
        if let Some((name, _)) = values.find(|(name, _)| !self.declares(name)) {
            return Err(undeclared(name));
        }
        for (name, value) in input {
            given.entry(name).or_insert(value);
        }
        given.retain(|name, _| self.declares(name));
        let mut required = self.declared.iter().filter(|declared| declared.required);
        if let Some(DeclaredVariable { name, .. }) =
            required.find(|declared| given.get(&declared.name).is_none_or(|value| is_null(value)))
        {
            return Err(Error::config(format!(
                "the override requires ${name}, which has no value"
            )));
        }
        Ok(given)
    }

    fn declares(&self, name: &str) -> bool {
        self.declared.iter().any(|declared| declared.name == name)
    }
}

fn is_null(value: &RawValue) -> bool {
    value.get() == "null"
}

/// Data with the record where our types expect it.
pub(super) struct MovedRecord {
    pub(super) data: Value,
    /// The paths at which the record was received, and is now.
    received: String,
    expected: String,
}

impl MovedRecord {
    /// The path in the reply of a path in the moved data.
    pub(super) fn received_path(&self, path: &str) -> String {
        match path.strip_prefix(&self.expected) {
            Some(inside) => joined(&self.received, inside.trim_start_matches('.')),
            None => self.received.clone(),
        }
    }
}

impl RecordLocation {
    fn at(known: &KnownOperation, from: String) -> Self {
        Self {
            from,
            field: known.name,
            wrapped: known.is_change(),
            id: None,
            deletes: deletes(known),
        }
    }

    /// Where the specification puts the result of a change: in the field of the operation, under `data` (spec 4.1).
    pub(super) fn stated(known: &KnownOperation) -> Option<Self> {
        known.is_change().then(|| Self {
            from: format!("/{}", known.name),
            field: known.name,
            wrapped: true,
            id: Some(known.id),
            deletes: deletes(known),
        })
    }

    /// The field under whose `data` the record is, unless the caller stated another place: where our types expect it.
    pub(super) fn expected(&self) -> Option<&'static str> {
        self.id.map(|_| self.field)
    }

    /// Moves the record to where our types expect it; null where there is none.
    pub(super) fn moved(&self, mut data: Value) -> MovedRecord {
        let found = data
            .pointer_mut(&self.from)
            .map_or(Value::Null, Value::take);
        let mut received = self
            .from
            .split('/')
            .skip(1)
            .fold(String::new(), |path, name| {
                let index: Option<usize> = name.parse().ok();
                joined(
                    &path,
                    &index.map_or_else(|| name.to_owned(), |index| format!("[{index}]")),
                )
            });
        let mut expected = self.field.to_owned();
        let record = if self.wrapped {
            expected = joined(&expected, DATA);
            if found.get(DATA).is_some_and(|inner| !inner.is_null()) {
                received = joined(&received, DATA);
            }
            Value::from(Map::from_iter([(DATA.to_owned(), self.record(found))]))
        } else {
            found
        };
        MovedRecord {
            data: Map::from_iter([(self.field.to_owned(), record)]).into(),
            received,
            expected,
        }
    }

    /// The result of a change, under `data` or, when it plainly is a record, without that wrapper. What was deleted has no
    /// record where the server only agrees; any other plain value is no answer.
    fn record(&self, mut found: Value) -> Value {
        let inner = found
            .get_mut(DATA)
            .map(Value::take)
            .filter(|inner| !inner.is_null());
        let is_wrapped = inner.is_some();
        let is_record = |record: &Value| {
            self.id
                .is_none_or(|id| record.get(id).is_some_and(can_be_id))
        };
        match inner.unwrap_or(found) {
            // Not nothing, and no field of a record.
            Value::Bool(true) if self.deletes => json!({"deleted": true}),
            Value::Bool(_) if self.deletes => Value::Null,
            record if is_wrapped || is_record(&record) => record,
            _ => Value::Null,
        }
    }
}

/// Whether a value can be an id.
pub(super) fn can_be_id(value: &Value) -> bool {
    value.is_number() || value.as_str().is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn override_of(document: &str, pointer: Option<&str>) -> OperationProfile {
        let mut profile = OperationProfile::of_document(document);
        profile.record_at = pointer.map(str::to_owned);
        profile
    }

    fn refusal(name: &str, document: &str, pointer: Option<&str>) -> String {
        let added = Overrides::default().add(name, &override_of(document, pointer));
        added.map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn a_document_that_cannot_work_is_refused() {
        for (name, document, why) in [
            ("consignmnts", "{ a }", "no operation consignmnts"),
            ("questions", "query {", "not a GraphQL document"),
            ("questions", "query A { a } query B { b }", "2 operations"),
            ("questions", "fragment F on T { a }", "0 operations"),
            ("questions", "mutation { a }", "must be a query"),
            (
                "copyConsignment",
                "subscription { a }",
                "must be a mutation",
            ),
            (
                "questions",
                "query($form: String!) { a }",
                "$form, which is never sent",
            ),
            (
                "consignments",
                "query($first: Int!) { a }",
                "$first, which is not always sent",
            ),
        ] {
            let said = refusal(name, document, None);
            assert!(said.contains(why), "{document}: {said}");
        }
        assert!(refusal("questions", "{ a }", Some("a/b")).contains("slash"));
    }

    #[test]
    fn a_document_that_may_work_is_taken() {
        for (name, document) in [
            ("questions", "{ questions: questionList { items { id } } }"),
            (
                "Consignments",
                "query($envdAccountId: ID!, $first: Int! = 5) { a }",
            ),
            (
                "consignments",
                "query L($envdAccountId: ID!, $more: Int) { a }",
            ),
        ] {
            assert_eq!(refusal(name, document, Some("/a/0")), "", "{document}");
        }
    }

    #[test]
    fn a_record_is_moved_to_where_our_types_expect_it() {
        let mut overrides = Overrides::default();
        let document = "mutation($envdAccountId: ID!, $id: String!) { copy { a } }";
        overrides
            .add("copyConsignment", &override_of(document, Some("/copy/0")))
            .unwrap();
        let location = overrides.locations["CopyConsignment"].clone();
        let path = "copyConsignment.data.forms[0]";
        let moved = location.moved(serde_json::json!({"copy": [{"id": 1}]}));
        assert_eq!(
            moved.data,
            serde_json::json!({"copyConsignment": {"data": {"id": 1}}})
        );
        assert_eq!(moved.received_path(path), "copy[0].forms[0]");
        let moved = location.moved(serde_json::json!({"copy": [{"data": {"id": 1}}]}));
        assert_eq!(
            moved.data,
            serde_json::json!({"copyConsignment": {"data": {"id": 1}}})
        );
        assert_eq!(moved.received_path(path), "copy[0].data.forms[0]");
        let nothing = location.moved(serde_json::json!({"other": 1}));
        assert_eq!(
            nothing.data,
            serde_json::json!({"copyConsignment": {"data": null}})
        );
    }
}
