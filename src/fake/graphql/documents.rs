//! The schema, and the documents that were read against it.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Schema};

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
    pub(super) fn get(&mut self, text: &str) -> Arc<Checked> {
        if let Some(known) = self.checked.get(text) {
            return Arc::clone(known);
        }
        let checked = Arc::new(check(text));
        if self.checked.len() >= KEPT {
            self.checked.clear();
        }
        self.checked.insert(text.to_owned(), Arc::clone(&checked));
        checked
    }
}

fn check(text: &str) -> Checked {
    let parsed = ExecutableDocument::parse_and_validate(schema(), text, "request.graphql");
    parsed.map_err(|failed| validation::refusals(&failed, text))
}

/// The schema that the fake serves.
pub(super) fn schema() -> &'static Valid<Schema> {
    static SCHEMA: OnceLock<Valid<Schema>> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let text = include_str!("../../../graphql/schema.graphql");
        Schema::parse_and_validate(text, "schema.graphql")
            .unwrap_or_else(|_| Valid::assume_valid(Schema::new()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_is_valid() {
        assert!(schema().get_object("Query").is_some());
    }

    #[test]
    fn a_document_is_read_once() {
        let mut documents = Documents::default();
        let first = documents.get("{ questions { items { id } } }");
        assert!(first.is_ok());
        assert!(Arc::ptr_eq(
            &first,
            &documents.get("{ questions { items { id } } }")
        ));
        for n in 0..2 * KEPT {
            documents.get(&format!("{{ a{n} }}"));
        }
        assert!(documents.checked.len() <= KEPT);
    }
}
