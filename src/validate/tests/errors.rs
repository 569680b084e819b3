//! The literal server bodies, each with an input for which the validator has the same findings.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::bodies::{fixture, questions};
use crate::model::{Accreditations, Day, ServerError};
use crate::validate::{Context, Questionnaire, Report, compare};

/// What the mirror cannot know: tokens, records, requests, registers, the state of the server.
const BEYOND: [&str; 23] = [
    "consignment-not-found",
    "internal-error",
    "invalid-token",
    "maintenance",
    "register-bad-request",
    "register-not-found",
    "register-unauthorised",
    "schema-argument-missing",
    "schema-invalid-operation",
    "schema-json-invalid",
    "schema-no-operation",
    "schema-query-missing",
    "schema-resolver-threw",
    "schema-sub-selection-missing",
    "schema-syntax-error",
    "schema-two-errors",
    "schema-undefined-variable",
    "schema-unknown-argument",
    "schema-unknown-field",
    "schema-unknown-operation-name",
    "schema-variable-missing",
    "schema-variable-null",
    // The index of the folder.
    "index",
];

/// A body, and what to do to a valid consignment so that the mirror says what stands in it.
type Case = (&'static str, fn(&mut Value));

const CASES: [Case; 15] = [
    ("answer-outside-acceptable", |input| {
        answer(input, "17", Some("Maybe"));
    }),
    ("empty-forms", |input| input["forms"] = json!([])),
    ("field-rule", |input| {
        input["origin"]["address"]["postcode"] = json!("0800");
    }),
    ("invalid-answer-value", |input| {
        answer(input, "102", Some("Yes"));
        answer(input, "103", Some("2026-12-24"));
    }),
    ("invalid-pic", |input| {
        input["origin"]["pic"] = json!("QAZZ777");
    }),
    ("lpag2-rejected", |input| input["forms"] = json!(["LPAG2"])),
    ("mixed-species", |input| {
        input["forms"] = json!(["LPAC1", "HSSL1"]);
    }),
    ("not-accredited", |input| {
        input["forms"] = json!(["LPAHRG0"]);
        answer(input, "185", Some("Yes"));
    }),
    ("origin-pic-not-associated", |input| {
        input["origin"]["pic"] = json!("QDZZ3333");
    }),
    ("question-185-no", |input| {
        input["forms"] = json!(["LPAHRG0"]);
        answer(input, "185", Some("No"));
    }),
    ("required-answer-missing", |input| {
        answer(input, "17", None);
        answer(input, "3", None);
    }),
    ("schema-code-and-data", |input| {
        input["forms"] = json!(["LPAC1", "HSSL1"]);
    }),
    ("schema-object-expected", |input| {
        input["origin"] = json!("QAZZ7777");
    }),
    ("schema-unknown-input-field", |input| {
        input["colour"] = json!("brown");
    }),
    ("unknown-form", |input| input["forms"] = json!(["LPAC9"])),
];

/// Gives the first answer to a question a value, or takes it away.
fn answer(input: &mut Value, id: &str, value: Option<&str>) {
    let answers = input["answers"].as_array_mut().unwrap();
    let place = answers.iter().position(|given| given["questionId"] == id);
    match (place, value) {
        (Some(place), Some(value)) => answers[place]["value"] = json!(value),
        (None, Some(value)) => {
            answers.push(json!({"questionId": id, "index": null, "value": value}));
        }
        (Some(place), None) => drop(answers.remove(place)),
        (None, None) => panic!("{id} has no answer"),
    }
}

/// The own PIC is known always; the accreditations only where the server's answer hangs on them.
fn context(file: &str) -> Context {
    let context = Context::on(Day::new(2026, 11, 20).unwrap()).account_pic("QAZZ7777");
    if file == "not-accredited" {
        context.accreditations(&Accreditations::default())
    } else {
        context
    }
}

#[test]
fn the_findings_are_those_of_each_literal_body() {
    let questionnaire = Questionnaire::prepare(&questions());
    for (file, edit) in CASES {
        let mut input = fixture("consignments/lpac1.json")["input"].take();
        edit(&mut input);
        let mut report = questionnaire.validate_json(&input, &context(file));
        if input["forms"] != json!(["LPAC1"]) {
            // Another form asks other questions, which are not the matter here.
            report = crate::validate::validate_fields_json(&input, &context(file));
        }
        let body = fixture(&format!("errors/{file}.json"));
        let errors: Vec<ServerError> = serde_json::from_value(body["errors"].clone()).unwrap();
        let server = Report::from_server_errors(&errors);
        let comparison = compare(&report, &server);
        assert!(comparison.is_equal(), "{file}: {comparison}");
        // The order is each one's own.
        let (mut ours, mut theirs) = (report.findings().to_vec(), server.findings().to_vec());
        ours.sort_by_key(|f| f.code.clone());
        theirs.sort_by_key(|f| f.code.clone());
        for (mirrored, said) in ours.iter().zip(&theirs) {
            assert_eq!(mirrored.message, said.message, "{file}");
            // "Access denied" may mean much else.
            if file != "not-accredited" {
                assert_eq!(mirrored.rule, said.rule, "{file}");
            }
            assert_eq!(mirrored.description, said.description, "{file}");
            assert_eq!(mirrored.question, said.question, "{file}");
            // This body leaves the place of the variable to its message, up to the field that is too much.
            let is_unplaced = file == "schema-unknown-input-field";
            assert!(mirrored.path == said.path || is_unplaced, "{file}");
        }
    }
}

#[test]
fn each_literal_body_has_a_case_or_is_listed_as_out_of_reach() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/errors");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let all: BTreeSet<String> = files
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let cases = CASES.iter().map(|(file, _)| *file);
    let listed: BTreeSet<String> = cases.chain(BEYOND).map(str::to_owned).collect();
    assert_eq!(all, listed);
    assert_eq!(listed.len(), CASES.len() + BEYOND.len());
}
