//! Tokens: sent, renewed once, hidden in `Debug`.

use std::sync::atomic::{AtomicUsize, Ordering};

use envd_sdk::auth::{AccessToken, BoxFuture, StaticToken, TokenSource};
use envd_sdk::register::{PropertySearch, Register};
use envd_sdk::{Result, Secret};
use wiremock::matchers::{any, header};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{page, pic, register};
use crate::fixed_date::{fake_builder, start_fake};

/// The first token is refused; the renewed ones are the given ones.
struct Renewing {
    renewed: &'static str,
    renewals: &'static AtomicUsize,
}

impl TokenSource for Renewing {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async { AccessToken::new("old") })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        self.renewals.fetch_add(1, Ordering::SeqCst);
        Box::pin(async { AccessToken::new(self.renewed) })
    }
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    static RENEWALS: AtomicUsize = AtomicUsize::new(0);
    let server = MockServer::start().await;
    let good = Mock::given(header("authorization", "Bearer new"));
    good.respond_with(page(0, 1, &["QAZZ7777"]))
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(401))
        .mount(&server)
        .await;
    for (renewed, works) in [("new", true), ("also-old", false)] {
        let source = Renewing {
            renewed,
            renewals: &RENEWALS,
        };
        let builder = Register::builder(server.uri()).token_source(source);
        let outcome = builder.build().unwrap().property(&pic("QAZZ7777")).await;
        assert_eq!(RENEWALS.swap(0, Ordering::SeqCst), 1);
        match outcome {
            Ok(found) => assert!(works && found.is_some()),
            Err(error) => assert!(!works && error.is_unauthorized()),
        }
    }
}

#[tokio::test]
async fn a_token_is_sent_if_there_is_a_source() {
    let builder = fake_builder().register_token(Secret::new("t0ken"));
    let fake = builder.start().await.unwrap();
    let error = register(&fake)
        .property(&pic("QAZZ7777"))
        .await
        .unwrap_err();
    assert!(error.is_unauthorized());
    let with = |token: &str| {
        let source = StaticToken::new(token).unwrap();
        Register::builder(fake.register_url())
            .token_source(source)
            .build()
            .unwrap()
    };
    assert!(
        with("t0ken")
            .property(&pic("QAZZ7777"))
            .await
            .unwrap()
            .is_some()
    );
    let error = with("wrong").property(&pic("QAZZ7777")).await.unwrap_err();
    assert!(error.is_reauth_required() && error.attempts() == 1);
}

#[tokio::test]
async fn debug_shows_neither_token_nor_records() {
    let fake = start_fake().await;
    let source = StaticToken::new("s3cr3t").unwrap();
    let builder = Register::builder(fake.register_url()).token_source(source);
    assert!(!format!("{builder:?}").contains("s3cr3t"));
    let register = builder.build().unwrap();
    assert!(!format!("{register:?}").contains("s3cr3t"));
    let mut search = register.search(&PropertySearch::text("sampleton"));
    let page = search.next_page().await.unwrap().unwrap();
    let answers = register.lookup_many(["QAZZ7777"]).collect().await;
    let shown = format!("{search:?} {page:?} {:?} {answers:?}", page.records);
    assert!(
        !shown.contains("Sam") && !shown.contains("sample"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_header_of_the_caller_is_sent_and_hidden() {
    let server = MockServer::start().await;
    let good = Mock::given(header("x-api-key", "s3cr3t"));
    good.respond_with(page(0, 1, &["QAZZ7777"]))
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(401))
        .mount(&server)
        .await;
    let with = |value: &str| Register::builder(server.uri()).header("X-Api-Key", value);
    assert!(!format!("{:?}", with("s3cr3t")).contains("s3cr3t"));
    let register = with("s3cr3t").build().unwrap();
    assert!(register.property(&pic("QAZZ7777")).await.unwrap().is_some());
    let refused = with("other")
        .build()
        .unwrap()
        .property(&pic("QAZZ7777"))
        .await;
    assert!(refused.unwrap_err().is_unauthorized());
    assert!(with("a\nb").build().unwrap_err().is_config());
}
