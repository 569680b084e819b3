//! envd-sdk with a token manager that has a valid token in its store.

use std::time::{Duration, SystemTime};

use envd_sdk::Client;
use envd_sdk::auth::{MemoryStore, Provider, Record, StaticToken, TokenManager, TokenStore};
use envd_sdk::model::{ConsignmentInput, Day, Question};
use envd_sdk::validate::{Context, Questionnaire};
use serde_json::json;

use super::{ACCOUNT, token};
use crate::measure::{side_by_side, timed};
use crate::{LANES, questions};

/// Validates and saves each consignment.
pub fn save(base: &str, answers: usize, lanes: Vec<Vec<ConsignmentInput>>) -> (Duration, usize) {
    let list = questions::nested(answers);
    let list: Vec<Question> = serde_json::from_value(list).unwrap();
    let questionnaire = Questionnaire::prepare(&list);
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    run(base, lanes, move |input| {
        let report = questionnaire.validate(input, &context);
        assert!(report.ready_to_submit());
    })
}

/// Saves each consignment without validation.
pub fn save_unvalidated(base: &str, lanes: Vec<Vec<ConsignmentInput>>) -> (Duration, usize) {
    run(base, lanes, |_| {})
}

fn run(
    base: &str,
    lanes: Vec<Vec<ConsignmentInput>>,
    check: impl Fn(&ConsignmentInput) + Clone + Send + 'static,
) -> (Duration, usize) {
    timed(async {
        let client = Client::builder(format!("{base}/graphql"))
            .token_source(manager(base).await)
            .build()
            .unwrap();
        side_by_side(lanes.into_iter().map(|inputs| {
            let (account, check) = (client.account(ACCOUNT), check.clone());
            async move {
                let mut saved = 0;
                for input in inputs {
                    check(&input);
                    let outcome = account.save_consignment(input).await.unwrap();
                    saved += usize::from(outcome.value.number.is_some());
                }
                saved
            }
        }))
        .await
    })
}

/// Saves for so many users in turn, each with a token of its own, over the connections of one client.
pub fn save_for(base: &str, accounts: usize, lanes: Vec<Vec<ConsignmentInput>>) -> Duration {
    let (time, saved) = timed(async {
        let token = || StaticToken::new(&token()).unwrap();
        let client = Client::builder(format!("{base}/graphql"))
            .token_source(token())
            .build()
            .unwrap();
        let users: Vec<_> = (0..accounts)
            .map(|user| {
                client
                    .with_token_source(token())
                    .account(format!("envd-{user}"))
            })
            .collect();
        side_by_side(lanes.into_iter().enumerate().map(|(lane, inputs)| {
            let users = users.clone();
            async move {
                let mut saved = 0;
                for (at, input) in inputs.into_iter().enumerate() {
                    let user = &users[(at * LANES + lane) % users.len()];
                    let outcome = user.save_consignment(input).await.unwrap();
                    saved += usize::from(outcome.value.number.is_some());
                }
                saved
            }
        }))
        .await
    });
    assert!(saved > 0);
    time
}

async fn manager(base: &str) -> TokenManager {
    let provider = Provider::builder("sample-client")
        .authorize_url(format!("{base}/authorize"))
        .token_url(format!("{base}/token"))
        .audience("sample-audience")
        .redirect_uri("http://127.0.0.1:8080/callback")
        .scopes(["openid", "offline_access"])
        .build()
        .unwrap();
    let issued_at = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let record = json!({"form": 1, "tokens": {
        "access_token": token(),
        "refresh_token": "r".repeat(64),
        "subject": "sam",
        "scopes": ["openid", "offline_access"],
        "issued_at_ms": u64::try_from(issued_at.as_millis()).unwrap(),
        "lifetime_ms": 86_400_000,
        "generation": 1,
    }});
    let record = Record::from_secret_json(&record.to_string().into()).unwrap();
    let store = MemoryStore::new();
    store.swap("sam", None, &record).await.unwrap();
    let builder = TokenManager::builder(provider).store(store);
    builder.account("sam").build().unwrap()
}
