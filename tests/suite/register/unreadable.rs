//! Unreadable records of the register, and lists that change or repeat themselves.

use envd_sdk::ErrorKind;
use envd_sdk::model::ListNotice;
use envd_sdk::register::{PagePosition, PropertySearch};
use equipment::Server;
use serde_json::{Value, json};

use super::{PropertyPager, by_index, first};
use crate::profiles::paged_from;
use crate::scripted::{ok, register};

/// A server with these pages of two records each; requests without an index get the first page.
fn pages(
    total: impl Fn(usize) -> Option<u64> + Send + Sync + 'static,
    pages: Vec<[Value; 2]>,
) -> Server {
    by_index(move |index| {
        let index = index.unwrap_or(0);
        let mut value = json!({"Offset": 2 * index, "Limit": 2, "SubSet": pages[index]});
        if let Some(total) = total(index) {
            value["Total"] = json!(total);
        }
        ok(json!({ "Value": value }))
    })
}

fn record(pic: &str) -> Value {
    json!({ "PIC": pic })
}

fn broken(pic: &str) -> Value {
    json!({ "PIC": pic, "Town": ["hidden"] })
}

fn search(server: &Server) -> PropertyPager {
    let builder = register(server).profile(&paged_from(0));
    builder.build().unwrap().search(&PropertySearch::text("x"))
}

#[tokio::test]
async fn an_unreadable_record_does_not_lose_its_page() {
    let part = vec![
        [broken("QAZZ7777"), record("QBZZ2222")],
        [record("QCZZ8888"), broken("QDZZ3333")],
        [broken("QEZZ4444"), record("QFZZ5555")],
    ];
    let server = pages(|_| Some(6), part);
    let page = first(search(&server)).await.unwrap();
    assert_eq!(
        (page.records.len(), page.unreadable.len(), page.missing),
        (1, 1, 0)
    );
    let error = &page.unreadable[0];
    assert!(
        error.kind() == ErrorKind::UnreadableRecord && error.operation() == Some("PICRegister")
    );
    assert_eq!(error.json_path(), Some("Value.SubSet[0].Town"));
    assert_eq!(error.raw_data(), Some(&broken("QAZZ7777")));
    assert!(!format!("{page:?} {error}").contains("hidden"));

    let all = [
        "QAZZ7777", "QBZZ2222", "QCZZ8888", "QDZZ3333", "QEZZ4444", "QFZZ5555",
    ];
    for taken in 0..=6 {
        let mut items = search(&server).items();
        let mut seen = Vec::new();
        for _ in 0..taken {
            seen.push(items.next().await.unwrap());
        }
        // The rest from a stored position.
        let stored = serde_json::to_string(items.position()).unwrap();
        let position: PagePosition = serde_json::from_str(&stored).unwrap();
        let mut rest = search(&server).start_at(position).items();
        while let Some(item) = rest.next().await {
            seen.push(item);
        }
        let pics: Vec<_> = seen
            .iter()
            .map(|item| match item {
                Ok(property) => property.pic.clone().unwrap(),
                Err(error) => error.raw_data().unwrap()["PIC"]
                    .as_str()
                    .unwrap()
                    .to_owned(),
            })
            .collect();
        assert_eq!(pics, all, "after {taken}");
        let errors = seen.iter().map(Result::is_err).collect::<Vec<_>>();
        assert_eq!(errors, [true, false, false, true, true, false]);
    }
}

#[tokio::test]
async fn a_changed_total_and_repeated_records_are_reported() {
    let part = vec![
        [record("QAZZ7777"), record("QBZZ2222")],
        [record("QBZZ2222"), record("QCZZ8888")],
        [
            record("QDZZ3333"),
            json!({"PIC": "QDZZ3333", "PICRegisterId": 7}),
        ],
    ];
    let server = pages(|index| Some([5, 6, 6][index]), part);
    let mut walk = search(&server);
    let mut notices = Vec::new();
    while let Some(page) = walk.next_page().await.unwrap() {
        notices.push(page.notices);
    }
    assert!(notices[0].is_empty() && notices[2].is_empty());
    let [
        ListNotice::TotalChanged {
            page: 2,
            before: 5,
            now: 6,
            ..
        },
        ListNotice::Repeated { page: 2, ids, .. },
    ] = &notices[1][..]
    else {
        panic!("{notices:?}");
    };
    assert_eq!(ids, &["QBZZ2222"]);
    let mut items = search(&server).items();
    while let Some(item) = items.next().await {
        item.unwrap();
    }
    assert_eq!(items.notices(), notices.concat());
    // A resumed search knows the total of the page before.
    let position = first(search(&server)).await.unwrap().next.unwrap();
    let second = first(search(&server).start_at(position)).await.unwrap();
    assert!(matches!(
        second.notices[..],
        [ListNotice::TotalChanged {
            before: 5,
            now: 6,
            ..
        }]
    ));
}
