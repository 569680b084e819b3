//! Checks the promises of the outbox in every interleaving of a small world, breadth first.
//!
//! * [`service`]: the service, which stores records of one load and the author of each field.
//! * [`world`]: the rows, the store and the loop around the pure functions.
//! * [`steps`]: the actions of the user, other users, the network and the clock, each with a text. Add a new action as a
//!   [`steps::Step`].
//! * [`invariants`]: the promises, which compare the user's instructions with the changes at the service. Add a new promise as a
//!   [`invariants::Invariant`].
//! * [`search`]: the search, and the shortest path to each broken invariant.
//! * `paths.txt`: the planted mistakes, each with the steps that break its invariant.
//!
//! The search does not use the crate stateright. That crate finds shortest paths only with a single thread, its properties check
//! single states whereas most invariants check steps, and it depends on a web server. It would only replace [`search`].
//!
//! The loop makes some decisions outside the pure functions, and [`world`] has a copy of each:
//!
//! * which rows are due, and in which order;
//! * whether a list can be used for another row (`observe.rs`);
//! * which row owns a record (`store.rs`: `holder`, `taken_by_another`), and when lists first showed it;
//! * how to read a reply (`pass.rs`: `reply_of`);
//! * which row to use for a record that the user names (`requests.rs`: `row_of`).
//!
//! Only the random schedules of the loop can detect that a copy differs from the loop.

mod invariants;
mod search;
mod service;
mod steps;
mod world;

use std::sync::Mutex;

use invariants::{Broken, Invariant};
use search::{Found, Scope, broken_after_plain_passes, explore};
use service::Draft;
use steps::{Actors, CHANGES, Change, Fate, Run, Step};
use world::World;

use crate::outbox::decision::Decision;

const LOSSES: &[Fate] = &[Fate::NeverArrives, Fate::ReplyLost];

const FATES: &[Fate] = &[
    Fate::NeverArrives,
    Fate::ArrivesLate,
    Fate::ReplyLost,
    Fate::Refused,
    Fate::NotSent,
    Fate::Held,
];

const RUN: Step = Step::Run(Run::PLAIN);

const fn run(at: u8, fate: Fate) -> Step {
    Step::Run(Run::with(at, fate))
}

/// The scopes: the steps to a first state, the actors from there, and two depths, for `cargo test` and for the long run.
fn scopes() -> Vec<Scope> {
    let scope = |name, first: &[Step], depth: (usize, usize), actors| Scope {
        name,
        first: first.to_vec(),
        actors,
        depth: if is_long() { depth.1 } else { depth.0 },
    };
    let one = Actors {
        declarations: 1,
        drafts: &[Draft::A, Draft::B, Draft::S],
        edits: true,
        website: CHANGES,
        fates: FATES,
        ..Actors::default()
    };
    let unsigned = Actors {
        drafts: &[Draft::A],
        fates: &[Fate::NeverArrives, Fate::ReplyLost, Fate::ArrivesLate],
        ..one
    };
    let replies = Actors {
        drafts: &[Draft::A, Draft::B],
        fates: &[Fate::Held, Fate::HeldAfter, Fate::NamesAnother],
        ..one
    };
    let saved = Actors {
        records: true,
        fates: LOSSES,
        ..one
    };
    let records = Actors {
        drafts: &[Draft::A, Draft::B, Draft::S, Draft::Part],
        ..saved
    };
    let named = Actors {
        drafts: &[Draft::A, Draft::Moved],
        website: &[],
        ..saved
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
    let gone = Actors {
        drafts: &[Draft::A, Draft::B],
        fates: LOSSES,
        website: &[Change::Delete],
        gone: true,
        ..one
    };
    let colleagues = Actors {
        declarations: 3,
        drafts: &[Draft::A, Draft::B],
        fates: &[Fate::QuickColleague, Fate::NamesAnother],
        website: &[Change::Consignee],
        ..one
    };
    let colleague = Actors {
        declarations: 1,
        ..colleagues
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
        drafts: &[Draft::A],
        fates: LOSSES,
        time: true,
        limits: true,
        website: &[],
        ..one
    };
    let days_of_a_record = Actors {
        records: true,
        drafts: &[Draft::Part],
        ..days
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
    let quick = run(0, Fate::QuickColleague);
    let agreed = [
        save.clone(),
        RUN,
        Step::Website(0, Change::Submit),
        Step::Edit(1, Draft::B),
        RUN,
        Step::Decide(1, Decision::KeepMine),
    ];
    let late = [
        save.clone(),
        save.clone(),
        run(0, Fate::ArrivesLate),
        run(1, Fate::ArrivesLate),
    ];
    let searched_once = [
        save.clone(),
        run(0, Fate::ArrivesLate),
        Step::Run(Run {
            waits: false,
            ..Run::PLAIN
        }),
    ];
    let named_late = Actors {
        drafts: &[Draft::Moved],
        edits: false,
        lists: true,
        fates: &[],
        ..named
    };
    let under_way = [save.clone(), run(0, Fate::HeldAfter)];
    let two_quick = [save.clone(), quick.clone(), save.clone(), quick];
    let of_a_colleague = [Step::Twin, Step::Sync];
    let twin = [Step::Sync, save.clone(), Step::Twin, RUN];
    vec![
        scope("one declaration", &[], (4, 6), one),
        scope("one unsigned declaration", &[], (4, 7), unsigned),
        scope("replies under way", &[], (4, 6), replies),
        scope(
            "a late record that a person edits",
            &searched_once,
            (3, 5),
            named,
        ),
        scope(
            "a record that a person edits before its creator knows it",
            &under_way,
            (5, 7),
            named_late,
        ),
        scope("a draft of ours", &[save.clone(), RUN], (3, 5), saved),
        scope(
            "submitted by us",
            &[Step::Submit(Draft::A), RUN],
            (3, 5),
            records,
        ),
        scope(
            "a lost creation",
            &[save.clone(), run(0, Fate::ReplyLost)],
            (3, 5),
            saved,
        ),
        scope(
            "a record that seems to be deleted",
            &[save.clone(), RUN],
            (3, 5),
            gone,
        ),
        scope("agreed to change what is submitted", &agreed, (3, 5), one),
        scope("a record of a colleague", &of_a_colleague, (3, 4), records),
        scope("lists", &[], (4, 6), lists),
        scope("twins", &[], (4, 6), twins),
        scope("a twin is asked about", &twin, (3, 5), twins),
        scope("two declarations", &[], (4, 6), two),
        scope("two that are late", &late, (3, 5), two),
        scope("a colleague", &[], (4, 6), colleague),
        scope("two quick colleagues", &two_quick, (3, 4), colleagues),
        scope("days", &[], (5, 7), days),
        scope(
            "days of a record",
            &of_a_colleague,
            (3, 5),
            days_of_a_record,
        ),
        scope("long", &[save, RUN, Step::Edit(1, Draft::B)], (3, 5), long),
        scope("users", &[], (4, 6), users),
    ]
}

/// Whether this is the long run of `.ci/run all`.
fn is_long() -> bool {
    std::env::var_os("ENVD_SDK_TEST_LONG").is_some()
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

/// The scopes to run, after the selection and the depth from the environment.
fn explored() -> Vec<Scope> {
    let only = std::env::var("ENVD_SDK_TEST_SCOPE").ok();
    let mut scopes = scopes();
    scopes.retain(|scope| only.as_deref().is_none_or(|only| only == scope.name));
    for scope in &mut scopes {
        scope.depth = number("ENVD_SDK_TEST_DEPTH").unwrap_or(scope.depth);
    }
    scopes
}

fn threads() -> usize {
    number("ENVD_SDK_TEST_THREADS").unwrap_or(2)
}

/// `ENVD_SDK_TEST_LONG` selects the greater depths, `ENVD_SDK_TEST_DEPTH` sets a depth for all scopes, `ENVD_SDK_TEST_SCOPE`
/// selects one scope, and `ENVD_SDK_TEST_THREADS` sets the number of threads.
#[test]
fn the_promises_hold_in_every_interleaving() {
    let mut broken = Vec::new();
    for scope in explored() {
        let from = std::time::Instant::now();
        let found = explore(&scope, "", threads(), false);
        show(&scope, &found);
        println!("{:?}", from.elapsed());
        broken.extend(
            found
                .broken
                .into_values()
                .map(|(_, broken)| broken.to_string()),
        );
    }
    assert_eq!(broken, Vec::<String>::new());
}

/// A planted mistake, the invariant that it breaks, and the steps that break it.
struct Planted {
    name: &'static str,
    invariant: &'static str,
    steps: Vec<&'static str>,
}

fn planted() -> Vec<Planted> {
    let mut all: Vec<Planted> = Vec::new();
    for line in include_str!("paths.txt").lines() {
        if let Some(step) = line.strip_prefix("  ") {
            all.last_mut().unwrap().steps.push(step);
        } else if let Some((name, invariant)) = line.split_once(": ") {
            let steps = Vec::new();
            all.push(Planted {
                name,
                invariant,
                steps,
            });
        }
    }
    all
}

/// The invariants that these steps break, or that plain passes after them break. `None` if a step is not possible.
fn broken_by(planted: &'static str, steps: &[String]) -> Option<Vec<Broken>> {
    let mut world = World::new(planted);
    let mut broken = Vec::new();
    for words in steps {
        let possible = world.steps(&Actors::ALL).into_iter();
        let step = possible
            .chain([Step::Sync])
            .find(|step| step.to_string() == *words)?;
        world = world.after(&step)?;
        broken.append(&mut world.invariants.broken);
    }
    if broken.is_empty() {
        broken = broken_after_plain_passes(&world, &Mutex::default());
    }
    Some(broken)
}

#[test]
fn each_planted_mistake_breaks_its_invariant() {
    let mut missed = Vec::new();
    for Planted {
        name,
        invariant,
        steps,
    } in planted()
    {
        let steps: Vec<String> = steps.into_iter().map(str::to_owned).collect();
        let broken = broken_by(name, &steps).unwrap_or_default();
        let is_found = broken
            .iter()
            .any(|broken| format!("{:?}", broken.0) == invariant);
        let without = broken_by("", &steps).unwrap_or_default();
        if !is_found || !without.is_empty() {
            missed.push(format!("{name}: {broken:?}, without it {without:?}"));
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}

#[test]
fn each_invariant_finds_a_planted_mistake() {
    let mut invariants = Invariant::ALL
        .map(|invariant| format!("{invariant:?}"))
        .to_vec();
    for planted in planted() {
        invariants.retain(|invariant| invariant != planted.invariant);
    }
    assert_eq!(invariants, Vec::<String>::new());
}

/// Searches the shortest paths for the mistakes in `PLANTED_PATHS` (separated by blanks), and prints them in the format of
/// `paths.txt`.
#[test]
fn a_planted_mistake_is_searched() {
    let Ok(named) = std::env::var("PLANTED_PATHS") else {
        return;
    };
    for name in named.split(' ') {
        let name: &'static str = name.to_owned().leak();
        let mut shortest: Option<(Vec<String>, Broken)> = None;
        for scope in explored() {
            let found = explore(&scope, name, threads(), true);
            for (path, broken) in found.broken.into_values() {
                let path: Vec<String> = path.iter().map(ToString::to_string).collect();
                let is_shorter = shortest
                    .as_ref()
                    .is_none_or(|(known, _)| path.len() < known.len());
                let holds = || broken_by("", &path).unwrap_or_default().is_empty();
                if is_shorter && holds() {
                    shortest = Some((path, broken));
                }
            }
        }
        match shortest {
            None => println!("# {name} is not found"),
            Some((path, broken)) => {
                println!("{name}: {:?}", broken.0);
                for step in &path {
                    println!("  {step}");
                }
            }
        }
    }
}
