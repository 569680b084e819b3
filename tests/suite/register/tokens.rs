//! Tokens: sent, renewed once, hidden in `Debug`.

use envd_sdk::auth::StaticToken;
use envd_sdk::register::{PropertySearch, Register};
use envd_sdk::{ErrorKind, Secret};
use equipment::{Reply, Server};

use super::{page, pic, register};
use crate::fixed_date::{fake_builder, start_fake};
use crate::scripted::{self, Renewing};

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let refused = Reply::json(401, r#"{"Message": "no"}"#);
    for (second, works) in [(page(0, 1, &["QAZZ7777"]), true), (refused.clone(), false)] {
        let server = Server::script([refused.clone(), second]);
        let register = scripted::register(&server).token_source(Renewing);
        let found = register.build().unwrap().property(&pic("QAZZ7777")).await;
        let requests = server.requests();
        let tokens = requests.iter().map(|sent| sent.header("authorization"));
        let expected = [Some("Bearer old"), Some("Bearer new")];
        assert_eq!(tokens.collect::<Vec<_>>(), expected);
        match found {
            Ok(found) => assert!(works && found.is_some()),
            Err(error) => assert!(!works && error.kind() == ErrorKind::Unauthorized),
        }
    }
}

#[tokio::test]
async fn a_token_is_sent_if_there_is_a_source() {
    let builder = fake_builder().register_token(Secret::new("t0ken"));
    let fake = builder.start().await.unwrap();
    let error = register(&fake).property(&pic("QAZZ7777")).await;
    assert!(error.unwrap_err().kind() == ErrorKind::Unauthorized);
    let with = async |token: &str| {
        let source = StaticToken::new(token).unwrap();
        let builder = Register::builder(fake.register_url()).token_source(source);
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
    let builder = Register::builder(fake.register_url())
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

#[tokio::test]
async fn a_header_of_the_caller_is_sent_and_a_newline_in_it_is_refused() {
    let server = Server::script([page(0, 1, &["QAZZ7777"])]);
    let with = |value: &str| {
        let register = scripted::register(&server).header("X-Api-Key", value);
        register.build()
    };
    let register = with("s3cr3t").unwrap();
    assert!(register.property(&pic("QAZZ7777")).await.unwrap().is_some());
    assert_eq!(server.requests()[0].header("x-api-key"), Some("s3cr3t"));
    assert!(with("a\nb").unwrap_err().kind() == ErrorKind::Config);
}
