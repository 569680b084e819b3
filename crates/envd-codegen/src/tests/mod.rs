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

/// What the service differs in, and what the code or the errors then say.
const DIFFERENCES: [(&str, &str, &str); 6] = [
    // No document names an object type.
    (
        "Party\n",
        "PartyRecord\n",
        "origin: Option<::envd_sdk::model::Party>",
    ),
    (
        "  updatedAt: DateTime\n",
        "  changedAt: DateTime\n",
        "does not have a field `updatedAt` (selected by List); there is `updatedBy`",
    ),
    (
        "    searchText: String\n",
        "    text: String\n",
        "the argument `searchText` is not supported by `Query.consignments`",
    ),
    (
        "  heads: Int\n",
        "  heads: String\n",
        "Connection<ConsignmentsNode>",
    ),
    (
        "input CreateOrSaveTemplateInput {",
        "input CreateOrSaveTemplateInput {\n  colour: String",
        "pub input: super::TemplateInput",
    ),
    (
        "enum ConsignmentSpecies {",
        "enum ConsignmentSpecies {\n  ALPACA",
        "pub species: Option<super::Species>",
    ),
];

#[test]
fn what_differs_in_the_service_is_found_when_the_code_is_written() {
    let document = "query List($account: String!, $text: String, $species: ConsignmentSpecies) {
            consignments(envdAccountId: $account, searchText: $text, species: $species) {
                edges { node { ...ConsignmentSummary } }
            }
            consignment(id: \"1\", envdAccountId: $account) { origin { ...Party } }
        }
        mutation Rename($account: String!, $input: CreateOrSaveTemplateInput!) {
            createOrSaveTemplate(envdAccountId: $account, input: $input) { data { name } }
        }";
    let ours = generate(Some(crate::SCHEMA), document).unwrap();
    assert!(ours.contains("Connection<::envd_sdk::model::ConsignmentSummary>"));
    assert!(ours.contains("pub input: ::envd_sdk::model::TemplateInput"));
    assert_eq!(ours, generate(None, document).unwrap());
    for (from, to, named) in DIFFERENCES {
        let of_service = match from {
            "Party\n" => crate::SCHEMA
                .replace(from, to)
                .replace("type Party {", "type PartyRecord {"),
            _ => crate::SCHEMA.replacen(from, to, 1),
        };
        assert_ne!(of_service, crate::SCHEMA, "{from}");
        let written = generate(Some(&of_service), document).unwrap_or_else(|errors| errors);
        assert!(written.contains(named), "{from}: {written}");
    }
}

#[test]
fn a_large_schema_and_documents_without_end_are_bounded() {
    // Inputs that contain each other, 2,000 of them.
    let mut schema = "type Query { a(i: I0): Int }\n".to_owned();
    for number in 0..2_000 {
        let inner = [(number + 1) % 2_000, (number * 31 + 5) % 2_000];
        writeln!(
            schema,
            "input I{number} {{ a: I{} b: [I{}!] c: String }}",
            inner[0], inner[1]
        )
        .unwrap();
    }
    let code = generate(Some(&schema), "query A($i: I0) { a(i: $i) }").unwrap();
    assert_eq!(code.matches("pub struct I").count(), 2_000);
    // Each fragment doubles the one before it.
    let mut document = "query A { herd { ...F0 } } fragment F60 on Herd { type }\n".to_owned();
    for number in 0..60 {
        writeln!(
            document,
            "fragment F{number} on Herd {{ ...F{0} ...F{0} }}",
            number + 1
        )
        .unwrap();
    }
    let error = generate(Some(SCHEMA), &document).unwrap_err();
    assert!(error.contains("more than 100,000 fields"), "{error}");
}
