//! A login on a device without a browser, against the fake (RFC 8628).

use envd_sdk::ErrorKind;
use envd_sdk::auth::{Provider, ProviderBuilder};
use envd_sdk::fake::Fake;

use crate::fixed_date::{manager, manual};

/// The user approves, the login completes, and the service accepts its tokens.
async fn log_in(fake: &Fake, provider: ProviderBuilder) {
    let manager = manager(provider);
    let login = manager.provider().authorization().start_device().await;
    let login = login.unwrap();
    fake.approve_device(login.user_code()).unwrap();
    fake.clock().advance(login.interval());
    manager.complete_device_login(login).await.unwrap();
    let client = fake.client().token_source(manager).build().unwrap();
    let _ = client.registered_user().await.unwrap();
}

#[tokio::test]
async fn rfc_8628_3_1_a_confidential_client_authenticates_at_both_endpoints() {
    let fake = manual().0.client_secret("s3cr3t").start().await.unwrap();
    let provider = fake.provider().build().unwrap();
    let anonymous = provider.authorization().start_device().await;
    assert!(anonymous.unwrap_err().kind() == ErrorKind::Config);
    log_in(&fake, fake.provider().client_secret_basic("s3cr3t")).await;
}

#[tokio::test]
async fn rfc_8628_4_the_endpoint_is_discovered() {
    let fake = manual().0.start().await.unwrap();
    let provider = Provider::builder(fake.client_id())
        .issuer(fake.issuer())
        .audience(fake.audience())
        .clock(fake.clock().clone())
        .redirect_uri(fake.redirect_uri());
    log_in(&fake, provider.discover().await.unwrap()).await;
}
