mod hostile;
mod written;

use std::fmt::Write;

use test_support::script::rows;

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

const SCHEMA: &str = include_str!("../../tests/schema.graphql");

/// In the table, each document is above its errors.
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

/// Checks parts that neither a compiler nor a reply shows: documentation, and the traits of the types. `tests/generated` compiles
/// and runs the rest.
#[test]
fn pages_and_traits_are_written() {
    let documents = include_str!("../../../../tests/generated/documents.graphql");
    let money = Generator::default().scalar("Money", "String");
    let schema = named("schema.graphql", SCHEMA);
    let documents = [named("documents.graphql", documents)];
    let written = money.generate_from(Some(&schema), &documents).unwrap();
    let public = "#[derive(Clone, Debug, Default, PartialEq, ::envd_sdk::serde::Serialize, ::envd_sdk::serde::Deserialize)]\n";
    assert_eq!(written.matches(public).count(), 38);
    // Types with a required enum, which has no default.
    let without_default = public.replace("Default, ", "");
    assert_eq!(written.matches(&without_default).count(), 3);
    assert_eq!(written.matches("#[non_exhaustive]\n").count(), 32);
    for lines in [
        "/// The query `Page`, with variables and reply in [`page`](self::page).\n///\n\
         /// The consignments of an account, page by page.\n///\n/// Source: stated, specification 4.1.\n",
        "/// The account whose consignments are listed.\n///\n/// Source: stated, specification 4.1.\n",
        "/// `Query.herd`.\n///\n/// `Query.grid`.\n///\n/// `Query.thing`.\n",
        "/// `Herd.type`.\npub type_: Option<String>,\n",
        "/// A note \\[with](x) `marks`.\n",
        "/// `$note`.\n",
        "/// `Kind._1`.\nn1 = \"_1\",\n",
        "/// `Kind.ERR`.\nErr_ = \"ERR\",\n",
        "#[deprecated = \"Use [1mAB // instead.\"]\nOld = \"OLD\",\n",
        "/// `Herd.breed`.\n#[deprecated = \"Use \\\"type\\\".\"]\npub breed: Option<String>,\n",
        "/// `Herd.mark`.\n#[deprecated]\npub mark: Option<String>,\n",
    ] {
        let plain = written.lines().flat_map(|line| [line.trim_start(), "\n"]);
        assert!(plain.collect::<String>().contains(lines), "{lines}");
    }
}

/// As editors on Windows write files.
#[test]
fn line_ends_do_not_change_the_code() {
    let documents = include_str!("../../../../tests/generated/documents.graphql");
    let generate = |ending: &str| {
        let schema = named("schema.graphql", &SCHEMA.replace('\n', ending));
        let documents = [named("documents.graphql", &documents.replace('\n', ending))];
        let money = Generator::default().scalar("Money", "String");
        money.generate_from(Some(&schema), &documents).unwrap()
    };
    assert_eq!(generate("\r\n"), generate("\n"));
}

/// A part of the schema, the service's version of it, and a part of the resulting code or errors. No document names an object type.
const DIFFERENCES: &str = "
    Party                              | PartyRecord   | origin: Option<::envd_sdk::model::Party>
    updatedAt: DateTime                | changedAt: DateTime | does not have a field `updatedAt` (selected by List); there is `updatedBy`
    searchText: String                 | text: String  | the argument `searchText` is not supported by `Query.consignments`
    heads: Int                         | heads: String | Connection<ConsignmentsNode>
    input CreateOrSaveTemplateInput {  | input CreateOrSaveTemplateInput { colour: String | pub input: super::TemplateInput
    enum ConsignmentSpecies {          | enum ConsignmentSpecies { ALPACA | pub species: Option<super::Species>
";

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
    // The same except for the sources of descriptions, which the schema of a service does not have.
    let ours_without_file = generate(None, document).unwrap();
    assert_eq!(
        written::without_texts(&ours),
        written::without_texts(&ours_without_file)
    );
    assert!(ours_without_file.contains("Source: ") && !ours.contains("Source: "));
    for row in rows(DIFFERENCES) {
        let from = format!("{}\n", row[0]);
        let to = format!("{}\n", row[1]);
        let named = row[2];
        let of_service = match row[0] {
            "Party" => crate::SCHEMA
                .replace(&from, &to)
                .replace("type Party {", "type PartyRecord {"),
            _ => crate::SCHEMA.replacen(&from, &to, 1),
        };
        assert_ne!(of_service, crate::SCHEMA, "{from}");
        let written = generate(Some(&of_service), document).unwrap_or_else(|errors| errors);
        assert!(written.contains(named), "{from}: {written}");
    }
}

#[test]
fn a_large_schema_and_documents_without_end_are_bounded() {
    // 2,000 inputs that contain each other.
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
    // Each fragment has a hundred levels, and uses the next one at the last level.
    let mut document = "query A { ...F0 } fragment F60 on Query { grid }\n".to_owned();
    for (open, close) in [("... { ", "} "), ("one { ", "} ")] {
        for number in 0..60 {
            let open = open.repeat(100);
            let close = close.repeat(100);
            writeln!(
                document,
                "fragment F{number} on Query {{ {open}...F{} {close} }}",
                number + 1
            )
            .unwrap();
        }
        let schema = "type Query { grid: Int one: Query }";
        let error = generate(Some(schema), &document).unwrap_err();
        assert_eq!(error.matches("more than 64 levels").count(), 1, "{error}");
        document = "query A { ...F0 } fragment F60 on Query { grid }\n".to_owned();
    }
}
