//! What edits change, and which are refused.

use serde_json::{Value, json};

use crate::model::{AnswerInput, ConsignmentInput, PartyInput};
use crate::validate::tests::questions::{input, list, shown, today};
use crate::validate::{Change, EditError, Form, Item, QuestionRef, Questionnaire};

fn yard() -> Questionnaire {
    list("1 { 2 ?1=Yes }; 3 REPEATABLE { 4; 5 ?1=Yes; 6 REPEATABLE { 7 } }; 8 DISPLAY")
}

fn form(list: &Questionnaire, answers: &str) -> Form {
    list.form(&input(answers), &today())
}

fn ids(questions: &[QuestionRef]) -> Vec<String> {
    questions.iter().map(shown).collect()
}

fn codes(form: &Form) -> Vec<&str> {
    let findings = form.report().findings().iter();
    findings.map(|f| f.code.as_str()).collect()
}

#[test]
fn an_answer_brings_and_takes_questions_with_their_findings() {
    let mut form = form(&yard(), "4.0=x");
    let change = form.answer("1", "Yes").unwrap();
    assert_eq!(ids(&change.appeared), ["2", "5.0"]);
    assert_eq!(change.added.len(), 2);
    assert_eq!(change.removed[0].code, "answers.1");
    let change = form.answer("1", "No").unwrap();
    assert_eq!(ids(&change.vanished), ["2", "5.0"]);
    assert_eq!((change.added.len(), change.removed.len()), (0, 2));
    let change = form.answer("1", None).unwrap();
    assert_eq!(change.added[0].code, "answers.1");
    assert_eq!(form.to_input().answers().len(), 1);
    assert_eq!(form.answer("1", ""), Ok(Change::default()));
}

#[test]
fn answers_to_hidden_questions_stay_in_the_form_and_are_not_sent() {
    let mut form = form(&yard(), "");
    for (id, value) in [("1", "Yes"), ("2", "because"), ("1", "No")] {
        form.answer(id, value).unwrap();
    }
    assert_eq!(form.to_input().answers(), [AnswerInput::new("1", "No")]);
    form.answer("1", "Yes").unwrap();
    assert_eq!(form.to_input().answers().len(), 2);
}

#[test]
fn rows_are_opened_filled_and_removed() {
    let mut form = form(&yard(), "");
    let change = form.add_row("3").unwrap();
    assert_eq!(ids(&change.appeared), ["4.0", "6.0"]);
    // It is sent once something in it is answered.
    assert_eq!(codes(&form), ["answers.1"]);
    assert!(form.to_input().answers().is_empty());
    let change = form.add_row("3").unwrap();
    assert_eq!(ids(&change.appeared), ["4.1", "6.1"]);
    form.answer(("4", 1), "x").unwrap();
    let inner = QuestionRef::new("6", Some(1));
    let change = form.add_row(inner.clone()).unwrap();
    assert_eq!(ids(&change.appeared), ["7.1"]);
    assert_eq!(
        form.add_row(inner.clone()),
        Err(EditError::RowExists(inner))
    );
    form.answer(("7", 1), "x").unwrap();
    let change = form.remove_row("6", 1).unwrap();
    assert_eq!(ids(&change.vanished), ["7.1"]);
    let change = form.remove_row("3", 0).unwrap();
    assert_eq!(ids(&change.vanished), ["4.0", "6.0"]);
    // Other rows keep their numbers, and a new one gets the next.
    assert_eq!(ids(&form.add_row("3").unwrap().appeared), ["4.2", "6.2"]);
    assert_eq!(form.to_input().answers().len(), 1);
}

#[test]
fn a_row_of_answers_without_an_index_is_edited_and_removed() {
    let mut form = form(&yard(), "4=x");
    form.answer("4", "y").unwrap();
    assert_eq!(form.to_input().answers(), [AnswerInput::new("4", "y")]);
    assert_eq!(ids(&form.add_row("3").unwrap().appeared), ["4.0", "6.0"]);
    form.remove_row("3", None).unwrap();
    assert!(form.to_input().answers().is_empty());
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_stored() {
    let list = list("1 { 2 ?1=Yes }; 3 REPEATABLE { 4 }; 8 DISPLAY; 9 readonly; 10 @MSAC1; -");
    let mut form = form(&list, "4.0=x");
    let before = form.save();
    for (id, row, said) in [
        ("77", None, "no question has the id 77"),
        ("", None, "no question has the id "),
        ("8", None, "question 8 is a heading and takes no answer"),
        ("3", None, "question 3 is answered in its rows: add a row"),
        ("9", None, "question 9 is read-only"),
        ("4", Some(1), "no such row"),
        ("4", None, "no such row"),
        ("1", Some(0), "no such row"),
        (
            "2",
            None,
            "question 2 does not apply: question 1 is not answered Yes",
        ),
        (
            "10",
            None,
            "question 10 does not apply: it belongs to other forms",
        ),
    ] {
        let error = form.answer((id, row), "x").unwrap_err().to_string();
        assert!(error.contains(said), "{id}: {error}");
        assert_eq!(form.save(), before);
    }
    for (id, said) in [
        ("1", "question 1 has no rows"),
        ("8", "has no rows"),
        ("77", "no question"),
    ] {
        for done in [form.add_row(id), form.remove_row(id, 0)] {
            assert!(done.unwrap_err().to_string().contains(said), "{id}");
        }
    }
    assert!(matches!(
        form.remove_row("3", 1),
        Err(EditError::NoSuchRow(_))
    ));
    assert!(matches!(
        form.skip("77"),
        Err(EditError::UnknownQuestion(_))
    ));
    assert_eq!(form.save(), before);
    assert_eq!(form.undo(), None);
}

#[test]
fn fields_are_set_by_their_paths_and_judged() {
    let list = yard();
    let mut form = list.form(&ConsignmentInput::default(), &today());
    form.field("forms", ["LPAC1"]).unwrap();
    form.field("origin", PartyInput::new("QAZZ7777")).unwrap();
    form.field("destination.pic", "QDZZ3333").unwrap();
    form.field("declaration.accept", true).unwrap();
    let change = form.field("movementTime", "25:00").unwrap();
    assert_eq!(change.added[0].code, "movementTime");
    form.answer("1", "Yes").unwrap();
    let change = form.field("movementTime", None::<&str>).unwrap();
    assert_eq!(change.removed[0].code, "movementTime");
    assert!(form.to_input().movement_time.is_absent());
    assert_eq!(form.to_input().answers().len(), 1);
    // Forms decide which questions apply.
    let change = form.field("forms", ["MSAC1"]).unwrap();
    assert_eq!(ids(&change.vanished), ["1", "2", "3", "8"]);
    let change = form.undo().unwrap();
    assert_eq!(ids(&change.appeared), ["1", "2", "3", "8"]);
    let change = form.field("status", "SENT").unwrap();
    assert!(
        change
            .added
            .iter()
            .any(|f| f.message.contains("ConsignmentStatus"))
    );
}

#[test]
fn taking_away_a_field_that_is_not_there_changes_nothing() {
    let mut form = form(&yard(), "");
    let before = form.save();
    for path in ["declaration.phone", "declaration.accept", "origin.pic.x"] {
        // The text of a PIC has no field.
        let is_field = path != "origin.pic.x";
        let done = form.field(path, None::<&str>);
        assert_eq!(done.is_ok(), is_field, "{path}");
    }
    assert_eq!(form.save(), before);
    assert_eq!(form.undo(), None);
    // What else the declaration holds stays.
    form.field("declaration.accept", true).unwrap();
    let before = form.save();
    form.field("declaration.phone", None::<&str>).unwrap();
    assert_eq!(form.save(), before);
}

#[test]
fn fields_that_are_none_and_values_of_another_type_are_refused_with_all_that_is_wrong() {
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
    assert_eq!(
        refused("declaration.accept", json!("x")),
        "declaration.accept"
    );
    let wrong = json!({"pic": 7, "name": [], "colour": "red"});
    assert_eq!(
        refused("origin", wrong),
        "origin.name origin.pic origin.colour"
    );
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
fn several_answers_in_one_place_give_way_to_the_new_one() {
    let mut form = form(&yard(), "1=a; 1.7=b");
    form.answer("1", "Yes").unwrap();
    assert_eq!(form.to_input().answers(), [AnswerInput::new("1", "Yes")]);
}

#[test]
fn questions_in_cycles_do_not_appear() {
    let list = list("1; 3 ?4=x ?1=Yes; 4 ?3=x; 5 ?5=x ?1=Yes");
    let mut form = form(&list, "3=x; 4=x; 5=x");
    let change = form.answer("1", "Yes").unwrap();
    assert_eq!(change.appeared, []);
    assert_eq!(change.removed.len(), 1);
    let error = form.answer("5", "y").unwrap_err();
    let said = "question 5 does not apply: it depends on itself";
    assert_eq!(error.to_string(), said);
}

#[test]
fn equal_findings_are_counted_one_by_one() {
    // Both are required, and their findings are equal.
    let list = list("1; 2 ?1=Yes; 2 ?1=Yes ?1=No");
    let mut form = form(&list, "1=Yes");
    let change = form.answer("1", "No").unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (0, 1));
    let change = form.answer("1", "Yes").unwrap();
    assert_eq!((change.added.len(), change.removed.len()), (1, 0));
    assert_eq!(codes(&form), ["answers.2", "answers.2"]);
}

#[test]
fn question_185_is_judged_again_with_the_answers() {
    let mut form = form(&list("185 @LPAHRG0 optional"), "@LPAHRG0; 185=Yes");
    let change = form.answer("185", "No").unwrap();
    assert_eq!(change.added[0].code, "");
    assert!(form.blockers()[0].blocks_creating());
    form.answer("185", None).unwrap();
    assert!(form.report().is_valid() && form.blockers()[0].blocks_creating());
}

#[test]
fn an_edit_that_makes_too_much_to_judge_is_refused() {
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
fn sentences_count_the_rows_that_are_left() {
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
        let blockers = form
            .blockers()
            .into_iter()
            .map(|blocker| blocker.to_string());
        let rows = blockers.filter(|sentence| !sentence.starts_with("Add "));
        rows.chain(advice).collect()
    };
    assert_eq!(
        said(&form),
        [
            "Question 4 in row 1 is not answered. Enter an answer.",
            "Question 4 in row 2 is not answered. Enter an answer.",
            "Question 4 in row 3 is not answered. Enter an answer.",
            "Row 4 of Section 1 is empty. Fill it in or remove it.",
            "Question 3 in row 3 looks wrong: x. Write it like 24.",
        ]
    );
    // A screen shows advice at its question.
    let items = form.items();
    let advised = items.iter().flat_map(Item::descendants);
    let advised: Vec<_> = advised.filter(|item| !item.advice.is_empty()).collect();
    assert_eq!(advised.len(), 1);
    assert_eq!(advised[0].question, ("3", Some(2_i64)).into());
    assert!(advised[0].findings.is_empty());
    form.remove_row("1", 0).unwrap();
    // An empty row counts, as it does in the items.
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
