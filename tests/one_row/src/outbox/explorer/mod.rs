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
use steps::{Actors, Change, Fate, Run, Step};

use crate::outbox::apply::PersonsDecision;

const LOSSES: &[Fate] = &[Fate::NeverArrives, Fate::ReplyLost];

const FATES: &[Fate] = &[
    Fate::NeverArrives,
    Fate::ArrivesLate,
    Fate::ReplyLost,
    Fate::Refused,
    Fate::NotSent,
    Fate::Held,
];

const CHANGES: &[Change] = &[
    Change::Consignee,
    Change::Time,
    Change::Submit,
    Change::TakeBack,
    Change::Delete,
];

const RUN: Step = Step::Run(Run::PLAIN);

const fn run(at: u8, fate: Fate) -> Step {
    Step::Run(Run::with(at, fate))
}

/// First states, with the actors that act from there on, and to which depth.
fn scopes() -> Vec<Scope> {
    let scope = |name, first: &[Step], depth, actors| Scope {
        name,
        first: first.to_vec(),
        actors,
        depth,
    };
    let one = Actors {
        declarations: 1,
        drafts: &[Draft::A, Draft::B, Draft::S],
        edits: true,
        website: CHANGES,
        fates: FATES,
        ..Actors::default()
    };
    let records = Actors {
        drafts: &[Draft::A, Draft::B, Draft::S, Draft::Part],
        records: true,
        fates: LOSSES,
        ..one
    };
    let lists = Actors {
        drafts: &[Draft::A, Draft::B],
        fates: &[Fate::NeverArrives, Fate::ArrivesLate, Fate::ReplyLost],
        website: &[Change::Consignee, Change::Delete],
        lists: true,
        time: true,
        ..one
    };
    let twins = Actors {
        lists: false,
        twins: 1,
        ..lists
    };
    let colleagues = Actors {
        declarations: 3,
        drafts: &[Draft::A, Draft::B],
        fates: &[Fate::QuickColleague, Fate::NamesAnother],
        website: &[Change::Consignee],
        ..one
    };
    let two = Actors {
        declarations: 2,
        drafts: &[Draft::A],
        fates: &[Fate::ArrivesLate, Fate::ReplyLost],
        website: &[Change::Delete],
        twins: 1,
        ..one
    };
    let days = Actors {
        fates: LOSSES,
        time: true,
        limits: true,
        website: &[],
        ..one
    };
    let long = Actors {
        drafts: &[Draft::A, Draft::B],
        fates: LOSSES,
        website: &[Change::Submit],
        unreadable: true,
        long: true,
        ..one
    };
    let users = Actors {
        users: true,
        drafts: &[Draft::A, Draft::S],
        website: &[],
        fates: &[],
        ..one
    };
    let save = Step::Save(Draft::A);
    let submit = Step::Submit(Draft::A);
    let quick = run(0, Fate::QuickColleague);
    let twin_and_sync = [Step::Twin, Step::Sync];
    vec![
        scope("one declaration", &[], 4, one),
        scope(
            "a draft of ours",
            &[save.clone(), RUN],
            4,
            Actors {
                records: true,
                fates: LOSSES,
                ..one
            },
        ),
        scope("submitted by us", &[submit, RUN], 4, records),
        scope(
            "agreed to change what is submitted",
            &[
                save.clone(),
                RUN,
                Step::Website(0, Change::Submit),
                Step::Edit(1, Draft::B),
                RUN,
                Step::Decide(1, PersonsDecision::KeepMine),
            ],
            3,
            one,
        ),
        scope("a record of a colleague", &twin_and_sync, 4, records),
        scope("lists", &[], 4, lists),
        scope("twins", &[], 4, twins),
        scope("two declarations", &[], 4, two),
        scope(
            "two that are late",
            &[
                save.clone(),
                save.clone(),
                run(0, Fate::ArrivesLate),
                run(1, Fate::ArrivesLate),
            ],
            4,
            two,
        ),
        scope(
            "colleagues",
            &[],
            4,
            Actors {
                declarations: 1,
                ..colleagues
            },
        ),
        scope(
            "two quick colleagues",
            &[save.clone(), quick.clone(), save.clone(), quick],
            3,
            colleagues,
        ),
        scope(
            "days",
            &[],
            5,
            Actors {
                drafts: &[Draft::A],
                ..days
            },
        ),
        scope(
            "days of a record",
            &twin_and_sync,
            4,
            Actors {
                records: true,
                drafts: &[Draft::Part],
                ..days
            },
        ),
        scope("long", &[save, RUN, Step::Edit(1, Draft::B)], 4, long),
        scope("users", &[], 4, users),
    ]
}

fn show(scope: &Scope, found: &Found) {
    println!(
        "\n{}: {} states, levels {:?}",
        scope.name, found.states, found.levels
    );
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
