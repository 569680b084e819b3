//! Bulk look-ups.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use envd_sdk::auth::{AccessToken, BoxFuture, StaticToken, TokenSource};
use envd_sdk::model::Pic;
use envd_sdk::register::{Lookup, LookupResult, Register};
use envd_sdk::{Error, ErrorKind, Result};
use futures_core::Stream;
use test_support::{Reply, Server};
use tokio::sync::Notify;

use super::{by_pic, client, page, pic};
use crate::fixed_date::{manager, start_fake};
use crate::scripted::register_at;

/// A short description of a result.
fn described(look_up: &LookupResult) -> String {
    match &look_up.result {
        Ok(Lookup::Found(_)) => "found".to_owned(),
        Ok(Lookup::NotFound) => "not found".to_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) if error.kind() == ErrorKind::Config => "no pic".to_owned(),
        Err(error) => format!("{:?}", error.http_status()),
    }
}

/// QAZZ7777 is found, QBZZ2222 fails with 500, all others are not found.
fn scripted() -> Server {
    by_pic(|pic| match pic {
        "QAZZ7777" => page(0, 1, &["QAZZ7777"]),
        "QBZZ2222" => Reply::json(500, r#"{"Message": "no"}"#),
        _ => Reply::json(404, "{}"),
    })
}

const INPUTS: &str = "QBZZ2222, qazz7777,QCZZ8888,not a pic,QAZZ7777,qazz7777";

#[tokio::test]
async fn each_input_has_a_result_with_one_request_for_each_pic() {
    for as_completed in [false, true] {
        let server = scripted();
        let mut look_ups = client(&server)
            .lookup_many(INPUTS.split(','))
            .concurrency(2);
        if as_completed {
            look_ups = look_ups.as_completed();
        }
        let mut look_ups = look_ups.collect().await;
        // In the order of the inputs, unless the caller wants them as completed.
        if as_completed {
            look_ups.sort_by_key(|look_up| look_up.position);
        }
        let shown = look_ups.iter().map(|look_up| {
            let position = look_up.position;
            let input = &look_up.input;
            format!("{position} {input} {}", described(look_up))
        });
        let shown = shown.collect::<Vec<_>>().join(", ");
        let expected = "0 QBZZ2222 Some(500), 1 QAZZ7777 found, 2 QCZZ8888 not found, \
            3 not a pic no pic, 4 QAZZ7777 found, 5 QAZZ7777 found";
        assert_eq!(shown, expected);
        assert_eq!(look_ups[1].property(), look_ups[5].property());
        let pics = (look_ups[3].pic(), look_ups[1].pic());
        assert_eq!(pics, (None, Some(pic("QAZZ7777"))));
        assert_eq!(server.count(), 3);
    }
}

/// The error is that of `Pic::parse`: a text that looks valid contains an invisible character.
#[tokio::test]
async fn an_input_that_is_no_pic_fails_as_it_is_parsed() {
    let server = scripted();
    let inputs = ["QAZZ\u{200b}7777", "QAZZ-777", ""];
    let look_ups = client(&server).lookup_many(inputs).collect().await;
    for (look_up, input) in look_ups.iter().zip(inputs) {
        let error = look_up.result.as_ref().unwrap_err();
        let why = Pic::parse(input).unwrap_err().to_string();
        assert!(error.kind() == ErrorKind::Config && error.to_string().contains(&why));
    }
    let said = look_ups[0].result.as_ref().unwrap_err().to_string();
    assert!(said.contains("U+200B"), "{said}");
}

/// A token source that blocks the first look-up until it is opened. Counts all look-ups, the current ones and their maximum.
#[derive(Clone, Default)]
struct Gate(Arc<([AtomicUsize; 3], Notify)>);

impl TokenSource for Gate {
    fn token(&self) -> BoxFuture<'_, Result<AccessToken>> {
        Box::pin(async {
            let ([all, now, most], opened) = &*self.0;
            if all.fetch_add(1, Ordering::SeqCst) == 0 {
                opened.notified().await;
            }
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            now.fetch_sub(1, Ordering::SeqCst);
            AccessToken::new("t0ken")
        })
    }

    fn renew(&self, _rejected: &AccessToken) -> BoxFuture<'_, Result<AccessToken>> {
        self.token()
    }
}

impl Gate {
    fn start() -> (Self, Register) {
        let gate = Self::default();
        let server = Server::script([Reply::json(404, "{}")]);
        let builder = register_at(server.url()).token_source(gate.clone());
        (gate, builder.build().unwrap())
    }

    fn open(&self) {
        self.0.1.notify_one();
    }
}

#[tokio::test]
async fn as_completed_a_slow_look_up_does_not_delay_others() {
    let (gate, register) = Gate::start();
    let mut look_ups = register
        .lookup_many(["QAZZ7777", "QBZZ2222", "QCZZ8888"])
        .concurrency(2)
        .as_completed();
    for _ in 0..2 {
        assert_ne!(look_ups.next().await.unwrap().position, 0);
    }
    gate.open();
    assert_eq!(look_ups.next().await.unwrap().position, 0);
    assert!(look_ups.next().await.is_none());
}

#[tokio::test]
async fn two_thousand_pics_are_looked_up_in_constant_memory() {
    let server = Server::script([page(0, 0, &[])]);
    let inputs = (0..2_000).map(|number| format!("QZ{number:06}"));
    let mut look_ups = client(&server).lookup_many(inputs).concurrency(8);
    assert_eq!(look_ups.size_hint(), (2_000, Some(2_000)));
    let mut seen = 0;
    let mut most = 0;
    while let Some(look_up) = look_ups.next().await {
        assert_eq!(
            (look_up.position, described(&look_up).as_str()),
            (seen, "Empty")
        );
        seen += 1;
        let progress = look_ups.progress();
        assert_eq!((progress.total, progress.returned), (2_000, seen));
        most = most.max(progress.in_flight + progress.waiting);
    }
    assert_eq!((seen, look_ups.progress().started), (2_000, 2_000));
    assert_eq!(server.count(), 2_000);
    assert!(most <= 4 * 8, "{most} results are in memory");
}

#[tokio::test]
async fn a_hanging_first_look_up_limits_the_look_ups_ahead() {
    let (gate, register) = Gate::start();
    let inputs = (0..1_000).map(|number| format!("QZ{number:06}"));
    let mut look_ups = register.lookup_many(inputs).concurrency(2);
    // Wait until all look-ups that may start have completed, except the first; then yield a few times: no other look-up may start.
    let mut turns = 0;
    while turns < 100 {
        turns += usize::from(look_ups.progress().waiting >= 7);
        tokio::select! {
            biased;
            _ = look_ups.next() => panic!("a result before the first"),
            () = tokio::task::yield_now() => {}
        }
    }
    let progress = look_ups.progress();
    assert_eq!((progress.started, progress.in_flight), (8, 1));
    gate.open();
    assert_eq!(look_ups.next().await.unwrap().position, 0);
}

#[tokio::test]
async fn no_inputs_have_no_results() {
    let fake = start_fake().await;
    let inputs: [&str; 0] = [];
    let mut look_ups = super::register(&fake).lookup_many(inputs);
    assert!(look_ups.next().await.is_none());
    let look_ups = super::register(&fake)
        .lookup_many([pic("QAZZ7777")])
        .concurrency(0);
    assert!(look_ups.collect().await[0].property().is_some());
}

#[tokio::test]
async fn the_concurrency_is_not_exceeded() {
    let (gate, register) = Gate::start();
    gate.open();
    let pics = (1000..1012).map(|number| pic(&format!("QZZZ{number}")));
    let look_ups = register.lookup_many(pics).concurrency(3).collect().await;
    assert_eq!(look_ups.len(), 12);
    assert!(look_ups.iter().all(|look_up| look_up.result.is_ok()));
    assert_eq!(gate.0.0[2].load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_refused_token_or_key_stops_the_look_ups_that_are_not_sent_yet() {
    for (as_completed, has_token) in [(false, true), (true, true), (false, false)] {
        let server = by_pic(|pic| match pic {
            "QAZZ7777" => page(0, 1, &["QAZZ7777"]),
            _ => Reply::json(401, "{}"),
        });
        let others = (0..2_000).map(|number| format!("QZ{number:06}"));
        // Repeat the first PIC at the end, after an input that is not a PIC.
        let inputs = ["QAZZ7777".to_owned()]
            .into_iter()
            .chain(others)
            .chain(["no pic".to_owned(), "QAZZ7777".to_owned()]);
        let mut register = register_at(server.url());
        if has_token {
            register = register.token_source(StaticToken::new("expired").unwrap());
        }
        let register = register.build().unwrap();
        let mut look_ups = register.lookup_many(inputs).concurrency(4);
        if as_completed {
            look_ups = look_ups.as_completed();
        }
        let mut positions = Vec::new();
        let mut refused = 0;
        let mut not_sent = 0;
        while let Some(look_up) = look_ups.next().await {
            positions.push(look_up.position);
            match &look_up.result {
                Ok(found) => assert!(found.property().is_some()),
                Err(error) if look_up.pic().is_none() => assert!(error.kind() == ErrorKind::Config),
                Err(error) => {
                    assert!(error.kind() == ErrorKind::Unauthorized, "{error}");
                    refused += usize::from(error.attempts() > 0);
                    not_sent += usize::from(error.attempts() == 0);
                }
            }
            let progress = look_ups.progress();
            assert!(progress.in_flight + progress.waiting <= 16, "{progress:?}");
        }
        let requests = server.count();
        // One request succeeded; the others were sent before the first refusal.
        assert!(requests <= 1 + 4, "{requests} requests");
        assert_eq!(
            (requests, refused),
            (look_ups.progress().started, requests - 1)
        );
        assert_eq!(not_sent, 2_000 - refused);
        positions.sort_unstable();
        assert_eq!(positions, (0..2_003).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_login_that_is_needed_stops_the_look_ups_that_are_not_sent_yet() {
    let fake = start_fake().await;
    // Without a session.
    let manager = manager(fake.provider());
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let source = move || {
        count.fetch_add(1, Ordering::SeqCst);
        let manager = manager.clone();
        async move { manager.access_token().await }
    };
    let register = register_at(fake.register_url()).token_source(source);
    let register = register.build().unwrap();
    let pics = (0..500).map(|number| format!("QZ{number:06}"));
    let look_ups = register.lookup_many(pics).concurrency(4).collect().await;
    let needs_login =
        |one: &LookupResult| one.result.as_ref().is_err_and(Error::is_reauth_required);
    assert_eq!(look_ups.iter().filter(|one| needs_login(one)).count(), 500);
    assert!(asked.load(Ordering::SeqCst) <= 4, "{asked:?}");
}
