//! The day where the user is, and what is judged on it.

use std::path::Path;
use std::time::{Duration, SystemTime};

use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, Jurisdiction, Question};
use envd_sdk::validate::{Context, Questionnaire};
use serde_json::Value;

fn fixture(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(path);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn what_is_dated_today_in_sydney_is_not_in_the_future_at_eight_in_the_morning() {
    let mut list = fixture("questions.json");
    let questions: Vec<Question> =
        serde_json::from_value(list["data"]["questions"]["items"].take()).unwrap();
    let questionnaire = Questionnaire::prepare(&questions);
    let mut seed = fixture("consignments/lpac1.json");
    let mut input: ConsignmentInput = serde_json::from_value(seed["input"].take()).unwrap();
    let spray_risk =
        |answer: &AnswerInput| answer.question_id.value().is_some_and(|id| *id == "102");
    let answers = input.answers.value_mut().unwrap();
    answers.retain(|answer| !spray_risk(answer));
    // 103 must not be in the future (maxYear: now).
    let input = input
        .answer(AnswerInput::new("102", "Yes"))
        .answer(AnswerInput::new("103", "2026-11-20"));

    // 2026-11-19T21:00:00Z
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_122_000);
    let findings = |today: Day| {
        let report = questionnaire.validate(&input, &Context::on(today));
        report
            .findings()
            .iter()
            .map(|finding| finding.code.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(findings(Day::today_in(Jurisdiction::Nsw, now)), [""; 0]);
    assert_eq!(findings(Day::of(now)), ["answers.103"]);
}
