//! The operations of the interface (spec 4.1): our documents, and where our types expect the record.

use super::document::{OperationKind, after, operation_name, word};
use super::generated::{
    comments, consignment, consignment_user_mapping, consignments, copy_consignment,
    create_comment, create_or_save_consignment, create_or_save_template, delete_consignment,
    delete_template, edecs, full_consignments, questions, template, templates, user_details,
};

/// An operation of the interface.
pub(super) struct KnownOperation {
    pub(super) document: &'static str,
    /// The name in the specification, which is the field of the document; for a second document of an operation, its alias.
    pub(super) name: &'static str,
    /// The name in our document, which differs in the case only.
    pub(super) operation: &'static str,
    /// The name of the id in the record.
    pub(super) id: &'static str,
    /// The members below `data` that lead to a list of records, of which each may be read alone. Not the lists inside
    /// a record: one that has lost an answer would be saved without it.
    pub(super) list: Option<&'static [&'static str]>,
}

/// All of them.
pub(super) const CATALOGUE: [KnownOperation; 16] = [
    list(comments::QUERY, &["comments"]),
    record(consignment::QUERY),
    list(consignment_user_mapping::QUERY, &["consignmentUserMapping"]),
    list(consignments::QUERY, &["consignments", "edges"]),
    list(edecs::QUERY, &["edecs"]),
    list(full_consignments::QUERY, &["fullConsignments", "edges"]),
    record(questions::QUERY),
    record(template::QUERY),
    list(templates::QUERY, &["templates", "edges"]),
    record(user_details::QUERY),
    record(copy_consignment::QUERY),
    KnownOperation {
        id: "commentId",
        ..record(create_comment::QUERY)
    },
    record(create_or_save_consignment::QUERY),
    record(create_or_save_template::QUERY),
    record(delete_consignment::QUERY),
    record(delete_template::QUERY),
];

const fn record(document: &'static str) -> KnownOperation {
    KnownOperation {
        document,
        name: word(document, after(document, b" { ")),
        operation: operation_name(document),
        id: "id",
        list: None,
    }
}

const fn list(document: &'static str, list: &'static [&'static str]) -> KnownOperation {
    KnownOperation {
        list: Some(list),
        ..record(document)
    }
}

impl KnownOperation {
    pub(super) fn kind(&self) -> OperationKind {
        if self.document.starts_with("mutation") {
            OperationKind::Mutation
        } else {
            OperationKind::Query
        }
    }

    /// The record of a change is under `data` (spec 2.5).
    pub(super) fn is_change(&self) -> bool {
        self.kind() == OperationKind::Mutation
    }
}

/// The names of all operations, as in the specification.
pub(crate) fn operation_names() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().map(|known| known.name)
}

/// The operation with our document; a document of the caller with the same name is not ours.
pub(super) fn ours(operation: &str, document: &str) -> Option<&'static KnownOperation> {
    CATALOGUE
        .iter()
        .find(|known| known.document == document && known.operation == operation)
}

/// The operation with this name, spelled as in the specification or as in our document.
pub(super) fn named(name: &str) -> Option<&'static KnownOperation> {
    CATALOGUE
        .iter()
        .find(|known| known.name == name || known.operation == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::document::operations;

    #[test]
    fn every_document_of_the_folder_is_in_the_catalogue() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/graphql/operations");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, CATALOGUE.len());
        for known in &CATALOGUE {
            let read = operations(known.document).unwrap();
            assert_eq!(read[0].name, Some(known.operation));
            assert_eq!(read[0].kind, Some(known.kind()));
            let name = known.name;
            assert_eq!(name.to_uppercase(), known.operation.to_uppercase());
            assert!(known.document.contains(&format!("{{ {name}")), "{name}");
            assert!(known.list.is_none_or(|list| list[0] == name), "{name}");
        }
    }
}
