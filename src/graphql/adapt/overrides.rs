//! The operation settings of a profile: documents that replace ours, and adaptations of ours to a live schema that differs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use serde_json::value::RawValue;

use super::field_renames::FieldRenames;
use super::lexer::{DeclaredVariable, operations};
use crate::error::Error;
use crate::graphql::document::{OperationDocument, OperationKind};
use crate::graphql::request::{Encoded, RawVariables};
use crate::locked::lock;
use crate::profile::{OperationProfile, ServiceProfile};

/// The documents that a client sends instead of ours, and the adaptations of ours to the server.
#[derive(Default)]
pub(crate) struct Overrides {
    /// The caller's documents, by the name of our operation.
    // profile: operations.document
    given: HashMap<&'static str, Override>,
    /// The differences from our documents, from the profile and from later refusals by the server.
    // profile: operations.leftOut
    // profile: operations.recordAt
    fitted: Mutex<BTreeMap<&'static str, Arc<OperationProfile>>>,
    // profile: fields
    renames: Arc<FieldRenames>,
}

/// A document that replaces ours.
pub(in crate::graphql) struct Override {
    pub(in crate::graphql) document: String,
    pub(in crate::graphql) operation: Option<String>,
    declared: Vec<DeclaredVariable>,
    /// The location of the record, if it differs from our document.
    // profile: operations.recordAt
    pub(in crate::graphql) record_at: Option<Arc<str>>,
}

/// The variable for the record of a save or a comment in our documents.
const INPUT: &str = "input";

impl Overrides {
    /// Checks the profile's operation settings, as far as possible without the live schema.
    pub(crate) fn new(profile: &ServiceProfile) -> Result<Self, Error> {
        let mut overrides = Self {
            renames: Arc::new(FieldRenames::new(&profile.fields)?),
            ..Self::default()
        };
        for (name, entry) in &profile.operations {
            overrides.add(name, &entry.value)?;
        }
        Ok(overrides)
    }

    fn add(&mut self, name: &str, profile: &OperationProfile) -> Result<(), Error> {
        let Some(known) = OperationDocument::named(name) else {
            let names: Vec<_> = OperationDocument::names().collect();
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
        if let Some(document) = &profile.document {
            if !profile.left_out.is_empty() {
                return Err(wrong("fields are left out of our document, not of another"));
            }
            let (operation, declared) = check(known, document).map_err(|what| wrong(&what))?;
            let given = Override {
                document: document.clone(),
                operation,
                declared,
                record_at: pointer.map(Arc::from),
            };
            self.given.insert(known.name, given);
        } else {
            known.check(profile).map_err(|what| wrong(&what))?;
            lock(&self.fitted).insert(known.name, Arc::new(profile.clone()));
        }
        Ok(())
    }

    /// The fields that the service names differently.
    pub(in crate::graphql) fn renames(&self) -> &Arc<FieldRenames> {
        &self.renames
    }

    /// The caller's document for an operation.
    pub(in crate::graphql) fn of(&self, known: &OperationDocument) -> Option<&Override> {
        self.given.get(known.name)
    }

    /// The differences from our document of an operation, if any.
    pub(in crate::graphql) fn fitted(&self, known: &OperationDocument) -> Arc<OperationProfile> {
        let fitted = lock(&self.fitted).get(known.name).cloned();
        fitted.unwrap_or_default()
    }

    /// Whether the caller replaced the document of an operation.
    pub(crate) fn has(&self, operation: &str) -> bool {
        self.given.contains_key(operation)
    }

    /// Keeps an adaptation that the server accepted for later requests. Returns the omitted fields.
    pub(crate) fn remember(&self, accepted: &Encoded) -> Vec<String> {
        let Some(known) = accepted.adaptable else {
            return Vec::new();
        };
        let fitted = &accepted.fitted;
        lock(&self.fitted).insert(known.name, Arc::clone(fitted));
        let paths = fitted.left_out.iter();
        paths.map(|path| format!("{}.{path}", known.name)).collect()
    }

    /// The fields that the document of an operation omits.
    pub(crate) fn left_out(&self, operation: &str) -> Vec<String> {
        let fitted = lock(&self.fitted).get(operation).cloned();
        fitted.map_or_else(Vec::new, |fitted| fitted.left_out.clone())
    }

    /// The differences from our documents, by operation name.
    pub(crate) fn fitted_operations(&self) -> Vec<(&'static str, OperationProfile)> {
        let fitted = lock(&self.fitted);
        let differs = |fitted: &OperationProfile| *fitted != OperationProfile::default();
        let fitted = fitted.iter().filter(|(_, fitted)| differs(fitted));
        fitted
            .map(|(name, fitted)| (*name, fitted.as_ref().clone()))
            .collect()
    }
}

type Checked = (Option<String>, Vec<DeclaredVariable>);

/// The name of the single operation, and the variables it declares.
fn check(known: &OperationDocument, document: &str) -> Result<Checked, String> {
    let mut found = operations(document).ok_or("it is not a GraphQL document")?;
    let count = found.len();
    let Some(found) = found.pop().filter(|_| count == 1) else {
        return Err(format!("it has {count} operations, not one"));
    };
    if found.kind != Some(known.kind) {
        return Err(match known.kind {
            OperationKind::Query => "it must be a query".to_owned(),
            OperationKind::Mutation => "it must be a mutation".to_owned(),
        });
    }
    let ours = |name: &str| known.variables.iter().find(|(ours, _)| *ours == name);
    for DeclaredVariable { name, .. } in found.variables.iter().filter(|one| one.required) {
        match ours(name) {
            Some((_, ty)) if ty.ends_with('!') => {}
            Some(_) => return Err(format!("it requires ${name}, which is not always sent")),
            // It may be a field of the input, which differs between calls.
            None if ours(INPUT).is_some() => {}
            None => return Err(format!("it requires ${name}, which is never sent")),
        }
    }
    Ok((found.name.map(str::to_owned), found.variables))
}

impl Override {
    /// The variables that the document declares: ours, and the fields of `input`. A variable with a value must be declared:
    /// silently omitting a filter or a field would give wrong records.
    pub(in crate::graphql) fn variables<'v>(
        &self,
        mut given: RawVariables<'v>,
    ) -> Result<RawVariables<'v>, Error> {
        let undeclared = |name: &str| {
            Error::config(format!(
                "the override does not declare ${name}, which has a value"
            ))
        };
        let takes_input = self.declares(INPUT);
        let input = given.get(INPUT).map(|input| input.get());
        // A value other than an object has no fields.
        let input = input.and_then(|input| serde_json::from_str::<RawVariables>(input).ok());
        let input = input.unwrap_or_default();
        if !input.is_empty() && !takes_input {
            given.remove(INPUT);
            // Null counts as a value, because it clears the field.
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

#[cfg(test)]
mod tests {
    use test_support::script::rows;

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
        for row in rows(
            "
            consignmnts     | { a }                          | no operation consignmnts
            questions       | query {                        | not a GraphQL document
            questions       | query A { a } query B { b }    | 2 operations
            questions       | fragment F on T { a }          | 0 operations
            questions       | mutation { a }                 | must be a query
            copyConsignment | subscription { a }             | must be a mutation
            questions       | query($form: String!) { a }    | $form, which is never sent
            consignments    | query($first: Int!) { a }      | $first, which is not always sent
            ",
        ) {
            let said = refusal(row[0], row[1], None);
            assert!(said.contains(row[2]), "{row:?}: {said}");
        }
        assert!(refusal("questions", "{ a }", Some("a/b")).contains("slash"));
    }

    #[test]
    fn a_variable_that_is_required_needs_a_value() {
        let mut overrides = Overrides::default();
        let document = override_of("mutation($mood: M!) { a }", None);
        overrides.add("createComment", &document).unwrap();
        let given = overrides.of(OperationDocument::named("createComment").unwrap());
        for (variables, has_value) in [
            ("{}", false),
            (r#"{"mood": null}"#, false),
            (r#"{"input": {"mood": null}}"#, false),
            (r#"{"input": {"mood": "calm"}}"#, true),
        ] {
            let read = serde_json::from_str(variables).unwrap();
            let sent = given.unwrap().variables(read);
            assert_eq!(sent.is_ok(), has_value, "{variables}");
        }
    }

    #[test]
    fn a_document_that_may_work_is_taken() {
        for row in rows(
            "
            questions    | { questions: questionList { items { id } } }
            Consignments | query($envdAccountId: ID!, $first: Int! = 5) { a }
            consignments | query L($envdAccountId: ID!, $more: Int) { a }
            ",
        ) {
            assert_eq!(refusal(row[0], row[1], Some("/a/0")), "", "{row:?}");
        }
    }
}
