//! Writes the generated files of `envd-sdk` from `graphql/`.
//!
//! `cargo test -p codegen` compares; `UPDATE_GENERATED=1 cargo test -p codegen` writes. This package does not use the SDK, so
//! it works while the SDK does not compile. A fragment becomes one record, whichever operations use it; an input has a setter
//! for each field. What the schema does not state is in `names.rs`, and what the page of a type adds to it in `pages.md`.

mod docs;
mod documents;
mod model;
mod names;
mod operations;
mod rust_text;
mod tables;
#[cfg(test)]
mod tests;

use crate::docs::Docs;
use crate::documents::Documents;

/// The top folder of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const HEADER: &str = "// Written by tests/codegen from graphql/; change it there and run UPDATE_GENERATED=1 cargo test -p codegen.\n\n";

/// Each generated file: its path below [`ROOT`], and what it must hold.
///
/// # Panics
///
/// If a document is invalid, or if a name that the generator needs is missing.
#[must_use]
pub fn files() -> [(&'static str, String); 4] {
    let documents = Documents::read();
    let docs = Docs::read(&documents);
    let rust = |text: String| HEADER.to_owned() + &text;
    [
        (
            "src/model/generated.rs",
            rust(model::file(&documents, &docs)),
        ),
        (
            "src/graphql/generated.rs",
            rust(operations::file(&documents, &docs)),
        ),
        ("src/graphql/coverage.md", tables::coverage(&documents)),
        ("src/model/coordinates.txt", tables::coordinates(&documents)),
    ]
}
