//! 2,000 saves, 16 at a time.

mod by_derive;
mod by_hand;
pub mod by_sdk;
mod input;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::measure::{Peer, Server, Table, goal, header};
use crate::{HAND, LANES, SDK, questions};

pub const ACCOUNT: &str = "envd-100201";
const SAVES: usize = 2_000;
const ANSWERS: usize = 40;

pub fn compare(rounds: usize) {
    header(&format!(
        "{SAVES} saves with {ANSWERS} answers, {LANES} at a time; the SDK with token manager and validation"
    ));
    let peers = vec![
        Peer::new(HAND, |base| by_hand::hyper(base, lanes(SAVES, ANSWERS))),
        Peer::new(SDK, |base| {
            by_sdk::save(base, ANSWERS, lanes(SAVES, ANSWERS))
        }),
        Peer::new("envd-sdk, no validation", |base| {
            by_sdk::save_unvalidated(base, lanes(SAVES, ANSWERS))
        }),
        Peer::new("reqwest by hand", |base| {
            by_hand::reqwest(base, lanes(SAVES, ANSWERS))
        }),
        Peer::new("reqwest + serde", |base| {
            by_hand::json(base, lanes(SAVES, ANSWERS))
        }),
        Peer::new("graphql_client + reqwest", |base| {
            by_derive::save(base, lanes(SAVES, ANSWERS))
        }),
    ];
    if let Some(table) = Table::of(&server(), rounds, SAVES, &peers) {
        let ratio = table.ratio(SDK, HAND);
        goal("the SDK at most 1.30 times by hand", ratio, ratio <= 1.30);
    }
}

/// A server that accepts every save.
pub fn server() -> Server {
    Server::start(|_, reply| {
        reply.extend_from_slice(
            br#"{"data":{"createOrSaveConsignment":{"data":{"id":"00000000-0000-4000-8000-000000000001","number":"C-000000001","status":"DRAFT"}}}}"#,
        );
    })
}

/// The consignments that each concurrent task saves, in the types of a client.
pub fn lanes<T: DeserializeOwned>(saves: usize, answers: usize) -> Vec<Vec<T>> {
    let sample = sample(answers);
    let one = || serde_json::from_value(sample.clone()).unwrap();
    let lane = |lane| (lane..saves).step_by(LANES).map(|_| one()).collect();
    (0..LANES).map(lane).collect()
}

fn sample(answers: usize) -> Value {
    json!({
        "forms": ["LPAC1"],
        "origin": {"name": "Sample Station", "pic": "QAZZ7777"},
        "destination": {"name": "Sample Yards", "pic": "QDZZ3333"},
        "movementDate": "2026-11-23",
        "movementTime": "05:15",
        "status": "DRAFT",
        "answers": questions::all_yes(answers),
    })
}

/// A token of typical length.
fn token() -> String {
    format!("eyJhbGciOi.{}.c2ln", "a".repeat(880))
}
