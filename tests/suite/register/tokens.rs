//! Tokens: sent, renewed once, hidden in `Debug`.

use envd_sdk::auth::StaticToken;
use envd_sdk::register::PropertySearch;
use envd_sdk::{ErrorKind, Secret};

use super::{pic, register};
use crate::fixed_date::{fake_builder, start_fake};
use crate::scripted::register_at;

#[tokio::test]
async fn a_token_is_sent_if_there_is_a_source() {
    let builder = fake_builder().register_token(Secret::new("t0ken"));
    let fake = builder.start().await.unwrap();
    let error = register(&fake).property(&pic("QAZZ7777")).await;
    assert!(error.unwrap_err().kind() == ErrorKind::Unauthorized);
    let with = async |token: &str| {
        let source = StaticToken::new(token).unwrap();
        let builder = register_at(fake.register_url()).token_source(source);
        builder.build().unwrap().property(&pic("QAZZ7777")).await
    };
    assert!(with("t0ken").await.unwrap().is_some());
    let error = with("wrong").await.unwrap_err();
    assert!(error.kind() == ErrorKind::Unauthorized && error.attempts() == 1);
    assert!(error.server_message().is_some(), "{error}");
}

#[tokio::test]
async fn debug_shows_neither_token_nor_records() {
    let fake = start_fake().await;
    let source = StaticToken::new("s3cr3t").unwrap();
    let builder = register_at(fake.register_url())
        .token_source(source)
        .header("x-api-key", "s3cr3t");
    assert!(!format!("{builder:?}").contains("s3cr3t"));
    let register = builder.build().unwrap();
    assert!(!format!("{register:?}").contains("s3cr3t"));
    let mut search = register.search(&PropertySearch::text("sampleton"));
    let page = search.next_page().await.unwrap().unwrap();
    let answers = register.lookup_many(["QAZZ7777"]).collect().await;
    let shown = format!("{search:?} {page:?} {:?} {answers:?}", page.records);
    assert!(!shown.contains("Sam") && !shown.contains("sample"));
}
