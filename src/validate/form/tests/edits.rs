//! The effects of edits, and the edits that are refused.

use serde_json::{Value, json};

use crate::model::{AnswerInput, ConsignmentInput, PartyInput};
use crate::validate::tests::questions::{input, list, today};
use crate::validate::{EditError, Form, Item, Questionnaire};

fn yard() -> Questionnaire {
    list("1 { 2 ?1=Yes }; 3 REPEATABLE { 4; 5 ?1=Yes; 6 REPEATABLE { 7 } }; 8 DISPLAY")
}

fn form(list: &Questionnaire, answers: &str) -> Form {
    list.form(&input(answers), &today())
}

#[test]
fn a_form_is_filled_in_from_scratch() {
    let mut form = yard().form(&ConsignmentInput::default(), &today());
    form.field("forms", ["LPAC1"]).unwrap();
    form.field("origin", PartyInput::new("QAZZ7777")).unwrap();
    form.field("destination.pic", "QDZZ3333").unwrap();
    let change = form.field("declaration.accept", true).unwrap();
    assert_eq!(change.added, []);
    form.answer("1", "Yes").unwrap();
    assert_eq!(form.to_input().answers().len(), 1);
    assert_eq!(form.report().findings().len(), 1);
}

#[test]
fn removing_a_missing_field_changes_nothing() {
    let mut form = form(&yard(), "");
    let before = form.save();
    for path in ["declaration.phone", "declaration.accept", "origin.pic.x"] {
        // The text of a PIC has no fields.
        let is_field = path != "origin.pic.x";
        let done = form.field(path, None::<&str>);
        assert_eq!(done.is_ok(), is_field, "{path}");
    }
    assert_eq!(form.save(), before);
    assert_eq!(form.undo(), None);
    // The rest of the declaration is kept.
    form.field("declaration.accept", true).unwrap();
    let before = form.save();
    form.field("declaration.phone", None::<&str>).unwrap();
    assert_eq!(form.save(), before);
}

#[test]
fn unknown_fields_and_values_of_the_wrong_type_are_refused_with_all_reasons() {
    let mut form = form(&yard(), "");
    let before = form.save();
    let mut refused = |path: &str, value: Value| match form.field(path, value) {
        Err(EditError::Field { path: at, findings }) => {
            assert_eq!(at, path);
            let places = findings.iter().map(|finding| finding.path.join("."));
            places.collect::<Vec<_>>().join(" ")
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(refused("colour", json!("red")), "colour");
    assert_eq!(refused("origin.pic.x", json!("red")), "");
    assert_eq!(refused("answers", json!([])), "");
    assert_eq!(refused("", json!("x")), "");
    let accept = "declaration.accept";
    assert_eq!(refused(accept, json!("x")), accept);
    let wrong = refused("origin", json!({"pic": 7, "name": [], "colour": "red"}));
    assert_eq!(wrong, "origin.name origin.pic origin.colour");
    assert_eq!(form.save(), before);
}

#[test]
fn at_most_100_edits_are_undone() {
    let mut form = form(&yard(), "");
    for n in 0..150 {
        form.answer("1", n.to_string().as_str()).unwrap();
    }
    let undone = std::iter::from_fn(|| form.undo()).count();
    assert_eq!(undone, 100);
    assert_eq!(form.to_input().answers(), [AnswerInput::new("1", "49")]);
}

#[test]
fn question_185_is_checked_again_with_the_answers() {
    let mut form = form(&list("185 @LPAHRG0 optional"), "@LPAHRG0; 185=Yes");
    let change = form.answer("185", "No").unwrap();
    assert_eq!(change.added[0].code, "");
    assert!(form.blockers()[0].blocks_creating());
    form.answer("185", None).unwrap();
    assert!(form.report().is_valid() && form.blockers()[0].blocks_creating());
}

#[test]
fn an_edit_beyond_the_limits_is_refused() {
    let children: Vec<String> = (10..1_010).map(|id| id.to_string()).collect();
    let list = list(&format!("3 REPEATABLE {{ {} }}", children.join("; ")));
    let rows: Vec<String> = (0..99).map(|row| format!("10.{row}=x")).collect();
    let mut form = form(&list, &rows.join("; "));
    form.add_row("3").unwrap();
    let before = form.save();
    assert_eq!(form.add_row("3"), Err(EditError::TooLarge));
    assert_eq!(form.save(), before);
}

#[test]
fn sentences_count_the_remaining_rows() {
    let list = list("1 REPEATABLE { 3 NUMBER; 4 }; 5 REPEATABLE { 6 }");
    let mut form = list.form(&input(""), &today().advice(true));
    for (row, head) in (0_i64..).zip(["1", "2", "x", ""]) {
        form.add_row("1").unwrap();
        form.answer(("3", row), head).unwrap();
    }
    let said = |form: &Form| -> Vec<String> {
        let advice = form.report().advice().iter();
        let advice = advice.filter(|finding| finding.question.is_some());
        let advice: Vec<String> = advice.map(|finding| finding.sentence()).collect();
        let blockers = form.blockers().into_iter();
        let blockers = blockers.map(|blocker| blocker.to_string());
        let rows = blockers.filter(|sentence| !sentence.starts_with("Add "));
        rows.chain(advice).collect()
    };
    let expected = [
        "Question 4 in row 1 is not answered. Enter an answer.",
        "Question 4 in row 2 is not answered. Enter an answer.",
        "Question 4 in row 3 is not answered. Enter an answer.",
        "Row 4 of Section 1 is empty. Fill it in or remove it.",
        "Question 3 in row 3 looks wrong: x. Write it like 24.",
    ];
    assert_eq!(said(&form), expected);
    // A screen shows advice next to its question.
    let items = form.items();
    let advised = items.iter().flat_map(Item::descendants);
    let advised: Vec<_> = advised.filter(|item| !item.advice.is_empty()).collect();
    assert_eq!(advised.len(), 1);
    assert_eq!(advised[0].question, ("3", Some(2_i64)).into());
    assert!(advised[0].findings.is_empty());
    form.remove_row("1", 0).unwrap();
    // An empty row counts, here as in the items.
    form.answer(("3", 1), None).unwrap();
    let left = [
        "Question 4 in row 2 is not answered. Enter an answer.",
        "Row 1 of Section 1 is empty. Fill it in or remove it.",
        "Row 3 of Section 1 is empty. Fill it in or remove it.",
        "Question 3 in row 2 looks wrong: x. Write it like 24.",
    ];
    assert_eq!(said(&form), left);
    let items = form.items();
    let rows = items[0].rows.iter();
    let numbers: Vec<_> = rows.map(|row| row.items[0].row_number).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3)]);
    assert_eq!((items[0].row_number, items[1].row_number), (None, None));
}
