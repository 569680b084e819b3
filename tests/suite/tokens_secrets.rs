//! A session from login to logout at log level TRACE: the output has none of twelve secrets.

use std::fmt::Write;
use std::time::Duration;

use envd_sdk::auth::{PendingLogin, StaticToken, TokenManager, TokenSet, TokenSource};
use envd_sdk::fake::{Fake, Fault};
use envd_sdk::model::{ConsignmentInput, DeclarationInput, FormType, PartyInput};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, RetryPolicy};
use serde_json::json;
use url::Url;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::trace_recorder::{recorded, trace_in_separate_process};
use crate::fixed_date::start_fake;
use crate::scripted::client_at;

/// Secrets secrets by name.
#[derive(Default)]
struct Secrets(Vec<(&'static str, String)>);

impl Secrets {
    fn add(&mut self, name: &'static str, text: impl Into<String>) {
        let text = text.into();
        // A short text may be part of another.
        assert!(text.len() >= 8, "{name}");
        self.0.push((name, text));
    }

    fn names(&self) -> usize {
        let mut names: Vec<_> = self.0.iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        names.len()
    }
}

fn parameter(url: &Url, name: &str) -> String {
    let mut pairs = url.query_pairs();
    pairs
        .find(|(secrets, _)| secrets == name)
        .unwrap()
        .1
        .into_owned()
}

fn add_login(secrets: &mut Secrets, login: &PendingLogin, callback: &Url) {
    secrets.add("state", parameter(login.url(), "state"));
    secrets.add("nonce", parameter(login.url(), "nonce"));
    secrets.add("code", parameter(callback, "code"));
    let saved: serde_json::Value = serde_json::from_str(login.to_secret_json().expose()).unwrap();
    secrets.add("verifier", saved["verifier"].as_str().unwrap());
}

fn add_tokens(secrets: &mut Secrets, tokens: &TokenSet) {
    let bearer = format!("Bearer {}", tokens.access_token().expose());
    secrets.add("authorization header", bearer);
    secrets.add("access token", tokens.access_token().expose());
    secrets.add("refresh token", tokens.refresh_token().unwrap().expose());
    secrets.add("id token", tokens.id_token().unwrap().expose());
}

const CLIENT_SECRET: &str = "cl13nt-s3cr3t-0001";
const COOKIE: &str = "c00k13-s3cr3t-0002";
const SIGNATURE: &str = "c2lnbmF0dXJlLXMzY3IzdC0wMDAz";

fn consignment(number: u32) -> ConsignmentInput {
    let mut declaration = DeclarationInput::default();
    declaration.signature = SIGNATURE.into();
    let destination = format!("QDZZ{number:04}");
    let mut input = ConsignmentInput::new(
        [FormType::Lpac1],
        PartyInput::new("QAZZ7777"),
        PartyInput::new(destination),
    );
    input.declaration = declaration.into();
    input
}

/// Row 47.
#[test]
fn none_of_twelve_secrets_appears_in_the_traces_of_a_session() {
    trace_in_separate_process(
        "tokens_secrets::none_of_twelve_secrets_appears_in_the_traces_of_a_session",
        session_without_secrets(),
    );
}

async fn session_without_secrets() {
    let mut secrets = Secrets::default();
    secrets.add("client secret", CLIENT_SECRET);
    secrets.add("cookie", COOKIE);
    secrets.add("signature", SIGNATURE);
    let mut shown = String::new();

    let fake = start_fake().await;
    let provider = fake
        .provider()
        .client_secret(CLIENT_SECRET)
        .build()
        .unwrap();
    // Two renewals in a row, as after refused tokens.
    let manager = TokenManager::builder(provider.clone())
        .timing(|it| it.between_forced = Duration::ZERO)
        .build()
        .unwrap();
    let mut events = manager.events();
    let tokens = log_in(&fake, &manager, &mut secrets, &mut shown).await;
    write!(shown, "{provider:?}").unwrap();

    let client = fake.client().token_source(manager.clone()).build().unwrap();
    calls(&fake, &client, &mut secrets, &mut shown).await;
    let renewed = manager.access_token().await.unwrap();
    secrets.add("access token", renewed.expose());
    assert_eq!(renewed.generation(), 2);
    call_that_is_echoed(renewed.expose(), &mut shown).await;

    // A refused refresh, a refused login, and the logout.
    let first = tokens.refresh_token().unwrap();
    provider.revoke(first).await.unwrap();
    let error = manager.renew(&renewed).await.unwrap_err();
    assert!(error.is_reauth_required());
    write!(shown, "{error} {error:?}").unwrap();
    refused_login(&fake, &manager, &mut secrets, &mut shown).await;
    write!(shown, "{:?}", manager.logout(None).await).unwrap();
    for _ in 0..3 {
        write!(shown, "{:?}", events.next().await).unwrap();
    }
    refusal_that_repeats_tokens(&fake, &manager, &mut secrets, &mut shown).await;

    assert_eq!(secrets.names(), 12);
    assert_hidden(&secrets, &shown);
}

/// A refresh after a further login.
async fn refusal_that_repeats_tokens(
    fake: &Fake,
    manager: &TokenManager,
    secrets: &mut Secrets,
    shown: &mut String,
) {
    let tokens = log_in(fake, manager, secrets, shown).await;
    let access = manager.access_token().await.unwrap();
    let refresh = tokens.refresh_token().unwrap();
    let repeated = format!("{} {}", refresh.expose(), access.expose());
    let refusal = json!({"error": "invalid_client", "error_description": repeated});
    fake.on_path("/oauth/token")
        .fault(Fault::status(401).json(refusal));
    let error = manager.renew(&access).await.unwrap_err();
    write!(shown, "{error} {error:?}").unwrap();
}

async fn log_in(
    fake: &Fake,
    manager: &TokenManager,
    secrets: &mut Secrets,
    shown: &mut String,
) -> TokenSet {
    let login = manager.provider().authorization().start().unwrap();
    let callback = fake.consent(login.url()).unwrap();
    add_login(secrets, &login, &callback);
    write!(shown, "{login:?} {manager:?}").unwrap();
    let tokens = manager
        .complete_login(login, callback.as_str())
        .await
        .unwrap();
    add_tokens(secrets, &tokens);
    write!(shown, "{tokens:?} {:?}", manager.access_token().await).unwrap();
    tokens
}

async fn refused_login(
    fake: &Fake,
    manager: &TokenManager,
    secrets: &mut Secrets,
    shown: &mut String,
) {
    let login = manager.provider().authorization().start().unwrap();
    let callback = fake.refuse(login.url()).unwrap();
    secrets.add("state", parameter(login.url(), "state"));
    let error = manager
        .complete_login(login, callback.as_str())
        .await
        .unwrap_err();
    write!(shown, "{error} {error:?}").unwrap();
}

/// Calls, one of them refused, and a renewal with rotation.
async fn calls(fake: &Fake, client: &Client, secrets: &mut Secrets, shown: &mut String) {
    let account = client.account(fake.account_id());
    let saved = account.save_consignment(consignment(3333)).await;
    write!(shown, "{saved:?}").unwrap();
    let refused = account.save_consignment(consignment(33)).await;
    write!(shown, "{refused:?}").unwrap();
    fake.expire_access_tokens();
    let page = account
        .consignments_page(&ConsignmentFilter::default(), None)
        .await
        .unwrap();
    write!(shown, "{page:?}").unwrap();
    let id = page.value.edges[0]
        .node
        .as_ref()
        .unwrap()
        .id
        .clone()
        .unwrap();
    let consignment = account.consignment(id.as_str()).await.unwrap();
    write!(shown, "{consignment:?}").unwrap();
    let address = consignment.value.pdf_url.unwrap();
    let print = Url::parse(address.expose()).unwrap();
    secrets.add("authToken", parameter(&print, "authToken"));
    let download = client.pdf(&address);
    write!(shown, "{download:?}").unwrap();
    write!(shown, "{:?}", download.await).unwrap();
}

/// A call to a service that responds with a page, a cookie and the request itself.
async fn call_that_is_echoed(token: &str, shown: &mut String) {
    let service = MockServer::start().await;
    let echo = ResponseTemplate::new(503)
        .insert_header("set-cookie", format!("session={COOKIE}"))
        .set_body_string(format!("<html>{COOKIE} {SIGNATURE} {token}</html>"));
    Mock::given(any()).respond_with(echo).mount(&service).await;
    let client = client_at(service.uri())
        .token_source(StaticToken::new(token).unwrap())
        .retry(RetryPolicy::none())
        .build()
        .unwrap();
    let error = client.user_details().await.unwrap_err();
    write!(shown, "{client:?} {error} {error:?}").unwrap();
}

fn assert_hidden(secrets: &Secrets, shown: &str) {
    let traced = recorded();
    for event in ["envd.call", "tokens renewed", "the refresh token is dead"] {
        assert!(traced.contains(event), "{event} is not traced");
    }
    for (name, secret) in &secrets.0 {
        assert!(!traced.contains(secret), "{name} is traced");
        assert!(!shown.contains(secret), "{name} is shown");
    }
}

/// Negative control: a secret that is traced or logged is found.
#[test]
fn a_planted_secret_is_found() {
    trace_in_separate_process("tokens_secrets::a_planted_secret_is_found", async {
        tracing::trace!(token = "planted-in-tracing", "x");
        log::trace!("planted-in-log");
        let output = recorded();
        assert!(output.contains("planted-in-tracing") && output.contains("planted-in-log"));
    });
}
