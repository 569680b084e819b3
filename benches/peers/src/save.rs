//! 2,000 saves, 16 at a time: the SDK, with and without token manager and validation, beside clients with a constant token
//! that do not validate.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use envd_sdk::graphql::TypedOperation;
use envd_sdk::graphql::generated::{CreateOrSaveConsignment, create_or_save_consignment};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::canned::Server;
use crate::compare::{Peer, compare};
use crate::cpu::{Run, side_by_side};
use crate::hand::{Hand, Hyper, Json, Reqwest};
use crate::records::{ACCOUNT, wire};
use crate::{LANES, by_cynic, by_derive, by_sdk, questions};

const SAVES: usize = 2_000;
const ANSWERS: usize = 40;
const WORK: (usize, usize) = (SAVES, ANSWERS);

pub fn show(rounds: usize) {
    let sdk = |name, manager, validation: bool| {
        Peer::new(name, move |run| {
            let client = by_sdk::saver(run, manager, validation.then_some(ANSWERS));
            save(run, WORK, client, by_sdk::save)
        })
    };
    let peers = [
        Peer::new("hyper by hand", save_by_hand::<Hyper>),
        Peer::new("reqwest by hand", save_by_hand::<Reqwest>),
        Peer::new("`graphql_client` and reqwest", |run| {
            save(run, WORK, json(run), by_derive::save)
        }),
        Peer::new("cynic and reqwest", |run| {
            save(run, WORK, json(run), by_cynic::save)
        }),
        sdk("envd-sdk, constant token", false, false),
        sdk("envd-sdk, token manager", true, false).at_most(1.50, Some(1.25)),
        sdk("envd-sdk, token manager and validation", true, true).at_most(1.65, Some(1.25)),
    ];
    let work = format!("save with {ANSWERS} answers, {LANES} at a time");
    compare(&work, SAVES, rounds, &server(), &peers);
}

/// A server that accepts every save.
pub fn server() -> Server {
    Server::start(|_, reply| {
        reply.extend_from_slice(
            br#"{"data":{"createOrSaveConsignment":{"data":{"id":"00000000-0000-4000-8000-000000000001","number":"C-000000001","status":"DRAFT"}}}}"#,
        );
    })
}

async fn json(run: &Run<'_>) -> Json {
    Json::to(&run.url())
}

/// Saves so many with so many answers, by a function of the client and an input in the client's type.
pub fn save<C, I, F>(
    run: &Run<'_>,
    (saves, answers): (usize, usize),
    client: impl Future<Output = C>,
    one: impl Fn(Arc<C>, I) -> F + Clone + Send + 'static,
) -> (Duration, usize)
where
    C: Send + Sync + 'static,
    I: DeserializeOwned + Send + 'static,
    F: Future<Output = bool> + Send,
{
    let sample = sample(answers);
    let input = || serde_json::from_value(sample.clone()).unwrap();
    let lane = |lane| (lane..saves).step_by(LANES).map(|_| input()).collect();
    let lanes: Vec<Vec<I>> = (0..LANES).map(lane).collect();
    // Its end is not part of a save.
    let mut held = None;
    run.timed_after(client, |client| {
        let client = Arc::clone(held.insert(Arc::new(client)));
        side_by_side(lanes.into_iter().map(move |inputs| {
            let client = Arc::clone(&client);
            let one = one.clone();
            async move {
                let mut saved = 0;
                for input in inputs {
                    saved += usize::from(one(Arc::clone(&client), input).await);
                }
                saved
            }
        }))
    })
}

/// An input.
pub fn sample(answers: usize) -> Value {
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

/// The document that the SDK sends.
static DOCUMENT: LazyLock<&str> = LazyLock::new(|| {
    let party = || PartyInput::new("QAZZ7777");
    let input = ConsignmentInput::new([FormType::Lpac1], party(), party());
    let envd_account_id = ACCOUNT.into();
    let variables = create_or_save_consignment::Variables {
        envd_account_id,
        input,
    };
    CreateOrSaveConsignment::body(variables).document
});

fn save_by_hand<H: Hand>(run: &Run<'_>) -> (Duration, usize) {
    let client = async { H::to(&run.url()) };
    save(
        run,
        WORK,
        client,
        |client: Arc<H>, input: Input| async move {
            let body = Body {
                operation_name: "CreateOrSaveConsignment",
                query: &DOCUMENT,
                variables: Variables {
                    envd_account_id: ACCOUNT,
                    input,
                },
            };
            let bytes = client.post(serde_json::to_vec(&body).unwrap()).await;
            let text = std::str::from_utf8(&bytes).unwrap();
            let reply: Reply = serde_json::from_str(text).unwrap();
            reply.data.create_or_save_consignment.data.number.is_some()
        },
    )
}

wire! { "camelCase":
    Body { operation_name: &'static str, query: &'static str, variables: Variables }
    Variables { envd_account_id: &'static str, input: Input }
    Input {
        forms: Vec<String>, origin: Party, destination: Party, movement_date: String, movement_time: String,
        status: String, answers: Vec<Answer>,
    }
    Party { name: String, pic: String }
    Answer { question_id: String, index: Option<i64>, value: String }
    Reply { data: Data }
    Data { create_or_save_consignment: Outcome }
    Outcome { data: Saved }
    Saved { id: Option<String>, number: Option<String>, status: Option<String> }
}
