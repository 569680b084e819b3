//! The client of the property register (spec 2.10, 4.2, 7.1) against the fake, and against scripted replies.

mod backpressure;
mod conditional;
mod lookup_many;
mod paging;
mod tokens;
mod unreadable;

use envd_sdk::fake::Fake;
use envd_sdk::model::{Pic, Property, PropertyStatus, PropertyTypeCode};
use envd_sdk::register::{Lookup, PagePosition, Register};
use envd_sdk::{ErrorKind, Page, Pager, Result};
use equipment::{Reply, Request, Server};
use serde_json::{Value, json};
use url::Url;

use crate::fixed_date::start_fake;
use crate::scripted::register_at;
use crate::scripted::{self, ok, typed};

fn register(fake: &Fake) -> Register {
    register_at(fake.register_url()).build().unwrap()
}

/// A client for scripted replies that retries without waits.
fn client(server: &Server) -> Register {
    scripted::register(server).build().unwrap()
}

fn pic(text: &str) -> Pic {
    Pic::parse(text).unwrap()
}

fn page(offset: u64, total: u64, pics: &[&str]) -> Reply {
    let records: Vec<Value> = pics.iter().map(|pic| json!({ "PIC": pic })).collect();
    ok(json!({"Value": {"Offset": offset, "Limit": 1, "Total": total, "SubSet": records}}))
}

/// A server that replies by the PIC of a look-up.
fn by_pic(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request| {
        let (_, after) = request.target().split_once("(PIC=").unwrap();
        let reply = answer(after.split(')').next().unwrap());
        async { reply }
    })
}

fn parameters(request: &Request) -> Vec<(String, String)> {
    let url = Url::parse("http://127.0.0.1").unwrap();
    let url = url.join(request.target()).unwrap();
    url.query_pairs().into_owned().collect()
}

/// A server that replies by the index of a page, if the request has one.
fn by_index(answer: impl Fn(Option<usize>) -> Reply + Send + Sync + 'static) -> Server {
    Server::start(move |request| {
        let pairs = parameters(&request);
        let index = pairs.iter().find(|(name, _)| name == "pageindex");
        let reply = answer(index.map(|(_, index)| index.parse().unwrap()));
        async { reply }
    })
}

type PropertyPager = Pager<Property, PagePosition>;

/// The first page of a search.
async fn first(mut search: PropertyPager) -> Result<Page<Property, PagePosition>> {
    Ok(search.next_page().await?.expect("a first page"))
}

async fn all_pics(mut search: PropertyPager) -> Result<Vec<String>> {
    let mut pics = Vec::new();
    while let Some(page) = search.next_page().await? {
        pics.extend(page.records.into_iter().filter_map(|property| property.pic));
    }
    Ok(pics)
}

#[tokio::test]
async fn a_property_is_found_by_its_pic_and_an_unknown_one_is_none() {
    let fake = start_fake().await;
    let register = register(&fake);
    let found = register.property(&pic("qazz7777")).await.unwrap().unwrap();
    assert_eq!(found.pic.as_deref(), Some("QAZZ7777"));
    assert_eq!(found.name.as_deref(), Some("Sample Station"));
    assert_eq!(found.admin_status, Some(PropertyStatus::Active));
    assert_eq!(*found.property_types, [PropertyTypeCode::Property]);
    assert!(register.property(&pic("QZZZ9999")).await.unwrap().is_none());
}

#[tokio::test]
async fn not_found_empty_and_several_are_distinguished() {
    let server = by_pic(|pic| match pic {
        "QAZZ7777" => page(0, 2, &["QAZZ7777", "QAZZ7777"]),
        "QBZZ2222" => page(0, 0, &[]),
        "QCZZ8888" => typed(404, "application/xml", "<Error/>"),
        "QEZZ4444" => Reply::new(204),
        _ => Reply::json(201, r#"{"Value": {}}"#),
    });
    let register = client(&server);
    for (text, found) in [
        ("QBZZ2222", Lookup::Empty),
        ("QCZZ8888", Lookup::NotFound),
        ("QEZZ4444", Lookup::Empty),
        ("QFZZ5555", Lookup::Empty),
    ] {
        assert_eq!(register.lookup(&pic(text)).await.unwrap(), found, "{text}");
        let property = register.property(&pic(text)).await;
        assert!(property.unwrap().is_none(), "{text}");
    }
    let several = register.lookup(&pic("QAZZ7777")).await;
    assert!(matches!(several, Ok(Lookup::Several(records)) if records.len() == 2));
    let several = register.property(&pic("QAZZ7777")).await;
    assert!(several.unwrap_err().kind() == ErrorKind::Protocol);
}

#[tokio::test]
async fn any_path_is_read_with_the_settings_of_all_calls() {
    let down = Reply::new(503).header("retry-after", "0");
    let refused = Reply::new(401);
    let server = Server::script([down, refused, ok(json!({"a": [1]})), Reply::new(204)]);
    let register = scripted::register(&server)
        .token_source(scripted::Renewing)
        .header("x-api-key", "s3cr3t");
    let register = register.build().unwrap();
    let reply = register.get("api/v2/PICRegister/900001", &[("Town", "A & B")]);
    assert_eq!(reply.await.unwrap(), json!({"a": [1]}));
    assert_eq!(register.get("other", &[]).await.unwrap(), Value::Null);
    let requests = server.requests();
    let last = &requests[2];
    assert_eq!(last.target(), "/api/v2/PICRegister/900001?Town=A+%26+B");
    assert_eq!(last.header("authorization"), Some("Bearer new"));
    assert_eq!(last.header("x-api-key"), Some("s3cr3t"));
    assert_eq!(requests[3].target(), "/other");

    for (reply, kind) in [
        (typed(200, "application/json", "{\"a\""), ErrorKind::Decode),
        (typed(200, "text/html", "<html>"), ErrorKind::NoAnswer),
        (typed(404, "application/json", "{}"), ErrorKind::NotFound),
    ] {
        let error = client(&Server::script([reply]))
            .get("x", &[])
            .await
            .unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert_eq!(error.operation(), Some("PICRegister"));
    }
    let error = register.get("../x", &[]).await.unwrap_err();
    assert!(error.kind() == ErrorKind::Config && error.attempts() == 0);
}

#[tokio::test]
async fn a_short_outage_is_retried() {
    let down = Reply::new(503).header("retry-after", "0");
    let server = Server::script([down.clone(), down, page(0, 1, &["QAZZ7777"])]);
    let found = client(&server).property(&pic("QAZZ7777")).await.unwrap();
    assert!(found.is_some());
}
