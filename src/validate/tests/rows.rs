//! Questions that are answered row by row.

use serde_json::json;

use super::questions::{ask, found, input, prepare};

#[test]
fn rows_are_checked_each_for_itself_and_without_rows_nothing_is_required() {
    let tree = prepare(&json!([ask(
        "1",
        "REPEATABLE",
        &[],
        &[ask("2", "STRING", &[], &[]), ask("3", "STRING", &[], &[])]
    )]));
    assert_eq!(found(&tree, &[]), [""; 0]);
    assert_eq!(
        found(&tree, &[("2", Some(0), "x"), ("3", Some(4), "x")]),
        ["3.0", "2.4"]
    );
    assert_eq!(found(&tree, &[("2", Some(0), "")]), ["2.0", "3.0"]);
    // The sample payloads show no index at all (spec 2.4).
    assert_eq!(found(&tree, &[("2", None, "x")]), ["3"]);
}

#[test]
fn triggers_look_in_the_row_first_and_then_outside() {
    let tree = prepare(&json!([
        ask(
            "1",
            "REPEATABLE",
            &[],
            &[
                ask(
                    "2",
                    "STRING",
                    &[],
                    &[ask("3", "STRING", &[("2", "Yes")], &[])]
                ),
                ask("4", "STRING", &[("9", "Yes")], &[]),
            ]
        ),
        ask("9", "STRING", &[], &[]),
    ]));
    let answers = [
        ("2", Some(0), "Yes"),
        ("2", Some(2), "No"),
        ("9", None, "Yes"),
    ];
    assert_eq!(found(&tree, &answers), ["3.0", "4.0", "4.2"]);
    assert_eq!(found(&tree, &answers[..2]), ["3.0", "9"]);
}

#[test]
fn rows_of_a_hidden_question_do_not_count() {
    let rows = ask(
        "2",
        "REPEATABLE",
        &[("1", "Yes")],
        &[ask("3", "STRING", &[], &[]), ask("4", "STRING", &[], &[])],
    );
    let tree = prepare(&json!([ask("1", "STRING", &[], &[]), rows]));
    assert_eq!(
        found(&tree, &[("1", None, "No"), ("3", Some(0), "x")]),
        [""; 0]
    );
    assert_eq!(
        found(&tree, &[("1", None, "Yes"), ("3", Some(0), "x")]),
        ["4.0"]
    );
}

#[test]
fn next_questions_are_those_without_an_answer_and_a_first_row() {
    let tree = prepare(&json!([
        ask("0", "DISPLAY", &[], &[]),
        ask(
            "1",
            "REPEATABLE",
            &[],
            &[ask("2", "STRING", &[], &[]), ask("3", "STRING", &[], &[])]
        ),
        ask("9", "STRING", &[], &[]),
    ]));
    let next = |answers: &[(&str, Option<i64>, &str)]| -> Vec<String> {
        let next = tree.next_questions(&input(answers));
        next.into_iter()
            .map(|q| {
                format!(
                    "{}{}",
                    q.question.id,
                    q.question
                        .row
                        .map_or(String::new(), |row| format!(".{row}"))
                )
            })
            .collect()
    };
    assert_eq!(next(&[]), ["1", "9"]);
    assert_eq!(next(&[("2", Some(0), "x"), ("9", None, "x")]), ["3.0"]);
}

#[test]
fn rows_inside_rows_are_there_once_something_in_them_is_answered() {
    let inner = ask(
        "6",
        "REPEATABLE",
        &[],
        &[ask("7", "STRING", &[], &[]), ask("8", "STRING", &[], &[])],
    );
    let outer = ask(
        "3",
        "REPEATABLE",
        &[],
        &[ask("4", "STRING", &[], &[]), inner],
    );
    let tree = prepare(&json!([outer]));
    assert_eq!(found(&tree, &[("4", Some(0), "x")]), [""; 0]);
    assert_eq!(
        found(&tree, &[("4", Some(0), "x"), ("7", Some(0), "x")]),
        ["8.0"]
    );
    assert_eq!(
        found(&tree, &[("4", Some(0), "x"), ("7", Some(1), "x")]),
        ["4.1", "8.1"]
    );
}

#[test]
fn a_row_without_an_answer_of_its_own_does_not_borrow_that_of_another_row() {
    let rows = ask(
        "1",
        "REPEATABLE",
        &[],
        &[
            ask("2", "STRING", &[], &[]),
            ask("3", "STRING", &[("2", "Yes")], &[]),
            ask("4", "STRING", &[], &[]),
        ],
    );
    let tree = prepare(&json!([rows]));
    let answers = [
        ("2", Some(0), "Yes"),
        ("4", Some(0), "x"),
        ("4", Some(1), "x"),
    ];
    assert_eq!(found(&tree, &answers), ["3.0", "2.1"]);
}

#[test]
fn rows_of_one_question_hear_of_those_of_another() {
    let first = ask("1", "REPEATABLE", &[], &[ask("2", "STRING", &[], &[])]);
    let second = ask(
        "5",
        "REPEATABLE",
        &[],
        &[
            ask("6", "STRING", &[], &[]),
            ask("7", "STRING", &[("2", "Yes")], &[]),
        ],
    );
    let tree = prepare(&json!([first, second]));
    let with = |value| [("2", Some(0), value), ("6", Some(3), "x")];
    assert_eq!(found(&tree, &with("Yes")), ["7.3"]);
    assert_eq!(found(&tree, &with("No")), [""; 0]);
}

#[test]
fn an_answer_of_another_form_makes_no_row_inside_a_row() {
    let mut other = ask("4", "STRING", &[], &[]);
    other["forms"] = json!(["MSAC1"]);
    let inner = ask(
        "2",
        "REPEATABLE",
        &[],
        &[ask("3", "STRING", &[], &[]), other],
    );
    let tree = prepare(&json!([ask(
        "1",
        "REPEATABLE",
        &[],
        &[inner, ask("5", "STRING", &[], &[])]
    )]));
    let here = ("5", Some(0), "x");
    assert_eq!(found(&tree, &[here]), [""; 0]);
    assert_eq!(found(&tree, &[here, ("4", Some(0), "x")]), [""; 0]);
    assert_eq!(found(&tree, &[here, ("3", Some(0), "")]), ["3.0"]);
}
