//! Literal server bodies, and the validator's findings for the same input.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};
use test_support::script::rows;

use crate::model::{Accreditations, ConsignmentInput, Day, Question, QuestionList, ServerError};
use crate::validate::{
    Context, Finding, Questionnaire, Report, Rule, compare, validate_fields_json,
};

pub(super) fn fixture(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The stored valid or invalid consignments, with the expected findings.
pub(super) fn cases(kind: &str) -> Vec<Value> {
    let index = fixture("consignments/index.json");
    index[kind].as_array().unwrap().clone()
}

pub(super) fn questions() -> Vec<Question> {
    let list: QuestionList =
        serde_json::from_value(fixture("questions.json")["data"]["questions"].clone()).unwrap();
    list.items
}

pub(super) fn input(file: &str) -> ConsignmentInput {
    serde_json::from_value(fixture(file)["input"].clone()).unwrap()
}

fn context(case: &Value) -> Context {
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    let given = if case["context"].is_object() {
        &case["context"]
    } else {
        case
    };
    let context = match given["account_pic"].as_str() {
        Some(pic) => context.account_pic(pic),
        None => context,
    };
    match Accreditations::deserialize(&given["accreditations"]) {
        Ok(accreditations) => context.accreditations(&accreditations),
        Err(_) => context,
    }
}

/// The server's message in the validator's version: a quoted value is truncated, a signature omitted.
fn cut(message: &str, code: &str) -> String {
    let parts: Vec<&str> = message.split('\'').collect();
    let [before, value, after @ ..] = parts.as_slice() else {
        return message.to_owned();
    };
    let value = match value.chars().count() {
        _ if code.ends_with("signature") => "…".to_owned(),
        0..=60 => (*value).to_owned(),
        _ => value.chars().take(60).chain(['…']).collect(),
    };
    format!("{before}'{value}'{}", after.join("'"))
}

fn shown(finding: &Finding) -> [String; 4] {
    // The table has the path from the body, and schema-level errors have no path there.
    let end = finding
        .path
        .last()
        .filter(|_| finding.code != "INVALID_VALUE");
    let severity = finding.severity.to_string();
    let end = end.cloned().unwrap_or_default();
    [severity, finding.code.clone(), end, finding.message.clone()]
}

#[test]
fn each_invalid_consignment_has_exactly_the_findings_of_the_table() {
    let questionnaire = Questionnaire::prepare(&questions());
    for case in &cases("invalid") {
        let file = case["file"].as_str().unwrap();
        let report = questionnaire.validate(&input(file), &context(case));
        if file.ends_with("/unknown-form.json") {
            // The form may be newer than this crate, so only the server can decide.
            assert!(report.can_create(), "{file}");
            continue;
        }
        let mut found: Vec<_> = report.findings().iter().map(|f| shown(f)).collect();
        let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
        let wanted = case["findings"].as_array().unwrap().iter().map(|f| {
            let message = cut(&text(f, "message"), &text(f, "code"));
            let [severity, code, end] =
                ["severity", "code", "path_ends_with"].map(|name| text(f, name));
            [severity, code, end, message]
        });
        let mut wanted: Vec<_> = wanted.collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{file}");

        let body = fixture(case["response"].as_str().unwrap());
        let errors: Vec<ServerError> = serde_json::from_value(body["errors"].clone()).unwrap();
        let server = Report::from_server_errors(&errors);
        assert!(compare(&report, &server).is_equal(), "{file}");
        for said in server.findings() {
            // Several findings may have the same message, such as "Access denied".
            let mirrored = report.findings().iter().find(|f| {
                (&f.message, &f.code) == (&cut(&said.message, &said.code), &said.code)
                    && f.description == said.description
            });
            assert_eq!(mirrored.map(|f| &f.path), Some(&said.path), "{file}");
        }
    }
}

#[test]
fn valid_consignments_have_no_findings() {
    let questionnaire = Questionnaire::prepare(&questions());
    let cases = cases("valid");
    assert_eq!(cases.len(), 16);
    for case in &cases {
        let file = case["file"].as_str().unwrap();
        let report = questionnaire.validate(&input(file), &context(case).advice(true));
        assert!(report.findings().is_empty(), "{file}: {report}");
        assert!(report.ready_to_submit());
        assert!(report.unchecked().is_empty());
        // The properties are fictional, and so are their check letters.
        let mut advice = report.advice().iter();
        let other = advice.find(|finding| finding.rule != Rule::PicForm);
        assert_eq!(other, None, "{file}");
    }
}

/// The literal bodies of spec 7.2, with the change to a valid consignment that makes the validator report the same.
const BODIES: &str = r#"
answer-outside-acceptable  | {"answers": {"17": "Maybe"}}
empty-forms                | {"forms": []}
field-rule                 | {"origin": {"address": {"postcode": "0800"}}}
invalid-answer-value       | {"answers": {"102": "Yes", "103": "2026-12-24"}}
invalid-pic                | {"origin": {"pic": "QAZZ777"}}
lpag2-rejected             | {"forms": ["LPAG2"]}
mixed-species              | {"forms": ["LPAC1", "HSSL1"]}
not-accredited             | {"forms": ["LPAHRG0"], "answers": {"185": "Yes"}}
origin-pic-not-associated  | {"origin": {"pic": "QDZZ3333"}}
question-185-no            | {"forms": ["LPAHRG0"], "answers": {"185": "No"}}
required-answer-missing    | {"answers": {"17": null, "3": null}}
schema-code-and-data       | {"forms": ["LPAC1", "HSSL1"]}
schema-object-expected     | {"origin": "QAZZ7777"}
schema-unknown-input-field | {"colour": "brown"}
"#;

/// Beyond the validator: tokens, records, requests, registers, the state of the server. Also the index file of the folder.
const BEYOND: &str = "consignment-not-found internal-error invalid-token maintenance register-bad-request register-not-found \
    register-unauthorised schema-argument-missing schema-invalid-operation schema-json-invalid schema-no-operation \
    schema-query-missing schema-resolver-threw schema-sub-selection-missing schema-syntax-error schema-two-errors \
    schema-undefined-variable schema-unknown-argument schema-unknown-field schema-unknown-operation-name \
    schema-variable-missing schema-variable-null unknown-form index";

/// Sets fields, and the values of answers by question id; null removes the answer.
fn change(input: &mut Value, change: &Value) {
    for (name, value) in change.as_object().unwrap() {
        match (&mut input[name], value) {
            (Value::Array(answers), Value::Object(values)) => {
                for (id, value) in values {
                    answers.retain(|given| given["questionId"] != *id);
                    let answer = json!({"questionId": id, "index": null, "value": value});
                    answers.extend(Some(answer).filter(|_| !value.is_null()));
                }
            }
            (below @ Value::Object(_), Value::Object(_)) => self::change(below, value),
            (field, value) => field.clone_from(value),
        }
    }
}

#[test]
fn the_findings_are_those_of_each_literal_body() {
    let questionnaire = Questionnaire::prepare(&questions());
    for row in rows(BODIES) {
        let file = row[0];
        let edit = row[1];
        let mut input = fixture("consignments/lpac1.json")["input"].take();
        change(&mut input, &serde_json::from_str(edit).unwrap());
        let context = Context::on(Day::new(2026, 11, 20).unwrap()).account_pic("QAZZ7777");
        // "Access denied" can have other causes, and the server's answer depends on the flags of the user.
        let is_denied = file == "not-accredited";
        let denied = is_denied.then(Accreditations::default);
        let context = denied.iter().fold(context, Context::accreditations);
        let report = if input["forms"] == json!(["LPAC1"]) {
            questionnaire.validate_json(&input, &context)
        } else {
            // Other forms have other questions, which are irrelevant here.
            validate_fields_json(&input, &context)
        };
        let body = fixture(&format!("errors/{file}.json"));
        let errors: Vec<ServerError> = serde_json::from_value(body["errors"].clone()).unwrap();
        let server = Report::from_server_errors(&errors);
        let comparison = compare(&report, &server);
        assert!(comparison.is_equal(), "{file}: {comparison}");
        // The two sides may differ in order.
        let mut ours = report.findings().to_vec();
        let mut theirs = server.findings().to_vec();
        ours.sort_by_key(|f| f.code.clone());
        theirs.sort_by_key(|f| f.code.clone());
        for (mirrored, said) in ours.iter().zip(&theirs) {
            assert_eq!(mirrored.message, said.message, "{file}");
            assert!(mirrored.rule == said.rule || is_denied, "{file}");
            assert_eq!(mirrored.description, said.description, "{file}");
            assert_eq!(mirrored.question, said.question, "{file}");
            // This body names the variable only in its message, without the unknown field.
            let is_unplaced = file == "schema-unknown-input-field";
            assert!(mirrored.path == said.path || is_unplaced, "{file}");
        }
    }
}

#[test]
fn each_literal_body_has_a_case_or_is_listed_as_out_of_reach() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/errors");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let all: BTreeSet<String> = files
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let cases = rows(BODIES).map(|row| row[0]);
    let listed: Vec<&str> = cases.chain(BEYOND.split_whitespace()).collect();
    assert_eq!(all, listed.iter().map(|file| (*file).to_owned()).collect());
    assert_eq!(all.len(), listed.len());
}
