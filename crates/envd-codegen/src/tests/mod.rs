use std::fmt::Write;

use crate::Generator;

fn named(file: &str, text: &str) -> (String, String) {
    (file.to_owned(), text.to_owned())
}

fn generate(schema: Option<&str>, document: &str) -> Result<String, String> {
    let schema = schema.map(|text| named("schema.graphql", text));
    let generated =
        Generator::default().generate_from(schema.as_ref(), &[named("q.graphql", document)]);
    generated.map_err(|error| error.to_string())
}

const SCHEMA: &str = include_str!("../../tests/suite/schema.graphql");

/// Each document of the table stands above its errors.
#[test]
fn a_wrong_document_is_named_with_its_place_and_what_exists_instead() {
    let table = include_str!("errors.txt");
    let mut written = String::new();
    for document in table.lines().filter(|line| !line.starts_with("  ")) {
        let errors = generate(Some(SCHEMA), document).expect_err(document);
        let errors = errors.lines().map(|line| format!("  {line}\n"));
        write!(written, "{document}\n{}", errors.collect::<String>()).unwrap();
    }
    assert_eq!(written, table, "\n{written}");
}
