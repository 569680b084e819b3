//! The schema, and the documents that were read against it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use apollo_compiler::executable::OperationType;
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name, Schema};

use super::refusal::Refusal;
use super::replies::Replies;
use super::validation;

/// Reading a document takes longer than executing it, and clients send the same few again and again.
#[derive(Default)]
pub(in crate::fake) struct Documents {
    checked: HashMap<String, Arc<Checked>>,
    pub(super) replies: Replies,
}

pub(super) type Checked = Result<Valid<ExecutableDocument>, Vec<Refusal>>;

/// A test may send thousands of made-up documents; an application has a few dozen.
const KEPT: usize = 256;

impl Documents {
    /// Parses and validates a document, or remembers what came of it.
    pub(super) fn get(&mut self, schema: &Valid<Schema>, text: &str) -> Arc<Checked> {
        if let Some(known) = self.checked.get(text) {
            return Arc::clone(known);
        }
        let checked = Arc::new(check(schema, text));
        if self.checked.len() >= KEPT {
            self.checked.clear();
        }
        self.checked.insert(text.to_owned(), Arc::clone(&checked));
        checked
    }
}

fn check(schema: &Valid<Schema>, text: &str) -> Checked {
    let parsed = ExecutableDocument::parse_and_validate(schema, text, "request.graphql");
    parsed.map_err(|failed| validation::refusals(&failed, text))
}

/// A schema, shared by all fakes that serve it.
pub(in crate::fake) type SharedSchema = Arc<Valid<Schema>>;

/// The schema that a fake serves unless it is given another.
pub(in crate::fake) fn bundled_schema() -> SharedSchema {
    static SCHEMA: OnceLock<SharedSchema> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| {
        let text = include_str!("../../../graphql/schema.graphql");
        let parsed = read_schema(text);
        parsed.unwrap_or_else(|_| Arc::new(Valid::assume_valid(Schema::new())))
    });
    Arc::clone(schema)
}

/// Reads a schema, or says what is wrong with it.
pub(in crate::fake) fn read_schema(text: &str) -> Result<SharedSchema, String> {
    let parsed = Schema::parse_and_validate(text, "schema.graphql");
    parsed
        .map(Arc::new)
        .map_err(|failed| failed.errors.to_string())
}

/// The fields of the root, of queries and mutations.
pub(in crate::fake) fn root_fields(schema: &Schema) -> impl Iterator<Item = &str> {
    let roots = [OperationType::Query, OperationType::Mutation];
    let roots = roots
        .into_iter()
        .filter_map(|root| schema.root_operation(root));
    let objects = roots.filter_map(|name| schema.get_object(name));
    objects.flat_map(|object| object.fields.keys().map(Name::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_valid() {
        assert!(bundled_schema().get_object("Query").is_some());
        assert!(read_schema("type Query { a: Nothing }").is_err());
    }

    #[test]
    fn a_document_is_read_once() {
        let mut documents = Documents::default();
        let schema = bundled_schema();
        let first = documents.get(&schema, "{ questions { items { id } } }");
        assert!(first.is_ok());
        assert!(Arc::ptr_eq(
            &first,
            &documents.get(&schema, "{ questions { items { id } } }")
        ));
        for n in 0..2 * KEPT {
            documents.get(&schema, &format!("{{ a{n} }}"));
        }
        assert!(documents.checked.len() <= KEPT);
    }
}
