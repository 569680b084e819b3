//! Stories of edits of a form, and their visible effects. A question in a row is `4.0`; answers are `4.0=x`.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::validate::tests::questions::{input, list, shown, today};
use crate::validate::{Change, EditError, Finding, Form, Item, ItemRow, QuestionRef};

const YARD: &str = "1 { 2 ?1=Yes }; 3 REPEATABLE { 4; 5 ?1=Yes; 6 REPEATABLE { 7 } }; 8 DISPLAY";
const SCREEN: &str =
    "9 DISPLAY; 1 REPEATABLE { 3 NUMBER; 4 optional }; 17 { 20 ?17=N; 21 }; 30 BOOLEAN; 31 COLOUR";

/// A form of a list of questions with these answers.
struct Edits(Form);

/// Parses `4.0` as question 4 in row 0.
fn reference(text: &str) -> QuestionRef {
    let (id, row) = text.split_once('.').unwrap_or((text, ""));
    QuestionRef::new(id, row.parse().ok())
}

/// An item, with its children and rows in brackets.
pub(super) fn outline(items: &[Item]) -> String {
    let row = |row: &ItemRow| {
        let index = row.index.unwrap_or(-1);
        format!("[{index}: {}]", outline(&row.items))
    };
    let one = |item: &Item| {
        let children = match &*item.children {
            [] => String::new(),
            children => format!("({})", outline(children)),
        };
        let rows: String = item.rows.iter().map(row).collect();
        format!("{}{children}{rows}", item.question.id)
    };
    items.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn codes(findings: &[Arc<Finding>]) -> Vec<&str> {
    findings.iter().map(|it| it.code.as_str()).collect()
}

/// The questions that an edit brought.
fn appeared(change: &Change) -> Vec<String> {
    change.appeared.iter().map(shown).collect()
}

fn vanished(change: &Change) -> Vec<String> {
    change.vanished.iter().map(shown).collect()
}

fn added(change: &Change) -> Vec<&str> {
    codes(&change.added)
}

fn mistakes(change: &Change) -> Vec<&str> {
    codes(&change.mistakes)
}

fn removed(change: &Change) -> Vec<&str> {
    codes(&change.removed)
}

const NOTHING: [&str; 0] = [];

impl Edits {
    fn of(questions: &str, answers: &str) -> Self {
        Self(list(questions).form(&input(answers), &today()))
    }

    /// The result of an edit. A refused edit changes nothing.
    fn checked(
        &mut self,
        edit: impl FnOnce(&mut Form) -> Result<Change, EditError>,
    ) -> Result<Change, String> {
        let before = self.0.save();
        edit(&mut self.0).map_err(|error| {
            assert_eq!(self.0.save(), before, "{error}");
            error.to_string()
        })
    }

    fn try_answer(&mut self, question: &str, value: &str) -> Result<Change, String> {
        self.checked(|form| form.answer(reference(question), value))
    }

    fn try_add(&mut self, section: &str) -> Result<Change, String> {
        self.checked(|form| form.add_row(reference(section)))
    }

    fn try_remove(&mut self, section: &str, row: i64) -> Result<Change, String> {
        self.checked(|form| form.remove_row(section, row))
    }

    fn answer(&mut self, question: &str, value: &str) -> Change {
        self.try_answer(question, value).unwrap()
    }

    /// Removes an answer.
    fn clear(&mut self, question: &str) -> Change {
        self.checked(|form| form.answer(reference(question), None))
            .unwrap()
    }

    fn add(&mut self, section: &str) -> Change {
        self.try_add(section).unwrap()
    }

    fn remove(&mut self, section: &str, row: i64) -> Change {
        self.try_remove(section, row).unwrap()
    }

    fn skip(&mut self, question: &str) {
        self.0.skip(reference(question)).unwrap();
    }

    fn field(&mut self, path: &str, value: Value) -> Change {
        self.checked(|form| form.field(path, value)).unwrap()
    }

    fn undo(&mut self) -> Change {
        self.0.undo().expect("an edit")
    }

    fn items(&self) -> String {
        outline(&self.0.items())
    }

    /// The next open question.
    fn next(&self) -> Option<String> {
        self.0.next().map(|item| item.question.id.to_string())
    }

    fn findings(&self) -> Vec<String> {
        let report = self.0.report();
        let findings = codes(report.findings()).into_iter();
        findings.map(str::to_owned).collect()
    }

    /// The answers that are sent.
    fn sends(&self) -> Vec<String> {
        let sent = self.0.to_input();
        let answers = sent.answers().iter().map(|answer| {
            let id = answer.question_id.value().unwrap();
            let row = answer.index.value().map(|row| format!(".{row}"));
            let row = row.unwrap_or_default();
            let value = answer.value.value();
            format!("{id}{row}={}", value.unwrap())
        });
        answers.collect()
    }
}

#[test]
fn an_answer_brings_and_takes_questions_with_their_findings() {
    let mut form = Edits::of(YARD, "4.0=x");
    let yes = form.answer("1", "Yes");
    assert_eq!(appeared(&yes), ["2", "5.0"]);
    assert_eq!(added(&yes), ["answers.2", "answers.5.0"]);
    assert_eq!(removed(&yes), ["answers.1"]);

    let no = form.answer("1", "No");
    assert_eq!(vanished(&no), ["2", "5.0"]);
    assert_eq!(added(&no), NOTHING);
    assert_eq!(removed(&no), ["answers.2", "answers.5.0"]);

    assert_eq!(added(&form.clear("1")), ["answers.1"]);
    assert_eq!(form.sends(), ["4.0=x"]);
    let again = form.clear("1");
    assert_eq!(appeared(&again), NOTHING);
    assert_eq!(vanished(&again), NOTHING);
    assert_eq!(added(&again), NOTHING);
    assert_eq!(removed(&again), NOTHING);
}

#[test]
fn a_question_that_was_not_asked_before_is_open_and_no_mistake() {
    let mut form = Edits::of(YARD, "");
    let yes = form.answer("1", "Yes");
    assert_eq!(added(&yes), ["answers.2"]);
    assert_eq!(mistakes(&yes), NOTHING);
    form.answer("2", "x");
    let cleared = form.clear("2");
    assert_eq!(added(&cleared), ["answers.2"]);
    assert_eq!(mistakes(&cleared), ["answers.2"]);
    form.undo();
    let undone = form.undo();
    assert_eq!(added(&undone), ["answers.2"]);
    assert_eq!(mistakes(&undone), ["answers.2"]);

    let mut bounds = Edits::of("1 REPEATABLE { 3 NUMBER; 4; 5 optional >=2000 }", "");
    assert_eq!(added(&bounds.add("1")), NOTHING);
    let head = bounds.answer("3.0", "24");
    assert_eq!(added(&head), ["answers.4.0"]);
    assert_eq!(mistakes(&head), NOTHING);
    let year = bounds.answer("5.0", "1999");
    assert_eq!(added(&year), ["answers.5.0"]);
    assert_eq!(mistakes(&year), ["answers.5.0"]);
    let cleared = bounds.clear("3.0");
    assert_eq!(added(&cleared), ["answers.3.0"]);
    assert_eq!(mistakes(&cleared), ["answers.3.0"]);
}

#[test]
fn answers_to_hidden_questions_stay_in_the_form_and_are_not_sent() {
    let mut form = Edits::of(YARD, "");
    form.answer("1", "Yes");
    form.answer("2", "because");
    form.answer("1", "No");
    assert_eq!(form.sends(), ["1=No"]);
    form.answer("1", "Yes");
    assert_eq!(form.sends(), ["1=Yes", "2=because"]);
}

#[test]
fn rows_are_opened_filled_and_removed_and_keep_their_numbers() {
    let mut form = Edits::of(YARD, "");
    assert_eq!(appeared(&form.add("3")), ["4.0", "6.0"]);
    assert_eq!(form.findings(), ["answers.1"]);
    assert_eq!(form.sends(), NOTHING);
    assert_eq!(appeared(&form.add("3")), ["4.1", "6.1"]);

    form.answer("4.1", "x");
    assert_eq!(appeared(&form.add("6.1")), ["7.1"]);
    let refused = form.try_add("6.1").unwrap_err();
    assert_eq!(refused, "question 6 in row 2: the row is there already");

    form.answer("7.1", "x");
    assert_eq!(vanished(&form.remove("6", 1)), ["7.1"]);
    assert_eq!(vanished(&form.remove("3", 0)), ["4.0", "6.0"]);
    assert_eq!(appeared(&form.add("3")), ["4.2", "6.2"]);
    assert_eq!(form.sends(), ["4.1=x"]);
}

#[test]
fn a_row_of_answers_without_an_index_is_edited_and_removed() {
    let mut form = Edits::of(YARD, "4=x");
    form.answer("4", "y");
    assert_eq!(form.sends(), ["4=y"]);
    assert_eq!(appeared(&form.add("3")), ["4.0", "6.0"]);
    form.checked(|form| form.remove_row("3", None)).unwrap();
    assert_eq!(form.sends(), NOTHING);
}

#[test]
fn what_cannot_be_is_refused_and_nothing_is_stored() {
    let questions = "1 { 2 ?1=Yes }; 3 REPEATABLE { 4 }; 8 DISPLAY; 9 readonly; 10 @MSAC1; -";
    let mut form = Edits::of(questions, "4.0=x");
    let unknown = Err("no question has the id 77".to_owned());
    assert_eq!(form.try_answer("77", "x"), unknown);
    assert_eq!(form.try_add("77"), unknown);
    assert_eq!(form.try_remove("77", 0), unknown);
    let skip = |form: &mut Form| form.skip(reference("77")).map(|()| Change::default());
    assert_eq!(form.checked(skip), unknown);

    for (question, why) in [
        ("8", "question 8 is a heading and takes no answer"),
        ("3", "question 3 is answered in its rows: add a row"),
        ("9", "question 9 is read-only"),
        ("4.1", "question 4 in row 2: no such row"),
        ("4", "question 4: no such row"),
        ("1.0", "question 1 in row 1: no such row"),
        (
            "2",
            "question 2 does not apply: question 1 is not answered Yes",
        ),
        (
            "10",
            "question 10 does not apply: it belongs to other forms",
        ),
    ] {
        assert_eq!(form.try_answer(question, "x"), Err(why.to_owned()));
    }
    let no_row = form.try_remove("3", 1).unwrap_err();
    assert_eq!(no_row, "question 3 in row 2: no such row");
    for section in ["1", "8"] {
        let no_rows = Err(format!("question {section} has no rows"));
        assert_eq!(form.try_add(section), no_rows);
        assert_eq!(form.try_remove(section, 0), no_rows);
    }

    assert!(form.0.undo().is_none());
    assert_eq!(form.sends(), ["4.0=x"]);
}

#[test]
fn several_answers_in_one_place_give_way_to_the_new_one() {
    let mut form = Edits::of(YARD, "1=a; 1.7=b");
    form.answer("1", "Yes");
    assert_eq!(form.sends(), ["1=Yes"]);
}

#[test]
fn questions_in_cycles_do_not_appear() {
    let questions = "1; 3 ?4=x ?1=Yes; 4 ?3=x; 5 ?5=x ?1=Yes";
    let mut form = Edits::of(questions, "3=x; 4=x; 5=x");
    let yes = form.answer("1", "Yes");
    assert_eq!(appeared(&yes), NOTHING);
    assert_eq!(removed(&yes), ["answers.1"]);
    let refused = form.try_answer("5", "y").unwrap_err();
    assert_eq!(refused, "question 5 does not apply: it depends on itself");
}

#[test]
fn equal_findings_are_counted_one_by_one() {
    // Both are required, and their findings are equal.
    let mut form = Edits::of("1; 2 ?1=Yes; 2 ?1=Yes ?1=No", "1=Yes");
    let no = form.answer("1", "No");
    assert_eq!(added(&no), NOTHING);
    assert_eq!(removed(&no), ["answers.2"]);
    let yes = form.answer("1", "Yes");
    assert_eq!(added(&yes), ["answers.2"]);
    assert_eq!(removed(&yes), NOTHING);
    assert_eq!(form.findings(), ["answers.2", "answers.2"]);
}

#[test]
fn forms_decide_which_questions_apply() {
    let mut form = Edits::of(YARD, "");
    let change = form.field("forms", json!(["MSAC1"]));
    assert_eq!(vanished(&change), ["1", "3", "8"]);
    assert_eq!(appeared(&form.undo()), ["1", "3", "8"]);
}

#[test]
fn fields_are_set_by_their_paths_and_judged() {
    let mut form = Edits::of(YARD, "1=Yes");
    let late = form.field("movementTime", json!("25:00"));
    assert_eq!(added(&late), ["movementTime"]);
    let none = form.field("movementTime", Value::Null);
    assert_eq!(removed(&none), ["movementTime"]);
    assert_eq!(form.sends(), ["1=Yes"]);
    let sent = form.field("status", json!("SENT"));
    assert_eq!(added(&sent), ["INVALID_VALUE"]);
}

#[test]
fn items_are_a_tree_in_display_order_with_rows() {
    let mut form = Edits::of(SCREEN, "17=N; 4.2=x; 4.0=x");
    assert_eq!(form.items(), "9 1[0: 3 4][2: 3 4] 17(20 21) 30 31");
    form.add("1");
    assert_eq!(form.items(), "9 1[0: 3 4][2: 3 4][3: 3 4] 17(20 21) 30 31");
    // Rows are counted from 0, even after answers with a negative index.
    let mut form = Edits::of(SCREEN, "4.-3=x");
    form.add("1");
    assert_eq!(form.items(), "9 1[-3: 3 4][0: 3 4] 17 30 31");
}

#[test]
fn rows_inside_rows_are_shown_in_them() {
    let questions = "3 REPEATABLE { 4; 6 REPEATABLE { 7; 8 } }";
    let form = Edits::of(questions, "4.0=x; 7.1=x; 4=x");
    assert_eq!(form.items(), "3[-1: 4 6][0: 4 6][1: 4 6[1: 7 8]]");
}

#[test]
fn next_goes_through_what_is_open() {
    let mut form = Edits::of(SCREEN, "");
    assert_eq!(form.next().as_deref(), Some("1"));
    form.add("1");
    assert_eq!(form.next().as_deref(), Some("3"));
    form.answer("3.0", "24");
    assert_eq!(form.next().as_deref(), Some("4"));
    form.skip("4.0");
    assert_eq!(form.next().as_deref(), Some("17"));
    for question in ["17", "30", "31"] {
        form.skip(question);
    }
    assert_eq!(form.next(), None);
    form.answer("17", "Y");
    assert_eq!(form.next().as_deref(), Some("21"));
    // What was skipped is open again once it was answered.
    form.clear("17");
    assert_eq!(form.next().as_deref(), Some("17"));
}

#[test]
fn nothing_is_skipped_in_a_new_row_with_the_number_of_a_removed_one() {
    let mut form = Edits::of(SCREEN, "");
    form.add("1");
    form.skip("3.0");
    form.skip("4.0");
    assert_eq!(form.next().as_deref(), Some("17"));
    form.remove("1", 0);
    form.add("1");
    assert_eq!(form.next().as_deref(), Some("3"));
    form.answer("3.0", "24");
    assert_eq!(form.next().as_deref(), Some("4"));
}

/// The row of answers without an index: both sections are outside of numbered rows.
#[test]
fn of_sections_with_one_id_each_gets_its_first_row() {
    let mut form = Edits::of("3 REPEATABLE { 4; 3 REPEATABLE { 7 } }", "4=x");
    assert_eq!(form.next().as_deref(), Some("3"));
    form.add("3");
    assert_eq!(form.next().as_deref(), Some("7"));
}

#[test]
fn a_section_that_is_left_out_leaves_a_question_of_the_same_id_open() {
    let mut form = Edits::of("1 REPEATABLE { 2 REPEATABLE; 2 }", "");
    form.add("1");
    form.skip("2.0");
    assert_eq!(form.next(), None);
}
