//! Each method of client authentication, with a fake that requires it: for logins, refreshes and revocations.

use std::error::Error;

use envd_sdk::ErrorKind;
use envd_sdk::auth::{
    AssertionSigner, BoxFuture, MemoryStore, ProviderBuilder, TokenManager, TokenSource,
};
use envd_sdk::fake::{Fake, FakeBuilder};

use super::trace_recorder::{recorded, trace_in_separate_process};
use crate::fixed_date::{fake_builder, log_in, manager};

struct Key;

impl AssertionSigner for Key {
    fn alg(&self) -> &'static str {
        "ES256"
    }

    fn sign<'a>(
        &'a self,
        _: &'a [u8],
    ) -> BoxFuture<'a, Result<Vec<u8>, Box<dyn Error + Send + Sync>>> {
        Box::pin(async { Ok(b"s1gn4ture-of-the-client".to_vec()) })
    }
}

/// Runs a login, a refresh and a revocation; all must succeed.
async fn session(fake: FakeBuilder, settings: impl Fn(ProviderBuilder) -> ProviderBuilder) -> Fake {
    let fake = fake.start().await.unwrap();
    let manager = manager(settings(fake.provider()));
    log_in(&fake, &manager).await.unwrap();
    fake.expire_access_tokens();
    let client = fake.client().token_source(manager.clone()).build().unwrap();
    let _ = client.registered_user().await.unwrap();
    assert_eq!(manager.access_token().await.unwrap().generation(), 2);
    let report = manager.logout(None).await;
    assert!(report.problems.is_empty(), "{report:?}");
    fake
}

/// Runs a session with each method, and returns the last fake.
async fn each_session(secret: &'static str) -> Fake {
    let with_secret = || fake_builder().client_secret(secret);
    session(with_secret(), |it| it.client_secret(secret)).await;
    session(with_secret(), |it| it.client_secret_basic(secret)).await;
    let assertions = fake_builder().client_assertions();
    session(assertions, |it| it.private_key_jwt(Key)).await
}

#[tokio::test]
async fn a_session_with_each_way_to_authenticate() {
    let fake = each_session("s&cret 1").await;
    let requests = fake.requests();
    let to_provider = requests.iter().filter(|r| r.path().starts_with("/oauth/"));
    assert_eq!(to_provider.count(), 3);
}

#[tokio::test]
async fn rfc_6749_5_2_a_client_that_is_not_accepted_keeps_its_session() {
    let fake = fake_builder().client_secret("s3cr3t").start();
    let fake = fake.await.unwrap();
    let store = MemoryStore::new();
    let manager = |provider: ProviderBuilder| {
        let builder = TokenManager::builder(provider.build().unwrap());
        builder.store(store.clone()).build().unwrap()
    };
    let right = manager(fake.provider().client_secret("s3cr3t"));
    log_in(&fake, &right).await.unwrap();
    let token = right.access_token().await.unwrap();
    for provider in [
        fake.provider(),
        fake.provider().client_secret("wr0ng"),
        fake.provider().client_secret_basic("wr0ng"),
        fake.provider().private_key_jwt(Key),
    ] {
        let wrong = manager(provider);
        assert_eq!(wrong.access_token().await.unwrap().expose(), token.expose());
        let error = wrong.renew(&token).await.unwrap_err();
        assert!(
            error.kind() == ErrorKind::Config && !error.is_reauth_required(),
            "{error}"
        );
        assert!(!format!("{error} {error:?} {wrong:?}").contains("wr0ng"));
        // The token is still valid and stays in use.
        assert_eq!(wrong.access_token().await.unwrap().expose(), token.expose());
    }
    fake.expire_access_tokens();
    let client = fake.client().token_source(right.clone()).build().unwrap();
    let _ = client.registered_user().await.unwrap();
    assert_eq!(right.access_token().await.unwrap().generation(), 2);
}

/// Row 47.
#[test]
fn no_credential_of_the_client_appears_in_the_traces() {
    let secret = "b4sic-s3cr3t";
    let hidden = [
        secret,
        // printf 'fake-client:b4sic-s3cr3t' | base64
        "ZmFrZS1jbGllbnQ6YjRzaWMtczNjcjN0",
        "s1gn4ture",
        // printf 's1gn4ture-of-the-client' | base64
        "czFnbjR0dXJlLW9mLXRoZS1jbGllbnQ",
    ];
    let name = "client_authentication::no_credential_of_the_client_appears_in_the_traces";
    trace_in_separate_process(name, async {
        each_session(secret).await;
        let traced = recorded();
        assert!(traced.contains("tokens renewed"), "{traced}");
        for part in hidden {
            assert!(!traced.contains(part), "{part} is in\n{traced}");
        }
    });
}
