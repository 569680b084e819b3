//! Work grows no faster than questions and answers, and more than a declaration can be is refused.

use serde_json::{Value, json};

use super::questions::{input, today};
use crate::model::{AnswerInput, ConsignmentInput, List, Maybe, Question, Trigger};
use crate::validate::size::steps;
use crate::validate::{Explanation, QuestionRules, Questionnaire, Report, Rule};

fn question(id: impl std::fmt::Display, kind: &str) -> Question {
    let question = json!({"id": id.to_string(), "type": kind, "forms": ["LPAC1"],
        "validators": [{"type": "required", "parameter": ""}]});
    serde_json::from_value(question).unwrap()
}

fn on(mut question: Question, triggers: impl Iterator<Item = (String, String)>) -> Question {
    let triggers = triggers.map(|(id, value)| json!({"questionId": id, "value": value}));
    let triggers: Vec<Trigger> = serde_json::from_value(triggers.collect::<Value>()).unwrap();
    question.triggers = List::from(triggers);
    question
}

fn above(mut question: Question, children: Vec<Question>) -> Question {
    question.child_questions = List::from(children);
    question
}

fn answers(answers: impl Iterator<Item = AnswerInput>) -> ConsignmentInput {
    let mut input = input(&[]);
    input.answers = Maybe::from(answers.collect::<Vec<_>>());
    input
}

/// Prepares, validates, prunes and lists.
fn all(questions: &[Question], input: &ConsignmentInput) -> Report {
    let list = Questionnaire::prepare(questions);
    let report = list.validate(input, &today().advice(true));
    let _ = list.prune(&mut input.clone());
    let _ = (list.applicable(input), list.progress(input));
    report
}

/// Twice the input is at most 2.2 times the work.
fn assert_linear(make: impl Fn(usize) -> (Vec<Question>, ConsignmentInput)) {
    let work = |size| {
        let (questions, input) = make(size);
        steps(|| drop(all(&questions, &input)))
    };
    let (half, whole) = (work(1_000), work(2_000));
    assert!(half >= 1_000, "{half} steps: the work is not counted");
    assert!(whole * 10 <= half * 22, "{half} steps become {whole}");
}

#[test]
fn triggers_of_one_question_cost_as_much_as_there_are() {
    // On as many questions.
    assert_linear(|size| {
        let triggers = (0..size).map(|n| (n.to_string(), "x".to_owned()));
        let mut questions = vec![on(question("last", "STRING"), triggers)];
        questions.extend((0..size).map(|n| question(n, "STRING")));
        let input = answers((0..size).map(|n| AnswerInput::new(n.to_string(), "x")));
        (questions, input)
    });
    // On one question that has as many choices.
    assert_linear(|size| {
        let triggers = (0..size).map(|n| ("first".to_owned(), n.to_string()));
        let mut first = question("first", "SINGLE_CHOICE");
        let choices = (0..size).map(|n| json!({"value": n.to_string()}));
        first.acceptable_answers = serde_json::from_value(choices.collect()).unwrap();
        let questions = vec![first, on(question("last", "STRING"), triggers)];
        (questions, input(&[("first", None, "none of them")]))
    });
}

#[test]
fn a_ring_costs_as_much_as_it_has_members() {
    assert_linear(|size| {
        let ring = (0..size).map(|n| {
            let next = ((n + 1) % size).to_string();
            on(
                question(n, "STRING"),
                std::iter::once((next, "x".to_owned())),
            )
        });
        let input = answers((0..size).map(|n| AnswerInput::new(n.to_string(), "x")));
        (ring.collect(), input)
    });
}

/// A chain of questions, each under the one before.
fn nested(size: usize, outermost: &str) -> Vec<Question> {
    let mut inner = Vec::new();
    for level in (0..size).rev() {
        let kind = if level == 0 { outermost } else { "STRING" };
        inner = vec![above(question(level, kind), inner)];
    }
    inner
}

#[test]
fn pruning_costs_as_much_as_there_are_levels() {
    for (outermost, row) in [
        ("STRING", None),
        ("REPEATABLE", None),
        ("REPEATABLE", Some(7)),
    ] {
        // All but the first apply, or none: the chain is cut at its top.
        for first in [1, 2] {
            assert_linear(|size| {
                let given = (first..size).map(|n| {
                    let answer = AnswerInput::new(n.to_string(), "x");
                    row.map_or(answer.clone(), |row| answer.row(row))
                });
                (nested(size, outermost), answers(given))
            });
        }
    }
}

#[test]
fn twenty_thousand_levels_are_judged_and_pruned() {
    let mut questions = nested(20_000, "STRING");
    let list = Questionnaire::prepare(&questions);
    // Dropped one by one: the destructor of nested questions is recursive.
    while let Some(mut question) = questions.pop() {
        questions.extend(std::mem::take(&mut question.child_questions).into_vec());
    }
    let answered = |first: usize| {
        let given = (first..20_000).map(|n| AnswerInput::new(n.to_string(), "x"));
        answers(given)
    };
    assert!(list.validate(&answered(0), &today()).ready_to_submit());
    assert_eq!(list.applicable(&answered(0)).len(), 20_000);
    assert_eq!(list.prune(&mut answered(1)).len(), 19_999);
}

/// One REPEATABLE question with so many children, the first of them answered in so many rows.
fn rows(children: usize, rows: i64) -> (Vec<Question>, ConsignmentInput) {
    let children = (0..children).map(|n| question(n, "STRING")).collect();
    let questions = vec![above(question("rows", "REPEATABLE"), children)];
    let given = (0..rows).map(|row| AnswerInput::new("0", "x").row(row));
    (questions, answers(given))
}

#[test]
fn more_cells_than_a_declaration_has_are_refused() {
    let (questions, input) = rows(100, 1_000);
    assert_eq!(all(&questions, &input).warnings().count(), 99_000);

    for (questions, input) in [rows(101, 1_000), rows(100, 1_001), rows(10_000, 10_000)] {
        let list = Questionnaire::prepare(&questions);
        let steps = steps(|| {
            assert_refused(&list, &input);
        });
        assert!(steps < 1_000_000, "{steps}");
    }
}

fn assert_refused(list: &Questionnaire, input: &ConsignmentInput) {
    let report = list.validate(input, &today());
    let rules: Vec<Rule> = report.findings().iter().map(|f| f.rule).collect();
    assert_eq!(rules, [Rule::Size], "{report}");
    assert!(!report.is_valid() && !report.can_create() && !report.ready_to_submit());
    assert_eq!(report.question_rules(), QuestionRules::NoQuestionsLoaded);
    assert!(list.applicable(input).is_empty());
    assert_eq!(list.explain("0", Some(0), input), Explanation::TooLarge);
    // Nothing is known to be superfluous.
    assert!(list.prune(&mut input.clone()).is_empty());

    let mut form = list.form(input, &today());
    assert_eq!(form.report(), &report);
    assert!(form.answer("0", Some(0), "y").is_err());
    assert_eq!(form.report(), &report);
}

#[test]
fn many_questions_with_one_id_are_refused_before_they_are_linked() {
    let size = 2_000;
    let same = (0..size).map(|_| question("same", "STRING"));
    let asking = (0..size).map(|n| {
        let trigger = ("same".to_owned(), "x".to_owned());
        on(question(n, "STRING"), std::iter::once(trigger))
    });
    let questions: Vec<Question> = same.chain(asking).collect();
    let list = Questionnaire::prepare(&questions);
    let report = list.validate(&input(&[]), &today());
    assert_eq!(report.findings()[0].rule, Rule::Size);
    assert!(list.prune(&mut input(&[("same", None, "x")])).is_empty());
}

#[test]
fn what_multiplies_answers_is_refused() {
    let choosing = |id: &str, size: usize| {
        let mut question = question(id, "SINGLE_CHOICE");
        let choices = (0..size).map(|n| json!({"value": n.to_string()}));
        question.acceptable_answers = serde_json::from_value(choices.collect()).unwrap();
        question
    };
    let many = |id: &str, size: usize| {
        let id = id.to_owned();
        answers(
            (0..size)
                .map(move |n| AnswerInput::new(id.as_str(), "x").row(i64::try_from(n).unwrap())),
        )
    };
    let refused = |questions: &[Question], input: &ConsignmentInput| {
        let report = all(questions, input);
        report.findings().iter().any(|f| f.rule == Rule::Size)
    };
    // Each wrong answer lists all choices.
    assert!(refused(&[choosing("0", 2_000)], &many("0", 2_000)));
    assert!(!refused(&[choosing("0", 2_000)], &many("0", 100)));
    // Each row lists them.
    let in_rows = above(
        question("rows", "REPEATABLE"),
        vec![question("0", "STRING"), choosing("1", 2_000)],
    );
    assert!(refused(std::slice::from_ref(&in_rows), &many("0", 2_000)));
    assert!(!refused(&[in_rows], &many("0", 100)));
    // Each row looks at each row of another question.
    let other = above(
        question("other", "REPEATABLE"),
        vec![question("2", "STRING")],
    );
    let trigger = std::iter::once(("2".to_owned(), "y".to_owned()));
    let asking = above(
        question("rows", "REPEATABLE"),
        vec![
            question("0", "STRING"),
            on(question("1", "STRING"), trigger),
        ],
    );
    let both = |size| {
        let mut input = many("0", size);
        let further = many("2", size);
        input
            .answers
            .value_mut()
            .unwrap()
            .extend(further.answers().iter().cloned());
        input
    };
    assert!(refused(&[other.clone(), asking.clone()], &both(2_000)));
    assert!(!refused(&[other, asking], &both(300)));
    // Rows inside rows look for answers below them.
    let children = (0..2_000).map(|n| question(n, "STRING")).collect();
    let inner = above(question("inner", "REPEATABLE"), children);
    let outer = above(
        question("rows", "REPEATABLE"),
        vec![question("here", "STRING"), inner],
    );
    assert!(refused(&[outer], &many("here", 1)));
}

#[test]
fn a_form_that_reaches_the_limit_refuses_more() {
    let choices = |id: usize| {
        let mut question = question(id, "MULTIPLE_CHOICE");
        let choices = (0..30_000).map(|n| json!({"value": n.to_string()}));
        question.acceptable_answers = serde_json::from_value(choices.collect()).unwrap();
        question
    };
    let questions: Vec<Question> = (0..8).map(choices).collect();
    let list = Questionnaire::prepare(&questions);
    let start = answers((0..30).map(|_| AnswerInput::new("0", "7")));
    let mut form = list.form(&start, &today());
    let mut refused = 0;
    for n in 1..8 {
        refused += usize::from(form.answer(n.to_string(), None, "7").is_err());
        assert_eq!(form.report(), &list.validate(&form.to_input(), &today()));
    }
    // 33 answers of 30,001 steps each are within a million.
    assert_eq!(refused, 37 - 33);
}
