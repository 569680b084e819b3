//! Many look-ups at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use envd_sdk::auth::{AccessToken, BoxFuture, StaticToken, TokenSource};
use envd_sdk::register::{Lookup, LookupResult, Register};
use envd_sdk::{Clock, Result};
use futures_core::Stream;
use tokio::sync::Notify;
use wiremock::matchers::{any, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{client, page, pic};
use crate::dated::start_fake;

/// A result in a few words.
fn described(look_up: &LookupResult) -> String {
    match &look_up.result {
        Ok(Lookup::Found(_)) => "found".to_owned(),
        Ok(Lookup::NotFound) => "not found".to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) if error.is_config() => "no pic".to_owned(),
        Err(error) => format!("{:?}", error.http_status()),
    }
}

/// QAZZ7777 is found, QBZZ2222 breaks the register, others are not found; each may be asked for once.
async fn scripted() -> MockServer {
    let server = MockServer::start().await;
    let at = |pic: &str| Mock::given(path(format!("/api/v2/PICRegister/(PIC={pic})")));
    let good = at("QAZZ7777").respond_with(page(0, 1, &["QAZZ7777"]));
    good.expect(1).mount(&server).await;
    let broken = at("QBZZ2222").respond_with(ResponseTemplate::new(500));
    broken.expect(1).mount(&server).await;
    let unknown = at("QCZZ8888").respond_with(ResponseTemplate::new(404));
    unknown.expect(1).mount(&server).await;
    server
}

const TEXTS: [&str; 6] = [
    "QBZZ2222",
    " qazz7777",
    "QCZZ8888",
    "not a pic",
    "QAZZ7777",
    "qazz7777",
];

#[tokio::test]
async fn many_are_answered_in_order_each_asked_once_and_a_failure_stops_nobody() {
    let server = scripted().await;
    let answers = client(&server)
        .lookup_many(TEXTS)
        .concurrency(2)
        .collect()
        .await;
    let shown: Vec<_> = answers
        .iter()
        .map(|answer| format!("{} {} {}", answer.position, answer.input, described(answer)))
        .collect();
    assert_eq!(
        shown,
        [
            "0 QBZZ2222 Some(500)",
            "1 QAZZ7777 found",
            "2 QCZZ8888 not found",
            "3 not a pic no pic",
            "4 QAZZ7777 found",
            "5 QAZZ7777 found",
        ]
    );
    assert_eq!(answers[1].property(), answers[5].property());
    assert_eq!(
        (answers[3].pic(), answers[1].pic()),
        (None, Some(pic("QAZZ7777")))
    );
}

#[tokio::test]
async fn as_completed_each_text_still_has_its_answer() {
    let server = scripted().await;
    let look_ups = client(&server)
        .lookup_many(TEXTS)
        .concurrency(3)
        .as_completed();
    let mut answers = look_ups.collect().await;
    answers.sort_by_key(|answer| answer.position);
    let shown: Vec<_> = answers.iter().map(described).collect();
    assert_eq!(
        shown,
        [
            "Some(500)",
            "found",
            "not found",
            "no pic",
            "found",
            "found"
        ]
    );
}

/// Holds back the first look-up until it is opened.
#[derive(Clone, Default)]
struct Gate(Arc<(AtomicUsize, Notify)>);

impl TokenSource for Gate {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async {
            let (asked, opened) = &*self.0;
            if asked.fetch_add(1, Ordering::SeqCst) == 0 {
                opened.notified().await;
            }
            AccessToken::new("t0ken")
        })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        self.token()
    }
}

impl Gate {
    async fn before(server: &MockServer) -> (Self, Register) {
        Mock::given(any())
            .respond_with(ResponseTemplate::new(404))
            .mount(server)
            .await;
        let gate = Self::default();
        let builder = Register::builder(server.uri()).token_source(gate.clone());
        (gate, builder.build().unwrap())
    }

    fn open(&self) {
        self.0.1.notify_one();
    }
}

#[tokio::test]
async fn a_slow_answer_does_not_hold_up_others_that_may_come_as_completed() {
    let server = MockServer::start().await;
    let (gate, register) = Gate::before(&server).await;
    let mut answers = register
        .lookup_many(["QAZZ7777", "QBZZ2222", "QCZZ8888"])
        .concurrency(2)
        .as_completed();
    for _ in 0..2 {
        assert_ne!(answers.next().await.unwrap().position, 0);
    }
    gate.open();
    assert_eq!(answers.next().await.unwrap().position, 0);
    assert!(answers.next().await.is_none());
}

#[tokio::test]
async fn ten_thousand_pics_are_looked_up_in_constant_memory() {
    let server = MockServer::builder()
        .disable_request_recording()
        .start()
        .await;
    Mock::given(any())
        .respond_with(page(0, 0, &[]))
        .expect(10_000)
        .mount(&server)
        .await;
    let texts = (0..10_000).map(|number| format!("QZ{number:06}"));
    let mut answers = client(&server).lookup_many(texts).concurrency(8);
    assert_eq!(answers.size_hint(), (10_000, Some(10_000)));
    let (mut seen, mut most) = (0, 0);
    while let Some(answer) = answers.next().await {
        assert_eq!(
            (answer.position, described(&answer).as_str()),
            (seen, "Empty")
        );
        seen += 1;
        let progress = answers.progress();
        assert_eq!((progress.total, progress.returned), (10_000, seen));
        most = most.max(progress.in_flight + progress.waiting);
    }
    assert_eq!((seen, answers.progress().started), (10_000, 10_000));
    assert!(most <= 4 * 8, "{most} answers were held");
}

#[tokio::test]
async fn a_head_that_hangs_stops_the_others_before_they_fill_the_memory() {
    let server = MockServer::start().await;
    let (gate, register) = Gate::before(&server).await;
    let texts = (0..1_000).map(|number| format!("QZ{number:06}"));
    let mut answers = register.lookup_many(texts).concurrency(2);
    // All that may be started are done but the head.
    while answers.progress().waiting < 7 {
        tokio::select! {
            biased;
            _ = answers.next() => panic!("an answer before the head"),
            () = tokio::task::yield_now() => {}
        }
    }
    for _ in 0..100 {
        tokio::select! {
            biased;
            _ = answers.next() => panic!("an answer before the head"),
            () = tokio::task::yield_now() => {}
        }
    }
    let progress = answers.progress();
    assert_eq!((progress.started, progress.in_flight), (8, 1));
    gate.open();
    assert_eq!(answers.next().await.unwrap().position, 0);
}

#[tokio::test]
async fn answers_are_kept_for_as_long_as_was_described() {
    let server = MockServer::start().await;
    let good = Mock::given(path("/api/v2/PICRegister/(PIC=QAZZ7777)"));
    good.respond_with(page(0, 1, &["QAZZ7777"]))
        .expect(3)
        .mount(&server)
        .await;
    let broken = Mock::given(any()).respond_with(ResponseTemplate::new(500));
    // A failure is not kept.
    broken.expect(4).mount(&server).await;
    let clock = Clock::manual(std::time::SystemTime::UNIX_EPOCH);
    let register = Register::builder(server.uri())
        .clock(clock.clone())
        .cache(Duration::from_secs(3_600), 100)
        .build()
        .unwrap();
    let ask = async || {
        let answers = register
            .lookup_many(["QAZZ7777", "QBZZ2222"])
            .collect()
            .await;
        assert_eq!(
            (described(&answers[0]), described(&answers[1])),
            ("found".into(), "Some(500)".into())
        );
    };
    ask().await;
    clock.advance(Duration::from_secs(3_599));
    ask().await;
    clock.advance(Duration::from_secs(1));
    ask().await;
    register.forget();
    ask().await;
}

#[tokio::test]
async fn no_texts_have_no_answers() {
    let fake = start_fake().await;
    let texts: [&str; 0] = [];
    assert!(
        super::register(&fake)
            .lookup_many(texts)
            .next()
            .await
            .is_none()
    );
    let answers = super::register(&fake)
        .lookup_many([pic("QAZZ7777")])
        .concurrency(0);
    assert!(answers.collect().await[0].property().is_some());
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
async fn no_more_are_asked_at_a_time_than_was_described() {
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let fake = start_fake().await;
    let source = Counting {
        now: AtomicUsize::new(0),
        most: &MOST,
    };
    let builder = Register::builder(fake.register_url()).token_source(source);
    let register = builder.build().unwrap();
    let pics = (1000..1012).map(|number| pic(&format!("QZZZ{number}")));
    let answers = register.lookup_many(pics).concurrency(3).collect().await;
    assert_eq!(answers.len(), 12);
    assert!(answers.iter().all(|answer| answer.result.is_ok()));
    assert_eq!(MOST.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_refused_token_stops_the_look_ups_that_are_not_sent_yet() {
    for as_completed in [false, true] {
        let server = MockServer::start().await;
        let good = Mock::given(path("/api/v2/PICRegister/(PIC=QAZZ7777)"));
        good.respond_with(page(0, 1, &["QAZZ7777"]))
            .mount(&server)
            .await;
        Mock::given(any())
            .respond_with(ResponseTemplate::new(401))
            .mount(&server)
            .await;
        let others = (0..10_000).map(|number| format!("QZ{number:06}"));
        // The first one comes again at the end, behind a text that is no PIC.
        let texts = ["QAZZ7777".to_owned()]
            .into_iter()
            .chain(others)
            .chain(["no pic".to_owned(), "QAZZ7777".to_owned()]);
        let token = StaticToken::new("expired").unwrap();
        let register = Register::builder(server.uri())
            .token_source(token)
            .build()
            .unwrap();
        let mut answers = register.lookup_many(texts).concurrency(4);
        if as_completed {
            answers = answers.as_completed();
        }
        let (mut positions, mut refused, mut not_sent) = (Vec::new(), 0, 0);
        while let Some(answer) = answers.next().await {
            positions.push(answer.position);
            match &answer.result {
                Ok(found) => assert!(found.property().is_some()),
                Err(error) if answer.pic().is_none() => assert!(error.is_config()),
                Err(error) => {
                    assert!(error.is_reauth_required(), "{error}");
                    refused += usize::from(error.attempts() > 0);
                    not_sent += usize::from(error.attempts() == 0);
                }
            }
            let progress = answers.progress();
            assert!(progress.in_flight + progress.waiting <= 16, "{progress:?}");
        }
        let requests = server.received_requests().await.unwrap().len();
        // Those that were on their way when the first refusal came; one of them was not refused.
        assert!(requests <= 1 + 4, "{requests} requests");
        assert_eq!(
            (requests, refused),
            (answers.progress().started, requests - 1)
        );
        assert_eq!(not_sent, 10_000 - refused);
        positions.sort_unstable();
        assert_eq!(positions, (0..10_003).collect::<Vec<_>>());
    }
}
