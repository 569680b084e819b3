//! Logins at the fake, with managers that have separate clocks.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use envd_sdk::Clock;
use envd_sdk::auth::{AccessToken, Provider, TokenManager, TokenManagerBuilder, TokenStore};
use envd_sdk::fake::Fake;

pub(crate) const KEY: &str = "auth0|sam";
pub(crate) const LIFETIME: Duration = Duration::from_secs(3_600);

/// The start of the manual clocks of all processes.
pub(crate) fn start() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_000_000)
}

/// A fake with a manual clock.
pub(crate) async fn fake() -> Fake {
    let builder = Fake::builder().clock(Clock::manual(start()));
    let builder = builder.access_token_lifetime(LIFETIME);
    builder.start().await.unwrap()
}

pub(crate) fn provider(token_url: &str, clock: Clock) -> Provider {
    Provider::builder("fake-client")
        .authorize_url(token_url.replace("/oauth/token", "/authorize"))
        .token_url(token_url)
        .audience("https://fake.envd.example/")
        .redirect_uri("http://127.0.0.1:8400/callback")
        .scopes(["openid", "offline_access"])
        .clock(clock)
        .build()
        .unwrap()
}

pub(crate) fn manager(
    token_url: &str,
    store: impl TokenStore,
    clock: Clock,
) -> TokenManagerBuilder {
    TokenManager::builder(provider(token_url, clock))
        .store(store)
        .account(KEY)
        .background(false)
}

pub(crate) async fn log_in(fake: &Fake, store: impl TokenStore) {
    log_in_at(fake.token_url().as_str(), fake, store).await;
}

/// Logs in at another address of the fake: stored tokens belong to one token endpoint.
pub(crate) async fn log_in_at(token_url: &str, fake: &Fake, store: impl TokenStore) {
    let clock = Clock::manual(start());
    let manager = manager(token_url, store, clock).build().unwrap();
    let login = manager.provider().authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    manager
        .complete_login(login, callback.as_str())
        .await
        .unwrap();
}

/// A fingerprint of a token, which does not reveal it.
pub(crate) fn fingerprint(token: &AccessToken) -> String {
    let mut hash = DefaultHasher::new();
    token.expose().hash(&mut hash);
    format!("token {} {:x}", token.generation(), hash.finish())
}
