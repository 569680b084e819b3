//! Login and logout against the fake (spec 5.2 to 5.4, 5.8).

use envd_sdk::ErrorKind;
use envd_sdk::auth::PendingLogin;

use crate::fixed_date::{manager, start_fake};

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
