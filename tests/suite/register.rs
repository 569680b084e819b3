//! The client of the property register (spec 2.10, 4.2, 7.1) against the fake, and against scripted replies.

mod calls;
mod lookup_many;
mod paging;

use std::time::{Duration, UNIX_EPOCH};

use envd_sdk::fake::Fake;
use envd_sdk::model::{Pic, Property, PropertyStatus, PropertyTypeCode};
use envd_sdk::register::{IfModified, Lookup, PagePosition, PropertySearch, Register};
use envd_sdk::{Clock, ErrorKind, Page, Pager, Result};
use serde_json::{Value, json};
use test_support::{Reply, Request, Server};
use url::Url;

use crate::fixed_date::{fake_builder, noon, start_fake};
use crate::scripted::register_at;
use crate::scripted::{self, ok};

fn register(fake: &Fake) -> Register {
    register_at(fake.register_url()).build().unwrap()
}

/// A client for scripted replies, which retries without waiting.
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

/// A server that replies according to the PIC of a look-up.
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

/// A server that replies according to the page index, if the request has one.
pub(crate) fn by_index(answer: impl Fn(Option<usize>) -> Reply + Send + Sync + 'static) -> Server {
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

/// If-Modified-Since and status 304 (spec 7.1).
#[tokio::test]
async fn an_unchanged_register_is_reported() {
    let fake = fake_builder().clock(Clock::manual(noon()));
    let fake = fake.start().await.unwrap();
    let register = register(&fake);
    let before = noon() - Duration::from_secs(1);
    let found = register.lookup_since(&pic("QAZZ7777"), before).await;
    let IfModified::Changed {
        value,
        last_modified,
        ..
    } = found.unwrap()
    else {
        panic!("the register changed");
    };
    assert!(matches!(value, Lookup::Found(_)));
    assert_eq!(last_modified, Some(noon()));
    let again = register.lookup_since(&pic("QAZZ7777"), noon()).await;
    assert_eq!(again.unwrap(), IfModified::Unchanged);

    let search = PropertySearch::text("QLD").page_size(5);
    let unchanged = register.search_since(&search, noon()).await.unwrap();
    assert!(matches!(unchanged, IfModified::Unchanged));
    let changed = register.search_since(&search, before).await.unwrap();
    let mut pager = changed.value().unwrap();
    let page = pager.next_page().await.unwrap().unwrap();
    assert_eq!((page.offset, page.number), (Some(0), 1));
    assert_eq!(page.last_modified, Some(noon()));
    let page = pager.next_page().await.unwrap().unwrap();
    assert_eq!((page.offset, page.number), (Some(5), 2));
    let error = register
        .search_since(&search, UNIX_EPOCH - Duration::from_secs(1))
        .await;
    assert!(error.unwrap_err().kind() == ErrorKind::Config);
}
