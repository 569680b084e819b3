//! How the cost of the SDK scales: constant per item.

use std::time::Duration;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::ops::ConsignmentFilter;
use serde_json::Value;

use crate::measure::{Request, Server, goal, header, timed};
use crate::{register, save};

const PAGE_SIZE: usize = 100;
/// A single save is too short to measure.
const SAVES: usize = 160;

pub fn show(rounds: usize) {
    header(
        "scaling: microseconds of CPU time per item, and per additional item compared with the row above",
    );
    let server = save::server();
    grow(
        "answers of a save, validated",
        rounds,
        [10, 100, 1_000],
        |answers| {
            let inputs = save::lanes(SAVES, answers);
            let (time, saved) = save::by_sdk::save(server.base(), answers, inputs);
            assert_eq!(saved, SAVES);
            time / u32::try_from(SAVES).unwrap()
        },
    );
    grow_flat(
        "accounts over one pool, each with a token of its own: a save",
        rounds,
        [1, 100, 1_000],
        |accounts| {
            let time = save::by_sdk::save_for(server.base(), accounts, save::lanes(SAVES * 10, 10));
            time / u32::try_from(SAVES * 10).unwrap()
        },
    );
    let server = register::look_up_server();
    grow(
        "PICs of a bulk look-up",
        rounds,
        [100, 1_000, 10_000],
        |count| {
            let pics: Vec<String> = (0..count).map(register::pic).collect();
            let (time, found) = register::by_sdk::look_up(server.base(), &pics);
            assert_eq!(found, count);
            time
        },
    );
    let server = list();
    grow(
        "records of a walk",
        rounds,
        [1_000, 20_000, 200_000],
        |count| {
            let (time, seen) = walk(server.base(), count);
            assert_eq!(seen, count);
            time
        },
    );
}

/// What does not grow with the count: the time of one.
fn grow_flat(what: &str, rounds: usize, counts: [usize; 3], work: impl Fn(usize) -> Duration) {
    let mut least = [Duration::MAX; 3];
    for _ in 0..rounds {
        for (least, count) in least.iter_mut().zip(counts) {
            *least = (*least).min(work(count));
        }
    }
    println!("{what}");
    for (time, count) in least.iter().zip(counts) {
        println!("{count:>10} {:>10.2}", time.as_secs_f64() * 1e6);
    }
    let ratio = least[2].as_secs_f64() / least[0].as_secs_f64();
    goal(
        "the most cost the same as one, at most 1.05 times",
        ratio,
        ratio <= 1.05,
    );
}

fn grow(what: &str, rounds: usize, counts: [usize; 3], work: impl Fn(usize) -> Duration) {
    let mut least = [Duration::MAX; 3];
    for _ in 0..rounds {
        for (least, count) in least.iter_mut().zip(counts) {
            *least = (*least).min(work(count));
        }
    }
    let each = |time: Duration, count: usize| time.as_secs_f64() * 1e6 / count as f64;
    let costs: Vec<f64> = (0..3).map(|row| each(least[row], counts[row])).collect();
    println!("{what}");
    for row in 0..3 {
        print!("{:>34} {:10.3}", counts[row], costs[row]);
        match row.checked_sub(1) {
            Some(above) => {
                let more = least[row].saturating_sub(least[above]);
                println!(" {:10.3}", each(more, counts[row] - counts[above]));
            }
            None => println!(),
        }
    }
    let ratio = costs[2] / costs[1];
    goal(
        "the last row at most 1.15 times the one above",
        ratio,
        ratio <= 1.15,
    );
}

/// A list of any length: the account id has the number of records.
fn list() -> Server {
    let (before, after) = NODE.split_once(ID).unwrap();
    Server::start(move |request: &Request<'_>, reply| {
        let body: Value = serde_json::from_slice(request.body).unwrap();
        let variables = &body["variables"];
        let number = |name: &str| {
            variables[name]
                .as_str()
                .map_or(0, |text| text.parse().unwrap())
        };
        let (total, page): (usize, usize) = (number("envdAccountId"), number("after"));
        let more = (page + 1) * PAGE_SIZE < total;
        let head = format!(
            r#"{{"data":{{"consignments":{{"totalCount":{total},"pageInfo":{{"hasNextPage":{more},"endCursor":"{}"}},"edges":["#,
            page + 1,
        );
        reply.extend_from_slice(head.as_bytes());
        for row in 0..PAGE_SIZE {
            let comma = if row == 0 { "" } else { "," };
            // Each record is different: a list that repeats records is refused as endless.
            let id = page * PAGE_SIZE + row;
            let edge = format!(r#"{comma}{{"cursor":"c{row}","node":{before}{id:012}{after}}}"#);
            reply.extend_from_slice(edge.as_bytes());
        }
        reply.extend_from_slice(b"]}}}");
    })
}

/// The part of the id that each record replaces.
const ID: &str = "000000000001";

const NODE: &str = r#"{"id":"00000000-0000-4000-8000-000000000001","number":"C-000000001","status":"DRAFT","species":"CATTLE","movementDate":"2026-11-23","movementTime":"05:15","heads":24,"createdBy":"Sam Sample","updatedAt":"2026-11-20T09:26:00Z","owner":{"name":"Sample Pastoral","pic":"QAZZ7777","address":{"line1":"101 Example Road","town":"Sampleton","state":"QLD","postcode":"4999"}},"origin":{"name":"Sample Station","pic":"QAZZ7777","address":null},"destination":{"name":"Testbrook Meats","pic":"ND000003","address":null},"consignee":null,"forms":[{"type":"LPAC1","serialNumber":"00000001"}]}"#;

fn walk(base: &str, records: usize) -> (Duration, usize) {
    timed(async {
        let token = StaticToken::new("eyJhbGciOi.eyJzdWIi.c2ln").unwrap();
        let builder = Client::builder(format!("{base}/graphql"));
        let client = builder.token_source(token).build().unwrap();
        let filter = ConsignmentFilter::default().page_size(100);
        let mut pager = client.account(records.to_string()).consignments(&filter);
        let mut seen = 0;
        while let Some(page) = pager.next_page().await.unwrap() {
            seen += page.records.len();
        }
        seen
    })
}
