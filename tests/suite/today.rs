//! Today in the time zone of the user, and the validation of dates on it.

use std::time::{Duration, SystemTime};

use envd_sdk::Clock;
use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, Jurisdiction};
use envd_sdk::validate::{Context, Questionnaire};

use crate::fixed_date::{fake_builder, fixture};

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

#[tokio::test]
async fn a_date_of_today_in_sydney_at_8_am_is_not_in_the_future() {
    let now = morning_in_sydney();
    let builder = fake_builder().clock(Clock::manual(now));
    let fake = builder.start().await.unwrap();
    let client = fake.client().build().unwrap();
    let questions = client.questions().await.unwrap().value.items;
    let questionnaire = Questionnaire::prepare(&questions);
    for (day, codes) in [("2026-11-20", &[][..]), ("2026-11-21", &["answers.103"])] {
        let input = sprayed_on(day);
        let today = Day::today_in(Jurisdiction::Nsw, now);
        let report = questionnaire.validate(&input, &Context::on(today));
        let found: Vec<_> = report.findings().iter().map(|f| f.code.as_str()).collect();
        assert_eq!(found, codes, "{day}");
        let account = client.account(fake.account_id());
        let saved = account.save_consignment(input).await.unwrap();
        assert_eq!(saved.problems.len(), codes.len(), "{day}");
        let strict = saved.strict();
        assert_eq!(
            strict.is_err_and(|error| error.may_have_applied()),
            !codes.is_empty()
        );
    }
    // By the day of UTC it is tomorrow.
    let early = questionnaire.validate(&sprayed_on("2026-11-20"), &Context::on(Day::of(now)));
    assert_eq!(early.findings()[0].code, "answers.103");
}
