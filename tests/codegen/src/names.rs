//! Names that the schema does not contain: methods, setters and search words.

use envd_codegen::ir::{Field, Program};

/// The methods that run the operations.
const METHODS: &[(&str, &str)] = &[
    ("Comments", "AccountClient::comments"),
    ("Consignment", "AccountClient::consignment"),
    ("ConsignmentUserMapping", "AccountClient::user_mappings"),
    ("Consignments", "AccountClient::consignments"),
    ("CopyConsignment", "AccountClient::copy_consignment"),
    ("CreateComment", "AccountClient::create_comment"),
    ("CreateOrSaveConsignment", "AccountClient::save_consignment"),
    ("CreateOrSaveTemplate", "AccountClient::save_template"),
    ("DeleteConsignment", "AccountClient::delete_consignment"),
    ("DeleteTemplate", "AccountClient::delete_template"),
    ("Edecs", "AccountClient::edecs"),
    ("FullConsignments", "AccountClient::full_consignments"),
    ("Questions", "Client::questions"),
    ("Template", "AccountClient::template"),
    ("Templates", "AccountClient::templates_page"),
    ("UserDetails", "Client::user_details"),
];

/// The method that runs an operation. Each operation has a row, see `missing`.
pub(crate) fn method(operation: &str) -> &'static str {
    let row = METHODS.iter().find(|(name, _)| *name == operation);
    row.map_or("", |(_, method)| method)
}

/// Operations without a row.
pub(crate) fn missing(program: &Program) -> impl Iterator<Item = String> {
    let names = program.operations.iter().map(|operation| &operation.name);
    names.filter(|name| method(name).is_empty()).map(|name| {
        format!("tests/codegen/src/names.rs: METHODS has no row for {name}, which names the method that runs it")
    })
}

/// The setter of an input field. It has the name of the field, unless a getter already has that name.
pub(crate) fn setter(field: &Field) -> &str {
    match field.coordinate.as_str() {
        "CreateOrSaveConsignmentInput.answers" => "with_answers",
        _ => &field.rust,
    }
}

/// Additional words by which the search of rustdoc finds a field (`Type.field`). The words for a type are at its `pub use` in
/// `src/model/mod.rs`, because rustdoc drops the aliases of items in private modules.
pub(crate) fn search_words(field: &str) -> &'static str {
    match field {
        "Consignment.heads" => "#[doc(alias(\"animals\", \"head count\"))]\n",
        "Consignment.pdfUrl" => "#[doc(alias = \"print\")]\n",
        "Consignment.origin" | "CreateOrSaveConsignmentInput.origin" => {
            "#[doc(alias(\"consignor\", \"vendor\"))]\n"
        }
        _ => "",
    }
}
