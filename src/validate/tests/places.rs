//! Sessions: what is not changed by an answer.

use std::sync::Arc;

use serde_json::{Value, json};

use super::questions::{ask, input, prepare, today};
use crate::model::{AnswerInput, FormType};
use crate::validate::{Change, Session};

type Given<'a> = (&'a str, Option<i64>, &'a str);

fn session(list: &Value, answers: &[Given<'_>]) -> Session {
    prepare(list).session(&input(answers), &today())
}

fn yard() -> Value {
    json!([
        ask("1", "STRING", &[], &[]),
        ask("2", "STRING", &[("99", "x")], &[]),
        ask("8", "STRING", &[], &[]),
        ask(
            "3",
            "REPEATABLE",
            &[],
            &[
                ask("4", "STRING", &[], &[]),
                ask(
                    "5",
                    "STRING",
                    &[],
                    &[ask("6", "REPEATABLE", &[], &[ask("7", "STRING", &[], &[])])]
                ),
                ask("8", "STRING", &[], &[]),
            ]
        ),
    ])
}

#[test]
fn questions_of_other_forms_and_of_rings_stay_out_of_play() {
    let mut other = ask("2", "STRING", &[("1", "Yes")], &[]);
    other["forms"] = json!(["MSAC1"]);
    let mut ring = ask("3", "STRING", &[("4", "x"), ("1", "Yes")], &[]);
    ring["triggers"].as_array_mut().unwrap().reverse();
    let list = json!([
        ask("1", "STRING", &[], &[]),
        other,
        ring,
        ask("4", "STRING", &[("3", "x")], &[]),
        ask("5", "STRING", &[("5", "x"), ("1", "Yes")], &[]),
    ]);
    let answers = [("3", None, "x"), ("4", None, "x"), ("5", None, "x")];
    let mut open = session(&list, &answers);
    let change = open.answer("1", None, Some("Yes"));
    assert_eq!(change.appeared, []);
    assert_eq!(change.removed.len(), 1);
}

#[test]
fn nothing_is_said_of_answers_while_the_server_would_stop_before_them() {
    let mut stopped = input(&[]);
    stopped.forms = vec![FormType::Lpac1, "LPAC9".into()];
    let mut open = prepare(&yard()).session(&stopped, &today());
    let change = open.answer("1", None, Some("x"));
    assert!(change.added.is_empty() && change.removed.is_empty());
}

#[test]
fn the_same_wrong_answer_again_changes_nothing() {
    let mut choice = ask("1", "SINGLE_CHOICE", &[], &[]);
    choice["acceptableAnswers"] = json!([{"value": "Yes"}]);
    let mut open = session(&json!([choice]), &[("1", None, "No")]);
    assert_eq!(open.answer("1", None, Some("No")), Change::default());
    let change = open.answer("1", None, Some("Yes"));
    assert_eq!((change.removed.len(), change.added.len()), (1, 0));
    let change = open.answer("1", None, Some("No"));
    assert_eq!((change.removed.len(), change.added.len()), (0, 1));
}

#[test]
fn of_findings_that_are_alike_as_many_are_told_as_come_and_go() {
    // Both are required, and say the same of it.
    let list = json!([
        ask("1", "STRING", &[], &[]),
        ask("2", "STRING", &[("1", "Yes")], &[]),
        ask("2", "STRING", &[("1", "Yes"), ("1", "No")], &[]),
    ]);
    let answer = |open: &mut Session, value: &str| {
        let answers = vec![AnswerInput::new("1", value)];
        open.edit(|input| input.answers = answers.into())
    };
    let mut open = session(&list, &[("1", None, "Yes")]);
    let change = answer(&mut open, "No");
    assert_eq!((change.added.len(), change.removed.len()), (0, 1));
    let change = answer(&mut open, "Yes");
    assert_eq!((change.added.len(), change.removed.len()), (1, 0));
    assert_eq!(change.added[0].code, "answers.2");
    let (all, one) = (open.report(), &change.added[0]);
    let alike = all.findings().iter().filter(|f| *f == one);
    assert_eq!(alike.map(Arc::clone).count(), 2);
}

#[test]
fn unknown_ids_are_kept_apart_by_row() {
    let mut open = session(&yard(), &[]);
    open.answer("unknown", Some(0), Some("x"));
    open.answer("unknown", Some(1), Some("y"));
    open.answer("unknown", Some(0), Some("z"));
    let answers: Vec<Given<'_>> = vec![("unknown", Some(0), "z"), ("unknown", Some(1), "y")];
    assert_eq!(open.input().answers(), input(&answers).answers());
}
