//! How fast the validator is, as ratios within one run: `cargo bench --bench validate`.
//!
//! Clock times on shared machines are noise, so each pair is timed turn by turn and the shortest times are compared. A
//! missed goal is printed, and the exit code is then 1.

#![allow(clippy::cast_precision_loss)] // Counts are small.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use envd_sdk::model::{ConsignmentInput, Day, Question};
use envd_sdk::validate::{Context, Questionnaire};
use serde_json::{Value, json};

use row::{Goal, row};

#[path = "questions/by_hand.rs"]
mod by_hand;
mod questions;
mod row;

/// A list, what it was read from, and a consignment that answers all of it.
struct Case {
    list: String,
    questions: Vec<Question>,
    questionnaire: Questionnaire,
    input: ConsignmentInput,
}

impl Case {
    fn new(list: &Value, answers: &Value) -> Self {
        let list = list.to_string();
        let questions: Vec<Question> = serde_json::from_str(&list).unwrap();
        Self {
            questionnaire: Questionnaire::prepare(&questions),
            list,
            questions,
            input: serde_json::from_value(json!({
                "forms": ["LPAC1"],
                "origin": {"name": "Sample Station", "pic": "QAZZ7777"},
                "destination": {"pic": "QDZZ3333"},
                "movementDate": "2026-11-23",
                "movementTime": "05:15",
                "answers": answers,
            }))
            .unwrap(),
        }
    }

    fn nested(count: usize) -> Self {
        Self::new(&questions::nested(count), &questions::all_yes(count))
    }

    /// 120 questions nested three deep, of which the 40 outermost are answered so that the others do not apply.
    fn clean() -> Self {
        let answers = (0..120).step_by(3);
        let answers =
            answers.map(|id| json!({"questionId": id.to_string(), "index": null, "value": "No"}));
        Self::new(&questions::nested_by(3, 120), &answers.collect())
    }

    fn check(&self) {
        let report = self
            .questionnaire
            .validate(black_box(&self.input), &context());
        assert!(report.ready_to_submit() && report.findings().is_empty());
    }

    /// Triggers in one chain, listed from its end.
    fn backwards(count: usize) -> Self {
        let question = |id: usize| match id {
            0 => json!({"id": "0", "type": "STRING", "forms": ["LPAC1"]}),
            _ => json!({"id": id.to_string(), "type": "STRING", "forms": ["LPAC1"],
                "triggers": [{"questionId": (id - 1).to_string(), "value": "Yes"}]}),
        };
        let list: Value = (0..count).rev().map(question).collect();
        Self::new(&list, &questions::all_yes(count))
    }
}

fn context() -> Context {
    Context::on(Day::new(2026, 11, 20).unwrap())
}

/// The shortest times of some things, taken turn by turn.
fn times<const N: usize>(mut things: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut shortest = [Duration::MAX; N];
    let mut repeats = [1_u32; N];
    for (thing, repeats) in things.iter_mut().zip(&mut repeats) {
        // About a millisecond a turn, so that the clock's own time does not count.
        loop {
            let start = Instant::now();
            for _ in 0..*repeats {
                thing();
            }
            if start.elapsed() > Duration::from_millis(1) {
                break;
            }
            *repeats *= 2;
        }
    }
    for _ in 0..60 {
        for nth in 0..N {
            let start = Instant::now();
            for _ in 0..repeats[nth] {
                things[nth]();
            }
            shortest[nth] = shortest[nth].min(start.elapsed() / repeats[nth]);
        }
    }
    shortest
}

const WORK: &str = "validation";

/// Prints a ratio; returns whether it keeps its goal.
fn goal(case: &str, one: Duration, other: Duration, most: f64) -> bool {
    let ratio = one.as_secs_f64() / other.as_secs_f64();
    row(WORK, case, ratio, "times", Goal::AtMost(most))
}

fn microseconds(case: &str, time: Duration, goal: Goal) -> bool {
    row(WORK, case, time.as_secs_f64() * 1e6, "µs", goal)
}

/// The answers of a consignment with nothing wrong, by us and by hand.
fn clean() -> bool {
    let mut kept = true;
    for (count, questions) in [(300, "300"), (3_000, "3,000")] {
        let case = Case::nested(count);
        case.check();
        let allocations = allocation_counter::measure(|| case.check()).count_total;
        let text = format!("allocations, {questions} questions, all answered");
        kept &= row(
            WORK,
            &text,
            allocations as f64,
            "in all",
            Goal::AtMost(12.0),
        );
    }
    let case = Case::clean();
    let small = Case::nested(300);
    for (case, text, most) in [
        (&case, "120 questions, 40 answers", Goal::AtMost(50.0)),
        (&small, "300 questions, all answered", Goal::None),
    ] {
        let input = black_box(&case.input);
        let prepared = by_hand::Prepared::new(&case.questions);
        let [ours, by_hand, by_hand_prepared] = times([
            &mut || case.check(),
            &mut || {
                let questions = black_box(&case.questions);
                assert_eq!(by_hand::check(questions, &input.forms, input.answers()), 0);
            },
            &mut || assert_eq!(prepared.check(&input.forms, input.answers()), 0),
        ]);
        kept &= microseconds(&format!("{text}, time"), ours, most);
        kept &= goal(
            &format!("{text}, beside a checker by hand"),
            ours,
            by_hand,
            2.0,
        );
        let ratio = ours.as_secs_f64() / by_hand_prepared.as_secs_f64();
        let text = format!("{text}, beside one by hand that prepares the list as well");
        row(WORK, &text, ratio, "times", Goal::None);
    }
    let [prepare, read] = times([
        &mut || drop(Questionnaire::prepare(black_box(&small.questions))),
        &mut || drop(serde_json::from_str::<Vec<Question>>(black_box(&small.list)).unwrap()),
    ]);
    kept & goal(
        "preparing 300 questions, beside reading them from JSON",
        prepare,
        read,
        0.67,
    )
}

/// A form judges everything again after each answer.
fn forms() -> bool {
    let mut kept = true;
    for (count, text, most) in [(300, "300", 100.0), (2_000, "2,000", 1_000.0)] {
        let case = Case::nested(count);
        let mut form = case.questionnaire.form(&case.input, &context());
        let mut yes = false;
        // The second of four: two more hang on it, and come and go.
        let [answer] = times([&mut || {
            yes = !yes;
            let value = if yes { "Yes" } else { "No" };
            black_box(form.answer("5", value).unwrap());
        }]);
        let text = format!("a form of {text} questions after an answer, time");
        kept &= microseconds(&text, answer, Goal::AtMost(most));
    }
    kept
}

fn growth() -> bool {
    let short = Case::nested(200);
    let long = Case::nested(2_000);
    let [a, b] = times([&mut || short.check(), &mut || long.check()]);
    let kept = goal("2,000 questions beside 200", b, a, 14.0);
    let short = Case::backwards(200);
    let long = Case::backwards(2_000);
    let [a, b] = times([&mut || short.check(), &mut || long.check()]);
    kept & goal(
        "2,000 questions beside 200, one chain listed backwards",
        b,
        a,
        14.0,
    )
}

fn findings() -> bool {
    let mut wrong = Case::nested(4_000);
    let clean = Case::nested(4_000);
    let answers: Vec<Value> = (0..4_000)
        .filter(|id| id % 4 != 3)
        .map(|id| json!({"questionId": id.to_string(), "index": null, "value": "Yes"}))
        .collect();
    wrong.input.answers = serde_json::from_value(answers.into()).unwrap();
    let context = context();
    let [a, b] = times([
        &mut || {
            let report = wrong.questionnaire.validate(&wrong.input, &context);
            assert_eq!(report.findings().len(), 1_000);
        },
        &mut || clean.check(),
    ]);
    goal(
        "4,000 questions with 1,000 findings, beside none",
        a,
        b,
        3.0,
    )
}

fn main() -> ExitCode {
    let kept = [clean(), forms(), growth(), findings()];
    if kept.into_iter().all(|kept| kept) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
