//! Settings at their maximum: every setting accepts the longest time and the largest count without an overflow.

use std::time::Duration;

use envd_sdk::auth::{StaticToken, TokenManager, TokenSource};
use envd_sdk::fake::{Fake, Fault};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::register::PropertySearch;
use envd_sdk::{Clock, ErrorKind, HttpOptions, RetryPolicy};

use crate::fixed_date::{fake_builder, log_in};
use crate::scripted::register_at;

const LONGEST: Duration = Duration::MAX;

fn http() -> HttpOptions {
    HttpOptions::default()
        .connect_timeout(LONGEST)
        .timeout(LONGEST)
        .max_body_bytes(usize::MAX)
        .max_concurrent_requests(usize::MAX)
}

fn retries() -> RetryPolicy {
    RetryPolicy::default()
        .max_retries(u32::MAX)
        .base_wait(LONGEST)
        .deadline(LONGEST)
}

/// A fake in which nothing expires.
async fn fake() -> Fake {
    let fake = fake_builder()
        .access_token_lifetime(LONGEST)
        .refresh_token_lifetime(LONGEST)
        .code_lifetime(LONGEST)
        .refresh_overlap(LONGEST);
    fake.start().await.unwrap()
}

#[tokio::test]
async fn a_login_without_limits_is_renewed_and_ended() {
    let fake = fake().await;
    let provider = fake
        .provider()
        .http(http())
        .timeout(LONGEST)
        .rotation_overlap(LONGEST)
        .default_lifetime(LONGEST);
    let manager = TokenManager::builder(provider.build().unwrap())
        .timing(|it| {
            it.wait = LONGEST;
            it.lock_wait = LONGEST;
            it.expiry_margin = LONGEST;
            it.between_forced = LONGEST;
            it.mark_wait = Some(LONGEST);
            it.store_check = LONGEST;
        })
        .build()
        .unwrap();
    log_in(&fake, &manager).await.unwrap();
    let first = manager.access_token().await.unwrap();
    let second = manager.renew(&first).await.unwrap();
    assert_eq!(second.generation(), 2);
    assert!(manager.inspect().await.is_stored);
    // With this interval, at most one forced refresh ever.
    let third = manager.renew(&second).await.unwrap();
    assert_eq!(third.generation(), second.generation());
    assert!(manager.flush(LONGEST).await && manager.shutdown(LONGEST).await);
    assert!(manager.logout(None).await.problems.is_empty());
}

#[tokio::test]
async fn calls_and_pages_without_limits_are_answered() {
    let fake = fake().await;
    let client = fake.client().http(http()).retry(retries()).build().unwrap();
    let account = client.account(fake.account_id());
    let filter = ConsignmentFilter::default().page_size(u32::MAX);
    let mut pages = account.consignments(&filter).look_ahead(usize::MAX);
    let mut records = 0;
    while let Some(page) = pages.next_page().await.unwrap() {
        records += page.records.len();
    }
    assert!(records > 0);
    let call = client.registered_user().timeout(LONGEST).deadline(LONGEST);
    assert_eq!(call.await.unwrap().value.accounts.len(), 3);
}

#[tokio::test]
async fn look_ups_without_limits_are_answered() {
    let fake = fake().await;
    let register = register_at(fake.register_url())
        .token_source(StaticToken::new("token").unwrap())
        .http(http())
        .retry(retries())
        .cache(LONGEST, usize::MAX)
        .build()
        .unwrap();
    for _ in 0..2 {
        let look_ups = register.lookup_many(["QAZZ7777", "QBZZ2222"]);
        let results = look_ups.concurrency(usize::MAX).collect().await;
        assert!(results.iter().all(|found| found.result.is_ok()));
    }
    let search = PropertySearch::text("QLD").page_size(u32::MAX);
    let mut pages = register.search(&search).look_ahead(usize::MAX);
    assert!(pages.next_page().await.is_ok());
}

/// The time limit of the client ends the wait; a fake with both delays does not panic.
#[tokio::test]
async fn a_fake_may_be_slow_without_an_end() {
    let fake = fake_builder().latency(LONGEST).start().await.unwrap();
    fake.on_operation("UserDetails")
        .fault(Fault::latency(LONGEST));
    let brief = HttpOptions::default().timeout(Duration::from_millis(100));
    let client = fake.client().http(brief).retry(RetryPolicy::none());
    let error = client.build().unwrap().registered_user().await.unwrap_err();
    assert!(error.kind() == ErrorKind::Timeout, "{error:?}");
}

#[test]
fn a_clock_is_moved_by_any_time_any_number_of_times() {
    let clock = Clock::manual(std::time::SystemTime::UNIX_EPOCH);
    let century = Duration::from_secs(100 * 365 * 86_400);
    for _ in 0..1_000 {
        let before = clock.now();
        let monotonic = clock.monotonic();
        clock.advance(LONGEST);
        assert!(clock.monotonic() > monotonic);
        // On Windows time ends in the year 30828.
        assert!(clock.now() > before || before.checked_add(century).is_none());
    }
}
