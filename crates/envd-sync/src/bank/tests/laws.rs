//! What must hold for every draft and every two lists.

use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::sample::{bank, on};
use crate::bank::AnswerOutcome;
use envd_sdk::model::{AnswerInput, FormType};
use envd_sdk::validate::{Blocker, Explanation, Finding, ItemRow, Rule};
use equipment::seeded::cases;

/// Few ids and values, so that questions, triggers and answers meet, and ids stand for several questions.
fn questions() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec![
        "REPEATABLE",
        "STRING",
        "SINGLE_CHOICE",
        "DISPLAY",
        "?",
    ]);
    let forms = prop::sample::select(vec![
        json!(["LPAG2"]),
        json!(["LPAG3"]),
        json!(["LPAG2", "LPAG3"]),
    ]);
    let parts = move || {
        (
            0..6_u8,
            kinds.clone(),
            forms.clone(),
            0..12_u8,
            0..3_u8,
            0..2_u8,
        )
    };
    let node = |(id, kind, forms, source, value, required): (u8, &str, Value, u8, u8, u8),
                below: Value| {
        json!({"id": id.to_string(), "type": kind, "forms": forms, "text": format!("Text {}", id % 2),
            "triggers": if source < 6 { json!([{"questionId": source.to_string(), "value": value.to_string()}]) } else { json!(null) },
            "validators": if required == 1 { json!([{"type": "required"}]) } else { json!([]) },
            "acceptableAnswers": [{"value": value.to_string()}, {"value": "1"}], "childQuestions": below})
    };
    let leaf = parts().prop_map(move |parts| node(parts, json!([])));
    let tree = leaf.prop_recursive(3, 16, 4, move |inner| {
        let below = prop::collection::vec(inner, 0..4);
        (parts(), below).prop_map(move |(parts, below)| node(parts, json!(below)))
    });
    prop::collection::vec(tree, 1..6).prop_map(|trees| json!(trees))
}

fn answers() -> impl Strategy<Value = Vec<AnswerInput>> {
    let answer = (0..8_u8, prop::option::of(0..3_i64), 0..4_u8);
    let answer = answer.prop_map(|(id, row, value)| {
        let value = if value == 3 {
            String::new()
        } else {
            value.to_string()
        };
        super::sample::answer(&id.to_string(), row, &value)
    });
    prop::collection::vec(answer, 0..12)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn nothing_is_lost_and_nothing_new_is_wrong_without_being_told(
        lists in (questions(), questions()),
        answers in answers(),
        is_closed in prop::bool::ANY,
        row in 0..4_i64,
    ) {
        let (before, after) = (bank(&lists.0), bank(&lists.1));
        let context = on(if is_closed { "2024-11-19" } else { "2024-11-18" });
        let mut input = super::sample::input(FormType::Lpag2);
        input.answers = answers.clone().into();
        let mut form = before.questionnaire().form(&input, &context);
        // A row of whatever section there is, and a question that is left open.
        let _ = form.add_row(row.to_string().as_str());
        let _ = form.skip("3");
        let draft = form.save();
        let plan = before.plan(&draft, &after, &context).unwrap();
        let moved = plan.accept(&draft).unwrap();

        let planned: Vec<AnswerInput> = plan.answers().iter().map(|one| one.answer.clone()).collect();
        prop_assert_eq!(&planned, &answers);
        let kept = plan.answers().iter().filter(|one| !matches!(one.outcome, AnswerOutcome::Dropped(_)));
        let kept: Vec<AnswerInput> = kept.map(|one| one.answer.clone()).collect();
        prop_assert_eq!(moved.input().answers(), &kept);

        let opened = after.questionnaire().open(moved.clone(), &context).unwrap();
        let explain = |bank: &crate::bank::Bank, answer: &AnswerInput, input| {
            let id = answer.question_id.value().unwrap().as_str();
            bank.questionnaire().explain(id, answer.index.value().copied(), input)
        };
        for sent in opened.to_input().answers() {
            let is_known = explain(&after, sent, moved.input()) != Explanation::Unknown;
            prop_assert!(is_known || explain(&before, sent, draft.input()) == Explanation::Unknown);
        }

        // A row of a section that both have is there in both.
        let (shown, shown_after) = (form.items(), opened.items());
        for section in &shown {
            let mut same = shown_after.iter().filter(|other| other.question == section.question && other.kind == section.kind);
            let has = |row: &ItemRow| same.clone().any(|other| other.rows.iter().any(|kept| kept.index == row.index));
            let is_kept = section.rows.iter().all(has);
            prop_assert!(is_kept || same.next().is_none(), "{:?}", section.question);
        }

        // Each thing that is wrong was wrong before, or is in the plan.
        let required = plan.required().iter().filter_map(|blocker| match blocker {
            Blocker::Finding(finding) => Some(finding),
            _ => None,
        });
        let refused = plan.answers().iter().flat_map(|one| match &one.outcome {
            AnswerOutcome::NotAcceptable(findings) => findings.as_slice(),
            _ => &[],
        });
        let told: Vec<_> = required.chain(refused).chain(plan.findings()).collect();
        let is_same = |one: &Finding, other: &Finding| (one.rule, &one.path) == (other.rule, &other.path);
        for wrong in opened.report().findings() {
            let was = form.report().findings().iter().any(|finding| is_same(finding, wrong));
            prop_assert!(was || told.contains(&wrong), "{wrong:?}");
        }
        let is_open = opened.report().findings().iter().all(|finding| finding.rule != Rule::FormOpen);
        prop_assert!(is_open && (plan.forms() == [FormType::Lpag3]) == is_closed);

        // To where it is already, nothing happens.
        let again = after.plan(&moved, &after, &context).unwrap();
        prop_assert!(!again.is_needed() && again.dropped().next().is_none() && again.required().is_empty());
        prop_assert_eq!(again.accept(&moved).unwrap(), moved);
    }
}
