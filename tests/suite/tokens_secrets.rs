//! A session from login to logout at log level TRACE: the output has none of twelve secrets.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use envd_sdk::auth::{StaticToken, TokenManager, TokenSet, TokenSource};
use envd_sdk::fake::{Fake, Fault};
use envd_sdk::model::{DeclarationInput, PartyInput};
use envd_sdk::ops::ConsignmentFilter;
use envd_sdk::{Client, RetryPolicy};
use serde_json::{Value, json};
use test_support::{Reply, Server};
use url::Url;

use super::trace_recorder::{recorded, trace_in_separate_process};
use crate::calls;
use crate::fixed_date::start_fake;
use crate::scripted::client_at;

const CLIENT_SECRET: &str = "cl13nt-s3cr3t-0001";
const COOKIE: &str = "c00k13-s3cr3t-0002";
const SIGNATURE: &str = "c2lnbmF0dXJlLXMzY3IzdC0wMDAz";

/// Row 47.
#[test]
fn none_of_twelve_secrets_appears_in_the_traces_of_a_session() {
    trace_in_separate_process(
        "tokens_secrets::none_of_twelve_secrets_appears_in_the_traces_of_a_session",
        session_without_secrets(),
    );
}

struct Session {
    fake: Fake,
    manager: TokenManager,
    secrets: BTreeMap<&'static str, Vec<String>>,
    /// All output of `Display` and `Debug` so far.
    shown: String,
}

async fn session_without_secrets() {
    let fake = start_fake().await;
    let provider = fake.provider().client_secret(CLIENT_SECRET).build();
    let provider = provider.unwrap();
    // Two refreshes in a row, as after refused tokens.
    let manager = TokenManager::builder(provider.clone());
    let manager = manager.timing(|it| it.between_forced = Duration::ZERO);
    let manager = manager.build().unwrap();
    let mut events = manager.events();
    let secrets = BTreeMap::new();
    let shown = format!("{provider:?}");
    let mut session = Session {
        fake,
        manager,
        secrets,
        shown,
    };
    session.add("client secret", CLIENT_SECRET);
    session.add("cookie", COOKIE);
    session.add("signature", SIGNATURE);
    let tokens = session.log_in().await;

    let client = session.fake.client().token_source(session.manager.clone());
    session.call(&client.build().unwrap()).await;
    let renewed = session.manager.access_token().await.unwrap();
    session.add("access token", renewed.expose());
    assert_eq!(renewed.generation(), 2);
    session.call_that_is_echoed(renewed.expose()).await;

    // A refused refresh, a refused login, and the logout.
    provider
        .revoke(tokens.refresh_token().unwrap())
        .await
        .unwrap();
    let error = session.manager.renew(&renewed).await.unwrap_err();
    assert!(error.is_reauth_required());
    session.show(&error);
    let login = provider.authorization().start().unwrap();
    let callback = session.fake.refuse(login.url()).unwrap();
    session.add("state", parameter(login.url(), "state"));
    let refused = session
        .manager
        .complete_login(login, callback.as_str())
        .await;
    session.show(&refused.unwrap_err());
    write!(session.shown, "{:?}", session.manager.logout(None).await).unwrap();
    for _ in 0..3 {
        write!(session.shown, "{:?}", events.next().await).unwrap();
    }
    session.refuse_with_the_tokens().await;

    assert_eq!(session.secrets.len(), 12);
    session.assert_hidden();
}

impl Session {
    fn add(&mut self, name: &'static str, text: impl Into<String>) {
        let text = text.into();
        // A short text may be part of another.
        assert!(text.len() >= 8, "{name}");
        self.secrets.entry(name).or_default().push(text);
    }

    fn show(&mut self, error: &envd_sdk::Error) {
        write!(self.shown, "{error} {error:?}").unwrap();
    }

    async fn log_in(&mut self) -> TokenSet {
        let login = self.manager.provider().authorization().start().unwrap();
        let callback = self.fake.consent(login.url()).unwrap();
        self.add("state", parameter(login.url(), "state"));
        self.add("nonce", parameter(login.url(), "nonce"));
        self.add("code", parameter(&callback, "code"));
        let saved: Value = serde_json::from_str(login.to_secret_json().expose()).unwrap();
        self.add("verifier", saved["verifier"].as_str().unwrap());
        write!(self.shown, "{login:?} {:?}", self.manager).unwrap();
        let tokens = self.manager.complete_login(login, callback.as_str()).await;
        let tokens = tokens.unwrap();
        let access = tokens.access_token().expose();
        self.add("authorization header", format!("Bearer {access}"));
        self.add("access token", access);
        self.add("refresh token", tokens.refresh_token().unwrap().expose());
        self.add("id token", tokens.id_token().unwrap().expose());
        write!(
            self.shown,
            "{tokens:?} {:?}",
            self.manager.access_token().await
        )
        .unwrap();
        tokens
    }

    /// Makes calls, one of them refused, and a refresh with rotation.
    async fn call(&mut self, client: &Client) {
        let account = client.account(self.fake.account_id());
        for destination in ["QDZZ3333", "QDZZ33"] {
            let mut input = calls::input();
            input.destination = PartyInput::new(destination);
            let mut declaration = DeclarationInput::default();
            declaration.signature = SIGNATURE.into();
            let saved = account
                .save_consignment(input.declaration(declaration))
                .await;
            assert_eq!(saved.is_ok(), destination == "QDZZ3333");
            write!(self.shown, "{saved:?}").unwrap();
        }
        self.fake.expire_access_tokens();
        let page = account.consignments_page(&ConsignmentFilter::default(), None);
        let page = page.await.unwrap();
        let consignment = account.consignment("C-900000101").await.unwrap();
        write!(self.shown, "{page:?} {consignment:?}").unwrap();
        let address = consignment.value.pdf_url.unwrap();
        let print = Url::parse(address.expose()).unwrap();
        self.add("authToken", parameter(&print, "authToken"));
        let download = client.pdf(&address);
        write!(self.shown, "{download:?}").unwrap();
        write!(self.shown, "{:?}", download.await).unwrap();
    }

    /// Makes a call to a service that replies with a page, a cookie and the request itself.
    async fn call_that_is_echoed(&mut self, token: &str) {
        let echo = Reply::new(503).header("set-cookie", format!("session={COOKIE}"));
        let echo = echo.body(format!("<html>{COOKIE} {SIGNATURE} {token}</html>"));
        let client = client_at(Server::script([echo]).url()).retry(RetryPolicy::none());
        let client = client.token_source(StaticToken::new(token).unwrap());
        let client = client.build().unwrap();
        self.show(&client.user_details().await.unwrap_err());
        write!(self.shown, "{client:?}").unwrap();
    }

    /// After another login, the refusal of a refresh repeats the tokens.
    async fn refuse_with_the_tokens(&mut self) {
        let tokens = self.log_in().await;
        let access = self.manager.access_token().await.unwrap();
        let refresh = tokens.refresh_token().unwrap();
        let repeated = format!("{} {}", refresh.expose(), access.expose());
        let refusal = json!({"error": "invalid_client", "error_description": repeated});
        let refusal = Fault::status(401).json(refusal);
        self.fake.on_path("/oauth/token").fault(refusal);
        let error = self.manager.renew(&access).await.unwrap_err();
        self.show(&error);
    }

    fn assert_hidden(&self) {
        let traced = recorded();
        for event in ["envd.call", "tokens renewed", "the refresh token is dead"] {
            assert!(traced.contains(event), "{event} is not traced");
        }
        for (name, secrets) in &self.secrets {
            for secret in secrets {
                assert!(!traced.contains(secret), "{name} is traced");
                assert!(!self.shown.contains(secret), "{name} is shown");
            }
        }
    }
}

fn parameter(url: &Url, name: &str) -> String {
    let mut pairs = url.query_pairs();
    pairs
        .find(|(known, _)| known == name)
        .unwrap()
        .1
        .into_owned()
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
