//! Generates question trees of any shape, and very deep ones.

use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop, prop_oneof};
use serde_json::{Value, json};

use super::questions::{ask, input, list, today};
use crate::model::{AnswerInput, ConsignmentInput, Question};
use crate::validate::{Questionnaire, Rule};

/// Passes a chain of nested questions to `then`.
pub(super) fn nested<T>(levels: usize, outermost: &str, then: impl FnOnce(&[Question]) -> T) -> T {
    let mut questions: Vec<Question> = Vec::new();
    for level in (0..levels).rev() {
        let kind = if level == 0 { outermost } else { "STRING" };
        let mut question: Question =
            serde_json::from_value(ask(&level.to_string(), kind, &[], &[])).unwrap();
        question.child_questions = questions;
        questions = vec![question];
    }
    let made = then(&questions);
    // Taken apart here, because the destructor of nested questions is recursive.
    while let Some(mut question) = questions.pop() {
        questions.extend(std::mem::take(&mut question.child_questions));
    }
    made
}

/// Answers to these questions, in a row or outside rows.
pub(super) fn answered(questions: std::ops::Range<usize>, row: Option<i64>) -> ConsignmentInput {
    let answers = questions.map(|n| {
        let answer = AnswerInput::new(n.to_string(), "x");
        row.map_or(answer.clone(), |row| answer.row(row))
    });
    let mut input = input("");
    input.answers = answers.collect::<Vec<_>>().into();
    input
}

#[test]
fn more_levels_than_recursion_follows_are_refused() {
    let judge = |levels: usize| {
        let list = nested(levels, "STRING", Questionnaire::prepare);
        let report = list.validate(&answered(0..levels, None), &today());
        let rules: Vec<Rule> = report.findings().iter().map(|f| f.rule).collect();
        (rules, list.form(&answered(0..levels, None), &today()))
    };
    let (rules, mut form) = judge(64);
    assert_eq!(rules, []);
    let items = form.items();
    let levels = std::iter::successors(items.first(), |item| item.children.first());
    assert_eq!(levels.count(), 64);
    assert_eq!(form.answer("0", None).unwrap().vanished.len(), 63);
    assert!(serde_json::to_string(&form.items()).is_ok());
    for levels in [65, 20_000] {
        let (rules, form) = judge(levels);
        assert_eq!(rules, [Rule::Size]);
        assert!(form.items().is_empty() && form.to_input().answers().len() == levels);
    }
}

#[test]
fn a_chain_of_triggers_listed_backwards_is_followed_to_its_end() {
    let chain = (1..2_000).rev().map(|n| format!("{n} ?{}=x; ", n - 1));
    let report =
        list(&(chain.collect::<String>() + "0")).validate(&answered(0..1_999, None), &today());
    let found: Vec<_> = report.findings().iter().map(|f| f.code.as_str()).collect();
    assert_eq!(found, ["answers.1999"]);
}

pub(in crate::validate) fn text() -> BoxedStrategy<String> {
    let day = "20[0-9]{2}(-[0-9]{2}){0,2}";
    prop_oneof!["[0-3]", ".{0,12}", day, Just("Yes".to_owned())].boxed()
}

pub(in crate::validate) fn trees() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(tree(), 0..5)
}

/// Fewer than `most` answers to questions of such trees, in rows or outside.
pub(in crate::validate) fn answers(most: usize) -> impl Strategy<Value = Vec<Value>> {
    let answer = (0..7_u8, prop::option::of(0..3_i64), text()).prop_map(
        |(id, row, value)| json!({"questionId": id.to_string(), "index": row, "value": value}),
    );
    prop::collection::vec(answer, 0..most)
}

pub(in crate::validate) fn input_of(answers: &[Value]) -> ConsignmentInput {
    let mut input = input("");
    input.answers = serde_json::from_value(json!(answers)).unwrap();
    input
}

fn tree() -> impl Strategy<Value = Value> {
    let node =
        |children: Vec<Value>,
         (id, kind, target, value, order): (u8, &str, u8, String, Option<i8>)| {
            json!({"id": id.to_string(), "type": kind, "forms": ["LPAC1"], "order": order,
            "triggers": if target < 6 { json!([{"questionId": target.to_string(), "value": value}]) } else { json!(null) },
            "validators": [{"type": "required"}, {"type": "maxYear", "parameter": value}],
            "acceptableAnswers": [{"value": value}], "childQuestions": children})
        };
    let parts = |kinds: &'static str| {
        let kinds = prop::sample::select(kinds.split(' ').collect::<Vec<_>>());
        (0..6_u8, kinds, 0..12_u8, text(), any::<Option<i8>>())
    };
    let leaf = parts("REPEATABLE STRING SINGLE_CHOICE MULTIPLE_CHOICE DISPLAY ?");
    let leaf = leaf.prop_map(move |parts| node(Vec::new(), parts));
    let parts = parts("REPEATABLE STRING DISPLAY");
    leaf.prop_recursive(4, 24, 4, move |inner| {
        (prop::collection::vec(inner, 0..4), parts.clone())
            .prop_map(move |(children, parts)| node(children, parts))
    })
}
