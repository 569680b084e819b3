//! Properties that hold for every list of questions and every consignment.

use proptest::prelude::{Strategy, any, prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::questions::{applicable, open, prepare, prepare_with, today};
use super::shapes::{answers as answers_below, input_of as input, trees};
use crate::model::AnswerInput;
use crate::validate::{Explanation, Finding, Item, QuestionRef, Questionnaire, Report, Rule};
use test_support::seeded::cases;

fn answers() -> impl Strategy<Value = Vec<Value>> {
    answers_below(12)
}

/// Findings in a fixed order.
fn said(report: &Report) -> Vec<String> {
    let line = |f: &Finding| format!("{} {} {} {:?}", f.severity, f.code, f.message, f.path);
    let mut said: Vec<String> = report.findings().iter().map(|f| line(f)).collect();
    said.sort();
    said
}

fn judge(questionnaire: &Questionnaire, answers: &[Value]) -> Vec<String> {
    said(&questionnaire.validate(&input(answers), &today()))
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn the_order_of_questions_and_of_answers_does_not_matter(
        trees in trees(),
        answers in answers().prop_shuffle(),
        seed in any::<u64>(),
    ) {
        let before = judge(&prepare(&json!(trees)), &answers);
        let mut turned = trees.clone();
        turned.reverse();
        prop_assert_eq!(&before, &judge(&prepare(&json!(turned)), &answers));
        let mut mixed = answers.clone();
        let by = usize::try_from(seed % 12).unwrap() % mixed.len().max(1);
        mixed.rotate_left(by);
        mixed.reverse();
        prop_assert_eq!(&before, &judge(&prepare(&json!(trees)), &mixed));
    }

    #[test]
    fn an_answer_without_a_question_changes_nothing(trees in trees(), mut answers in answers()) {
        let tree = prepare(&json!(trees));
        let before = judge(&tree, &answers);
        answers.push(json!({"questionId": "nobody", "index": 1, "value": "x"}));
        prop_assert_eq!(before, judge(&tree, &answers));
    }

    #[test]
    fn an_acceptable_answer_removes_the_finding_that_one_is_required(trees in trees(), answers in answers()) {
        let tree = prepare(&json!(trees));
        let input = input(&answers);
        let report = tree.validate(&input, &today());
        let Some(missing) = report.findings().iter().find(|f| f.rule == Rule::Required) else {
            return Ok(());
        };
        let question = missing.question.clone().unwrap();
        let items = tree.form(&input, &today()).items();
        let mut all = items.iter().flat_map(Item::descendants);
        let asked = all.find(|item| item.question == question).unwrap();
        let choice = asked.choices.iter().find(|choice| !choice.value.is_empty());
        let value = choice.map_or("some text", |choice| choice.value.as_str());
        let answer = AnswerInput::new(question.id.as_str(), value);
        let answer = match question.row {
            Some(row) => answer.row(row),
            None => answer,
        };
        let report = tree.validate(&input.answer(answer), &today());
        prop_assert!(!report.findings().contains(missing));
    }

    #[test]
    fn pruning_again_removes_nothing_and_leaves_the_report(trees in trees(),
        stale in any::<bool>(), answers in answers()) {
        let tree = prepare_with(&json!(trees), stale);
        let mut input = input(&answers);
        let before = tree.validate(&input, &today());
        let count = input.answers().len();
        let gone = tree.prune(&mut input);
        prop_assert_eq!(input.answers().len() + gone.len(), count);
        prop_assert_eq!(&before, &tree.validate(&input, &today()));
        prop_assert!(tree.prune(&mut input).is_empty());
    }

    #[test]
    fn explain_says_applies_exactly_for_what_is_applicable(trees in trees(), answers in answers()) {
        let tree = prepare(&json!(trees));
        let input = input(&answers);
        let applied = applicable(&tree, &input);
        for id in 0..7_u8 {
            for row in [None, Some(0), Some(1), Some(2), Some(9)] {
                let explained = tree.explain(&id.to_string(), row, &input);
                let here = |asked: &QuestionRef| asked.id.as_str() == id.to_string() && asked.row == row;
                // Outside rows, the index is ignored.
                let outside = |asked: &QuestionRef| asked.id.as_str() == id.to_string() && asked.row.is_none();
                let applies = explained == Explanation::Applies;
                if applied.iter().any(here) {
                    prop_assert!(applies);
                } else if !applied.iter().any(outside) {
                    prop_assert!(!applies);
                }
                prop_assert!(!explained.to_string().is_empty());
            }
        }
    }

    #[test]
    fn required_questions_are_open_until_answered_and_counted(trees in trees(), answers in answers()) {
        let tree = prepare(&json!(trees));
        let input = input(&answers);
        let form = tree.form(&input, &today());
        let items = form.items();
        let next = open(&items);
        let report = tree.validate(&input, &today());
        let missing: Vec<_> = report.findings().iter().filter(|f| f.rule == Rule::Required).collect();
        for finding in &missing {
            prop_assert!(next.iter().any(|asked| Some(&asked.question) == finding.question.as_ref() && asked.required));
        }
        let progress = form.progress();
        prop_assert_eq!(progress.required - progress.required_answered, missing.len());
        prop_assert!(progress.answered <= progress.questions && progress.required <= progress.questions);
    }

    #[test]
    fn questions_behave_the_same_under_a_parent_that_triggers_them(trees in trees(), mut answers in answers()) {
        let before = judge(&prepare(&json!(trees)), &answers);
        let mut inner = trees;
        for question in &mut inner {
            let trigger = json!({"questionId": "parent", "value": "on"});
            match question["triggers"].as_array_mut() {
                Some(triggers) => triggers.push(trigger),
                None => question["triggers"] = json!([trigger]),
            }
        }
        let wrapped = prepare(&json!([{"id": "parent", "type": "STRING", "forms": ["LPAC1"], "childQuestions": inner}]));
        answers.push(json!({"questionId": "parent", "index": null, "value": "on"}));
        prop_assert_eq!(&before, &judge(&wrapped, &answers));
        answers.pop();
        prop_assert!(judge(&wrapped, &answers).is_empty());
    }
}
