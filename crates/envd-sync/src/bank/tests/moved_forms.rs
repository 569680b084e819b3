//! The differences reported for a form that is opened with another list, for pairs of lists and answers.

use serde_json::{Value, json};

use super::sample::{TODAY, answer, bank, cattle, input, newer, on};
use crate::bank::{Bank, MovedForm};
use crate::tests::script::rows;
use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType};
use envd_sdk::validate::{Explanation, Operation};

fn moved(before: &Bank, input: &ConsignmentInput, after: &Bank, day: &str) -> MovedForm {
    let before = before.questionnaire();
    let context = on(day);
    let moved = MovedForm::new(before, &before.form(input, &context), after.questionnaire());
    let saved = moved.form.save();
    assert_eq!(saved.content_hash(), after.content_hash());
    // Only answers unknown to the newer list leave the draft.
    let mut gone = moved.dropped.iter();
    let is_gone = |given: &&AnswerInput| {
        !gone
            .clone()
            .any(|it| it.because == Explanation::Unknown && it.answer == **given)
    };
    let kept: Vec<AnswerInput> = input.answers().iter().filter(is_gone).cloned().collect();
    assert_eq!(saved.input().answers(), kept);
    assert!(gone.all(|it| !it.text.is_empty()));
    moved
}

/// The reported differences: dropped answers `-`, questions to be reviewed `~`, questions that appear `+`, findings `!`.
fn reported(moved: &MovedForm) -> String {
    let dropped = moved
        .dropped
        .iter()
        .map(|it| format!("-{}: {}", it.question, it.because));
    let reworded = moved.reworded.iter().map(|it| format!("~{it}"));
    let appeared = moved.change.appeared.iter().map(|it| format!("+{it}"));
    let findings = moved.change.added.iter();
    let findings = findings.map(|it| format!("!{:?} {}", it.rule, it.question.as_ref().unwrap()));
    let reported = dropped.chain(reworded).chain(appeared).chain(findings);
    reported.collect::<Vec<_>>().join("; ")
}

/// `17=Yes 3.0=24`: an answer to question 17, and one to question 3 in row 0.
fn answers(text: &str) -> Vec<AnswerInput> {
    let answers = text.split_whitespace().map(|given| {
        let (place, value) = given.split_once('=').unwrap();
        let (id, row) = place
            .split_once('.')
            .map_or((place, None), |(id, row)| (id, Some(row)));
        answer(id, row.map(|row| row.parse().unwrap()), value)
    });
    answers.collect()
}

/// Sets, adds (`/-`) or removes the value at each pointer: `/0/text = "Bought?" & /1 =`.
fn edit(list: &mut Value, edits: &str) {
    for edit in edits.split(" & ").filter(|edit| !edit.is_empty()) {
        let (path, value) = edit.split_once('=').unwrap();
        let (parent, name) = path.trim().rsplit_once('/').unwrap();
        let value = serde_json::from_str::<Value>(value);
        match (list.pointer_mut(parent).unwrap(), value) {
            (Value::Array(items), Ok(value)) if name == "-" => items.push(value),
            (Value::Array(items), Err(_)) => drop(items.remove(name.parse().unwrap())),
            (parent, value) => parent[name] = value.unwrap(),
        }
    }
}

#[test]
fn what_another_list_changes_is_reported() {
    for line in rows(include_str!("moved_forms.txt")) {
        let mut input = input(FormType::Lpac1);
        input.answers = answers(line[0]).into();
        let list = cattle(|list| edit(list, line[1]));
        let moved = moved(&bank(&cattle(|_| ())), &input, &bank(&list), TODAY);
        assert_eq!(reported(&moved), line[2], "{line:?}");
    }
}

#[test]
fn lpag2_becomes_lpag3_without_questions_23_24_and_87() {
    let fixture = include_str!("../../../../../tests/fixtures/questions.json");
    let fixture: Value = serde_json::from_str(fixture).unwrap();
    let list = bank(&fixture["data"]["questions"]["items"]);
    let mut goats = input(FormType::Lpag2);
    let given = "3.0=75 4.0=Boer 17=No 23=No 24=confirmGoatsTagged 87=No";
    goats.answers = answers(given).into();
    let unchanged =
        |moved: &MovedForm| moved.form.save().input() == &goats && reported(moved).is_empty();
    assert!(unchanged(&moved(&list, &goats, &list, "2024-11-18")));

    let newer = moved(&list, &goats, &list, "2024-11-19");
    let gone = ["23", "24", "87"].map(|id| format!("-{id}: it belongs to other forms"));
    assert_eq!(reported(&newer), gone.join("; "));
    let sent = newer.form.to_input();
    assert_eq!(sent.forms, [FormType::Lpag3]);
    assert_eq!(sent.answers(), &goats.answers()[..3]);

    // An existing record keeps its forms.
    let questions = list.questionnaire();
    let update = on("2026-11-20").operation(Operation::Update);
    let moved = MovedForm::new(questions, &questions.form(&goats, &update), questions);
    assert!(unchanged(&moved));
}

#[test]
fn a_closed_form_is_replaced_once_and_wherever_it_stands() {
    let list = bank(&json!([{"id": "5", "type": "STRING", "forms": ["LPAG2", "LPAG3"]}]));
    for (forms, expected) in [
        ("LPAG2 HSG0 LPAG2", "LPAG3 HSG0"),
        ("LPAG2 LPAG3 HSG0", "LPAG3 HSG0"),
        // The server stops at a form that it does not know, and checks no other.
        ("LPAG2 XYZ", "LPAG3 XYZ"),
        ("LPAC1 LPAC1", "LPAC1 LPAC1"),
    ] {
        let mut goats = input(FormType::Lpag2);
        goats.forms = forms.split(' ').map(FormType::from).collect();
        let moved = moved(&list, &goats, &list, TODAY).form.to_input();
        let forms: Vec<&str> = moved.forms.iter().map(FormType::as_str).collect();
        assert_eq!(forms.join(" "), expected);
    }
}

#[test]
fn rows_and_skipped_questions_stay() {
    let before = bank(&cattle(|_| ()));
    let mut after = newer();
    after[1]["childQuestions"].as_array_mut().unwrap().remove(1);
    let after = bank(&after);
    let given = input(FormType::Lpac1).answer(answer("4", Some(2), "Angus"));
    let mut form = before.questionnaire().form(&given, &on(TODAY));
    form.add_row("1").unwrap();
    form.skip("17").unwrap();
    let moved = MovedForm::new(before.questionnaire(), &form, after.questionnaire()).form;
    let rows: Vec<_> = moved.items()[1].rows.iter().map(|row| row.index).collect();
    assert_eq!(rows, [Some(2), Some(3)]);
    assert_eq!(moved.next().unwrap().question.to_string(), "3 in row 3");
}

#[test]
fn debug_shows_no_answers() {
    let given = input(FormType::Lpac1)
        .answer(answer("17", None, "s3cr3t"))
        .answer(answer("4", Some(0), "Private"));
    let after = bank(&json!([]));
    let moved = moved(&bank(&cattle(|_| ())), &given, &after, TODAY);
    assert_eq!(moved.dropped.len(), 2);
    let shown = format!("{moved:?}");
    assert!(
        !shown.contains("s3cr3t") && !shown.contains("Private"),
        "{shown}"
    );
}
