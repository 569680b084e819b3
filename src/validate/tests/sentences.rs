//! Findings in words: a sentence for each rule, a label for each field, other languages.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::questions::{ask, prepare, today};
use super::{assert_has_each_rule, name, server_errors};
use crate::model::Accreditations;
use crate::validate::draft::input_paths;
use crate::validate::{Context, Expected, Finding, Report, Rule, Sentences};

/// A list of questions with a rule of each kind, and with rows.
pub(super) fn list() -> Value {
    let mut head = ask("3", "NUMBER", &[], &[]);
    head["text"] = json!("Number of head");
    head["help"] = json!("Count all of them.");
    head["tip"] = json!("Calves count too.");
    head["validators"] =
        json!([{"type": "required", "parameter": "", "errorMessage": "Please count."}]);
    let choice = json!({"id": "4", "type": "SINGLE_CHOICE", "forms": ["LPAC1"], "text": "Dentition",
        "acceptableAnswers": [{"value": "2", "displayName": "0-2"}, {"value": "4", "displayName": "0-4"}]});
    let born = json!({"id": "5", "type": "DATE", "forms": ["LPAC1"], "text": "Born", "validators": [
        {"type": "minYear", "parameter": "2000", "errorMessage": "Too old."},
        {"type": "maxYear", "parameter": "now", "errorMessage": "Not born yet."}]});
    let child = ask("6", "STRING", &[("5", "never")], &[]);
    json!([ask("1", "REPEATABLE", &[], &[head]), choice, born, child])
}

/// A valid consignment, edited at some JSON pointers.
pub(super) fn consignment(edits: &[(&str, Value)]) -> Value {
    let mut input = json!({"forms": ["LPAC1"], "origin": {"pic": "QAZZ7777", "address": {}},
        "destination": {"pic": "QDZZ3333"}, "owner": {}, "declaration": {"address": {}},
        "answers": [{"questionId": "3", "index": 0, "value": "12"}]});
    for (pointer, value) in edits {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        match input.pointer_mut(parent).unwrap() {
            Value::Array(items) => items.push(value.clone()),
            parent => parent[name] = value.clone(),
        }
    }
    input
}

/// A user with some accreditations; advice is on.
pub(super) fn context() -> Context {
    let user = Accreditations {
        lpa: Some(true),
        nfas: Some(false),
        ..Accreditations::default()
    };
    let context = today().account_pic("QAZZ7777").accreditations(&user);
    context.advice(true)
}

pub(super) fn report(edits: &[(&str, Value)]) -> Report {
    prepare(&list()).validate_json(&consignment(edits), &context())
}

/// Edits of a consignment, each with the resulting sentence; together they cover all rules of the validator.
pub(super) fn cases() -> Vec<(Vec<(String, Value)>, String)> {
    serde_json::from_str(include_str!("sentences.json")).unwrap()
}

pub(super) fn sentences(edits: &[(&str, Value)]) -> Vec<String> {
    let report = report(edits);
    let judged = report.findings().iter().chain(report.not_judged());
    let all = judged.chain(report.advice());
    all.map(|finding| finding.sentence()).collect()
}

pub(super) fn answer(id: &str, value: &str) -> (&'static str, Value) {
    let row = if id == "3" { json!(1) } else { Value::Null };
    let answer = json!({"questionId": id, "index": row, "value": value});
    ("/answers/-", answer)
}

#[test]
fn each_rule_has_a_sentence_with_the_problem_and_the_fix() {
    let cases = cases();
    let mut rules = BTreeSet::new();
    for (edits, said) in &cases {
        let edits: Vec<_> = edits
            .iter()
            .map(|(at, value)| (at.as_str(), value.clone()))
            .collect();
        let found = sentences(&edits);
        assert!(found.contains(said), "{said}\n{found:#?}");
        let report = report(&edits);
        let judged = report.findings().iter().chain(report.not_judged());
        let mut all = judged.chain(report.advice());
        let shown = all.find(|finding| finding.sentence() == *said);
        rules.extend(shown.map(|finding| name(finding.rule)));
    }
    // No consignment of a few edits is too large, and only the server has other rules.
    rules.extend([Rule::Size, Rule::Other].map(name));
    assert_has_each_rule(&rules, "case in sentences.json");
}

/// Whether a text has words that only programmers understand.
fn is_technical(text: &str) -> bool {
    let camel = |word: &str| {
        word.as_bytes()
            .windows(2)
            .any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase())
    };
    let dotted = |word: &str| word.trim_end_matches('.').contains('.') && !word.contains('@');
    let is_name = |word| {
        "String Boolean Int null enum regex Variable Input"
            .split(' ')
            .any(|it| it == word)
    };
    let mut words = text.split_whitespace();
    text.contains(['^', '$', '[', ']', '{', '}', '\\', '#', '_', '\''])
        || words.any(|word| camel(word) || dotted(word) || is_name(word))
        || text.contains("  ")
        || text.contains(" .")
}

fn years(from: Option<i32>, to: Option<i32>) -> Expected {
    let until = None;
    Expected::Years { from, to, until }
}

#[test]
fn no_sentence_of_any_rule_at_any_field_is_technical() {
    let rules = Sentences::english().filter_map(|(key, _)| key.strip_prefix("rule."));
    let names = rules.map(|key| key.split('.').next().unwrap().to_owned());
    let names: BTreeSet<String> = names.collect();
    assert_has_each_rule(&names, "sentence in english.txt");
    let value = "2026-02-28".to_owned();
    let expectations = [
        None,
        Some(Expected::one_of(["a", "b"])),
        Some(Expected::Characters { at_most: 7 }),
        Some(years(Some(2000), Some(2040))),
        Some(Expected::Corrected { value }),
    ];
    for name in names {
        let rule: Rule = serde_json::from_value(json!(name)).unwrap();
        for (nth, path) in input_paths().iter().enumerate() {
            // Expectations do not depend on the field, so one field tests them all.
            let count = if nth == 0 { expectations.len() } else { 1 };
            for expected in &expectations[..count] {
                let mut finding = Finding::field(rule, path.join("."), "").of_value("x");
                finding.expected.clone_from(expected);
                let said = [finding.clone().sentence(), finding.advice().sentence()];
                for said in said {
                    assert!(!is_technical(&said) && said.ends_with('.'), "{said}");
                }
            }
        }
    }
}

#[test]
fn no_sentence_about_a_real_consignment_is_technical() {
    use super::bodies::{cases, input, questions};
    let questionnaire = crate::validate::Questionnaire::prepare(&questions());
    for case in cases("invalid") {
        let report = questionnaire.validate(&input(case["file"].as_str().unwrap()), &today());
        for finding in report.findings().iter().chain(report.not_judged()) {
            let sentence = finding.sentence();
            let value = finding.value.as_ref();
            let is_own = value.is_some_and(|value| is_technical(value));
            assert!(is_own || !is_technical(&sentence), "{sentence}");
            assert!(!finding.label().is_empty());
            // The same finding from the server, without the validator's extra data.
            for finding in Report::from_server_errors(&server_errors(&report)).findings() {
                assert!(!is_technical(&finding.sentence()), "{}", finding.sentence());
            }
        }
    }
}

#[test]
fn each_field_of_the_input_has_a_label() {
    let sentences = Sentences::default();
    let paths = input_paths();
    assert!(paths.len() > 50, "{}", paths.len());
    let labels = paths.iter().map(|path| sentences.field_label(path));
    let labels: BTreeSet<String> = labels.collect();
    assert_eq!(labels.len(), paths.len());
    assert!(labels.iter().all(|label| !label.starts_with('“')));
    assert_eq!(sentences.field_label(&["origin", "pic"]), "PIC of origin");
    assert_eq!(sentences.field_label(&[""; 0]), "The consignment");
}

#[test]
fn expectations_are_shown_in_words() {
    let sixteen = "one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16";
    let created = |before| {
        let from = today().today.into();
        Expected::Created { from, before }
    };
    let next = today().today.plus_days(1);
    for (expected, words) in [
        (years(Some(2000), Some(2040)), "a date from 2000 to 2040"),
        (years(None, Some(2040)), "a date in 2040 or earlier"),
        (years(None, None), "a date"),
        (Expected::one_of(["Yes"]), "Yes"),
        (Expected::one_of(1..=16), sixteen),
        (Expected::one_of(1..=17), "one of the 17 choices"),
        (created(None), "on or after 2026-11-20"),
        (created(next), "from 2026-11-20 and before 2026-11-21"),
    ] {
        assert_eq!(expected.to_string(), words);
    }
}

#[test]
fn another_language_replaces_what_it_has_and_values_are_never_read_as_texts() {
    let required = ("rule.required", "{label} fehlt{unknown}.");
    let own = [required, ("label.question", "{text}")];
    let own: Sentences = own.into_iter().collect();
    let report = report(&[answer("3", ""), answer("4", "{label}\n")]);
    let said: Vec<String> = report.findings().iter().map(|f| own.sentence(f)).collect();
    let missing = "Number of head in row 2 fehlt.";
    let wrong = "Dentition cannot be {label}\\n. Choose one of 0-2, 0-4.";
    assert_eq!(said, [missing, wrong]);
    let english: Sentences = Sentences::english().collect();
    assert_eq!(english.missing().next(), None);
    assert_eq!(own.missing().count(), Sentences::english().count() - 2);
}
