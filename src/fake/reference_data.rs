//! The data that does not change while the fake runs: users, questions and the schema.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock};

use apollo_compiler::executable::OperationType;
use apollo_compiler::validation::{Valid, WithErrors};
use apollo_compiler::{ExecutableDocument, Name, Schema};
use serde_json::Value;

use super::rules;
use super::served_profile::MovedFields;
use super::world::World;
use crate::graphql::SCHEMA;
use crate::locked::lock;
use crate::profile::ServiceProfile;

pub(super) struct ReferenceData {
    pub(super) world: Arc<World>,
    pub(super) questions: OnceLock<Vec<Value>>,
    /// The schema that documents are validated against.
    pub(super) schema: Arc<ServedSchema>,
    /// What the service is like.
    pub(super) profile: ServiceProfile,
    /// Root fields that the profile has moved.
    pub(super) moved: MovedFields,
}

impl ReferenceData {
    /// The questions without a parent, with their effective forms.
    pub(super) fn questions(&self) -> &[Value] {
        self.questions.get_or_init(|| {
            let questions = self.world.questions["items"].as_array();
            questions.map_or(Vec::new(), |list| rules::with_forms(list, &[]))
        })
    }
}

/// A schema with the documents that were checked against it, shared by all fakes that serve it.
pub(super) struct ServedSchema {
    schema: Valid<Schema>,
    /// Clients send the same few again and again, and a test starts a fake for each case.
    documents: Mutex<HashMap<String, Arc<CheckedDocument>>>,
}

pub(super) type CheckedDocument = Result<Valid<ExecutableDocument>, WithErrors<ExecutableDocument>>;

/// Documents that are kept. An application has a few dozen; a test may send thousands.
const CAPACITY: usize = 256;

impl ServedSchema {
    /// Reads a schema. The error lists its problems.
    pub(super) fn read(text: &str) -> Result<Arc<Self>, String> {
        let parsed = Schema::parse_and_validate(text, "schema.graphql");
        parsed
            .map(Self::new)
            .map_err(|failed| failed.errors.to_string())
    }

    /// The schema that a fake serves unless another is set.
    pub(super) fn bundled() -> Arc<Self> {
        static BUNDLED: OnceLock<Arc<ServedSchema>> = OnceLock::new();
        let schema = BUNDLED.get_or_init(|| {
            let parsed = Self::read(SCHEMA);
            // OK because a test reads the bundled schema.
            parsed.unwrap_or_else(|_| Self::new(Valid::assume_valid(Schema::new())))
        });
        Arc::clone(schema)
    }

    fn new(schema: Valid<Schema>) -> Arc<Self> {
        let documents = Mutex::default();
        Arc::new(Self { schema, documents })
    }

    /// The document, checked.
    pub(super) fn document(&self, text: &str) -> Arc<CheckedDocument> {
        if let Some(checked) = lock(&self.documents).get(text) {
            return Arc::clone(checked);
        }
        let checked = ExecutableDocument::parse_and_validate(&self.schema, text, "request.graphql");
        let checked = Arc::new(checked);
        let mut documents = lock(&self.documents);
        if documents.len() >= CAPACITY {
            documents.clear();
        }
        documents.insert(text.to_owned(), Arc::clone(&checked));
        checked
    }
}

impl Deref for ServedSchema {
    type Target = Valid<Schema>;

    fn deref(&self) -> &Valid<Schema> {
        &self.schema
    }
}

/// The names of the root fields of queries and mutations.
pub(super) fn root_fields(schema: &Schema) -> impl Iterator<Item = &str> {
    let roots = [OperationType::Query, OperationType::Mutation].into_iter();
    let names = roots.filter_map(|root| schema.root_operation(root));
    let objects = names.filter_map(|name| schema.get_object(name));
    objects.flat_map(|object| object.fields.keys().map(Name::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_checked_once() {
        let schema = ServedSchema::read(include_str!("../../graphql/schema.graphql")).unwrap();
        let document = || schema.document("{ questions { items { id } } }");
        assert!(document().is_ok());
        assert!(Arc::ptr_eq(&document(), &document()));
        for n in 0..2 * CAPACITY {
            schema.document(&format!("{{ a{n} }}"));
        }
        assert!(schema.documents.lock().unwrap().len() <= CAPACITY);
    }
}
