//! Managers of many accounts, made from one template.

use super::bench::{Bench, DAY, call, log_in, token};
use crate::auth::store::tokens;
use crate::auth::{Record, TokenManager, TokenStore};

/// Fresh tokens with the name of each account.
async fn with_accounts(keys: &[&str]) -> Bench {
    let bench = Bench::new();
    for key in keys {
        let mut tokens = tokens(1);
        tokens.access_token = format!("at-{key}").into();
        tokens.subject = Some((*key).to_owned());
        tokens.issued_at = bench.clock.now();
        let record = Record::new(tokens);
        bench.store.swap(key, None, &record).await.unwrap().unwrap();
    }
    bench
}

/// Row 10. A manager is dropped after each use, as by a cache that is full.
#[tokio::test]
async fn each_key_gets_the_tokens_of_its_own_account_only() {
    let keys = ["sam", "kim", "Sam", "sam2", "alex"];
    let bench = with_accounts(&keys).await;
    let template = bench.builder();
    for round in 0..20 {
        for step in 0..keys.len() {
            let key = keys[(round * 3 + step * 2) % keys.len()];
            let manager = template.clone().account(key).build().unwrap();
            assert_eq!(token(&manager).await, format!("at-{key}"));
            assert_eq!(manager.subject().as_deref(), Some(key));
        }
    }
    let nobody = template.account("nobody").build().unwrap();
    let error = nobody.access_token().await.unwrap_err();
    assert!(error.is_reauth_required());
}

/// Row 10.
#[tokio::test]
async fn the_refresh_of_one_account_that_hangs_does_not_slow_another() {
    let bench = with_accounts(&["kim"]).await;
    bench.seed(DAY).await;
    let held = bench.idp.hold();
    let caller = call(&bench.manager());
    held.arrived().await;
    let kim = bench.builder().account("kim").build().unwrap();
    assert_eq!(token(&kim).await, "at-kim");
    held.open();
    caller.await.unwrap().unwrap();
}

#[tokio::test]
async fn managers_of_one_template_share_the_store_that_is_not_set() {
    let bench = Bench::new();
    let template = TokenManager::builder(bench.provider().build().unwrap()).account("sam");
    log_in(&bench, &template.clone().build().unwrap(), "sam").await;
    assert_eq!(token(&template.build().unwrap()).await, "at-2");
}
