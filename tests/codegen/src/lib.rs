//! The generated files of `envd-sdk`: the output of `envd-codegen` for `graphql/`, and the parts that only the SDK needs.
//!
//! `cargo test -p codegen` compares; `UPDATE_GENERATED=1 cargo test -p codegen` writes. Neither this package nor `envd-codegen`
//! uses the SDK, so they work while the SDK does not compile. `names.rs` has the methods that run the operations and the
//! setters of inputs; `pages.md` has the text that follows a type's description in the schema.

mod elements;
mod names;
mod operations;
mod pages;
mod records;
mod tables;
#[cfg(test)]
mod tests;

use crate::elements::Elements;

/// The top folder of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const HEADER: &str = "// Written by tests/codegen from graphql/; change it there and run UPDATE_GENERATED=1 cargo test -p codegen.\n\n";

/// Each generated file: its path below [`ROOT`], and its expected contents.
///
/// # Errors
///
/// Lists everything that is invalid or missing, with the file to correct.
pub fn files() -> Result<[(&'static str, String); 4], String> {
    let mut program = envd_codegen::sdk().map_err(|error| error.to_string())?;
    let mut missing = pages::add(&mut program);
    missing.extend(names::missing(&program));
    if !missing.is_empty() {
        return Err(missing.join("\n"));
    }
    let elements = Elements::read();
    let rust = |text: String| HEADER.to_owned() + &text;
    Ok([
        ("src/model/generated.rs", rust(records::file(&program))),
        ("src/graphql/generated.rs", rust(operations::file(&program))),
        (
            "src/graphql/coverage.md",
            tables::coverage(&elements, &program),
        ),
        ("src/model/coordinates.txt", tables::coordinates(&elements)),
    ])
}
