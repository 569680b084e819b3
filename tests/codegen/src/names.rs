//! Names that the schema does not contain: methods, setters and search words.

use envd_codegen::ir::{Field, Program};

/// The methods that run the operations.
const METHODS: &[(&str, &str)] = &[
    ("Comments", "Account::comments"),
    ("Consignment", "Account::consignment"),
    ("ConsignmentUserMapping", "Account::user_mappings"),
    ("Consignments", "Account::consignments"),
    ("CopyConsignment", "Account::copy_consignment"),
    ("CreateComment", "Account::create_comment"),
    ("CreateOrSaveConsignment", "Account::save_consignment"),
    ("CreateOrSaveTemplate", "Account::save_template"),
    ("DeleteConsignment", "Account::delete_consignment"),
    ("DeleteTemplate", "Account::delete_template"),
    ("Edecs", "Account::edecs"),
    ("FullConsignments", "Account::full_consignments"),
    ("Questions", "Client::questions"),
    ("Template", "Account::template"),
    ("Templates", "Account::templates_page"),
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

/// The setter of a field of an input. One field has another name, because a method of that name reads it.
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
