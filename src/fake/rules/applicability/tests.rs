//! Which questions apply.

use serde_json::json;

use super::{Applicability, Value, children, questions_of, with_forms};

fn question(id: &str, kind: &str, triggers: &[(&str, &str)], children: Vec<Value>) -> Value {
    let triggers: Vec<Value> = triggers
        .iter()
        .map(|(id, value)| json!({"questionId": id, "value": value}))
        .collect();
    json!({"id": id, "type": kind, "forms": ["F"], "triggers": triggers, "childQuestions": children})
}

/// Ids that apply, with their rows, for answers `(id, row, value)`.
fn applicable(questions: &[Value], answers: &[(&str, Option<i64>, &str)]) -> Vec<String> {
    let answers: Vec<Value> = answers
        .iter()
        .map(|(id, row, value)| json!({"questionId": id, "index": row, "value": value}))
        .collect();
    let input = json!({"forms": ["F"], "answers": answers});
    let mut seen = Vec::new();
    Applicability::new(&input, questions).for_each(questions, &mut |question, row, _| {
        let id = question["id"].as_str().unwrap();
        seen.push(row.map_or(id.to_owned(), |row| format!("{id}.{row}")));
    });
    seen
}

#[test]
fn a_child_of_a_hidden_question_is_hidden() {
    let tree = [question(
        "1",
        "STRING",
        &[],
        vec![question(
            "2",
            "STRING",
            &[("1", "Yes")],
            vec![question("3", "STRING", &[("2", "Yes")], vec![])],
        )],
    )];
    let stale = [("1", None, "No"), ("2", None, "Yes")];
    assert_eq!(applicable(&tree, &stale), ["1"]);
    let live = [("1", None, "Yes"), ("2", None, "Yes")];
    assert_eq!(applicable(&tree, &live), ["1", "2", "3"]);
    assert_eq!(applicable(&tree, &live[..1]), ["1", "2"]);
}

#[test]
fn a_stale_answer_does_not_trigger_elsewhere() {
    let tree = [
        question(
            "1",
            "STRING",
            &[],
            vec![question("2", "STRING", &[("1", "Yes")], vec![])],
        ),
        question("3", "STRING", &[("2", "Yes")], vec![]),
    ];
    assert_eq!(
        applicable(&tree, &[("1", None, "No"), ("2", None, "Yes")]),
        ["1"]
    );
}

#[test]
fn values_of_one_question_are_alternatives_and_questions_must_agree() {
    let triggers = [("1", "A"), ("1", "B"), ("2", "A")];
    let tree = [
        question("1", "STRING", &[], vec![]),
        question("2", "STRING", &[], vec![]),
        question("3", "STRING", &triggers, vec![]),
    ];
    for (first, second, shown) in [
        ("A", "A", true),
        ("B", "A", true),
        ("C", "A", false),
        ("A", "B", false),
    ] {
        let seen = applicable(&tree, &[("1", None, first), ("2", None, second)]);
        assert_eq!(seen.contains(&"3".to_owned()), shown, "{first} {second}");
    }
}

#[test]
fn a_trigger_uses_its_row_first_and_then_other_answers() {
    let tree = [
        question(
            "1",
            "REPEATABLE",
            &[],
            vec![
                question(
                    "2",
                    "STRING",
                    &[],
                    vec![question("3", "STRING", &[("2", "Yes")], vec![])],
                ),
                question("4", "STRING", &[("9", "Yes")], vec![]),
            ],
        ),
        question("9", "STRING", &[], vec![]),
    ];
    let answers = [
        ("2", Some(0), "Yes"),
        ("2", Some(2), "No"),
        ("9", None, "Yes"),
    ];
    assert_eq!(
        applicable(&tree, &answers),
        ["1", "2.0", "3.0", "4.0", "2.2", "4.2", "9"]
    );
    assert_eq!(applicable(&tree, &[]), ["1", "9"]);
}

#[test]
fn no_question_of_a_cycle_of_triggers_applies() {
    let tree = [
        question("1", "STRING", &[("2", "A")], vec![]),
        question("2", "STRING", &[("1", "A")], vec![]),
        question("3", "STRING", &[("3", "A")], vec![]),
    ];
    assert!(
        applicable(
            &tree,
            &[("1", None, "A"), ("2", None, "A"), ("3", None, "A")]
        )
        .is_empty()
    );
}

#[test]
fn children_without_triggers_show_below_an_answered_parent() {
    let tree = |kind: &str| {
        [question(
            "1",
            kind,
            &[],
            vec![question("2", "STRING", &[], vec![])],
        )]
    };
    assert_eq!(applicable(&tree("STRING"), &[]), ["1"]);
    assert_eq!(applicable(&tree("STRING"), &[("1", None, "x")]), ["1", "2"]);
    assert_eq!(
        applicable(&tree("MULTIPLE_CHOICE"), &[("1", None, "")]),
        ["1", "2"]
    );
    assert_eq!(applicable(&tree("DISPLAY"), &[]), ["1", "2"]);
}

#[test]
fn answers_without_an_index_make_a_row_and_an_index_outside_of_rows_does_not_matter() {
    let tree = [
        question(
            "1",
            "REPEATABLE",
            &[],
            vec![question("2", "STRING", &[], vec![])],
        ),
        question(
            "3",
            "STRING",
            &[],
            vec![question("4", "STRING", &[("3", "Yes")], vec![])],
        ),
        question("5", "STRING", &[("2", "any row")], vec![]),
    ];
    let answers = [("2", None, "any row"), ("3", Some(7), "Yes")];
    assert_eq!(applicable(&tree, &answers), ["1", "2", "3", "4", "5"]);
}

#[test]
fn only_answers_to_multiple_choice_are_lists() {
    let tree = |kind: &str| {
        [
            question("1", kind, &[], vec![]),
            question("2", "STRING", &[("1", "B")], vec![]),
        ]
    };
    assert_eq!(
        applicable(&tree("MULTIPLE_CHOICE"), &[("1", None, "A, B")]),
        ["1", "2"]
    );
    assert_eq!(
        applicable(&tree("SINGLE_CHOICE"), &[("1", None, "A, B")]),
        ["1"]
    );
}

#[test]
fn a_nested_row_exists_when_a_question_in_it_is_answered() {
    let other = json!({"id": "4", "type": "STRING", "forms": ["G"]});
    let inner = question(
        "2",
        "REPEATABLE",
        &[],
        vec![question("3", "STRING", &[], vec![]), other],
    );
    let outer = [question(
        "1",
        "REPEATABLE",
        &[],
        vec![inner, question("5", "STRING", &[], vec![])],
    )];
    let here = ("5", Some(0), "x");
    assert_eq!(applicable(&outer, &[here]), ["1", "2.0", "5.0"]);
    let elsewhere = ("3", Some(1), "x");
    let both = ["1", "2.0", "5.0", "2.1", "3.1", "5.1"];
    assert_eq!(applicable(&outer, &[here, elsewhere]), both);
    // A question of another form makes no row.
    assert_eq!(
        applicable(&outer, &[here, ("4", Some(0), "x")]),
        ["1", "2.0", "5.0"]
    );
}

#[test]
fn an_empty_text_triggers_nothing() {
    for kind in ["STRING", "MULTIPLE_CHOICE"] {
        let tree = [
            question("1", kind, &[], vec![]),
            question("2", "STRING", &[("1", "")], vec![]),
        ];
        for answer in ["", "A,,B"] {
            assert_eq!(
                applicable(&tree, &[("1", None, answer)]),
                ["1"],
                "{kind} {answer:?}"
            );
        }
    }
}

/// The ids of all questions of some forms.
fn ids(questions: &[Value], forms: &[&str]) -> Vec<String> {
    let mut ids = Vec::new();
    let of_forms = questions_of(&with_forms(questions, &[]), &json!(forms));
    let mut open: Vec<&Value> = of_forms.iter().collect();
    while let Some(question) = open.pop() {
        ids.push(question["id"].as_str().unwrap().to_owned());
        open.extend(children(question));
    }
    ids.sort();
    ids
}

#[test]
fn a_child_without_forms_has_those_of_its_parent() {
    let deep = json!({"id": "3", "forms": []});
    let child = json!({"id": "2", "childQuestions": [deep]});
    let other = json!({"id": "4", "forms": ["G"]});
    let questions = [
        json!({"id": "1", "forms": ["F"], "childQuestions": [child, other]}),
        json!({"id": "5", "forms": []}),
    ];
    assert_eq!(ids(&questions, &["F"]), ["1", "2", "3"]);
    assert_eq!(ids(&questions, &["G"]), [""; 0]);
}

#[test]
fn questions_23_24_and_87_never_belong_to_lpag3() {
    let goats = ["LPAG2", "LPAG3", "HSG0"];
    let questions = [
        json!({"id": "23", "forms": goats, "childQuestions": [{"id": "24", "forms": goats}]}),
        json!({"id": "87", "forms": goats}),
        json!({"id": "88", "forms": goats, "childQuestions": [{"id": "24"}]}),
    ];
    assert_eq!(ids(&questions, &["LPAG3"]), ["88"]);
    let all = ["23", "24", "24", "87", "88"];
    assert_eq!(ids(&questions, &["LPAG2"]), all);
    assert_eq!(ids(&questions, &["LPAG3", "HSG0"]), all);
}
