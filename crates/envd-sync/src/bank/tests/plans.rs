//! What plans say, by the pairs of lists that they are made from.

use serde_json::{Value, json};

use super::sample::{TODAY, answer, bank, cattle, draft, input, newer, on};
use crate::bank::{AnswerOutcome, Plan};
use envd_sdk::model::{AnswerInput, FormType};
use envd_sdk::validate::{Blocker, Explanation, Form, Operation, Rule, SavedForm};

/// The plan of a draft with these answers, from one list to the other.
fn plan(before: &Value, answers: &[AnswerInput], after: &Value) -> (Plan, SavedForm) {
    let (before, after) = (bank(before), bank(after));
    let mut input = input(FormType::Lpac1);
    input.answers = answers.to_vec().into();
    let draft = draft(&before, &input);
    let plan = before.plan(&draft, &after, &on(TODAY)).unwrap();
    let moved = plan.accept(&draft).unwrap();
    assert_eq!(
        [plan.content_hash(), moved.content_hash()],
        [after.content_hash(); 2]
    );
    (plan, moved)
}

fn outcomes(plan: &Plan) -> Vec<(String, &'static str)> {
    let name = |outcome: &AnswerOutcome| match outcome {
        AnswerOutcome::Kept => "kept",
        AnswerOutcome::Reworded => "reworded",
        AnswerOutcome::NowApplies => "now applies",
        AnswerOutcome::NotAcceptable(_) => "not acceptable",
        AnswerOutcome::NotApplicable(_) => "not applicable",
        AnswerOutcome::Dropped(_) => "dropped",
    };
    let answers = plan.answers().iter();
    answers
        .map(|answer| (answer.question.to_string(), name(&answer.outcome)))
        .collect()
}

fn opened(list: &Value, draft: SavedForm) -> Form {
    let opened = bank(list).questionnaire().open(draft, &on(TODAY));
    opened.unwrap()
}

fn required(plan: &Plan) -> Vec<String> {
    let of = |blocker: &Blocker| match blocker {
        Blocker::Finding(finding) => finding.question.as_ref().unwrap().to_string(),
        Blocker::NoRow { section, .. } => format!("{section} has no row"),
        Blocker::EmptyRow { section, row, .. } => format!("{section} has the empty row {row:?}"),
        other => panic!("{other:?}"),
    };
    plan.required().iter().map(of).collect()
}

#[test]
fn lpag2_becomes_lpag3_without_questions_23_24_and_87() {
    let fixture: Value =
        serde_json::from_str(include_str!("../../../../../tests/fixtures/questions.json")).unwrap();
    let list = bank(&fixture["data"]["questions"]["items"]);
    let kept = [
        answer("3", Some(0), "75"),
        answer("4", Some(0), "Boer"),
        answer("17", None, "No"),
    ];
    let tagged = answer("24", None, "confirmGoatsTagged");
    let gone = [answer("23", None, "No"), tagged, answer("87", None, "No")];
    let mut goats = input(FormType::Lpag2);
    goats.answers = [kept.clone(), gone.clone()].concat().into();
    let draft = draft(&list, &goats);

    let open = list.plan(&draft, &list, &on("2024-11-18")).unwrap();
    assert!(!open.is_needed() && open.dropped().next().is_none());

    let plan = list.plan(&draft, &list, &on("2024-11-19")).unwrap();
    assert!(plan.is_needed());
    assert_eq!(plan.forms(), [FormType::Lpag3]);
    for dropped in plan.dropped() {
        let other_forms = AnswerOutcome::Dropped(Explanation::OtherForms);
        assert_eq!(dropped.outcome, other_forms);
        assert!(dropped.text_before.is_some() && dropped.text.is_none());
    }
    let dropped: Vec<AnswerInput> = plan.dropped().map(|one| one.answer.clone()).collect();
    assert_eq!(dropped, gone);
    let vanished: Vec<&str> = plan.vanished().iter().map(|one| one.id.as_str()).collect();
    assert_eq!(vanished, ["23", "24", "87"]);
    assert!(plan.required().is_empty() && plan.findings().is_empty());
    assert_eq!(
        plan.to_string(),
        "LPAG2 becomes LPAG3; answers: 3 kept, 0 to be read again, 0 not acceptable, 0 not applicable, 3 dropped; newly required: 0"
    );

    let moved = plan.accept(&draft).unwrap();
    assert_eq!(moved.input().forms, [FormType::Lpag3]);
    assert_eq!(moved.input().answers(), kept);
    let form = list.questionnaire().open(moved, &on("2024-11-19")).unwrap();
    let mut findings = form.report().findings().iter();
    assert!(findings.all(|finding| finding.rule != Rule::FormOpen));

    // An existing record keeps its forms, unless a person wants others.
    let update = on("2026-11-20").operation(Operation::Update);
    assert!(!list.plan(&draft, &list, &update).unwrap().is_needed());
    let forms = [FormType::Lpag3, FormType::Hsg0];
    let plan = list
        .plan_with_forms(&draft, &list, forms.clone(), &update)
        .unwrap();
    assert_eq!(plan.forms(), forms);
    assert_eq!(plan.dropped().count(), 3);
}

#[test]
fn a_draft_with_both_forms_has_the_newer_one_once() {
    let list = bank(&json!([{"id": "5", "type": "STRING", "forms": ["LPAG2", "LPAG3"]}]));
    for forms in [
        vec![FormType::Lpag2, FormType::Hsg0, FormType::Lpag2],
        vec![FormType::Lpag2, FormType::Lpag3, FormType::Hsg0],
    ] {
        let mut goats = input(FormType::Lpag2);
        goats.forms = forms;
        let plan = list.plan(&draft(&list, &goats), &list, &on(TODAY)).unwrap();
        assert_eq!(plan.forms(), [FormType::Lpag3, FormType::Hsg0]);
    }
}

#[test]
fn what_is_newly_required_is_told_for_each_row() {
    let newer = cattle(|list| {
        let tag = json!({"id": "9", "order": 3, "type": "STRING", "text": "Tag", "validators": [{"type": "required"}]});
        list[1]["childQuestions"].as_array_mut().unwrap().push(tag);
        let documents = json!({"id": "146", "type": "REPEATABLE", "forms": ["LPAC1"], "text": "Documents", "childQuestions": [
            {"id": "147", "type": "STRING", "validators": [{"type": "required"}]}]});
        list.as_array_mut().unwrap().push(documents);
    });
    let answers = [
        answer("3", Some(0), "24"),
        answer("3", Some(4), "2"),
        answer("4", Some(7), "Angus"),
    ];
    let (plan, moved) = plan(&cattle(|_| ()), &answers, &newer);
    // 17, and 3 in the last row, were required before.
    assert_eq!(
        required(&plan),
        ["9 in row 1", "9 in row 5", "9 in row 8", "146 has no row"]
    );
    let appeared: Vec<String> = plan.appeared().iter().map(ToString::to_string).collect();
    assert_eq!(appeared, ["9 in row 1", "9 in row 5", "9 in row 8", "146"]);
    assert_eq!(moved.input().answers(), answers);
}

#[test]
fn what_the_newer_list_does_not_take_stays_to_be_corrected() {
    let newer = cattle(|list| {
        list[1]["childQuestions"][1]["acceptableAnswers"] = json!([{"value": "Angus"}]);
    });
    let answers = [
        answer("17", None, "Yes"),
        answer("3", Some(0), "24"),
        answer("4", Some(0), "Angus"),
        answer("3", Some(1), "25"),
        answer("4", Some(1), "Hereford"),
    ];
    let (plan, moved) = plan(&cattle(|_| ()), &answers, &newer);
    let refused = plan
        .answers()
        .iter()
        .filter_map(|answer| match &answer.outcome {
            AnswerOutcome::NotAcceptable(findings) => Some((answer.question.to_string(), findings)),
            _ => None,
        });
    let refused: Vec<_> = refused.collect();
    let [(question, findings)] = &refused[..] else {
        panic!("one outcome with findings: {refused:?}");
    };
    assert_eq!(question, "4 in row 2");
    assert_eq!(findings[0].rule, Rule::Acceptable);
    assert_eq!(moved.input().answers(), answers);
    assert!(required(&plan).is_empty());
}

#[test]
fn an_answer_to_another_text_has_to_be_read_again() {
    let answers = [answer("17", None, "Yes"), answer("3", Some(0), "24")];
    let changes: [fn(&mut Value); 5] = [
        |list| list[0]["text"] = json!("Bought?"),
        |list| list[0]["help"] = json!("By anybody."),
        |list| list[0]["tip"] = json!("Careful"),
        |list| list[0]["acceptableAnswers"][0]["displayName"] = json!("No"),
        |list| list[0]["type"] = json!("STRING"),
    ];
    for change in changes {
        let (plan, moved) = plan(&cattle(|_| ()), &answers, &cattle(change));
        let told = [
            ("17".to_owned(), "reworded"),
            ("3 in row 1".to_owned(), "kept"),
        ];
        assert_eq!(outcomes(&plan), told);
        assert_eq!(moved.input().answers(), answers);
    }
    let other = cattle(|list| list[0]["acceptableAnswers"][1]["displayName"] = json!("Never"));
    let (plan, _) = plan(&cattle(|_| ()), &answers, &other);
    assert_eq!(
        outcomes(&plan)[0].1,
        "kept",
        "the name of an answer that was not given"
    );
}

#[test]
fn an_answer_whose_question_does_not_apply_waits_in_the_draft() {
    let newer = cattle(|list| list[0]["childQuestions"][0]["triggers"][0]["value"] = json!("Yes"));
    let no = [answer("17", None, "No"), answer("20", None, "May")];
    let (hidden, moved) = plan(&cattle(|_| ()), &no, &newer);
    assert_eq!(outcomes(&hidden)[1].1, "not applicable");
    assert_eq!(moved.input().answers(), no);
    let mut form = opened(&newer, moved);
    assert_eq!(form.to_input().answers().len(), 1);
    form.answer("17", "Yes").unwrap();
    assert_eq!(form.to_input().answers().len(), 2);

    // The other way round, an answer that was not sent would be sent.
    let yes = [answer("17", None, "Yes"), answer("20", None, "May")];
    let (shown, _) = plan(&cattle(|_| ()), &yes, &newer);
    assert_eq!(outcomes(&shown)[1].1, "now applies");
}

#[test]
fn a_row_stays_when_all_answers_in_it_are_dropped() {
    let newer = cattle(|list| {
        list[1]["childQuestions"].as_array_mut().unwrap().remove(1);
    });
    let answers = [answer("3", Some(0), "24"), answer("4", Some(2), "Angus")];
    let (plan, moved) = plan(&cattle(|_| ()), &answers, &newer);
    assert_eq!(outcomes(&plan)[1], ("4 in row 3".to_owned(), "dropped"));
    assert_eq!(moved.input().answers(), &answers[..1]);
    let form = opened(&newer, moved);
    let rows: Vec<Option<i64>> = form.items()[1].rows.iter().map(|row| row.index).collect();
    assert_eq!(rows, [Some(0), Some(2)]);
    assert_eq!(required(&plan), ["1 has the empty row Some(2)"]);
}

#[test]
fn a_section_that_is_gone_takes_the_answers_of_its_rows() {
    let newer = cattle(|list| {
        list.as_array_mut().unwrap().remove(1);
    });
    let answers = [
        answer("17", None, "Yes"),
        answer("3", Some(0), "24"),
        answer("3", Some(1), "25"),
    ];
    let (plan, moved) = plan(&cattle(|_| ()), &answers, &newer);
    let told: Vec<String> = plan.dropped().map(|one| one.question.to_string()).collect();
    assert_eq!(told, ["3 in row 1", "3 in row 2"]);
    assert!(
        plan.dropped()
            .all(|one| one.outcome == AnswerOutcome::Dropped(Explanation::Unknown))
    );
    assert_eq!(moved.input().answers(), &answers[..1]);
}

#[test]
fn an_answer_that_neither_list_knows_is_sent_as_before() {
    let answers = [answer("17", None, "Yes"), answer("999", None, "x")];
    let (plan, moved) = plan(&cattle(|_| ()), &answers, &newer());
    assert_eq!(outcomes(&plan)[1].1, "kept");
    assert_eq!(moved.input().answers(), answers);
}

#[test]
fn what_is_skipped_and_opened_stays() {
    let before = bank(&cattle(|_| ()));
    let empty = input(FormType::Lpac1);
    let mut form = before.questionnaire().form(&empty, &on(TODAY));
    form.add_row("1").unwrap();
    form.skip("17").unwrap();
    let draft = form.save();
    let plan = before.plan(&draft, &bank(&newer()), &on(TODAY)).unwrap();
    let moved = opened(&newer(), plan.accept(&draft).unwrap());
    assert_eq!(moved.items()[1].rows.len(), 1);
    assert_eq!(moved.next().unwrap().question.to_string(), "3 in row 1");
}

#[test]
fn what_else_is_wrong_with_other_forms_is_told() {
    let list = bank(&cattle(|_| ()));
    let draft = draft(&list, &input(FormType::Lpac1));
    let forms = [FormType::Lpac1, FormType::Lpag3];
    let plan = list
        .plan_with_forms(&draft, &list, forms, &on(TODAY))
        .unwrap();
    let rules: Vec<Rule> = plan.findings().iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, [Rule::OneSpecies]);
}

#[test]
fn an_unknown_form_hides_nothing() {
    let later = |list: &mut Value| {
        for question in list.as_array_mut().unwrap() {
            question["forms"] = json!(["LPAC9"]);
        }
    };
    let (before, after) = (
        bank(&cattle(later)),
        bank(&cattle(|list| {
            later(list);
            list[0]["acceptableAnswers"] = json!([{"value": "No"}]);
            list[1]["childQuestions"][1]["validators"] = json!([{"type": "required"}]);
        })),
    );
    let input = input(FormType::from("LPAC9"))
        .answer(answer("17", None, "Yes"))
        .answer(answer("3", Some(0), "24"));
    let draft = draft(&before, &input);
    let plan = before.plan(&draft, &after, &on(TODAY)).unwrap();
    assert_eq!(outcomes(&plan)[0].1, "not acceptable");
    assert_eq!(required(&plan), ["4 in row 1"]);
}

#[test]
fn neither_debug_nor_display_shows_answers() {
    let answers = [
        answer("17", None, "s3cr3t"),
        answer("4", Some(0), "Pat Private"),
    ];
    let (plan, moved) = plan(&cattle(|_| ()), &answers, &newer());
    for shown in [format!("{plan:?}"), plan.to_string(), format!("{moved:?}")] {
        assert!(
            !shown.contains("s3cr3t") && !shown.contains("Private"),
            "{shown}"
        );
    }
}
