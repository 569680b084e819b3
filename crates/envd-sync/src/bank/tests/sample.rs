//! Sample lists and drafts, and a handle without a service.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::bank::banks::{KeptList, forms_of};
use crate::bank::{Bank, BankRefresh, Banks};
use crate::store::SyncStore;
use envd_sdk::Client;
use envd_sdk::Clock;
use envd_sdk::auth::StaticToken;
use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, FormType, PartyInput, QuestionList};
use envd_sdk::validate::{Context, Policy, Questionnaire};

/// 2026-11-20T21:00:00Z
pub(super) const START: Duration = Duration::from_secs(1_795_208_400);

/// A list of these questions, and its JSON.
pub(super) fn received(questions: &Value) -> (QuestionList, String) {
    let json = json!({ "items": questions }).to_string();
    (serde_json::from_str(&json).unwrap(), json)
}

/// A bank of these questions.
pub(super) fn bank(questions: &Value) -> Bank {
    let (list, json) = received(questions);
    let at = now().into();
    let kept = KeptList {
        content_hash: Questionnaire::prepare(&list.items).content_hash(),
        received_at: now().into(),
        confirmed_at: at,
        forms: forms_of(&list.items),
    };
    Bank::open(kept, json, Policy::default()).unwrap()
}

pub(super) const ACCOUNT: &str = "envd-100201";

/// A handle with a manual clock and an unreachable service.
pub(super) fn banks(store: impl SyncStore) -> (Banks, Clock) {
    let clock = Clock::manual(now());
    (banks_at(store, clock.clone()), clock)
}

pub(super) fn banks_at(store: impl SyncStore, clock: Clock) -> Banks {
    let client = Client::builder("http://127.0.0.1:9/")
        .token_source(StaticToken::new("token").unwrap())
        .clock(clock);
    Banks::new(&client.build().unwrap().account(ACCOUNT), store)
}

impl Banks {
    /// Handles a list as a refresh handles the reply to its request.
    pub(super) async fn receive(&self, questions: &Value) -> BankRefresh {
        let base = self.load().await.unwrap();
        let (list, json) = received(questions);
        let kept = self.keep(base, &list, &json).await;
        kept.unwrap().expect("no other process")
    }
}

pub(super) fn now() -> SystemTime {
    UNIX_EPOCH + START
}

pub(super) fn on(day: &str) -> Context {
    Context::on(Day::parse(day).unwrap())
}

pub(super) fn input(form: FormType) -> ConsignmentInput {
    let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    ConsignmentInput::new([form], origin, destination)
}

pub(super) fn answer(id: &str, row: Option<i64>, value: &str) -> AnswerInput {
    let answer = AnswerInput::new(id, value);
    row.map_or(answer.clone(), |row| answer.row(row))
}

/// Question 17, with `change` applied to the list.
pub(super) fn cattle(change: impl FnOnce(&mut Value)) -> Value {
    let mut questions = json!([
        {"id": "17", "order": 1, "forms": ["LPAC1"], "type": "SINGLE_CHOICE", "text": "Bred here?", "help": "By the owner.",
         "validators": [{"type": "required", "parameter": "", "errorMessage": "Answer it."}],
         "acceptableAnswers": [{"value": "Yes", "displayName": "Yes"}, {"value": "No", "displayName": "No"}],
         "childQuestions": [{"id": "20", "type": "STRING", "text": "Held since",
            "triggers": [{"questionId": "17", "value": "No"}]}]},
        {"id": "1", "order": 2, "forms": ["LPAC1"], "type": "REPEATABLE", "text": "Animals", "childQuestions": [
            {"id": "3", "order": 1, "type": "NUMBER", "text": "Head", "validators": [{"type": "required", "parameter": ""}]},
            {"id": "4", "order": 2, "type": "SINGLE_CHOICE", "text": "Breed",
             "acceptableAnswers": [{"value": "Angus"}, {"value": "Hereford"}]}]}
    ]);
    change(&mut questions);
    questions
}

/// A list with the same questions and different content.
pub(super) fn newer() -> Value {
    cattle(|list| list[0]["tip"] = json!("t"))
}

pub(super) const TODAY: &str = "2026-11-20";
