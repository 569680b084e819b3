//! The operations of the interface (spec 4.1): their names, our documents, and where our types expect the record.

use super::OperationKind;
use super::generated::{
    comments, consignment, consignment_user_mapping, consignments, copy_consignment,
    create_comment, create_or_save_consignment, create_or_save_template, delete_consignment,
    delete_template, edecs, full_consignments, questions, template, templates, user_details,
};

/// An operation of the interface.
pub(super) struct KnownOperation {
    /// The name in the specification; for a second document of an operation, its alias.
    pub(super) name: &'static str,
    /// The name in our document.
    pub(super) operation: &'static str,
    pub(super) document: &'static str,
    pub(super) kind: OperationKind,
    /// The name of the id in the record of a change.
    pub(super) id: &'static str,
    /// The members below `data` that lead to a list of records, of which each may be read by itself. Not the lists inside
    /// a record: one that has lost an answer would be saved without it.
    pub(super) list: Option<&'static [&'static str]>,
}

/// All of them.
pub(super) const CATALOGUE: [KnownOperation; 16] = [
    list(&["comments"], comments::OPERATION_NAME, comments::QUERY),
    read(
        "consignment",
        consignment::OPERATION_NAME,
        consignment::QUERY,
    ),
    list(
        &["consignmentUserMapping"],
        consignment_user_mapping::OPERATION_NAME,
        consignment_user_mapping::QUERY,
    ),
    list(
        &["consignments", "edges"],
        consignments::OPERATION_NAME,
        consignments::QUERY,
    ),
    list(&["edecs"], edecs::OPERATION_NAME, edecs::QUERY),
    list(
        &["fullConsignments", "edges"],
        full_consignments::OPERATION_NAME,
        full_consignments::QUERY,
    ),
    read("questions", questions::OPERATION_NAME, questions::QUERY),
    read("template", template::OPERATION_NAME, template::QUERY),
    list(
        &["templates", "edges"],
        templates::OPERATION_NAME,
        templates::QUERY,
    ),
    read(
        "userDetails",
        user_details::OPERATION_NAME,
        user_details::QUERY,
    ),
    change(
        "copyConsignment",
        copy_consignment::OPERATION_NAME,
        copy_consignment::QUERY,
    ),
    KnownOperation {
        id: "commentId",
        ..change(
            "createComment",
            create_comment::OPERATION_NAME,
            create_comment::QUERY,
        )
    },
    change(
        "createOrSaveConsignment",
        create_or_save_consignment::OPERATION_NAME,
        create_or_save_consignment::QUERY,
    ),
    change(
        "createOrSaveTemplate",
        create_or_save_template::OPERATION_NAME,
        create_or_save_template::QUERY,
    ),
    change(
        "deleteConsignment",
        delete_consignment::OPERATION_NAME,
        delete_consignment::QUERY,
    ),
    change(
        "deleteTemplate",
        delete_template::OPERATION_NAME,
        delete_template::QUERY,
    ),
];

const fn read(
    name: &'static str,
    operation: &'static str,
    document: &'static str,
) -> KnownOperation {
    KnownOperation {
        name,
        operation,
        document,
        kind: OperationKind::Query,
        id: "id",
        list: None,
    }
}

const fn list(
    list: &'static [&'static str],
    operation: &'static str,
    document: &'static str,
) -> KnownOperation {
    KnownOperation {
        list: Some(list),
        ..read(list[0], operation, document)
    }
}

const fn change(
    name: &'static str,
    operation: &'static str,
    document: &'static str,
) -> KnownOperation {
    KnownOperation {
        kind: OperationKind::Mutation,
        ..read(name, operation, document)
    }
}

impl KnownOperation {
    /// The record of a change is under `data` (spec 2.5).
    pub(super) fn is_change(&self) -> bool {
        self.kind == OperationKind::Mutation
    }
}

/// The names of all operations, as in the specification; those in our documents differ in the case only.
pub(crate) fn operation_names() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().map(|known| known.name)
}

/// The operation with our document; a document of the caller's with the same name is the caller's.
pub(super) fn ours(operation: &str, document: &str) -> Option<&'static KnownOperation> {
    CATALOGUE
        .iter()
        .find(|known| known.operation == operation && known.document == document)
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

    #[test]
    fn every_document_of_the_folder_is_in_the_catalogue() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/graphql/operations");
        let files = std::fs::read_dir(folder).unwrap().count();
        assert_eq!(files, CATALOGUE.len());
        for known in &CATALOGUE {
            assert_eq!(known.name.to_uppercase(), known.operation.to_uppercase());
            assert!(
                known.document.contains(&format!("{{ {}", known.name)),
                "{}",
                known.name
            );
        }
    }
}
