//! 2,000 saves, 16 at a time.

mod by_cynic;
mod by_derive;
mod by_hand;
pub mod by_sdk;
mod input;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use self::by_sdk::With;
use crate::measure::{Peer, Server, Table};
use crate::{LANES, questions};

pub const ACCOUNT: &str = "envd-100201";
const SAVES: usize = 2_000;
const ANSWERS: usize = 40;

pub fn compare(rounds: usize) {
    let sdk = |name, manager, validation| {
        Peer::new(name, move |run| {
            let with = With {
                manager,
                validation,
            };
            by_sdk::save(run, ANSWERS, lanes(SAVES, ANSWERS), with)
        })
    };
    let peers = [
        Peer::new("hyper by hand", |run| {
            by_hand::hyper(run, lanes(SAVES, ANSWERS))
        }),
        Peer::new("reqwest by hand", |run| {
            by_hand::reqwest(run, lanes(SAVES, ANSWERS))
        }),
        Peer::new("`graphql_client` and reqwest", |run| {
            by_derive::save(run, lanes(SAVES, ANSWERS))
        }),
        Peer::new("cynic and reqwest", |run| {
            by_cynic::save(run, lanes(SAVES, ANSWERS))
        }),
        sdk("envd-sdk, constant token", false, false),
        sdk("envd-sdk, token manager", true, false).at_most(1.50, Some(1.75)),
        sdk("envd-sdk, token manager and validation", true, true).at_most(1.65, Some(1.90)),
    ];
    let work = format!("save with {ANSWERS} answers, {LANES} at a time");
    let table = Table {
        work: &work,
        items: SAVES,
        rounds,
    };
    table.show(&server(), &peers);
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
