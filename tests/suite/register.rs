//! The client of the property register (spec 2.10, 4.2, 7.1) against the fake, and against scripted replies.

mod backpressure;
mod conditional;
mod errors;
mod lookup_many;
mod paging;
mod tokens;
mod totals;
mod traces;
mod unreadable;

use envd_sdk::fake::Fake;
use envd_sdk::model::{Pic, Property, PropertyStatus, PropertyTypeCode};
use envd_sdk::register::{Lookup, PagePosition, PropertySearch, Register};
use envd_sdk::{ErrorKind, Page, Pager, Result};
use equipment::{Reply, Request, Server};
use serde_json::{Value, json};
use url::Url;

use crate::fixed_date::start_fake;
use crate::scripted::{self, ok, typed};

fn register(fake: &Fake) -> Register {
    Register::builder(fake.register_url()).build().unwrap()
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
async fn searches_by_words_and_fields_find_the_matching_properties() {
    let fake = start_fake().await;
    let register = register(&fake);
    let page = first(register.search(&PropertySearch::text("test yards")))
        .await
        .unwrap();
    assert!(
        page.records
            .iter()
            .any(|found| found.pic.as_deref() == Some("QCZZ8888"))
    );
    let search = PropertySearch::new()
        .pic_type(PropertyTypeCode::Feedlot)
        .status(PropertyStatus::Active);
    let page = first(register.search(&search)).await.unwrap();
    assert!(!page.records.is_empty());
    for found in page.records {
        assert!(found.property_types.contains(&PropertyTypeCode::Feedlot));
        assert!(found.is_active());
    }
    let blocked = PropertySearch::new().status(PropertyStatus::Blocked);
    let blocked = first(register.search(&blocked)).await.unwrap();
    assert!(!blocked.records.is_empty());
    for found in blocked.records {
        assert_eq!(found.admin_status, Some(PropertyStatus::Blocked));
    }
    let mut nothing = register.search(&PropertySearch::new().town("no such town"));
    assert!(
        nothing
            .next_page()
            .await
            .unwrap()
            .unwrap()
            .records
            .is_empty()
    );
    assert!(nothing.next_page().await.unwrap().is_none());
}

#[tokio::test]
async fn any_text_is_sent_as_given() {
    for text in [
        "O'Brien & Sons",
        "a/b\\c",
        "1+1=2",
        "100%",
        "Gö 水",
        "?#;&=%41",
    ] {
        let server = Server::script([page(0, 0, &[])]);
        let search = PropertySearch::new().business_name(text).state("QLD");
        first(client(&server).search(&search)).await.unwrap();
        let given = [("BusinessName", text), ("State", "QLD")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parameters(&server.requests()[0]), given);
    }
}

#[tokio::test]
async fn invalid_values_are_refused_unless_unchecked() {
    let server = Server::script([page(0, 0, &[])]);
    let register = client(&server);
    let bad = PropertySearch::new().postcode("400").pic("QAZZ77777");
    let error = first(register.search(&bad)).await.unwrap_err();
    assert!(error.kind() == ErrorKind::Config && error.attempts() == 0);
    let empty = first(register.search(&PropertySearch::text(" "))).await;
    assert!(empty.unwrap_err().kind() == ErrorKind::Config);
    assert_eq!(server.count(), 0);
    first(register.search(&bad.unchecked())).await.unwrap();
    let target = server.requests()[0].target().to_owned();
    assert!(target.contains("Postcode=400") && target.contains("PIC=QAZZ77777"));
}

#[tokio::test]
async fn not_found_empty_and_several_are_distinguished() {
    let server = by_pic(|pic| match pic {
        "QAZZ7777" => page(0, 2, &["QAZZ7777", "QAZZ7777"]),
        "QBZZ2222" => page(0, 0, &[]),
        "QCZZ8888" => typed(404, "application/xml", "<Error/>"),
        "QJZZ9999" => Reply::new(404),
        "QKZZ1111" => typed(404, "text/plain", "hidden"),
        "QEZZ4444" => Reply::new(204),
        "QFZZ5555" => Reply::json(201, r#"{"Value": {}}"#),
        "QGZZ6666" => typed(404, "text/html", "<html>hidden</html>"),
        "QHZZ7777" => typed(200, "application/xml", "<Value/>"),
        // The register ignored the PIC.
        _ => page(0, 1, &["QAZZ7777"]),
    });
    let register = client(&server);
    let look_up = async |text| register.lookup(&pic(text)).await;
    assert!(
        matches!(look_up("QAZZ7777").await, Ok(Lookup::Several(records)) if records.len() == 2)
    );
    assert_eq!(look_up("QBZZ2222").await.unwrap(), Lookup::Empty);
    assert_eq!(look_up("QCZZ8888").await.unwrap(), Lookup::NotFound);
    assert!(look_up("QDZZ3333").await.unwrap_err().kind() == ErrorKind::Protocol);
    let property = async |text| register.property(&pic(text)).await;
    assert!(property("QAZZ7777").await.unwrap_err().kind() == ErrorKind::Protocol);
    for text in ["QBZZ2222", "QEZZ4444", "QFZZ5555"] {
        assert!(property(text).await.unwrap().is_none(), "{text}");
    }
    // A web page or a router's text is an error, and XML as well; so is an empty reply.
    let empty = property("QJZZ9999").await.unwrap_err();
    assert!(empty.kind() == ErrorKind::NoAnswer && empty.is_retryable());
    for (text, status, names) in [
        ("QGZZ6666", 404, "an HTML page"),
        ("QKZZ1111", 404, "(text/plain)"),
        ("QHZZ7777", 200, "an XML document"),
    ] {
        let error = property(text).await.unwrap_err();
        assert_eq!(error.http_status(), Some(status));
        assert!(error.to_string().contains(names), "{error}");
        assert!(!format!("{error} {error:?}").contains("hidden"));
    }
}

#[tokio::test]
async fn a_record_is_found_in_any_envelope_and_anything_else_is_not_silently_nothing() {
    let record = json!({"PIC": "QAZZ7777", "AdminStatus": {"ShortCode": "A"}});
    for reply in [
        json!({"Value": record}),
        json!({"Value": [record]}),
        json!([record]),
        record,
    ] {
        let server = Server::script([ok(reply.clone())]);
        let found = client(&server).property(&pic("QAZZ7777")).await.unwrap();
        assert!(found.unwrap().is_active(), "{reply}");
        // Another property than the one that was requested.
        let error = client(&server)
            .property(&pic("QBZZ2222"))
            .await
            .unwrap_err();
        assert!(error.kind() == ErrorKind::Protocol, "{reply}");
    }
    let other = json!({"Value": {"Pic": "QAZZ7777", "Town": "hidden"}});
    let error = client(&Server::script([ok(other.clone())]))
        .property(&pic("QAZZ7777"))
        .await
        .unwrap_err();
    assert!(error.kind() == ErrorKind::Decode && error.raw_data() == Some(&other));
    assert!(!format!("{error} {error:?}").contains("hidden"));
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
