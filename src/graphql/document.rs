//! The documents of this crate as data, generated from `graphql/` by `tests/codegen`.

use super::generated::DOCUMENTS;

/// The field that wraps the result of a change (spec 2.5).
pub(super) const DATA: &str = "data";

/// Whether an operation reads or changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Query,
    Mutation,
}

/// An operation of the interface (spec 4.1), with our document and the expected location of the record.
pub(crate) struct OperationDocument {
    /// The document text if nothing is adapted and all variables are set.
    pub(crate) text: &'static str,
    pub(super) kind: OperationKind,
    /// The operation name in our document.
    pub(crate) operation: &'static str,
    /// The name in the specification, which is the field name; for a second document of the same operation, its alias.
    pub(super) name: &'static str,
    pub(super) field: &'static str,
    /// The variables with their types. Each is passed as the argument of the same name.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// The fields of the record, which is nested under `data` in the result of a change (spec 2.5).
    pub(super) record: &'static [Selection],
    /// The members below `data` of the reply that lead to a list of records that can be decoded individually; empty for any
    /// other record. Excludes lists inside a record: saving a record with an answer missing would lose the answer.
    pub(super) list: &'static [&'static str],
}

/// A selected field, and its sub-selections.
pub(super) struct Selection(pub(super) &'static str, pub(super) &'static [Self]);

impl OperationDocument {
    /// The operation with our document. Excludes the caller's own documents with the same name.
    pub(super) fn ours(operation: &str, text: &str) -> Option<&'static Self> {
        let is_ours = |known: &Self| known.text == text && known.operation == operation;
        DOCUMENTS.into_iter().find(|known| is_ours(known))
    }

    /// Finds an operation by its name in the specification or in our document.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        let is_named = |known: &Self| known.name == name || known.operation == name;
        DOCUMENTS.into_iter().find(|known| is_named(known))
    }

    /// The names of all operations, as in the specification.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        DOCUMENTS.into_iter().map(|known| known.name)
    }

    /// Whether this is a change, with its record under `data` (spec 2.5).
    pub(super) fn is_change(&self) -> bool {
        self.kind == OperationKind::Mutation
    }

    /// Whether `true` instead of the record is a valid result: a deletion has no record to return.
    pub(super) fn deletes(&self) -> bool {
        self.name.starts_with("delete")
    }

    /// The name of the record's id: the first field of our selection.
    pub(super) fn id(&self) -> &'static str {
        self.record.first().map_or("", |first| first.0)
    }
}
