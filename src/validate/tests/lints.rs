//! What is odd about lists of questions.

use serde_json::{Value, json};

use super::questions::{ask, prepare};
use crate::validate::LintKind;

fn lints(questions: &Value) -> Vec<(LintKind, String)> {
    let tree = prepare(questions);
    let lints = tree.lints().iter();
    lints.map(|lint| (lint.kind, lint.to_string())).collect()
}

fn with(name: &str, value: Value) -> Value {
    let mut question = ask("1", "SINGLE_CHOICE", &[], &[]);
    question[name] = value;
    question
}

#[test]
fn each_oddity_is_named_and_its_neighbour_is_not() {
    let choices = json!([{"value": "Yes"}, {"value": "No"}]);
    let wants = |value: &str| {
        json!([
            with("acceptableAnswers", choices.clone()),
            ask("2", "STRING", &[("1", value)], &[])
        ])
    };
    assert_eq!(lints(&wants("No")), []);
    assert_eq!(
        lints(&wants("Maybe")),
        [(
            LintKind::ImpossibleTrigger,
            "question 2 has a trigger on an answer that is no choice: Maybe".to_owned()
        )]
    );
    let years = |min: &str, max: &str| {
        json!([with(
            "validators",
            json!([{"type": "minYear", "parameter": min}, {"type": "maxYear", "parameter": max}])
        )])
    };
    assert_eq!(lints(&years("2000", "2000")), []);
    assert_eq!(
        lints(&years("2001", "2000"))[0].0,
        LintKind::UnsatisfiableYears
    );
    assert_eq!(
        lints(&years("soon", "2000"))[0].0,
        LintKind::UnreadableParameter
    );
    let forms = |first: &str, second: &str| {
        json!([
            with("forms", json!([first])),
            with("forms", json!([second]))
        ])
    };
    assert_eq!(lints(&forms("LPAC1", "LPASL1")), []);
    assert_eq!(lints(&forms("LPAC1", "LPAC1"))[0].0, LintKind::DuplicateId);
    assert_eq!(lints(&forms("LPAX9", "LPAX9"))[0].0, LintKind::DuplicateId);
    assert_eq!(
        lints(&json!([with("type", json!("COLOUR"))]))[0].0,
        LintKind::UnknownType
    );
    assert_eq!(
        lints(&json!([with("validators", json!([{"type": "maxLength"}]))]))[0].0,
        LintKind::UnknownValidator
    );
    assert_eq!(
        lints(&json!([with("id", json!(null))]))[0].0,
        LintKind::NoId
    );
    assert_eq!(
        lints(&json!([with("triggers", json!([{"value": "x"}]))]))[0].0,
        LintKind::UnknownTriggerTarget
    );
}
