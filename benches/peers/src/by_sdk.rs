//! envd-sdk as in its documentation.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use envd_sdk::auth::{
    MemoryStore, Provider, Record, StaticToken, TokenManager, TokenManagerBuilder, TokenStore,
};
use envd_sdk::model::{Consignment, ConsignmentInput, Day, PageInfo, Question};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::profile::{ComparedDate, ServiceProfile, Sourced};
use envd_sdk::validate::{Context, Questionnaire};
use envd_sdk::{AccountClient, Client, HttpOptions};
use serde_json::json;

use crate::cpu::Run;
use crate::questions;
use crate::records::{ACCOUNT, FULL, PAGE_SIZE, Page, TOKEN, wire};

/// A client with a constant token.
pub fn client(url: &str) -> Client {
    client_with(url, HttpOptions::default())
}

pub fn client_with(url: &str, options: HttpOptions) -> Client {
    let token = StaticToken::new(TOKEN.as_str()).unwrap();
    let mut profile = ServiceProfile::default();
    profile.lists.compared_date = Sourced::seen(Some(ComparedDate::LastChange));
    let builder = Client::builder(url).token_source(token).http(options);
    builder.profile(&profile).build().unwrap()
}

/// An account, and how its inputs are validated before they are saved.
pub struct Saver(AccountClient, Option<(Questionnaire, Context)>);

/// Either with a constant token or with a token manager; validates inputs with so many answers.
pub async fn saver(run: &Run<'_>, manager: bool, answers: Option<usize>) -> Saver {
    let mut client = client(&run.url());
    if manager {
        let manager = self::manager(&run.base(), &["sam".to_owned()]).await;
        client = client.with_token_source(manager.account("sam").build().unwrap());
    }
    let account = client.account(ACCOUNT);
    let validation = answers.map(|answers| {
        let list: Vec<Question> = serde_json::from_value(questions::nested(answers)).unwrap();
        let context = Context::on(Day::new(2026, 11, 20).unwrap());
        (Questionnaire::prepare(&list), context)
    });
    Saver(account, validation)
}

pub async fn save(saver: Arc<Saver>, input: ConsignmentInput) -> bool {
    if let Some((questionnaire, context)) = &saver.1 {
        assert!(questionnaire.validate(&input, context).ready_to_submit());
    }
    let outcome = saver.0.save_consignment(input).await.unwrap();
    outcome.value.number.is_some()
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
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let record = json!({"form": 1, "tokens": {
        "access_token": *TOKEN,
        "refresh_token": "r".repeat(64),
        "subject": account,
        "scopes": ["openid", "offline_access"],
        "issued_at_ms": u64::try_from(now.unwrap().as_millis()).unwrap(),
        "lifetime_ms": 86_400_000,
        "generation": 1,
    }});
    Record::from_secret_json(&record.to_string().into()).unwrap()
}

/// Reads the typed list with work on each page.
pub async fn walk(client: Client, work: Duration) -> usize {
    let filter = ConsignmentFilter::default().page_size(PAGE_SIZE as u32);
    let mut pager = client.account(ACCOUNT).consignments(&filter);
    let mut records = 0;
    while let Some(page) = pager.next_page().await.unwrap() {
        records += page.records.len();
        if !work.is_zero() {
            tokio::time::sleep(work).await;
        }
    }
    records
}

wire! { "camelCase":
    Data { consignments: Connection }
    Connection { total_count: Option<i64>, page_info: PageInfo, edges: Vec<Edge> }
    Edge { cursor: Option<String>, node: Option<Consignment> }
}

/// A page of full records, by a document of its own.
pub async fn full_page(client: Arc<Client>, after: Option<String>) -> Page {
    let variables = json!({"envdAccountId": ACCOUNT, "first": PAGE_SIZE, "after": after});
    let page = client.execute_document::<Data>(FULL, "FullConsignments", &variables);
    let page = page.await.unwrap().value.consignments;
    let has_next = page.page_info.has_next_page == Some(true);
    let next = page.page_info.end_cursor.filter(|_| has_next);
    (page.edges.len(), next)
}
