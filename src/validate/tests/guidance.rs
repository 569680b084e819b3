//! What to ask, how far it has come, what to take away.

use serde_json::json;

use super::questions::{ask, input, prepare};

#[test]
fn progress_counts_rows_and_leaves_out_headings() {
    let mut shown = ask("6", "STRING", &[], &[]);
    shown["readOnly"] = json!(true);
    let mut free = ask("7", "STRING", &[], &[]);
    free["validators"] = json!([]);
    let tree = prepare(&json!([
        ask("1", "DISPLAY", &[], &[]),
        ask("2", "STRING", &[], &[]),
        ask("3", "REPEATABLE", &[], &[ask("4", "STRING", &[], &[])]),
        shown,
        free,
    ]));
    let progress = tree.progress(&input(&[]));
    assert_eq!((progress.questions, progress.answered), (2, 0));
    assert_eq!((progress.required, progress.required_answered), (1, 0));
    let progress = tree.progress(&input(&[
        ("4", Some(0), "x"),
        ("4", Some(3), ""),
        ("7", None, "x"),
    ]));
    assert_eq!((progress.questions, progress.answered), (4, 2));
    assert_eq!((progress.required, progress.required_answered), (3, 1));
}

#[test]
fn pruning_keeps_what_applies_what_is_unknown_and_what_alone_makes_a_row() {
    let tree = prepare(&json!([
        ask(
            "1",
            "STRING",
            &[],
            &[ask("2", "STRING", &[("1", "Yes")], &[])]
        ),
        ask(
            "3",
            "REPEATABLE",
            &[],
            &[ask(
                "4",
                "STRING",
                &[],
                &[ask("5", "STRING", &[("4", "Yes")], &[])]
            ),]
        ),
    ]));
    let mut draft = input(&[
        ("1", None, "No"),
        ("2", None, "stale"),
        ("99", None, "newer than the list"),
        ("4", Some(0), "No"),
        ("5", Some(0), "stale"),
        ("5", Some(1), "makes row 1"),
    ]);
    let gone = tree.prune(&mut draft);
    let gone: Vec<_> = gone
        .iter()
        .map(|answer| answer.value.value().unwrap().as_str())
        .collect();
    assert_eq!(gone, ["stale", "stale"]);
    assert_eq!(draft.answers().len(), 4);
}

#[test]
fn choices_are_shown_with_their_names() {
    let mut question = ask("1", "SINGLE_CHOICE", &[], &[]);
    question["text"] = json!("Bred here?");
    question["acceptableAnswers"] =
        json!([{"value": "Y", "displayName": "Yes"}, {"value": "N"}, {"displayName": "no value"}]);
    let tree = prepare(&json!([question]));
    let asked = &tree.next_questions(&input(&[]))[0];
    assert_eq!(asked.text, "Bred here?");
    let choices: Vec<_> = asked
        .choices
        .iter()
        .map(|c| (c.value.as_str(), c.name.as_str()))
        .collect();
    assert_eq!(choices, [("Y", "Yes"), ("N", "N")]);
}

#[test]
fn a_hidden_parent_is_named_with_its_row_where_it_has_one() {
    let below = ask(
        "5",
        "STRING",
        &[("1", "Yes")],
        &[ask("6", "STRING", &[], &[])],
    );
    let rows = ask("3", "REPEATABLE", &[("1", "No")], &[below]);
    let tree = prepare(&json!([ask("1", "STRING", &[], &[]), rows]));
    let why = |id: &str, first: &str| {
        let input = input(&[("1", None, first), ("6", Some(2), "x")]);
        tree.explain(id, Some(2), &input).to_string()
    };
    assert_eq!(
        why("6", "No"),
        "question 5 in row 3 above it does not apply"
    );
    assert_eq!(why("5", "Perhaps"), "question 3 above it does not apply");
}

#[test]
fn it_is_told_by_which_answers_a_question_is_asked() {
    let tree = prepare(&json!([ask(
        "1",
        "STRING",
        &[],
        &[
            ask("2", "STRING", &[("1", "A"), ("1", "B")], &[]),
            ask("3", "STRING", &[], &[]),
        ]
    )]));
    let asked = tree.next_questions(&input(&[("1", None, "B")]));
    let because = |at: usize| {
        asked[at]
            .because
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(because(0), ["question 1 is answered B"]);
    assert_eq!(because(1), ["it stands under question 1"]);
    assert!(tree.next_questions(&input(&[]))[0].because.is_empty());
}
