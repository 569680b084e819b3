//! How fast the validator is, as ratios within one run: `cargo bench --bench validate`.
//!
//! Clock times on shared machines are noise, so each pair is timed turn by turn and the shortest times are compared. A
//! goal that is missed is said, and the exit code is then 1. The jsonschema crate is met in `benches/peers`.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use envd_sdk::model::{ConsignmentInput, Day, Question};
use envd_sdk::validate::{Context, Questionnaire};
use serde_json::{Value, json};

mod questions;

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

/// Prints a ratio and whether it keeps its goal.
fn goal(what: &str, one: Duration, other: Duration, most: f64) -> bool {
    let ratio = one.as_secs_f64() / other.as_secs_f64();
    let verdict = if ratio <= most { "kept" } else { "MISSED" };
    println!("{what:62} {one:>10.2?} / {other:>10.2?} = {ratio:8.4}  goal {most:.4} {verdict}");
    ratio <= most
}

fn main() -> ExitCode {
    let context = context();
    let small = Case::nested(300);
    let mut kept = true;

    let check = |case: &Case| {
        let report = case
            .questionnaire
            .validate(black_box(&case.input), &context);
        assert!(report.ready_to_submit() && report.findings().is_empty());
    };
    check(&small);
    let count = allocation_counter::measure(|| check(&small)).count_total;
    println!("allocations, 300 questions, nothing wrong: {count}");
    kept &= count == 0;

    let mut buffer = Vec::with_capacity(1 << 20);
    let [full, write] = times([&mut || check(&small), &mut || {
        buffer.clear();
        serde_json::to_writer(&mut buffer, black_box(small.input.answers())).unwrap();
    }]);
    kept &= goal("validate 300 / write its answers as JSON", full, write, 1.2);

    let [prepare, read] = times([
        &mut || drop(Questionnaire::prepare(black_box(&small.questions))),
        &mut || drop(serde_json::from_str::<Vec<Question>>(black_box(&small.list)).unwrap()),
    ]);
    kept &= goal(
        "prepare 300 / read the list from JSON",
        prepare,
        read,
        1.0 / 3.0,
    );

    for count in [300, 10_000] {
        let case = Case::nested(count);
        let mut form = case.questionnaire.form(&case.input, &context);
        let mut yes = false;
        // The second of four: two more hang on it, and come and go.
        let [one, other] = times([
            &mut || {
                yes = !yes;
                let value = if yes { "No" } else { "Yes" };
                black_box(form.answer("7", None, value).unwrap());
            },
            &mut || check(&small),
        ]);
        let what = format!("an answer to 1 of {count}, nothing hangs on it / validate 300");
        kept &= goal(&what, one, other, 0.01);
        let [one, other] = times([
            &mut || {
                yes = !yes;
                let value = if yes { "Yes" } else { "No" };
                black_box(form.answer("5", None, value).unwrap());
            },
            &mut || check(&small),
        ]);
        let what = format!("an answer to 1 of {count} that moves 2 others / validate 300");
        kept &= goal(&what, one, other, 0.01);
    }

    let (short, long, longest) = (Case::nested(200), Case::nested(2_000), Case::nested(10_000));
    let [a, b, c] = times([&mut || check(&short), &mut || check(&long), &mut || {
        check(&longest);
    }]);
    kept &= goal("validate 2,000 / 200", b, a, 14.0);
    kept &= goal("validate 10,000 / 200", c, a, 70.0);
    let (short, long) = (Case::backwards(200), Case::backwards(2_000));
    let [a, b] = times([&mut || check(&short), &mut || check(&long)]);
    kept &= goal(
        "validate 2,000 / 200, one chain listed backwards",
        b,
        a,
        14.0,
    );

    let mut wrong = Case::nested(4_000);
    let clean = Case::nested(4_000);
    let answers: Vec<Value> = (0..4_000)
        .filter(|id| id % 4 != 3)
        .map(|id| json!({"questionId": id.to_string(), "index": null, "value": "Yes"}))
        .collect();
    wrong.input.answers = serde_json::from_value(answers.into()).unwrap();
    let [a, b] = times([
        &mut || {
            assert_eq!(
                wrong
                    .questionnaire
                    .validate(&wrong.input, &context)
                    .findings()
                    .len(),
                1_000
            );
        },
        &mut || check(&clean),
    ]);
    kept &= goal("4,000 questions with 1,000 findings / with none", a, b, 3.0);

    if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
