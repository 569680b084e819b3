//! Accounts that fail, while others are served.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use envd_sdk::Error;

use super::farm::{Farm, run_with, synced_account};

#[tokio::test]
async fn an_account_that_cannot_be_opened_fails_alone() {
    let Some(farm) = Farm::start(5).await else {
        return;
    };
    farm.add_all().await;
    let fleet = farm.fleet(2).build().unwrap();
    let (client, ids) = (farm.client.clone(), farm.accounts.clone());
    let mut host = run_with(&fleet, move |id| {
        let account = client.account(if id == ids[1] {
            ids[0].clone()
        } else {
            id.clone()
        });
        let (dead, panics) = (id == ids[2], id == ids[3]);
        async move {
            assert!(!panics, "on purpose");
            if dead {
                Err(Error::login_needed())
            } else {
                Ok(account)
            }
        }
    });
    let (mut synced, mut failed) = (Vec::new(), Vec::new());
    while synced.len() + failed.len() < 5 {
        match host.next().await {
            envd_sdk::sync::fleet::FleetEvent::Failed { account, .. } => failed.push(account),
            event => synced.extend(synced_account(event)),
        }
    }
    host.stop().await;
    failed.sort();
    assert_eq!(failed, farm.accounts[1..4]);
    let status = fleet.status().await.unwrap();
    assert_eq!(
        (status.failing, status.login_needed, status.leased),
        (3, 1, 0)
    );
    let page = fleet.accounts(None, 10).await.unwrap();
    let texts: Vec<_> = page
        .iter()
        .map(|account| account.failure.clone().unwrap_or_default())
        .collect();
    assert!(texts[0].is_empty() && texts[4].is_empty(), "{texts:?}");
    assert!(texts[1].contains("another account"), "{texts:?}");
    assert!(texts[3].contains("panicked"), "{texts:?}");
    assert!(page[2].login_needed && !page[1].login_needed);
    assert!(page[1].due_in_seconds > 0.0 && page[1].failures == 1);
}

#[tokio::test]
async fn an_account_is_tried_at_once_after_its_user_has_logged_in_again() {
    let Some(farm) = Farm::start(1).await else {
        return;
    };
    farm.add_all().await;
    let id = &farm.accounts[0];
    let fleet = farm.fleet(2).build().unwrap();
    let (client, logged_in) = (farm.client.clone(), Arc::new(AtomicBool::new(false)));
    let is_logged_in = Arc::clone(&logged_in);
    let mut host = run_with(&fleet, move |id| {
        let account = client.account(id);
        let is_logged_in = is_logged_in.load(Ordering::SeqCst);
        async move {
            if is_logged_in {
                Ok(account)
            } else {
                Err(Error::login_needed())
            }
        }
    });
    assert_eq!(host.failed().await.0, *id);
    logged_in.store(true, Ordering::SeqCst);
    fleet.wake(id).await.unwrap();
    assert_eq!(host.synced(1).await[0], *id);
    host.stop().await;
    let status = fleet.status().await.unwrap();
    assert_eq!((status.failing, status.login_needed), (0, 0));
}
