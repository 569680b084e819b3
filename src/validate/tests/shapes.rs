//! Trees and inputs of any shape.

use std::fmt::Write;

use proptest::prelude::{
    BoxedStrategy, Just, Strategy, any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use serde_json::{Value, json};

use super::questions::{ask, found, input, prepare, today};
use crate::model::{ConsignmentInput, List, Question};
use crate::seeded::cases;
use crate::validate::{Questionnaire, Report};

#[test]
fn two_thousand_levels_do_not_overflow_the_stack() {
    let mut question: Question = serde_json::from_value(ask("2000", "STRING", &[], &[])).unwrap();
    for level in (0..2000).rev() {
        let mut parent: Question =
            serde_json::from_value(ask(&level.to_string(), "DISPLAY", &[], &[])).unwrap();
        parent.child_questions = List::from(vec![question]);
        question = parent;
    }
    let tree = Questionnaire::prepare(&[question]);
    assert_eq!(found(&tree, &[]), ["2000"]);
    assert_eq!(found(&tree, &[("2000", None, "x")]), [""; 0]);
}

#[test]
fn a_chain_of_triggers_listed_backwards_is_followed_to_its_end() {
    let chain: Vec<Value> = (0..2000)
        .rev()
        .map(|n| match n {
            0 => ask("0", "STRING", &[], &[]),
            _ => ask(
                &n.to_string(),
                "STRING",
                &[(&(n - 1).to_string(), "x")],
                &[],
            ),
        })
        .collect();
    let tree = prepare(&Value::Array(chain));
    let ids: Vec<String> = (0..1999).map(|n| n.to_string()).collect();
    let answers: Vec<_> = ids.iter().map(|id| (id.as_str(), None, "x")).collect();
    assert_eq!(found(&tree, &answers), ["1999"]);
}

#[test]
fn a_report_survives_a_round_trip() {
    let tree = prepare(&json!([
        ask("1", "STRING", &[], &[]),
        ask("2", "COLOUR", &[], &[])
    ]));
    let report = tree.validate(
        &input(&[("9", None, "x")]).movement("x", "y"),
        &today().advice(true),
    );
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&text).unwrap(), report);
}

pub(in crate::validate) fn text() -> BoxedStrategy<String> {
    prop_oneof![
        "[0-3]",
        ".{0,12}",
        "20[0-9]{2}(-[0-9]{2}){0,2}",
        Just("Yes".to_owned())
    ]
    .boxed()
}

pub(in crate::validate) fn tree() -> impl Strategy<Value = Value> {
    let node =
        |children: Vec<Value>,
         (id, kind, target, value, order): (u8, &str, u8, String, Option<i8>)| {
            json!({"id": id.to_string(), "type": kind, "forms": ["LPAC1"], "order": order,
            "triggers": if target < 6 { json!([{"questionId": target.to_string(), "value": value}]) } else { json!(null) },
            "validators": [{"type": "required"}, {"type": "maxYear", "parameter": value}],
            "acceptableAnswers": [{"value": value}], "childQuestions": children})
        };
    let kinds = prop::sample::select(vec![
        "REPEATABLE",
        "STRING",
        "SINGLE_CHOICE",
        "MULTIPLE_CHOICE",
        "DISPLAY",
        "?",
    ]);
    let parts = move || {
        (
            0..6_u8,
            kinds.clone(),
            0..12_u8,
            text(),
            any::<Option<i8>>(),
        )
    };
    let leaf = parts().prop_map(move |parts| node(Vec::new(), parts));
    let parts = (
        0..6_u8,
        prop::sample::select(vec!["REPEATABLE", "STRING", "DISPLAY"]),
        0..12_u8,
        text(),
        any::<Option<i8>>(),
    );
    leaf.prop_recursive(4, 24, 4, move |inner| {
        (prop::collection::vec(inner, 0..4), parts.clone())
            .prop_map(move |(children, parts)| node(children, parts))
    })
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn no_tree_and_no_input_panics(
        trees in prop::collection::vec(tree(), 0..4),
        answers in prop::collection::vec((0..8_u8, any::<Option<i8>>(), text()), 0..12),
        fields in prop::collection::vec(text(), 6),
    ) {
        let answers: Vec<Value> = answers
            .into_iter()
            .map(|(id, row, value)| json!({"questionId": id.to_string(), "index": row, "value": value}))
            .collect();
        let input: ConsignmentInput = serde_json::from_value(json!({
            "forms": ["LPAC1"], "origin": {"pic": fields[0], "name": null}, "movementDate": fields[1], "movementTime": fields[2],
            "declaration": {"email": fields[3], "phone": fields[4], "signature": fields[5], "date": fields[1]}, "answers": answers,
        })).unwrap();
        let tree = prepare(&Value::Array(trees));
        let report = tree.validate(&input, &today().advice(true));
        prop_assert_eq!(&report, &tree.clone().validate(&input, &today().advice(true)));
        let next = tree.next_questions(&input);
        let mut shown = String::new();
        for finding in report.findings() {
            write!(shown, "{finding}").unwrap();
            if finding.message == "Required" {
                prop_assert!(next.iter().any(|asked| Some(&asked.question) == finding.question.as_ref()));
            }
        }
    }
}
