//! The shared table: literal server bodies, and the findings of the validator for the same input.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{Accreditations, ConsignmentInput, Day, Question, QuestionList, ServerError};
use crate::validate::{Context, Finding, Questionnaire, Report, compare};

pub(super) fn fixture(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

pub(super) fn questions() -> Vec<Question> {
    let list: QuestionList =
        serde_json::from_value(fixture("questions.json")["data"]["questions"].clone()).unwrap();
    list.items.into_vec()
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

/// The server's message as the mirror has it: a quoted value is cut, and a signature is left out.
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
    // The table has the path of the body, and schema-level errors have none there.
    let end = finding
        .path
        .last()
        .filter(|_| finding.code != "INVALID_VALUE");
    let end = end.cloned().unwrap_or_default();
    [
        finding.severity.to_string(),
        finding.code.clone(),
        end,
        finding.message.clone(),
    ]
}

#[test]
fn each_invalid_consignment_has_exactly_the_findings_of_the_table() {
    let questionnaire = Questionnaire::prepare(&questions());
    let index = fixture("consignments/index.json");
    for case in index["invalid"].as_array().unwrap() {
        let file = case["file"].as_str().unwrap();
        let report = questionnaire.validate(&input(file), &context(case));
        let mut found: Vec<_> = report.findings().iter().map(|f| shown(f)).collect();
        let text = |finding: &Value, name: &str| finding[name].as_str().unwrap().to_owned();
        let mut wanted: Vec<_> = case["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| ["severity", "code", "path_ends_with", "message"].map(|name| text(f, name)))
            .map(|[severity, code, end, message]| {
                let message = cut(&message, &code);
                [severity, code, end, message]
            })
            .collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{file}");

        let body = fixture(case["response"].as_str().unwrap());
        let errors: Vec<ServerError> = serde_json::from_value(body["errors"].clone()).unwrap();
        let server = Report::from_server_errors(&errors);
        assert!(compare(&report, &server).is_equal(), "{file}");
        for said in server.findings() {
            // Several may have the same message, such as "Access denied".
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
    let index = fixture("consignments/index.json");
    let cases = index["valid"].as_array().unwrap();
    assert_eq!(cases.len(), 16);
    for case in cases {
        let file = case["file"].as_str().unwrap();
        let report = questionnaire.validate(&input(file), &context(case).advice(true));
        assert!(
            report.findings().is_empty(),
            "{file}: {:?}",
            report.findings()
        );
        assert!(report.ready_to_submit());
        assert!(report.unchecked().is_empty());
        assert!(report.advice().is_empty(), "{file}: {:?}", report.advice());
    }
}
