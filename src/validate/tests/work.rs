//! Long lists are checked completely; lists beyond the limits are refused.

use super::questions::{applicable, input, list, today};
use super::shapes::{answered, nested};
use crate::model::ConsignmentInput;
use crate::validate::{Explanation, QuestionRules, Questionnaire, Rule};

/// Joins the results of `one` for the numbers below `size`.
fn each(size: usize, separator: &str, one: impl Fn(usize) -> String) -> String {
    (0..size).map(one).collect::<Vec<_>>().join(separator)
}

/// Answers to a question in `size` rows.
fn rows(id: &str, size: usize) -> String {
    each(size, "; ", |row| format!("{id}.{row}=x"))
}

fn assert_applying(list: &Questionnaire, input: &ConsignmentInput, count: usize) {
    let report = list.validate(input, &today().advice(true));
    assert_eq!(report.question_rules(), QuestionRules::Checked);
    assert_eq!(applicable(list, input).len(), count);
    let pruned = list.prune(&mut input.clone()).len();
    assert!(pruned + count >= input.answers().len());
}

/// `benches/validate.rs` measures how the time grows.
#[test]
fn thousands_of_triggers_and_choices_are_followed() {
    const SIZE: usize = 5_000;
    let triggers = each(SIZE, " ", |n| format!("?{n}=x"));
    let triggered = format!("last {triggers}; {}", each(SIZE, "; ", |n| n.to_string()));
    assert_applying(&list(&triggered), &answered(0..SIZE, None), SIZE + 1);

    let triggers = each(SIZE, " ", |n| format!("?first={n}"));
    let choices = each(SIZE, "|", |n| n.to_string());
    let of_choices = list(&format!("last {triggers}; first SINGLE_CHOICE [{choices}]"));
    assert_applying(&of_choices, &input("first=none of them"), 1);

    let cycle = each(SIZE, "; ", |n| format!("{n} ?{}=x", (n + 1) % SIZE));
    assert_applying(&list(&cycle), &answered(0..SIZE, None), 0);

    // All questions below the first apply, or the chain is broken at the top.
    for (outermost, row, first, count) in [
        ("STRING", None, 0, 64),
        ("STRING", None, 1, 1),
        ("REPEATABLE", None, 1, 64),
        ("REPEATABLE", Some(7), 1, 64),
        ("REPEATABLE", Some(7), 2, 2),
    ] {
        let list = nested(64, outermost, Questionnaire::prepare);
        assert_applying(&list, &answered(first..64, row), count);
    }
}

#[test]
fn what_multiplies_is_refused_at_once_and_altogether() {
    let ids = |count| each(count, "; ", |n| n.to_string());
    let choices = each(2_000, "|", |n| n.to_string());
    let in_rows = |count| format!("rows REPEATABLE {{ {} }}", ids(count));
    let inner = format!("rows REPEATABLE {{ 0; inner {} }}", in_rows(2_000));
    let one = format!("0 SINGLE_CHOICE [{choices}]");
    let one_in_rows = format!("rows REPEATABLE {{ 0; 1 SINGLE_CHOICE [{choices}] }}");
    let several = format!("0 MULTIPLE_CHOICE [a, b|{choices}]");
    let parts = |count| "0=".to_owned() + &"a, b,".repeat(count);
    let crossing = "other REPEATABLE { 2 }; rows REPEATABLE { 0; 1 ?2=y }";
    let both = |count| rows("0", count) + "; " + &rows("2", count);
    let same = each(2_000, "; ", |n| format!("same; {n} ?same=x"));
    for (questions, answers, fits) in [
        // Questions in rows.
        (&*in_rows(100), rows("0", 1_000), true),
        (&in_rows(101), rows("0", 1_000), false),
        (&in_rows(100), rows("0", 1_001), false),
        (&in_rows(5_000), rows("0", 5_000), false),
        // Each wrong answer lists all choices.
        (&one, rows("0", 100), true),
        (&one, rows("0", 2_000), false),
        // Each wrong answer in each row lists all choices.
        (&one_in_rows, rows("0", 100), true),
        (&one_in_rows, rows("0", 2_000), false),
        // Each row reads every row of another question.
        (crossing, both(300), true),
        (crossing, both(2_000), false),
        // Nested rows do not multiply: an answer creates a single row in each section above it.
        (&inner, rows("0", 1), true),
        // Each part of a list is compared with the choices.
        (&several, parts(200), true),
        (&several, parts(2_000), false),
        // More questions than the limit.
        (&ids(100_001), String::new(), false),
        // Many questions, each triggered by many that share an id.
        (&same, String::new(), false),
    ] {
        let list = list(questions);
        let input = input(&answers);
        if fits {
            let report = list.validate(&input, &today());
            assert_eq!(report.question_rules(), QuestionRules::Checked, "{report}");
        } else {
            assert_refused(&list, &input);
        }
    }
}

fn assert_refused(list: &Questionnaire, input: &ConsignmentInput) {
    let report = list.validate(input, &today());
    let rules: Vec<Rule> = report.findings().iter().map(|f| f.rule).collect();
    assert_eq!(rules, [Rule::Size], "{report}");
    assert!(!report.is_valid() && !report.can_create() && !report.ready_to_submit());
    assert_eq!(report.question_rules(), QuestionRules::NoQuestionsLoaded);
    assert!(applicable(list, input).is_empty());
    assert_eq!(list.explain("0", Some(0), input), Explanation::TooLarge);
    // If the list was refused, no answer counts as superfluous.
    assert!(list.prune(&mut input.clone()).is_empty());

    let mut form = list.form(input, &today());
    assert_eq!(form.report(), &report);
    assert!(form.items().is_empty() && form.next().is_none());
    assert!(form.blockers()[0].blocks_creating());
    assert!(form.answer(("0", Some(0)), "y").is_err());
    assert_eq!(form.report(), &report);
}

#[test]
fn a_form_that_reaches_the_limit_refuses_more() {
    let choices = each(30_000, "|", |n| n.to_string());
    let question = |id| format!("{id} MULTIPLE_CHOICE [{choices}]");
    let list = list(&each(4, "; ", question));
    let start = input(&each(31, "; ", |_| "0=7".to_owned()));
    let mut form = list.form(&start, &today());
    let mut refused = 0;
    for n in 1..4 {
        refused += usize::from(form.answer(n.to_string().as_str(), "7").is_err());
        assert_eq!(form.report(), &list.validate(&form.to_input(), &today()));
    }
    // 33 answers of 30,010 steps each are below a million.
    assert_eq!(refused, 34 - 33);
}
