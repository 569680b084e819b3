use std::fs;
use std::path::Path;

use envd_codegen::ir::Program;
use envd_codegen::{public_names, split};

use crate::elements::Elements;
use crate::operations::root;
use crate::{ROOT, files, names, pages};

#[test]
fn generated_files_are_up_to_date() {
    let update = std::env::var_os("UPDATE_GENERATED").is_some();
    for (path, expected) in files().unwrap_or_else(|missing| panic!("\n{missing}\n")) {
        let full = format!("{ROOT}/{path}");
        if update {
            fs::write(&full, &expected).unwrap();
        }
        // Not assert_eq!, which would print both files completely.
        assert!(
            fs::read_to_string(&full).unwrap_or_default() == expected,
            "{path} is out of date; run UPDATE_GENERATED=1 cargo test -p codegen"
        );
    }
}

/// The parts that an operation still lacks, with the file for each: its method, its rule in the fake, its test.
fn unfinished(program: &Program) -> Vec<String> {
    let [ops, fake, suite] = ["src/ops", "src/fake", "tests/suite"].map(sources);
    let mut unfinished = Vec::new();
    for operation in &program.operations {
        let wire = &root(operation).wire;
        let path = names::method(&operation.name);
        let method = path.rsplit("::").next().unwrap_or_default();
        let mut need = |text: &str, part: String, sentence: String| {
            unfinished.extend((!text.contains(&part)).then_some(sentence));
        };
        let of_ops = format!("src/ops: no file has the method {path}");
        need(&ops, format!("fn {method}("), of_ops);
        let of_fake = format!("src/fake/graphql/resolvers.rs: no rule for {wire}");
        need(&fake, format!("\"{wire}\""), of_fake);
        let of_suite = format!("tests/suite: no test calls {path}");
        need(&suite, format!(".{method}("), of_suite);
    }
    unfinished
}

/// All Rust files below a folder, one after the other.
fn sources(folder: &str) -> String {
    let top = Path::new(ROOT).join(folder);
    let mut open = vec![top];
    let mut text = String::new();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(path).unwrap();
            open.extend(entries.flatten().map(|entry| entry.path()));
        } else if path.extension().is_some_and(|end| end == "rs") {
            text += &fs::read_to_string(path).unwrap();
        }
    }
    text
}

#[test]
fn every_operation_has_its_method_its_rule_and_its_test() {
    let mut program = envd_codegen::sdk().unwrap();
    assert_eq!(unfinished(&program), [""; 0]);
    // The check can fail.
    program.operations.truncate(1);
    program.operations[0].name = "AddViewer".to_owned();
    assert_eq!(names::missing(&program).count(), 1);
}

#[test]
fn every_section_of_the_pages_is_that_of_a_type() {
    // A type without a section stops the generation.
    let program = envd_codegen::sdk().unwrap();
    let records = program.records.iter().chain(&program.inputs);
    let records = records.map(|record| &record.name);
    let enums = program.enums.iter().map(|one| &one.name);
    let known: Vec<_> = records.chain(enums).collect();
    for name in pages::sections().into_keys() {
        assert!(known.iter().any(|known| *known == name), "no type {name}");
    }
}

#[test]
fn every_document_is_valid_under_the_schema() {
    let elements = Elements::read();
    for operation in &envd_codegen::sdk().unwrap().operations {
        let sent = &operation.sent;
        let problems = elements.validate(sent).err();
        assert_eq!(problems, None, "{}", operation.name);
        // A fragment names an object type, and the names of the live schema are not published.
        assert!(!sent.contains("fragment ") && !sent.contains("..."));
    }
    // The check can fail.
    for (account, number, fields, named) in [
        (
            "\"a\"",
            ", consignmentNumber: \"b\", colour: 1",
            "role",
            "colour",
        ),
        ("\"a\"", "", "role", "consignmentNumber"),
        ("1", ", consignmentNumber: \"b\"", "role", "String"),
        ("\"a\"", ", consignmentNumber: \"b\"", "colour", "colour"),
    ] {
        let arguments = format!("envdAccountId: {account}{number}");
        let document = format!("query Q {{ comments({arguments}) {{ {fields} }} }}");
        let problems = elements.validate(&document).expect_err(&document);
        assert!(problems.contains(named), "{document}: {problems}");
    }
}

#[test]
fn every_element_of_the_schema_names_its_source() {
    let elements = Elements::read();
    let listed = fs::read_to_string(format!("{ROOT}/src/guide/sources.md")).unwrap();
    for element in &elements.all {
        let at = &element.coordinate;
        let source = split(&element.description);
        let (_, source) = source.unwrap_or_else(|| panic!("{at} names no source"));
        for name in public_names(source) {
            let row = format!("| `{name}` | ");
            assert!(listed.contains(&row), "{at}: guide::sources lacks {name}");
        }
    }
    // The check can fail.
    assert_eq!(split("A text without a source."), None);
}
