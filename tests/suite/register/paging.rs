//! Pages: counted from 0 or 1, each record once, cycles, resume.

use std::future::poll_fn;
use std::pin::Pin;

use envd_sdk::ErrorKind;
use envd_sdk::fake::Fake;
use envd_sdk::register::{PagePosition, PropertySearch};
use futures_core::Stream;
use serde_json::json;
use test_support::Server;

use super::{PropertyPager, all_pics, by_index, client, first, page, register};
use crate::fixed_date::fake_builder;
use crate::pages::{assert_resumes, placed};
use crate::profiles::paged_from;
use crate::scripted::register_at;
use crate::scripted::{self, ok, take_turns, until};

fn search(server: &Server) -> PropertyPager {
    client(server).search(&PropertySearch::text("x"))
}

/// A search that requests the first page by its index.
fn indexed(server: &Server) -> PropertyPager {
    let register = scripted::register(server).profile(&paged_from(0));
    register.build().unwrap().search(&PropertySearch::text("x"))
}

async fn fake_from(first: u32) -> Fake {
    let builder = fake_builder().profile(&paged_from(first));
    builder.start().await.unwrap()
}

#[tokio::test]
async fn paging_gives_each_property_once_whether_pages_count_from_zero_or_one() {
    for (from, is_reported) in [(0, false), (1, false), (1, true)] {
        let fake = fake_from(from).await;
        let register = register_at(fake.register_url());
        let register = if is_reported {
            register.profile(&paged_from(from))
        } else {
            register
        };
        let register = register.build().unwrap();
        // The second search uses the index that the first search found, or that the profile has.
        for size in [7, 60] {
            let search = || register.search(&PropertySearch::new().state("QLD").page_size(size));
            let total = first(search()).await.unwrap().total.unwrap();
            let total = usize::try_from(total).unwrap();
            let mut pics = all_pics(search()).await.unwrap();
            assert_eq!(pics.len(), total, "from {from}, by {size}");
            pics.sort();
            pics.dedup();
            assert_eq!(pics.len(), total, "from {from}, by {size}");
        }
    }
}

/// Without a total, a search requests pages until one is empty. A register that counts from 1 may also send an empty page for index 1,
/// so the next search starts without an index again.
#[tokio::test]
async fn an_empty_second_page_does_not_show_where_pages_count_from() {
    let reply = |offset: u64, pics: &[&str]| {
        let records: Vec<_> = pics.iter().map(|pic| json!({ "PIC": pic })).collect();
        ok(json!({"Value": {"Offset": offset, "Limit": 1, "SubSet": records}}))
    };
    let server = by_index(move |index| match index {
        None => reply(0, &["QAZZ7777"]),
        Some(_) => reply(1, &[]),
    });
    let register = client(&server);
    for _ in 0..2 {
        let search = register.search(&PropertySearch::text("x"));
        assert_eq!(all_pics(search).await.unwrap(), ["QAZZ7777"]);
    }
}

#[tokio::test]
async fn a_search_can_start_at_a_later_page() {
    for from in [0, 1] {
        let fake = fake_from(from).await;
        let search = || register(&fake).search(&PropertySearch::text("QLD").page_size(5));
        let all = all_pics(search()).await.unwrap();
        let index = from + 1;
        let rest = all_pics(search().start_at(PagePosition::from_index(index)))
            .await
            .unwrap();
        assert_eq!(rest, all[5..], "from {from}");
    }
}

#[tokio::test]
async fn a_search_resumes_after_any_record_and_pages_come_as_a_stream() {
    let fake = fake_from(1).await;
    let search = || register(&fake).search(&PropertySearch::text("NSW").page_size(4));
    let all = assert_resumes(|place| search().start_at(placed(place)).items()).await;
    let mut pages = search().pages();
    let mut seen = Vec::new();
    while let Some(page) = poll_fn(|context| Pin::new(&mut pages).poll_next(context)).await {
        let records = page.unwrap().records.into_iter();
        seen.extend(records.filter_map(|found| found.pic));
    }
    assert_eq!(seen, all);
}

#[tokio::test]
async fn repeated_pages_are_an_error() {
    let server = Server::script([page(0, 5, &["QAZZ7777"])]);
    let error = all_pics(search(&server)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    // Pages that repeat in a cycle, without counts.
    let server = by_index(|index| {
        let pic = ["QAZZ7777", "QBZZ2222", "QCZZ8888"][index.unwrap() % 3];
        ok(json!({"Value": {"SubSet": [{ "PIC": pic }]}}))
    });
    assert!(all_pics(indexed(&server)).await.unwrap_err().kind() == ErrorKind::Stalled);
    assert!(server.count() < 20);
    // Without the index of the first page, the client cannot tell which page was sent.
    let server = Server::script([ok(json!({"Value": {"SubSet": [{"PIC": "QAZZ7777"}]}}))]);
    assert!(all_pics(search(&server)).await.is_err());
}

#[tokio::test]
async fn a_search_fetches_ahead_only_if_set() {
    for (ahead, requests) in [(0, 1), (1, 2)] {
        let server = by_index(|index| {
            let index = index.unwrap() as u64;
            page(index, 3, &[&format!("QAZZ777{index}")])
        });
        let mut search = indexed(&server).look_ahead(ahead);
        search.next_page().await.unwrap().unwrap();
        until(|| server.count() >= requests).await;
        // A further request would be sent in these turns.
        take_turns().await;
        assert_eq!(server.count(), requests);
        assert_eq!(all_pics(search).await.unwrap().len(), 2);
    }
}

#[tokio::test]
async fn errors_of_settings_name_the_operation() {
    let server = Server::script([page(0, 5, &["QAZZ7777"])]);
    // A position for another page size, and a search without a value.
    let position = first(search(&server)).await.unwrap().next.unwrap();
    let other_size = client(&server).search(&PropertySearch::text("x").page_size(7));
    let empty = client(&server).search(&PropertySearch::text(" "));
    for search in [other_size.start_at(position), empty] {
        let error = first(search).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Config && error.operation() == Some("PICRegister"));
    }
    assert_eq!(server.count(), 1);
}
