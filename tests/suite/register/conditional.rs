//! If-Modified-Since and status 304 (spec 7.1).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use envd_sdk::register::{IfModified, Lookup, PropertySearch};
use envd_sdk::{Clock, ErrorKind};
use equipment::{Reply, Server};

use super::{client, page, pic, register};
use crate::fixed_date::{fake_builder, noon};
use crate::scripted::register_at;

/// Before the first date that a header can hold.
fn long_ago() -> SystemTime {
    UNIX_EPOCH - Duration::from_secs(1)
}

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
    let error = register.search_since(&search, long_ago()).await;
    assert!(error.unwrap_err().kind() == ErrorKind::Config);
}

#[tokio::test]
async fn the_date_is_sent_in_the_form_of_http() {
    let server = Server::script([Reply::new(304), page(0, 1, &["QAZZ7777"]), Reply::new(304)]);
    let register = client(&server);
    let date = UNIX_EPOCH + Duration::from_secs(784_111_777);
    let answer = register.lookup_since(&pic("QAZZ7777"), date).await.unwrap();
    assert_eq!(answer.value(), None);
    assert!(register.lookup(&pic("QAZZ7777")).await.is_ok());
    let requests = server.requests();
    let sent = requests.iter().map(|sent| sent.header("if-modified-since"));
    let expected = [Some("Sun, 06 Nov 1994 08:49:37 GMT"), None];
    assert_eq!(sent.collect::<Vec<_>>(), expected);
    let error = register.lookup_since(&pic("QAZZ7777"), long_ago()).await;
    assert!(error.unwrap_err().kind() == ErrorKind::Config);
    // A 304 without a condition is an error.
    let error = register.lookup(&pic("QAZZ7777")).await.unwrap_err();
    assert_eq!(error.http_status(), Some(304));
}

#[tokio::test]
async fn what_is_cached_does_not_answer_a_condition() {
    let server = Server::script([page(0, 1, &["QAZZ7777"]), Reply::new(304)]);
    let register = register_at(server.url()).cache(Duration::from_secs(3_600), 100);
    let register = register.build().unwrap();
    assert!(register.lookup(&pic("QAZZ7777")).await.is_ok());
    let date = UNIX_EPOCH + Duration::from_secs(784_111_777);
    let answer = register.lookup_since(&pic("QAZZ7777"), date).await.unwrap();
    assert_eq!((answer.value(), server.count()), (None, 2));
}
