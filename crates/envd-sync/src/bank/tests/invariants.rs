//! Invariants of moved forms, for random drafts and pairs of lists.

use proptest::prelude::{Strategy, prop, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::sample::{bank, on};
use crate::bank::MovedForm;
use envd_sdk::model::{AnswerInput, FormType};
use envd_sdk::validate::{Change, Explanation, ItemRow, Questionnaire};
use test_support::seeded::cases;

/// Uses few ids and values, so that questions, triggers and answers meet, and several questions share an id.
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
    fn nothing_is_lost_and_nothing_new_is_sent_without_being_reported(
        lists in (questions(), questions()),
        answers in answers(),
        is_closed in prop::bool::ANY,
        row in 0..4_i64,
    ) {
        let before = bank(&lists.0);
        let after = bank(&lists.1);
        let before = before.questionnaire();
        let after = after.questionnaire();
        let context = on(if is_closed { "2024-11-19" } else { "2024-11-18" });
        let mut input = super::sample::input(FormType::Lpag2);
        input.answers = answers.clone().into();
        let mut form = before.form(&input, &context);
        // Add a row to a section, if there is one, and leave a question open.
        let _ = form.add_row(row.to_string().as_str());
        let _ = form.skip("3");
        let moved = MovedForm::new(before, &form, after);

        // Only answers that the older list knows and the newer one does not leave the draft.
        let saved = moved.form.save();
        let (draft, explain) = (saved.input(), |answer: &AnswerInput, list: &Questionnaire, input| {
            let id = answer.question_id.value().unwrap().as_str();
            list.explain(id, answer.index.value().copied(), input)
        });
        let is_kept = |answer: &&AnswerInput| {
            explain(answer, after, draft) != Explanation::Unknown || explain(answer, before, &input) == Explanation::Unknown
        };
        let kept: Vec<AnswerInput> = answers.iter().filter(is_kept).cloned().collect();
        prop_assert_eq!(draft.answers(), &kept);

        // An answer to a question that applied still applies, or is reported as dropped.
        let mut dropped = moved.dropped.iter();
        for answer in answers.iter().filter(|answer| explain(answer, before, &input) == Explanation::Applies) {
            let is = explain(answer, after, draft);
            if is != Explanation::Applies {
                let reported = dropped.next().map(|it| (&it.answer, &it.because));
                prop_assert_eq!(reported, Some((answer, &is)));
            }
        }
        prop_assert!(dropped.next().is_none());
        // An answer that applies only now belongs to a question that is reported as appeared.
        for answer in &kept {
            let is_new = explain(answer, before, &input) != Explanation::Applies;
            if is_new && explain(answer, after, draft) == Explanation::Applies {
                let id = answer.question_id.value().unwrap();
                prop_assert!(moved.change.appeared.iter().any(|question| question.id == *id));
            }
        }

        // If both lists have a section, its rows are in both.
        let shown = form.items();
        let shown_after = moved.form.items();
        for section in &shown {
            let mut same = shown_after.iter().filter(|other| other.question == section.question && other.kind == section.kind);
            let has = |row: &ItemRow| same.clone().any(|other| other.rows.iter().any(|kept| kept.index == row.index));
            let is_kept = section.rows.iter().all(has);
            prop_assert!(is_kept || same.next().is_none(), "{:?}", section.question);
        }
        prop_assert_eq!(draft.forms == [FormType::Lpag3], is_closed);

        // Moving again to the same list changes nothing.
        let again = MovedForm::new(after, &moved.form, after);
        prop_assert_eq!(again.form.save(), saved);
        prop_assert!(again.dropped.is_empty() && again.reworded.is_empty() && again.change == Change::default());
    }
}
