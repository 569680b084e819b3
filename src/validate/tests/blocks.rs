//! The step that each finding blocks, compared with the table in the documentation.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::assert_has_each_rule;
use super::questions::{list as small, prepare, today};
use super::sentences::{cases, consignment, context, list};
use crate::model::{ConsignmentInput, ServerError};
use crate::validate::{Blocker, Finding, Report, Rule};

/// One line for each rule in the table: who reports it, the blocked step, the rule.
fn documented() -> BTreeSet<String> {
    let rows = include_str!("../rules.md").lines().skip(2);
    let mut lines = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [finding, blocks, rules] = cells[..] else {
            panic!("{row}")
        };
        for rule in rules.split(", ") {
            let rule = rule.trim_matches('`');
            let is_new = lines.insert(format!("{finding} | {blocks} | {rule}"));
            assert!(is_new, "{rule} stands twice");
        }
    }
    lines
}

/// The rules of the table, by their names in JSON.
fn documented_rules() -> BTreeSet<String> {
    let lines = documented();
    let names = lines.iter().filter_map(|line| line.rsplit(' ').next());
    let lower = |name: &str| name[..1].to_lowercase() + &name[1..];
    names.map(lower).collect()
}

/// Adds such a line for each finding. `submitting` are the findings that a screen lists as blocking submission.
fn observe(report: &Report, submitting: &[Arc<Finding>], lines: &mut BTreeSet<String>) {
    let mut is_blocked = false;
    for finding in report.findings().iter().chain(report.advice()) {
        let creating = report.create_blockers().any(|it| *it == **finding);
        let blocks = match submitting.contains(finding) {
            true if creating => "creating and submitting",
            true => "submitting",
            false => "nothing",
        };
        assert!(!creating || submitting.contains(finding), "{finding}");
        is_blocked |= blocks != "nothing";
        let is_devices = finding.question.as_ref().is_some_and(|it| it.id == "185");
        let who = match finding.rule {
            Rule::Required if is_devices => ", question 185",
            Rule::Other if blocks == "nothing" => " of the server",
            _ => "",
        };
        let severity = finding.severity;
        let rule = finding.rule;
        lines.insert(format!("{severity}{who} | {blocks} | {rule:?}"));
        if blocks == "nothing" {
            let said = finding.sentence();
            let forbids = ["cannot", "must", " is not a ", " is not accepted by "];
            assert!(!forbids.iter().any(|words| said.contains(words)), "{said}");
        }
    }
    assert_eq!(report.ready_to_submit(), !is_blocked, "{report}");
}

#[test]
fn each_rule_blocks_what_the_documentation_says() {
    let mut observed = BTreeSet::new();
    let questionnaire = prepare(&list());
    for (edits, _) in cases() {
        let edits: Vec<(&str, Value)> = edits
            .iter()
            .map(|(at, value)| (at.as_str(), value.clone()))
            .collect();
        let json = consignment(&edits);
        let report = questionnaire.validate_json(&json, &context());
        let input = serde_json::from_value::<ConsignmentInput>(json);
        let form = input.map(|input| questionnaire.form(&input, &context()));
        let form = form
            .ok()
            .filter(|form| form.report().findings() == report.findings());
        let Some(form) = form else {
            // An input that cannot be read has no form.
            observe(&report, report.findings(), &mut observed);
            continue;
        };
        let blockers = form.blockers().into_iter();
        let submitting: Vec<_> = blockers
            .filter_map(|blocker| match blocker {
                Blocker::Finding(finding) => Some(finding),
                _ => None,
            })
            .collect();
        observe(&report, &submitting, &mut observed);
    }
    // Beyond the limits of the validator.
    let many: Vec<String> = (0..2_000).map(|id| id.to_string()).collect();
    let many = small(&format!("9000 REPEATABLE {{ {} }}", many.join("; ")));
    let answers = (0..2_000).map(|row| json!({"questionId": "0", "index": row, "value": "x"}));
    let mut input = consignment(&[]);
    input["answers"] = Value::Array(answers.collect());
    let report = many.validate_json(&input, &today());
    observe(&report, report.findings(), &mut observed);
    // Findings that only the server has.
    let unknown_form = json!({"message": "Unable to convert 'LPAC9' to 'EFormType'",
        "extensions": {"code": "INVALID_VALUE", "codes": ["INVALID_VALUE"], "number": "5.8"}});
    let refusal = json!({"message": "The moon is full"});
    let notice = json!({"message": "The moon is full", "extensions": {"data": {"OutcomeStatus": "Warning"}}});
    for (error, is_blocked) in [(unknown_form, true), (refusal, true), (notice, false)] {
        let report = Report::from_server_errors(&[ServerError::from_value(error)]);
        let submitting = if is_blocked { report.findings() } else { &[] };
        observe(&report, submitting, &mut observed);
    }
    assert_has_each_rule(&documented_rules(), "row in rules.md");
    assert_eq!(documented(), observed);
}

#[test]
fn an_impossible_answer_blocks_submitting_until_it_is_corrected() {
    let list = small("1 optional >=2000 <=now");
    let mut form = list.form(&super::questions::input("1=2"), &today());
    let said = "Question 1 cannot be 2. Enter a date in 2000 or later, not after 2026-11-20.";
    assert_eq!(form.blockers()[0].to_string(), said);
    let report = form.report();
    assert!(report.is_valid() && report.can_create() && !report.ready_to_submit());
    form.answer("1", "2020").unwrap();
    assert!(form.blockers().is_empty() && form.report().ready_to_submit());
}
