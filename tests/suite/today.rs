//! Today in the time zone of the user, and the validation of dates on it.

use std::path::Path;
use std::time::{Duration, SystemTime};

use envd_sdk::Clock;
use envd_sdk::fake::Fake;
use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, Jurisdiction, Question};
use envd_sdk::validate::{Context, Questionnaire};
use serde_json::Value;

fn fixture(path: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(path);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// 08:00 of 2026-11-20 in Sydney, 2026-11-19T21:00:00Z.
fn morning_in_sydney() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_122_000)
}

/// A declaration with this day as the answer to 103, which must not be in the future (maxYear: now).
fn sprayed_on(day: &str) -> ConsignmentInput {
    let mut seed = fixture("consignments/lpac1.json");
    let mut input: ConsignmentInput = serde_json::from_value(seed["input"].take()).unwrap();
    let spray_risk =
        |answer: &AnswerInput| answer.question_id.value().is_some_and(|id| *id == "102");
    let answers = input.answers.value_mut().unwrap();
    answers.retain(|answer| !spray_risk(answer));
    input
        .answer(AnswerInput::new("102", "Yes"))
        .answer(AnswerInput::new("103", day))
}

#[test]
fn a_date_of_today_in_sydney_at_8_am_is_not_in_the_future() {
    let mut list = fixture("questions.json");
    let questions: Vec<Question> =
        serde_json::from_value(list["data"]["questions"]["items"].take()).unwrap();
    let questionnaire = Questionnaire::prepare(&questions);
    let input = sprayed_on("2026-11-20");
    let findings = |today: Day| {
        let report = questionnaire.validate(&input, &Context::on(today));
        let codes = report.findings().iter().map(|finding| finding.code.clone());
        codes.collect::<Vec<_>>()
    };
    let now = morning_in_sydney();
    assert_eq!(findings(Day::today_in(Jurisdiction::Nsw, now)), [""; 0]);
    assert_eq!(findings(Day::of(now)), ["answers.103"]);
}

#[tokio::test]
async fn the_fake_accepts_a_date_of_today_in_sydney_at_8_am() {
    let clock = Clock::manual(morning_in_sydney());
    let fake = Fake::builder().clock(clock).start().await.unwrap();
    let account = fake.client().build().unwrap().account(fake.account_id());
    for (day, problems) in [("2026-11-20", 0), ("2026-11-21", 1)] {
        let saved = account.save_consignment(sprayed_on(day)).await.unwrap();
        assert_eq!(saved.problems.len(), problems, "{day}");
    }
}
