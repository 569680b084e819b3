//! Which accounts are kept and evicted, and that tokens of accounts do not mix.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde_json::json;
use tokio::sync::Barrier;
use wiremock::matchers::{any, body_string_contains};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{TokenManagerSet, TokenManagerSetBuilder};
use crate::auth::store::{HookedStore, StoreCall};
use crate::auth::{MemoryStore, Provider, Record, StoreError, TokenManager, TokenSet, TokenStore};
use crate::mock;
use crate::transport::Clock;

const IDLE: Duration = Duration::from_secs(900);
const DAY: Duration = Duration::from_secs(86_400);

struct Bench {
    clock: Clock,
    store: MemoryStore,
    server: mock::Mock,
}

impl Bench {
    async fn new() -> Self {
        let server = MockServer::builder().start().await;
        Self {
            clock: Clock::manual(SystemTime::UNIX_EPOCH + 20_000 * DAY),
            store: MemoryStore::new(),
            server: server.into(),
        }
    }

    fn builder(&self) -> TokenManagerSetBuilder {
        let base = self.server.uri();
        let provider = Provider::builder("app")
            .authorize_url(format!("{base}/authorize"))
            .token_url(format!("{base}/oauth/token"))
            .audience("https://api.example")
            .redirect_uri("https://app.example/cb")
            .clock(self.clock.clone())
            .build()
            .unwrap();
        let template = TokenManager::builder(provider).store(self.store.clone());
        TokenManagerSet::builder(template.wait(30 * DAY))
    }

    fn set(&self) -> TokenManagerSet {
        self.builder().build().unwrap()
    }

    /// Stores tokens with the name of their account.
    async fn seed(&self, key: &str, age: Duration) {
        let record = Record::new(TokenSet {
            access_token: format!("at-{key}").into(),
            refresh_token: Some(format!("rt-{key}").into()),
            id_token: None,
            subject: Some(key.to_owned()),
            scopes: Vec::new(),
            issued_at: self.clock.now() - age,
            lifetime: DAY,
            generation: 1,
            logged_in_at: None,
            session_ends_at: None,
        });
        self.store.swap(key, None, &record).await.unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_has_one_manager_under_concurrency() {
    let bench = Bench::new().await;
    let set = bench.set();
    let refusals = ResponseTemplate::new(200)
        .set_body_json(json!({"access_token": "at-2", "refresh_token": "rt-2"}));
    Mock::given(any())
        .respond_with(refusals)
        .expect(1)
        .mount(&bench.server)
        .await;
    bench.seed("sam", DAY).await;
    let barrier = Arc::new(Barrier::new(50));
    let callers: Vec<_> = (0..50)
        .map(|_| {
            let (set, barrier) = (set.clone(), barrier.clone());
            tokio::spawn(async move {
                barrier.wait().await;
                let manager = set.manager("sam").unwrap();
                manager.access_token().await.unwrap()
            })
        })
        .collect();
    for caller in callers {
        assert_eq!(caller.await.unwrap().expose(), "at-2");
    }
    assert_eq!(set.len(), 1);
}

/// Row 10.
#[tokio::test]
async fn each_key_gets_the_tokens_of_its_own_account_only() {
    let bench = Bench::new().await;
    let set = bench.builder().capacity(3).build().unwrap();
    let keys = ["sam", "kim", "Sam", "sam2", "alex"];
    for key in keys {
        bench.seed(key, Duration::ZERO).await;
    }
    // Five users and a capacity of three, in changing orders.
    for round in 0..20 {
        for step in 0..keys.len() {
            let key = keys[(round * 3 + step * 2) % keys.len()];
            let manager = set.manager(key).unwrap();
            let token = manager.access_token().await.unwrap();
            assert_eq!(token.expose(), format!("at-{key}"));
            assert_eq!(manager.subject().as_deref(), Some(key));
        }
    }
    let nobody = set.manager("nobody").unwrap();
    let error = nobody.access_token().await.unwrap_err();
    assert!(error.is_reauth_required());
}

/// Row 10.
#[tokio::test]
async fn the_refresh_of_one_account_that_hangs_does_not_slow_another() {
    let bench = Bench::new().await;
    let set = bench.set();
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_secs(3_600));
    Mock::given(body_string_contains("rt-sam"))
        .respond_with(slow)
        .mount(&bench.server)
        .await;
    let kims = json!({"access_token": "at-kim-2", "refresh_token": "rt-kim-2"});
    Mock::given(body_string_contains("rt-kim"))
        .respond_with(ResponseTemplate::new(200).set_body_json(kims))
        .mount(&bench.server)
        .await;
    bench.seed("sam", DAY).await;
    bench.seed("kim", DAY).await;
    let sam = set.manager("sam").unwrap();
    let waiting = tokio::spawn(async move { sam.access_token().await });
    while bench.server.received_requests().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    let kim = set.manager("kim").unwrap();
    assert_eq!(kim.access_token().await.unwrap().expose(), "at-kim-2");
    assert!(!waiting.is_finished());
    waiting.abort();
}

#[tokio::test]
async fn an_idle_account_is_evicted_and_loaded_again_from_the_store() {
    let bench = Bench::new().await;
    let set = bench.set();
    bench.seed("sam", Duration::ZERO).await;
    set.manager("sam").unwrap().access_token().await.unwrap();
    set.manager("kim").unwrap();
    bench.clock.advance(IDLE / 2);
    set.manager("kim").unwrap();
    bench.clock.advance(IDLE / 2 + Duration::from_secs(1));
    // No timer: a new account triggers the eviction.
    assert_eq!(set.len(), 2);
    set.manager("alex").unwrap();
    assert_eq!(set.len(), 2, "kim was used, sam was not");
    let sam = set.manager("sam").unwrap();
    assert_eq!(sam.access_token().await.unwrap().expose(), "at-sam");
}

#[tokio::test]
async fn a_manager_that_is_held_is_not_evicted() {
    let bench = Bench::new().await;
    let set = bench.set();
    bench.seed("sam", Duration::ZERO).await;
    let held = set.manager("sam").unwrap();
    held.access_token().await.unwrap();
    for other in 0..100 {
        bench.clock.advance(IDLE + Duration::from_secs(1));
        set.manager(&format!("user-{other}")).unwrap();
    }
    assert!(set.len() <= 3, "{}", set.len());
    held.logout(None).await;
    let same = set.manager("sam").unwrap();
    assert!(same.subject().is_none() && !same.is_idle());
}

#[tokio::test]
async fn a_full_set_evicts_the_least_recently_used_account() {
    let bench = Bench::new().await;
    let set = bench.builder().capacity(3).build().unwrap();
    for key in ["a", "b", "c", "d"] {
        bench.seed(key, Duration::ZERO).await;
    }
    for key in ["a", "b", "c", "a", "d"] {
        bench.clock.advance(Duration::from_secs(1));
        set.manager(key).unwrap().access_token().await.unwrap();
        assert!(set.len() <= 3);
    }
    let read = |key: &str| set.manager(key).unwrap().subject();
    // Accounts in memory have a subject without a read of the store.
    assert_eq!(read("a").as_deref(), Some("a"));
    assert_eq!(read("c").as_deref(), Some("c"));
    assert_eq!(read("b"), None);
}

#[tokio::test]
async fn a_set_that_is_full_of_accounts_in_use_is_an_error() {
    let bench = Bench::new().await;
    let set = bench.builder().capacity(2).build().unwrap();
    let (one, _two) = (set.manager("1").unwrap(), set.manager("2").unwrap());
    assert!(set.manager("3").unwrap_err().is_retryable());
    assert!(set.manager("1").is_ok());
    drop(one);
    assert!(set.manager("3").is_ok());
    assert_eq!(set.len(), 2);
}

#[tokio::test]
async fn an_account_with_a_running_refresh_is_not_evicted() {
    let bench = Bench::new().await;
    let set = bench.builder().capacity(1).build().unwrap();
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_secs(3_600));
    Mock::given(any())
        .respond_with(slow)
        .mount(&bench.server)
        .await;
    bench.seed("sam", DAY).await;
    let sam = set.manager("sam").unwrap();
    let caller = tokio::spawn(async move { sam.access_token().await });
    while bench.server.received_requests().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    // The caller is dropped; its refresh outlives it and keeps the account in memory.
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    bench.clock.advance(DAY);
    assert!(set.manager("kim").unwrap_err().is_retryable());
    assert_eq!(set.len(), 1);
}

/// Row 17.
#[tokio::test]
async fn an_account_with_unstored_tokens_is_not_evicted() {
    let bench = Bench::new().await;
    // New tokens cannot be stored while it is broken; marks on old ones can.
    let broken = Arc::new(AtomicBool::new(true));
    let is_broken = broken.clone();
    let store = HookedStore::new(bench.store.clone(), move |call| match call {
        StoreCall::Swap(new)
            if is_broken.load(Ordering::SeqCst) && new.tokens().generation() > 1 =>
        {
            Err(StoreError::new("the disk is full"))
        }
        _ => Ok(()),
    });
    let template = bench.builder().template.store(store);
    let set = TokenManagerSet::builder(template)
        .capacity(1)
        .build()
        .unwrap();
    let renewed = json!({"access_token": "at-2", "refresh_token": "rt-2"});
    Mock::given(any())
        .respond_with(ResponseTemplate::new(200).set_body_json(renewed))
        .expect(1)
        .mount(&bench.server)
        .await;
    bench.seed("sam", DAY).await;
    let token = set.manager("sam").unwrap().access_token().await.unwrap();
    assert_eq!(token.expose(), "at-2");
    // The account is idle, but the only copy of its refresh token is in memory.
    for _ in 0..10 {
        bench.clock.advance(IDLE + Duration::from_secs(1));
        assert!(set.manager("kim").unwrap_err().is_retryable());
    }
    let sam = set.manager("sam").unwrap();
    broken.store(false, Ordering::SeqCst);
    while !sam.flush(Duration::ZERO).await {
        bench.clock.advance(Duration::from_secs(60));
        tokio::task::yield_now().await;
    }
    drop(sam);
    let stored = bench.store.load("sam").await.unwrap().unwrap();
    assert!(
        stored
            .record
            .tokens()
            .refresh_token()
            .unwrap()
            .matches("rt-2")
    );
    bench.clock.advance(IDLE + Duration::from_secs(1));
    set.manager("kim").unwrap();
    assert_eq!(set.len(), 1);
}

#[tokio::test]
async fn bad_settings_and_keys_are_refused() {
    let bench = Bench::new().await;
    assert!(bench.builder().capacity(0).build().unwrap_err().is_config());
    let set = bench.set();
    assert!(set.manager("").unwrap_err().is_config());
    assert!(set.is_empty());
    set.manager("sam@example.com").unwrap();
    assert_eq!(format!("{set:?}"), "TokenManagerSet(1 accounts)");
}
