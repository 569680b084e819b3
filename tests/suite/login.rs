//! Login and logout against the fake (spec 5.2 to 5.4, 5.8).

use envd_sdk::ErrorKind;
use envd_sdk::auth::{FileStore, PendingLogin, TokenManager, TokenSource};
use envd_sdk::fake::User;
use equipment::TestFolder;

use crate::fixed_date::{fake_builder, start_fake};

#[tokio::test]
async fn a_login_that_is_finished_on_another_host_works_once() {
    let fake = start_fake().await;
    let provider = fake.provider().build().unwrap();
    let login = provider.authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    let saved = login.to_secret_json();
    let manager = TokenManager::builder(fake.provider().build().unwrap())
        .build()
        .unwrap();
    let read = || PendingLogin::from_secret_json(manager.provider(), &saved).unwrap();
    let tokens = manager
        .complete_login(read(), callback.as_str())
        .await
        .unwrap();
    assert!(tokens.subject().is_some() && tokens.refresh_token().is_some());
    // A replayed callback: the provider refuses the code, and ends the session.
    let error = manager.complete_login(read(), callback.as_str()).await;
    assert!(error.unwrap_err().kind() == ErrorKind::LoginRefused);
}

#[tokio::test]
async fn a_cancelled_login_differs_from_a_required_login() {
    let fake = start_fake().await;
    let manager = TokenManager::builder(fake.provider().build().unwrap())
        .build()
        .unwrap();
    let login = manager.provider().authorization().start().unwrap();
    let callback = fake.refuse(login.url()).unwrap();
    let error = manager
        .complete_login(login, callback.as_str())
        .await
        .unwrap_err();
    assert!(error.kind() == ErrorKind::LoginRefused && !error.is_reauth_required());
    assert!(manager.current().is_none());
}

#[tokio::test]
async fn an_unexpected_issuer_is_refused() {
    let fake = start_fake().await;
    let provider = fake.provider().issuer("https://evil.example/").build();
    let login = provider.unwrap().authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    let error = login.check(callback.as_str()).unwrap_err();
    assert!(
        error.kind() == ErrorKind::LoginRefused && error.to_string().contains("issuer_mismatch")
    );
}

#[tokio::test]
async fn a_logout_ends_the_session_at_the_provider_and_redirects_the_browser() {
    let fake = start_fake().await;
    let manager = fake.token_manager().await.unwrap();
    let token = manager.access_token().await.unwrap();
    let back = fake.return_to();
    let report = manager.logout(Some(back.as_str())).await;
    assert!(report.problems.is_empty());
    let url = report.url.unwrap();
    assert!(url.as_str().starts_with(fake.logout_url().as_str()));
    let parameter = |name: &str| {
        let mut pairs = url.query_pairs();
        pairs
            .find(|(known, _)| known == name)
            .unwrap()
            .1
            .into_owned()
    };
    assert_eq!(parameter("client_id"), fake.client_id());
    assert_eq!(parameter("returnTo"), back.as_str());
    // All tokens of the family are revoked, including its access tokens.
    let stolen = envd_sdk::auth::StaticToken::new(token.expose()).unwrap();
    let client = fake.client().token_source(stolen).build().unwrap();
    assert!(client.user_details().await.is_err());
}

#[tokio::test]
async fn a_revoked_refresh_token_requires_a_new_login() {
    let fake = start_fake().await;
    let provider = fake.provider().build().unwrap();
    let manager = TokenManager::builder(provider.clone()).build().unwrap();
    let login = provider.authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    let tokens = manager.complete_login(login, callback.as_str()).await;
    let tokens = tokens.unwrap();
    provider
        .revoke(tokens.refresh_token().unwrap())
        .await
        .unwrap();
    provider.revoke(&"unknown-token".into()).await.unwrap();
    let token = manager.access_token().await.unwrap();
    let error = manager.renew(&token).await.unwrap_err();
    assert!(error.is_reauth_required());
}

#[tokio::test]
async fn a_login_in_a_token_file_survives_a_restart() {
    let fake = fake_builder().user(User::Receiver).start().await.unwrap();
    let folder = TestFolder::new();
    let file = folder.path().join("tokens.json");
    let provider = fake.provider().build().unwrap();
    let program = || {
        let store = FileStore::new(&file);
        TokenManager::builder(provider.clone())
            .store(store)
            .build()
            .unwrap()
    };
    let manager = program();
    let login = provider.authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    manager
        .complete_login(login, callback.as_str())
        .await
        .unwrap();
    let (first, again) = (
        manager.access_token().await.unwrap(),
        program().access_token().await.unwrap(),
    );
    assert_eq!(first.expose(), again.expose());
    assert!(program().logout(None).await.problems.is_empty());
    assert!(
        program()
            .access_token()
            .await
            .unwrap_err()
            .is_reauth_required()
    );
}
