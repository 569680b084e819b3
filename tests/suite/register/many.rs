//! Many look-ups at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use envd_sdk::Result;
use envd_sdk::auth::{AccessToken, BoxFuture, TokenSource};
use envd_sdk::fake::Fake;
use envd_sdk::register::Register;
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{client, page, pic};

#[tokio::test]
async fn many_are_answered_in_order_each_asked_once_and_a_failure_stops_nobody() {
    let server = MockServer::start().await;
    let at = |pic: &str| Mock::given(path(format!("/api/v2/PICRegister/(PIC={pic})")));
    at("QAZZ7777")
        .respond_with(page(0, 1, &["QAZZ7777"]))
        .expect(1)
        .mount(&server)
        .await;
    at("QBZZ2222")
        .respond_with(ResponseTemplate::new(500))
        .expect(1)
        .mount(&server)
        .await;
    at("QCZZ8888")
        .respond_with(ResponseTemplate::new(404))
        .expect(1)
        .mount(&server)
        .await;
    let register = client(&server);
    let asked = ["QBZZ2222", "QAZZ7777", "QCZZ8888", "QAZZ7777"].map(pic);
    let answers = register.lookup_many(asked.clone(), 2).await;
    let pics: Vec<_> = answers.iter().map(|(pic, _)| pic.clone()).collect();
    assert_eq!(pics, asked);
    assert_eq!(answers[0].1.as_ref().unwrap_err().http_status(), Some(500));
    assert!(answers[1].1.as_ref().unwrap().is_some());
    assert!(answers[2].1.as_ref().unwrap().is_none());
    assert!(answers[3].1.as_ref().unwrap().is_some());
    let fake = Fake::start().await;
    let answers = super::register(&fake)
        .lookup_many([pic("QAZZ7777")], 0)
        .await;
    assert!(answers[0].1.as_ref().unwrap().is_some());
    assert!(super::register(&fake).lookup_many([], 3).await.is_empty());
}

/// Counts how many ask at the same time.
struct Counting {
    now: AtomicUsize,
    most: &'static AtomicUsize,
}

impl TokenSource for Counting {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            self.now.fetch_sub(1, Ordering::SeqCst);
            AccessToken::new("t0ken")
        })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        self.token()
    }
}

#[tokio::test]
async fn no_more_are_asked_at_a_time_than_was_said() {
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let fake = Fake::start().await;
    let source = Counting {
        now: AtomicUsize::new(0),
        most: &MOST,
    };
    let builder = Register::builder(fake.register_url()).token_source(source);
    let register = builder.build().unwrap();
    let pics = (1000..1012).map(|number| pic(&format!("QZZZ{number}")));
    let answers = register.lookup_many(pics, 3).await;
    assert_eq!(answers.len(), 12);
    assert!(answers.iter().all(|(_, found)| found.is_ok()));
    assert_eq!(MOST.load(Ordering::SeqCst), 3);
}
