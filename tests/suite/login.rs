//! Login and logout against the fake (spec 5.2 to 5.4, 5.8).

use envd_sdk::ErrorKind;
use envd_sdk::auth::{FileStore, PendingLogin, TokenManager, TokenSource};
use equipment::TestFolder;

use crate::fixed_date::{log_in, manager, start_fake};

#[tokio::test]
async fn a_login_that_is_finished_on_another_host_works_once() {
    let fake = start_fake().await;
    let provider = fake.provider().build().unwrap();
    let login = provider.authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    let saved = login.to_secret_json();
    let manager = manager(fake.provider());
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
async fn a_cancelled_login_and_one_of_another_issuer_are_refused() {
    let fake = start_fake().await;
    let cancelled = manager(fake.provider());
    let login = cancelled.provider().authorization().start().unwrap();
    let callback = fake.refuse(login.url()).unwrap();
    let error = cancelled.complete_login(login, callback.as_str()).await;
    let error = error.unwrap_err();
    assert!(error.kind() == ErrorKind::LoginRefused && !error.is_reauth_required());
    assert!(cancelled.current().is_none());

    let other = manager(fake.provider().issuer("https://evil.example/"));
    let error = log_in(&fake, &other).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LoginRefused);
    assert!(error.to_string().contains("issuer_mismatch"), "{error}");
}

#[tokio::test]
async fn a_logout_ends_the_session_at_the_provider_and_redirects_the_browser() {
    let fake = start_fake().await;
    let manager = fake.token_manager().await.unwrap();
    let token = manager.access_token().await.unwrap();
    let back = fake.return_to();
    let report = manager.logout(Some(back.as_str())).await;
    assert!(report.problems.is_empty());
    let mut url = fake.logout_url();
    url.query_pairs_mut()
        .append_pair("client_id", fake.client_id())
        .append_pair("returnTo", back.as_str());
    assert_eq!(report.url, Some(url));
    // All tokens of the family are revoked, including its access tokens.
    let stolen = envd_sdk::auth::StaticToken::new(token.expose()).unwrap();
    let client = fake.client().token_source(stolen).build().unwrap();
    assert!(client.user_details().await.is_err());
}

#[tokio::test]
async fn a_revoked_refresh_token_requires_a_new_login() {
    let fake = start_fake().await;
    let manager = manager(fake.provider());
    let tokens = log_in(&fake, &manager).await.unwrap();
    let provider = manager.provider();
    let refresh_token = tokens.refresh_token().unwrap();
    provider.revoke(refresh_token).await.unwrap();
    provider.revoke(&"unknown-token".into()).await.unwrap();
    let token = manager.access_token().await.unwrap();
    let error = manager.renew(&token).await.unwrap_err();
    assert!(error.is_reauth_required());
}

#[tokio::test]
async fn a_login_in_a_token_file_survives_a_restart() {
    let fake = start_fake().await;
    let folder = TestFolder::new();
    let file = folder.path().join("tokens.json");
    let program = || {
        let manager = TokenManager::builder(fake.provider().build().unwrap());
        manager.store(FileStore::new(&file)).build().unwrap()
    };
    let manager = program();
    log_in(&fake, &manager).await.unwrap();
    let first = manager.access_token().await.unwrap();
    let again = program().access_token().await.unwrap();
    assert_eq!(first.expose(), again.expose());
    assert!(program().logout(None).await.problems.is_empty());
    let error = program().access_token().await.unwrap_err();
    assert!(error.is_reauth_required());
}
