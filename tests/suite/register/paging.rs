//! Pages: counted from 0 or 1, each record once, cycles, resume.

use std::future::poll_fn;
use std::pin::Pin;

use envd_sdk::fake::Fake;
use envd_sdk::register::{PagePosition, PropertySearch, Register};
use futures_core::Stream;
use wiremock::matchers::{any, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{all_pics, client, first, page, register};
use crate::fixed_date::fake_builder;

async fn fake_from(first: usize) -> Fake {
    let builder = fake_builder().register_pages_from(first);
    builder.start().await.unwrap()
}

#[tokio::test]
async fn paging_gives_each_property_once_whether_pages_count_from_zero_or_one() {
    for from in [0, 1] {
        let fake = fake_from(from).await;
        let register = register(&fake);
        // The second search uses the index that the first one found.
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

#[tokio::test]
async fn a_set_first_page_index_is_sent() {
    let fake = fake_from(1).await;
    let builder = Register::builder(fake.register_url());
    let register = builder.first_page_index(1).build().unwrap();
    let search = || register.search(&PropertySearch::text("QLD").page_size(9));
    let total = first(search()).await.unwrap().total.unwrap();
    let count = all_pics(search()).await.unwrap().len();
    assert_eq!(i64::try_from(count).unwrap(), total);
}

#[tokio::test]
async fn a_search_can_start_at_a_later_page() {
    for from in [0, 1] {
        let fake = fake_from(from).await;
        let search = || register(&fake).search(&PropertySearch::text("QLD").page_size(5));
        let all = all_pics(search()).await.unwrap();
        let index = u32::try_from(from).unwrap() + 1;
        let rest = all_pics(search().start_at(PagePosition::from_index(index)))
            .await
            .unwrap();
        assert_eq!(rest, all[5..], "from {from}");
    }
}

#[tokio::test]
async fn streams_return_what_pages_return() {
    let fake = fake_from(0).await;
    let search = || register(&fake).search(&PropertySearch::text("NSW").page_size(4));
    let all = all_pics(search()).await.unwrap();
    let mut items = search().items();
    let mut seen = Vec::new();
    while let Some(property) = items.next().await {
        seen.extend(property.unwrap().pic);
    }
    assert_eq!(seen, all);
    let mut pages = search().pages();
    let mut seen = Vec::new();
    while let Some(page) = poll_fn(|context| Pin::new(&mut pages).poll_next(context)).await {
        seen.extend(
            page.unwrap()
                .records
                .into_iter()
                .filter_map(|found| found.pic),
        );
    }
    assert_eq!(seen, all);
}

#[tokio::test]
async fn a_search_resumes_after_any_record_from_a_stored_position() {
    let fake = fake_from(1).await;
    let search = || register(&fake).search(&PropertySearch::text("NSW").page_size(4));
    let all = all_pics(search()).await.unwrap();
    for taken in 0..=all.len() {
        let mut items = search().items();
        for _ in 0..taken {
            items.next().await.unwrap().unwrap();
        }
        let stored = serde_json::to_string(items.position()).unwrap();
        let position: PagePosition = serde_json::from_str(&stored).unwrap();
        let mut rest = search().start_at(position).items();
        let mut seen = Vec::new();
        while let Some(property) = rest.next().await {
            seen.extend(property.unwrap().pic);
        }
        assert_eq!(seen, all[taken..], "after {taken}: {stored}");
    }
}

#[tokio::test]
async fn a_position_of_another_page_size_is_refused() {
    let fake = fake_from(1).await;
    let search = |size| register(&fake).search(&PropertySearch::text("NSW").page_size(size));
    let position = first(search(4)).await.unwrap().next.unwrap();
    let error = search(5).start_at(position).next_page().await.unwrap_err();
    assert!(error.is_config());
}

#[tokio::test]
async fn a_failed_page_is_requested_again() {
    let server = MockServer::start().await;
    Mock::given(query_param_is_missing("pageindex"))
        .respond_with(page(0, 2, &["QAZZ7777"]))
        .mount(&server)
        .await;
    let broken = Mock::given(any()).respond_with(ResponseTemplate::new(500));
    broken.up_to_n_times(1).mount(&server).await;
    Mock::given(any())
        .respond_with(page(1, 2, &["QBZZ2222"]))
        .mount(&server)
        .await;
    let mut items = client(&server).search(&PropertySearch::text("x")).items();
    assert!(items.next().await.unwrap().is_ok());
    assert!(items.next().await.unwrap().is_err());
    assert!(items.next().await.is_none(), "a stream ends with a failure");
    let search = client(&server).search(&PropertySearch::text("x"));
    let rest = all_pics(search.start_at(items.position().clone()))
        .await
        .unwrap();
    assert_eq!(rest, ["QBZZ2222"]);
}

#[tokio::test]
async fn a_repeated_page_is_an_error() {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(page(0, 5, &["QAZZ7777"]))
        .mount(&server)
        .await;
    let search = client(&server).search(&PropertySearch::text("x"));
    assert!(all_pics(search).await.unwrap_err().is_protocol());
}

#[tokio::test]
async fn pages_in_a_cycle_without_counts_are_an_error() {
    let server = MockServer::start().await;
    let bare = |pic: &str| {
        let body = serde_json::json!({"Value": {"SubSet": [{"PIC": pic}]}});
        ResponseTemplate::new(200).set_body_json(body)
    };
    for index in 0..200 {
        let pic = ["QAZZ7777", "QBZZ2222", "QCZZ8888"][index % 3];
        Mock::given(query_param("pageindex", index.to_string()))
            .respond_with(bare(pic))
            .mount(&server)
            .await;
    }
    let builder = Register::builder(server.uri()).first_page_index(0);
    let search = builder.build().unwrap().search(&PropertySearch::text("x"));
    assert!(all_pics(search).await.unwrap_err().is_protocol());
    assert!(server.received_requests().await.unwrap().len() < 20);
    // Without an index of the first page, nothing shows which page was sent.
    let search = client(&server).search(&PropertySearch::text("x"));
    assert!(all_pics(search).await.is_err());
}

#[tokio::test]
async fn an_empty_page_before_the_last_is_an_error() {
    let server = MockServer::start().await;
    Mock::given(query_param("pageindex", "1"))
        .respond_with(page(1, 5, &[]))
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(page(0, 5, &["QAZZ7777"]))
        .mount(&server)
        .await;
    let search = client(&server).search(&PropertySearch::text("x"));
    assert!(all_pics(search).await.unwrap_err().is_protocol());
}

#[tokio::test]
async fn null_records_count_towards_offsets() {
    let server = MockServer::start().await;
    let part = |offset, records: serde_json::Value| {
        let body = serde_json::json!({"Value": {"Offset": offset, "Total": 4, "SubSet": records}});
        ResponseTemplate::new(200).set_body_json(body)
    };
    Mock::given(query_param("pageindex", "1"))
        .respond_with(part(
            2,
            serde_json::json!([{"PIC": "QBZZ2222"}, {"PIC": "QCZZ8888"}]),
        ))
        .mount(&server)
        .await;
    Mock::given(any())
        .respond_with(part(0, serde_json::json!([null, {"PIC": "QAZZ7777"}])))
        .mount(&server)
        .await;
    let search = || client(&server).search(&PropertySearch::text("x"));
    assert_eq!(first(search()).await.unwrap().missing, 1);
    assert_eq!(
        all_pics(search()).await.unwrap(),
        ["QAZZ7777", "QBZZ2222", "QCZZ8888"]
    );
}

#[tokio::test]
async fn a_dropped_future_does_not_lose_its_page() {
    let fake = fake_from(1).await;
    let mut search = register(&fake).search(&PropertySearch::text("QLD").page_size(5));
    tokio::select! {
        biased;
        _ = search.next_page() => panic!("a page without a wait"),
        () = std::future::ready(()) => {}
    }
    let page = search.next_page().await.unwrap().unwrap();
    assert_eq!((page.offset, page.records.len()), (Some(0), 5));
}

#[tokio::test]
async fn a_search_fetches_ahead_only_if_set() {
    for (ahead, requests) in [(0, 1), (1, 2)] {
        let server = MockServer::start().await;
        for index in 0..3 {
            let reply = page(index, 3, &[&format!("QAZZ777{index}")]);
            Mock::given(query_param("pageindex", index.to_string()))
                .respond_with(reply)
                .mount(&server)
                .await;
        }
        let builder = Register::builder(server.uri()).first_page_index(0);
        let register = builder.build().unwrap();
        let search = register.search(&PropertySearch::text("x"));
        let mut search = search.look_ahead(ahead);
        search.next_page().await.unwrap().unwrap();
        let received = async || server.received_requests().await.unwrap().len();
        while received().await < requests {
            tokio::task::yield_now().await;
        }
        // A further request would be sent in these turns.
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
        assert_eq!(received().await, requests);
        assert_eq!(all_pics(search).await.unwrap().len(), 2);
    }
}
