//! Wall time per page over lines of limited speed: with work on each page, of a client that takes one step after the other
//! and of the SDK, which looks ahead; and with replies compressed and not. Without a line, the CPU time of a page either way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use envd_sdk::HttpOptions;
use serde_json::Value;
use zlib_rs::{DeflateConfig, ReturnCode, compress_bound, compress_slice};

use crate::canned::{Line, Server};
use crate::compare::{Work, least};
use crate::cpu::{Run, Threads};
use crate::hand::{Hand, Hyper};
use crate::records::{PAGE, PAGE_SIZE, Pages, SUMMARIES, Summary, requested, summary};
use crate::row::Goal;
use crate::{by_sdk, walk};

pub fn show(rounds: usize) {
    look_ahead();
    gzip(rounds);
}

/// Milliseconds of wall time per page.
fn time(pages: usize, walk: impl Future<Output = usize>) -> f64 {
    let begun = Instant::now();
    let records = Threads::One.runtime().block_on(walk);
    assert_eq!(records, pages * PAGE_SIZE);
    begun.elapsed().as_secs_f64() * 1e3 / pages as f64
}

/// The work on a page, and the goal of the SDK, in milliseconds.
const CONSUMERS: [(u64, f64); 3] = [(0, 53.0), (20, 54.0), (50, 56.0)];

fn look_ahead() {
    const COUNT: usize = 40;
    let pages = Pages::new(COUNT, |row| summary(row, 40));
    let work = Work(format!(
        "page of {PAGE_SIZE}, {} KB, over 50 ms and 100 Mbit/s, wall time",
        pages.kilobytes()
    ));
    let server = pages.serve(Some(Line::new(100_000_000, Duration::from_millis(50))));
    let url = &server.url();
    for (milliseconds, most) in CONSUMERS {
        let each = Duration::from_millis(milliseconds);
        let walk = walk::one_by_one(Hyper::to(url), async |client: Arc<Hyper>, after| {
            let page = walk::page::<Hyper, Summary>(client, SUMMARIES, after).await;
            tokio::time::sleep(each).await;
            page
        });
        let step = "hyper by hand, one step after the other";
        let case = |who| format!("{who}, {milliseconds} ms of work on each");
        work.show(&case(step), time(COUNT, walk), "ms");
        let walk = by_sdk::walk(by_sdk::client(url), each);
        work.at_most(most, &case("envd-sdk"), time(COUNT, walk), "ms");
    }
}

fn gzip(rounds: usize) {
    let pages = Pages::new(200, varied);
    let plain = pages.page(0);
    let compressed = compress(&pages.page(0));
    let page = format!(
        "page of {PAGE_SIZE}, {:.0} KB, {:.0} KB with gzip",
        plain.len() as f64 / 1e3,
        compressed.len() as f64 / 1e3
    );
    let lines = [
        (0.5, 8, Goal::None),
        (2.0, 20, Goal::AtLeast(5.0)),
        (100.0, 40, Goal::None),
    ];
    for (megabits, count, goal) in lines {
        for round_trip in [50, 300] {
            let line = Line::new((megabits * 1e6) as u64, Duration::from_millis(round_trip));
            let server = serve(count, Some(line));
            let [plain, gzip] = [false, true].map(|gzip| {
                let client = client(&server, gzip);
                time(count, by_sdk::walk(client, Duration::ZERO))
            });
            let work = Work(format!(
                "{page}, over {megabits} Mbit/s, {round_trip} ms round trip"
            ));
            work.show("without gzip, wall time", plain, "ms");
            work.show("with gzip, wall time", gzip, "ms");
            work.row("without gzip beside with it", plain / gzip, "times", goal);
        }
    }
    const COUNT: usize = 200;
    let server = serve(COUNT, None);
    let run = Run::new(&server, Threads::One);
    let times = least(rounds, &[false, true], |gzip| {
        let walk = by_sdk::walk(client(&server, *gzip), Duration::ZERO);
        let (time, records) = run.timed(walk);
        assert_eq!(records, COUNT * PAGE_SIZE);
        time
    });
    let work = Work(format!("{page}, with no link between"));
    work.show(
        "without gzip, CPU time",
        times[0] * 1e6 / COUNT as f64,
        "µs",
    );
    work.show("with gzip beside without it", times[1] / times[0], "times");
}

fn client(server: &Server, gzip: bool) -> envd_sdk::Client {
    let url = server.url();
    by_sdk::client_with(&url, HttpOptions::default().gzip(gzip))
}

/// Serves pages, compressed for clients that accept it.
fn serve(count: usize, line: Option<Line>) -> Server {
    let pages = Pages::new(count, varied);
    let pages: Vec<[Vec<u8>; 2]> = (0..count)
        .map(|number| [pages.page(number), compress(&pages.page(number))])
        .collect();
    Server::over(line, move |request, reply| {
        let page = &pages[requested(request)];
        reply.extend_from_slice(&page[usize::from(request.accepts_gzip)]);
    })
}

fn compress(body: &[u8]) -> Vec<u8> {
    let mut buffer = vec![0; compress_bound(body.len()) + 18];
    let config = DeflateConfig {
        // With the head and the end of gzip.
        window_bits: 16 + 15,
        ..DeflateConfig::default()
    };
    let (compressed, code) = compress_slice(&mut buffer, body, config);
    assert_eq!(code, ReturnCode::Ok);
    compressed.to_vec()
}

/// A sample record whose numbers differ as those of a real list do: without them it would shrink too well.
fn varied(row: usize) -> Value {
    let mut state = row as u64;
    let mut digit = |letter: char| {
        let next = state.wrapping_mul(6_364_136_223_846_793_005);
        state = next.wrapping_add(1_442_695_040_888_963_407);
        let digit = char::from(b'0' + (state >> 33) as u8 % 10);
        if letter == '#' { digit } else { letter }
    };
    let mut node = summary(row, 2);
    let mut set = |at: &str, text: &str| {
        *node.pointer_mut(at).unwrap() = text.chars().map(&mut digit).collect::<String>().into();
    };
    set("/id", &format!("########-####-4###-8###-{PAGE}######"));
    set("/number", "C-#########");
    set("/movementDate", "2026-11-2#");
    set("/movementTime", "1#:3#");
    set("/updatedAt", "2026-11-1#T1#:3#:2#Z");
    set("/createdBy", "Sam Sample #");
    for party in ["owner", "origin", "destination", "consignee"] {
        set(&format!("/{party}/name"), "Testbrook #### Pastoral");
        set(&format!("/{party}/pic"), "QAZZ####");
        set(&format!("/{party}/address/line1"), "#### Testbrook Road");
        set(&format!("/{party}/address/postcode"), "4###");
    }
    for form in 0..2 {
        set(&format!("/forms/{form}/serialNumber"), "########");
    }
    node
}
