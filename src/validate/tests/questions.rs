//! Which questions apply, and whether their answers are right (spec 2.4, 2.6).

use serde_json::{Value, json};

use crate::model::{AnswerInput, ConsignmentInput, Day, FormType, PartyInput, Question};
use crate::validate::{Context, Explanation, Policy, Questionnaire, UncheckedReason};

pub(in crate::validate) fn prepare(questions: &Value) -> Questionnaire {
    prepare_with(questions, false)
}

pub(in crate::validate) fn prepare_with(
    questions: &Value,
    stale_answers_count: bool,
) -> Questionnaire {
    let questions: Vec<Question> = serde_json::from_value(questions.clone()).unwrap();
    let policy = Policy::default().stale_answers_count(stale_answers_count);
    Questionnaire::prepare_with(&questions, policy)
}

/// A required question of LPAC1.
pub(in crate::validate) fn ask(
    id: &str,
    kind: &str,
    triggers: &[(&str, &str)],
    children: &[Value],
) -> Value {
    let triggers: Vec<Value> = triggers
        .iter()
        .map(|(id, value)| json!({"questionId": id, "value": value}))
        .collect();
    json!({"id": id, "type": kind, "forms": ["LPAC1"], "triggers": triggers, "childQuestions": children,
        "validators": [{"type": "required", "parameter": ""}]})
}

pub(in crate::validate) fn input(answers: &[(&str, Option<i64>, &str)]) -> ConsignmentInput {
    let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    answers.iter().fold(input, |input, (id, row, value)| {
        let answer = AnswerInput::new(*id, *value);
        input.answer(row.map_or(answer.clone(), |row| answer.row(row)))
    })
}

pub(in crate::validate) fn today() -> Context {
    Context::on(Day::new(2026, 11, 20).unwrap())
}

/// Codes without the word `answers`, errors with an exclamation mark.
pub(in crate::validate) fn found(
    questionnaire: &Questionnaire,
    answers: &[(&str, Option<i64>, &str)],
) -> Vec<String> {
    let report = questionnaire.validate(&input(answers), &today());
    let short = |code: &str| code.strip_prefix("answers.").unwrap().to_owned();
    let errors = report.errors().map(|f| short(&f.code) + "!");
    errors
        .chain(report.warnings().map(|f| short(&f.code)))
        .collect()
}

#[test]
fn stale_answers_trigger_others_only_if_the_policy_says_so() {
    let list = json!([
        ask(
            "1",
            "STRING",
            &[],
            &[ask("2", "STRING", &[("1", "Yes")], &[])]
        ),
        ask("3", "STRING", &[("2", "Yes")], &[]),
        {"id": "5", "type": "STRING", "forms": ["MSAC"]},
        ask("6", "STRING", &[("5", "Yes")], &[]),
    ]);
    let answers = [
        ("1", None, "No"),
        ("2", None, "Yes"),
        ("3", None, "x"),
        ("5", None, "Yes"),
    ];
    assert_eq!(found(&prepare(&list), &answers), [""; 0]);
    let counting = prepare_with(&list, true);
    assert_eq!(found(&counting, &answers), [""; 0]);
    assert_eq!(found(&counting, &answers[..2]), ["3"]);
    assert_eq!(counting.applicable(&input(&answers)).len(), 2);
    // What still triggers another is no rubbish; what triggers nothing is.
    let mut pruned = input(&answers[..3]);
    assert_eq!(counting.prune(&mut pruned), []);
    let mut pruned = input(&answers);
    assert_eq!(counting.prune(&mut pruned), [AnswerInput::new("5", "Yes")]);
}

#[test]
fn what_hangs_on_something_hidden_is_hidden_and_its_answers_do_not_count() {
    let deep = ask("3", "STRING", &[("2", "Yes")], &[]);
    let tree = prepare(&json!([
        ask(
            "1",
            "STRING",
            &[],
            &[ask("2", "STRING", &[("1", "Yes")], &[deep])]
        ),
        ask("4", "STRING", &[("2", "Yes")], &[]),
    ]));
    assert_eq!(found(&tree, &[]), ["1"]);
    assert_eq!(
        found(&tree, &[("1", None, "No"), ("2", None, "Yes")]),
        [""; 0]
    );
    assert_eq!(found(&tree, &[("1", None, "Yes")]), ["2"]);
    assert_eq!(
        found(&tree, &[("1", None, "Yes"), ("2", None, "Yes")]),
        ["3", "4"]
    );
}

#[test]
fn values_of_one_question_are_alternatives_and_questions_must_agree() {
    let tree = prepare(&json!([
        ask("1", "STRING", &[], &[]),
        ask("2", "STRING", &[], &[]),
        ask("3", "STRING", &[("1", "A"), ("2", "A"), ("1", "B")], &[]),
    ]));
    for (first, second, asked) in [
        ("A", "A", true),
        ("B", "A", true),
        ("C", "A", false),
        ("A", "B", false),
        ("a", "A", false),
    ] {
        let answers = [("1", None, first), ("2", None, second)];
        assert_eq!(
            found(&tree, &answers).contains(&"3".to_owned()),
            asked,
            "{first} {second}"
        );
    }
}

#[test]
fn children_without_triggers_apply_below_an_answered_parent() {
    let child = || [ask("2", "STRING", &[], &[])];
    let tree = prepare(&json!([ask("1", "STRING", &[], &child())]));
    assert_eq!(found(&tree, &[]), ["1"]);
    assert_eq!(found(&tree, &[("1", None, "")]), ["1"]);
    assert_eq!(found(&tree, &[("1", None, "x")]), ["2"]);
    let tree = prepare(&json!([ask("1", "DISPLAY", &[], &child())]));
    assert_eq!(found(&tree, &[]), ["2"]);
    let tree = prepare(&json!([ask("1", "MULTIPLE_CHOICE", &[], &child())]));
    assert_eq!(found(&tree, &[]), ["1"]);
    // Seen answered with an empty text (public), which is an answer for those below and none for itself.
    assert_eq!(found(&tree, &[("1", None, "")]), ["1", "2"]);
}

#[test]
fn forms_decide_and_children_without_forms_have_those_of_their_parent() {
    let mut parent = ask("1", "DISPLAY", &[], &[ask("2", "STRING", &[], &[])]);
    parent["childQuestions"][0]["forms"] = json!([]);
    assert_eq!(found(&prepare(&json!([parent.clone()])), &[]), ["2"]);
    parent["forms"] = json!(["EUC1"]);
    assert_eq!(found(&prepare(&json!([parent.clone()])), &[]), [""; 0]);
    parent["childQuestions"][0]["forms"] = json!(["LPAC1"]);
    assert_eq!(found(&prepare(&json!([parent])), &[]), [""; 0]);
}

#[test]
fn no_question_in_a_ring_applies_and_explain_names_the_members_only() {
    let tree = prepare(&json!([
        ask("1", "STRING", &[("2", "A")], &[]),
        ask("2", "STRING", &[("1", "A")], &[]),
        ask("3", "STRING", &[("3", "A")], &[]),
        ask("4", "STRING", &[("1", "A")], &[]),
        ask("5", "STRING", &[("nobody", "A")], &[]),
    ]));
    let all = [
        ("1", None, "A"),
        ("2", None, "A"),
        ("3", None, "A"),
        ("4", None, ""),
    ];
    assert_eq!(found(&tree, &all), [""; 0]);
    let why = |id| tree.explain(id, None, &input(&all)).to_string();
    for id in ["1", "2", "3"] {
        assert_eq!(why(id), "it waits for itself", "{id}");
    }
    assert_eq!(why("4"), "question 1 is not answered A");
    assert_eq!(why("5"), "question nobody is not answered A");
}

#[test]
fn choices_are_acceptable_and_several_may_stand_in_one_answer() {
    let tree = |kind: &str| {
        let mut question = ask("1", kind, &[], &[]);
        question["acceptableAnswers"] =
            json!([{"value": "A"}, {"value": "B"}, {"value": "A, c"}, {"displayName": "X"}]);
        prepare(&json!([question, ask("2", "STRING", &[("1", "B")], &[])]))
    };
    let one = tree("SINGLE_CHOICE");
    assert_eq!(found(&one, &[("1", None, "A, c")]), [""; 0]);
    assert_eq!(found(&one, &[("1", None, "A, B")]), ["1!"]);
    assert_eq!(found(&one, &[("1", None, "a")]), ["1!"]);
    let several = tree("MULTIPLE_CHOICE");
    assert_eq!(found(&several, &[("1", None, "A, B")]), ["2"]);
    assert_eq!(
        found(&several, &[("1", None, "A"), ("1", None, "B")]),
        ["2"]
    );
    assert_eq!(found(&several, &[("1", None, "A, c")]), [""; 0]);
    assert_eq!(found(&several, &[("1", None, "A, d")]), ["1!"]);
    assert_eq!(found(&tree("STRING"), &[("1", None, "anything")]), [""; 0]);
}

#[test]
fn now_is_today_and_a_date_that_cannot_be_read_breaks_the_rule() {
    let mut question = ask("1", "DATE", &[], &[]);
    question["validators"] =
        json!([{"type": "maxYear", "parameter": "now"}, {"type": "minYear", "parameter": "2000"}]);
    let tree = prepare(&json!([question]));
    for good in ["2026-11-20", "2000-01-01", ""] {
        assert_eq!(found(&tree, &[("1", None, good)]), [""; 0], "{good}");
    }
    for bad in ["2026-11-21", "1999-12-31", "soon"] {
        assert_eq!(found(&tree, &[("1", None, bad)]), ["1"], "{bad}");
    }
}

#[test]
fn what_is_only_shown_is_never_required() {
    let mut shown = ask("2", "STRING", &[], &[]);
    shown["readOnly"] = json!(true);
    assert_eq!(
        found(
            &prepare(&json!([
                ask("1", "DISPLAY", &[], &[]),
                shown,
                ask("3", "REPEATABLE", &[], &[])
            ])),
            &[]
        ),
        [""; 0]
    );
}

#[test]
fn unknown_kinds_are_listed_as_unchecked() {
    let mut question = ask("1", "STRING", &[], &[]);
    question["validators"] =
        json!([{"type": "maxLength", "parameter": "1"}, {"type": "minYear", "parameter": "soon"}]);
    let tree = prepare(&json!([question, ask("2", "COLOUR", &[], &[])]));
    let report = tree.validate(&input(&[("1", None, "long"), ("2", None, "red")]), &today());
    assert!(report.findings().is_empty());
    let reasons: Vec<_> = report
        .unchecked()
        .iter()
        .map(|u| u.reason.clone())
        .collect();
    assert_eq!(
        reasons,
        [
            UncheckedReason::UnknownValidator("maxLength".to_owned()),
            UncheckedReason::UnreadableParameter("soon".to_owned()),
            UncheckedReason::UnknownType("COLOUR".to_owned()),
        ]
    );
}

#[test]
fn validators_of_a_question_of_unknown_type_still_count() {
    let mut question = ask("1", "COLOUR", &[], &[]);
    question["acceptableAnswers"] = json!([{"value": "2001"}, {"value": "2002"}]);
    question["validators"] = json!([{"type": "required"}, {"type": "minYear", "parameter": "2000"},
        {"type": "maxYear", "parameter": "2040"}]);
    let tree = prepare(&json!([question]));
    for (answer, expected) in [
        ("", &["1"][..]),
        ("2001", &[]),
        ("1999", &["1!", "1"]),
        ("2041", &["1!", "1"]),
        ("2003", &["1!"]),
        // It may be a choice of several.
        ("2001, 2002", &["1"]),
    ] {
        assert_eq!(found(&tree, &[("1", None, answer)]), expected, "{answer}");
    }
    let report = tree.validate(&input(&[]), &today());
    let unknown = UncheckedReason::UnknownType("COLOUR".to_owned());
    assert_eq!(report.unchecked()[0].reason, unknown);
    assert_eq!(tree.progress(&input(&[])).required, 1);
}

#[test]
fn questions_23_24_and_87_are_no_part_of_lpag3_whatever_the_list_says() {
    let goats = |id: &str, children: &[Value]| {
        let mut question = ask(id, "STRING", &[], children);
        question["forms"] = json!(["LPAG2", "LPAG3", "HSG0"]);
        question
    };
    // A child that names no forms has those of the question above, but for these three ids.
    let mut inherited = ask("24", "STRING", &[], &[]);
    inherited["forms"] = json!([]);
    let tree = prepare(&json!([
        goats("23", &[goats("24", &[])]),
        goats("87", &[]),
        goats("88", &[inherited]),
    ]));
    let asked = |forms: &[FormType]| -> Vec<String> {
        let mut input = input(&[("23", None, "x"), ("87", None, "x"), ("88", None, "x")]);
        input.forms = forms.to_vec();
        let applied = tree.applicable(&input).into_iter();
        applied
            .map(|applied| applied.question.id.to_string())
            .collect()
    };
    assert_eq!(asked(&[FormType::Lpag3]), ["88"]);
    let all = ["23", "24", "87", "88", "24"];
    assert_eq!(asked(&[FormType::Lpag2]), all);
    assert_eq!(asked(&[FormType::Lpag3, FormType::Hsg0]), all);
}

#[test]
fn advice_is_given_on_request_only() {
    let tree = prepare(&json!([
        ask("1", "STRING", &[], &[]),
        ask("2", "STRING", &[("1", "Yes")], &[])
    ]));
    let input = input(&[
        ("1", None, "No"),
        ("1", None, "No"),
        ("2", None, "x"),
        ("99", None, "x"),
    ]);
    assert!(tree.validate(&input, &today()).advice().is_empty());
    let report = tree.validate(&input, &today().advice(true));
    let codes: Vec<&str> = report.advice().iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["answers.1", "answers.2", "answers.99"]);
    assert!(report.is_valid());
}

#[test]
fn it_is_told_why_a_question_does_not_apply() {
    let mut other = ask("4", "STRING", &[], &[]);
    other["forms"] = json!(["EUC1"]);
    let tree = prepare(&json!([
        ask(
            "1",
            "STRING",
            &[],
            &[ask(
                "2",
                "STRING",
                &[("1", "Yes")],
                &[ask("3", "STRING", &[], &[])]
            )]
        ),
        other,
        ask("5", "STRING", &[("5", "x")], &[]),
        ask("6", "REPEATABLE", &[], &[ask("7", "STRING", &[], &[])]),
    ]));
    let why =
        |id: &str, answers: &[(&str, Option<i64>, &str)]| tree.explain(id, None, &input(answers));
    assert_eq!(why("1", &[]), Explanation::Applies);
    let unmet = Explanation::TriggerNotMet {
        source: "1".into(),
        wanted: vec!["Yes".to_owned()],
    };
    assert_eq!(why("2", &[("1", None, "No")]), unmet);
    assert!(matches!(why("3", &[]), Explanation::ParentHidden(parent) if parent.id == "2"));
    let yes = [("1", None, "Yes")];
    assert!(matches!(why("3", &yes), Explanation::ParentUnanswered(parent) if parent.id == "2"));
    assert_eq!(why("4", &[]), Explanation::OtherForms);
    assert_eq!(why("7", &[]), Explanation::NoSuchRow);
    assert_eq!(why("8", &[]), Explanation::Unknown);
    assert_eq!(why("5", &[("5", None, "x")]), Explanation::Ring);
}

#[test]
fn an_empty_text_triggers_nothing() {
    for kind in ["STRING", "MULTIPLE_CHOICE"] {
        let tree = prepare(&json!([
            ask("1", kind, &[], &[]),
            ask("2", "STRING", &[("1", "")], &[])
        ]));
        assert_eq!(found(&tree, &[("1", None, "")]), ["1"], "{kind}");
        assert_eq!(found(&tree, &[("1", None, "A,,B")]), [""; 0], "{kind}");
    }
}
