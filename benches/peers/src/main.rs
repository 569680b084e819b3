//! The validator beside the jsonschema crate: the same required choices, four deep, as if/then.
//!
//! jsonschema gets a prepared map of answers, whose construction is not measured, and returns only a boolean.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use envd_sdk::model::{ConsignmentInput, Day, Question};
use envd_sdk::validate::{Context, Questionnaire};
use row::Goal;
use serde_json::{Map, Value, json};

#[path = "../../questions/mod.rs"]
mod questions;
#[path = "../../row.rs"]
mod row;

/// Each chain of four as nested if/then: a question is required if the answer to its parent is Yes.
fn schema(count: usize) -> Value {
    let choice = json!({"enum": ["Yes", "No"]});
    let mut properties = Map::new();
    for id in 0..count {
        properties.insert(id.to_string(), choice.clone());
    }
    let rule = |first: usize| {
        let last = (first + 3).min(count - 1);
        let mut below = json!(true);
        for id in (first..=last).rev() {
            let is_yes = json!({"properties": {id.to_string(): {"const": "Yes"}}, "required": [id.to_string()]});
            below = json!({"required": [id.to_string()], "if": is_yes, "then": below});
        }
        below
    };
    let rules: Vec<Value> = (0..count).step_by(4).map(rule).collect();
    json!({"type": "object", "properties": properties, "allOf": rules})
}

fn shortest(mut things: [&mut dyn FnMut(); 2]) -> [Duration; 2] {
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..200 {
        for (thing, best) in things.iter_mut().zip(&mut shortest) {
            let start = Instant::now();
            for _ in 0..20 {
                thing();
            }
            *best = (*best).min(start.elapsed() / 20);
        }
    }
    shortest
}

fn main() -> ExitCode {
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    let mut met = true;
    for (count, text, least) in [(300, "300", 1.0), (2_000, "2,000", 1.0)] {
        let list: Vec<Question> = serde_json::from_value(questions::nested(count)).unwrap();
        let questionnaire = Questionnaire::prepare(&list);
        let input: ConsignmentInput = serde_json::from_value(json!({
            "forms": ["LPAC1"], "origin": {"pic": "QAZZ7777"}, "destination": {"pic": "QDZZ3333"},
            "answers": questions::all_yes(count),
        }))
        .unwrap();
        let validator = jsonschema::validator_for(&schema(count)).unwrap();
        let answers: Map<String, Value> = (0..count)
            .map(|id| (id.to_string(), "Yes".into()))
            .collect();
        let answers = Value::Object(answers);
        let mut missing = answers.clone();
        missing.as_object_mut().unwrap().remove("7");
        assert!(validator.is_valid(&answers) && !validator.is_valid(&missing));
        let [peer, ours] = shortest([
            &mut || assert!(validator.is_valid(black_box(&answers))),
            &mut || {
                assert!(
                    questionnaire
                        .validate(black_box(&input), &context)
                        .is_valid()
                )
            },
        ]);
        let ratio = peer.as_secs_f64() / ours.as_secs_f64();
        let case = format!("the crate jsonschema beside ours, {text} questions");
        met &= row::row("validation", &case, ratio, "times", Goal::AtLeast(least));
    }
    if met {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
