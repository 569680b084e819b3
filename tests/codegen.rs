//! Writes the generated Rust from `graphql/` and proves that it is up to date.
//!
//! `cargo test --test codegen` compares; `UPDATE_GENERATED=1 cargo test --test codegen` writes. `graphql_client_codegen`
//! makes the types of each operation; the steps under `tests/codegen/` hoist what operations share, open the enums, give
//! inputs three states, and carry descriptions with their provenance into rustdoc.

#[path = "codegen/coordinates.rs"]
mod coordinates;
#[path = "codegen/coverage.rs"]
mod coverage;
#[path = "codegen/documents.rs"]
mod documents;
#[path = "codegen/model.rs"]
mod model;
#[path = "codegen/names.rs"]
mod names;
#[path = "codegen/operations.rs"]
mod operations;
#[path = "codegen/pages.rs"]
mod pages;
#[path = "codegen/provenance.rs"]
mod provenance;
#[path = "codegen/raw.rs"]
mod raw;
#[path = "codegen/rust_type.rs"]
mod rust_type;
#[path = "codegen/setters.rs"]
mod setters;

use std::fs;
use std::path::Path;

use crate::documents::Documents;

#[test]
fn generated_code_is_up_to_date() {
    let documents = Documents::read();
    let operations = raw::generate(&documents);
    let files = [
        (
            "src/model/generated.rs",
            model::file(&documents, &operations),
        ),
        (
            "src/graphql/generated.rs",
            operations::file(&documents, &operations),
        ),
        ("src/graphql/coverage.md", coverage::page(&documents)),
        (
            "src/graphql/drift/coordinates.txt",
            coordinates::table(&documents),
        ),
        ("src/graphql/drift/used.txt", coordinates::used(&documents)),
    ];
    let update = std::env::var_os("UPDATE_GENERATED").is_some();
    for (path, expected) in files {
        if update {
            fs::write(path, &expected).unwrap();
        }
        let found = fs::read_to_string(path).unwrap_or_default();
        // Not assert_eq!: it would print both files as a whole.
        assert!(
            found == expected,
            "{path} is out of date; run UPDATE_GENERATED=1 cargo test --test codegen"
        );
    }
}

#[test]
fn every_section_of_the_pages_is_that_of_a_type() {
    // A type without a section stops the generation.
    let model = fs::read_to_string("src/model/generated.rs").unwrap();
    for name in pages::Pages::read().names() {
        let is_type = [
            format!("pub struct {name} {{\n"),
            format!("\n    {name} {{\n"),
        ]
        .iter()
        .any(|definition| model.contains(definition));
        assert!(is_type, "no generated type {name}");
    }
}

#[test]
fn generated_code_never_flattens() {
    // serde(flatten) is slow, and fields that overlap fail at run time.
    for path in ["src/model/generated.rs", "src/graphql/generated.rs"] {
        assert!(
            !fs::read_to_string(path).unwrap().contains("flatten"),
            "{path}"
        );
    }
}

#[test]
fn every_document_is_valid_under_the_schema() {
    let documents = Documents::read();
    assert_eq!(
        documents.operations().count(),
        16,
        "ten queries and six mutations"
    );
    for operation in documents.operations() {
        for document in [&operation.document, &operation.sent] {
            if let Err(problems) = documents.validate(document) {
                panic!("{}: {problems}", operation.name);
            }
        }
        // A fragment names an object type, and the names of the live schema are not published.
        let sent = &operation.sent;
        assert!(
            !sent.contains("fragment ") && !sent.contains("..."),
            "{sent}"
        );
    }
}

#[test]
fn an_invalid_document_is_rejected() {
    // graphql_client itself rejects only the last one.
    let documents = Documents::read();
    for (document, named) in [
        (
            "query Q { comments(envdAccountId: \"a\", consignmentNumber: \"b\", colour: 1) { role } }",
            "colour",
        ),
        (
            "query Q { comments(envdAccountId: \"a\") { role } }",
            "consignmentNumber",
        ),
        (
            "query Q($n: Int) { comments(envdAccountId: $n, consignmentNumber: \"b\") { role } }",
            "Int",
        ),
        (
            "query Q { comments(envdAccountId: \"a\", consignmentNumber: \"b\") { colour } }",
            "colour",
        ),
    ] {
        let problems = documents.validate(document).expect_err(document);
        assert!(problems.contains(named), "{document}: {problems}");
    }
}

#[test]
fn a_selection_is_plain_fields_or_exactly_one_fragment() {
    Documents::read().check_selections();
}

#[test]
fn every_element_of_the_schema_names_its_source() {
    let documents = Documents::read();
    let missing: Vec<_> = documents
        .elements()
        .filter(|(_, text)| provenance::split(text).is_none())
        .map(|(name, _)| name)
        .collect();
    assert!(missing.is_empty(), "no provenance: {missing:?}");
    let sources = fs::read_to_string("src/guide/sources.md").unwrap();
    for (element, text) in documents.elements() {
        let (_, source) = provenance::split(&text).unwrap();
        for name in provenance::sources(source) {
            let listed = sources.contains(&format!("| `{name}` | "));
            assert!(listed, "{element}: guide::sources does not list {name}");
        }
    }
    assert!(
        provenance::split("A text without a source.").is_none(),
        "the check can fail"
    );
}

#[test]
fn each_operation_has_its_own_file() {
    for entry in fs::read_dir("graphql/operations").unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let count = Documents::definitions(&text).len();
        assert_eq!(
            count,
            1,
            "{}",
            Path::new(path.file_name().unwrap()).display()
        );
    }
}
