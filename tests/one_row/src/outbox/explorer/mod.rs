//! Every interleaving of a small world, breadth first, against the promises of the outbox.
//!
//! * [`service`]: a service that keeps records of one load, and who wrote each field.
//! * [`world`]: the rows, the store and the loop around the pure functions.
//! * [`steps`]: what persons, others, the network and time do; each step in plain words. A new actor is a new [`steps::Step`].
//! * [`laws`]: the promises, over what was said and what was done. A new law is a new [`laws::Law`].
//! * [`search`]: the search, and the shortest path to each broken law.
//!
//! The search is our own: `stateright` finds a shortest path with one thread only, its properties see one state (most laws are about
//! a step), and it brings a web server. What is saved would be the hundred lines of [`search`].

mod laws;
mod search;
mod service;
mod steps;
mod world;

use search::{Found, Scope, explore};
use service::Draft;
use steps::{Actors, Change, Fate};

const ALL_FATES: &[Fate] = &[
    Fate::NeverArrives,
    Fate::ArrivesLate,
    Fate::ReplyLost,
    Fate::Refused,
    Fate::Held,
];

const ALL_CHANGES: &[Change] = &[
    Change::Consignee,
    Change::Time,
    Change::Submit,
    Change::TakeBack,
    Change::Delete,
];

fn scopes() -> Vec<Scope> {
    let one = Actors {
        declarations: 1,
        drafts: &[Draft::A, Draft::B, Draft::S],
        edits: true,
        website: ALL_CHANGES,
        fates: ALL_FATES,
        ..Actors::default()
    };
    vec![Scope {
        name: "one declaration",
        first: vec![],
        actors: one,
        depth: 4,
    }]
}

fn show(scope: &Scope, found: &Found) {
    println!("\n{}: {} states, levels {:?}", scope.name, found.states, found.levels);
    for (path, broken) in found.broken.values() {
        println!("\n  {broken}");
        for step in path {
            println!("    | {step}");
        }
    }
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn explores() {
    let threads = number("ENVD_SDK_TEST_THREADS").unwrap_or(1);
    let only = std::env::var("ENVD_SDK_TEST_SCOPE").ok();
    for mut scope in scopes() {
        if only.as_deref().is_some_and(|only| only != scope.name) {
            continue;
        }
        scope.depth = number("ENVD_SDK_TEST_DEPTH").unwrap_or(scope.depth);
        let from = std::time::Instant::now();
        let found = explore(&scope, "", threads);
        show(&scope, &found);
        println!("{:?}", from.elapsed());
    }
}
