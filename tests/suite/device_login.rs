//! A login on a device without a browser, against the fake (RFC 8628).

use std::time::Duration;

use envd_sdk::ErrorKind;
use envd_sdk::auth::{DeviceLogin, Provider, ProviderBuilder, TokenManager, TokenSet};
use envd_sdk::fake::Fake;

use crate::fixed_date::{manager, manual, noon};

/// A fake on a clock that the test moves, a manager, and a login that has begun.
async fn begun() -> (Fake, TokenManager, DeviceLogin) {
    let fake = manual().0.start().await.unwrap();
    let (manager, login) = begun_with(fake.provider()).await;
    (fake, manager, login)
}

async fn begun_with(provider: ProviderBuilder) -> (TokenManager, DeviceLogin) {
    let manager = manager(provider);
    let login = manager.provider().authorization().start_device().await;
    (manager, login.unwrap())
}

/// The user approves, and the login completes.
async fn finish(fake: &Fake, manager: &TokenManager, login: DeviceLogin) -> TokenSet {
    fake.approve_device(login.user_code()).unwrap();
    fake.clock().advance(login.interval());
    manager.complete_device_login(login).await.unwrap()
}

#[tokio::test]
async fn a_device_login_issues_tokens_that_the_service_accepts() {
    let (fake, manager, login) = begun().await;
    assert_eq!(login.interval(), Duration::from_secs(5));
    assert_eq!(login.expires_at(), noon() + Duration::from_secs(900));
    let complete = login.verification_url_complete().unwrap().query();
    assert_eq!(
        complete.unwrap(),
        format!("user_code={}", login.user_code())
    );
    let tokens = finish(&fake, &manager, login).await;
    assert!(tokens.refresh_token().is_some());
    assert_eq!(manager.subject().as_deref(), tokens.subject());
    let client = fake.client().token_source(manager).build().unwrap();
    let _ = client.registered_user().await.unwrap();
}

#[tokio::test]
async fn rfc_8628_3_1_a_confidential_client_authenticates_at_both_endpoints() {
    let fake = manual().0.client_secret("s3cr3t").start().await.unwrap();
    let provider = fake.provider().build().unwrap();
    let anonymous = provider.authorization().start_device().await;
    assert!(anonymous.unwrap_err().kind() == ErrorKind::Config);
    let provider = fake.provider().client_secret_basic("s3cr3t");
    let (manager, login) = begun_with(provider).await;
    finish(&fake, &manager, login).await;
}

#[tokio::test]
async fn rfc_8628_4_the_endpoint_is_discovered() {
    let fake = manual().0.start().await.unwrap();
    let provider = Provider::builder(fake.client_id())
        .issuer(fake.issuer())
        .clock(fake.clock().clone())
        .redirect_uri(fake.redirect_uri());
    let (manager, login) = begun_with(provider.discover().await.unwrap()).await;
    finish(&fake, &manager, login).await;
}
