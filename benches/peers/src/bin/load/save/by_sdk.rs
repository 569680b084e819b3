//! envd-sdk, with a constant token or with a token manager that has a valid one in its store.

use std::time::{Duration, SystemTime};

use envd_sdk::Client;
use envd_sdk::auth::{
    MemoryStore, Provider, Record, StaticToken, TokenManager, TokenManagerBuilder, TokenStore,
};
use envd_sdk::model::{ConsignmentInput, Day, Question};
use envd_sdk::validate::{Context, Questionnaire};
use serde_json::json;

use super::{ACCOUNT, token};
use crate::measure::{Run, side_by_side};
use crate::questions;

/// What a save is given and does beside sending.
#[derive(Clone, Copy)]
pub struct With {
    pub manager: bool,
    pub validation: bool,
}

/// Saves each consignment.
pub fn save(
    run: &Run<'_>,
    answers: usize,
    lanes: Vec<Vec<ConsignmentInput>>,
    with: With,
) -> (Duration, usize) {
    let list = questions::nested(answers);
    let list: Vec<Question> = serde_json::from_value(list).unwrap();
    let questionnaire = Questionnaire::prepare(&list);
    let context = Context::on(Day::new(2026, 11, 20).unwrap());
    let check = move |input: &ConsignmentInput| {
        if with.validation {
            let report = questionnaire.validate(input, &context);
            assert!(report.ready_to_submit());
        }
    };
    let base = run.base();
    run.timed(async move {
        let builder = Client::builder(format!("{base}/graphql"));
        let builder = if with.manager {
            let manager = manager(&base, &["sam".to_owned()]).await;
            builder.token_source(manager.account("sam").build().unwrap())
        } else {
            builder.token_source(StaticToken::new(&token()).unwrap())
        };
        let client = builder.build().unwrap();
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

/// A token manager of these accounts' tokens, with valid ones in its store.
pub async fn manager(base: &str, accounts: &[String]) -> TokenManagerBuilder {
    let provider = Provider::builder("sample-client")
        .authorize_url(format!("{base}/authorize"))
        .token_url(format!("{base}/token"))
        .audience("sample-audience")
        .redirect_uri("http://127.0.0.1:8080/callback")
        .scopes(["openid", "offline_access"])
        .build()
        .unwrap();
    let store = MemoryStore::new();
    for account in accounts {
        store.swap(account, None, &record(account)).await.unwrap();
    }
    TokenManager::builder(provider).store(store)
}

fn record(account: &str) -> Record {
    let issued_at = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap();
    let record = json!({"form": 1, "tokens": {
        "access_token": token(),
        "refresh_token": "r".repeat(64),
        "subject": account,
        "scopes": ["openid", "offline_access"],
        "issued_at_ms": u64::try_from(issued_at.as_millis()).unwrap(),
        "lifetime_ms": 86_400_000,
        "generation": 1,
    }});
    Record::from_secret_json(&record.to_string().into()).unwrap()
}
