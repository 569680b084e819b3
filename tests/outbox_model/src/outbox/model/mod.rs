//! Runs random schedules of the pure functions against a simple service in memory. The service was written from the guarantees,
//! not from the code. Four invariants hold in each schedule:
//!
//! 1. The outbox never submits a record that it did not write.
//! 2. No value that another user wrote is lost without a question.
//! 3. Every record reported as a duplicate is a duplicate.
//! 4. Within two days of reachable time, every intent is met, refused, discarded, or has become a question.
//!
//! The schedules of the outbox loop in `envd-sync` use the same invariants, user and website. `PLANTED` plants a mistake.

#[path = "../../../../../crates/envd-sync/src/outbox/tests/model/invariants.rs"]
mod invariants;
#[path = "../../../../../crates/envd-sync/src/outbox/tests/model/people.rs"]
mod people;
mod person;
mod program;
mod service;
mod world;

use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::Mutex;

use test_support::schedules::{count, run_without_runtime};

use world::World;

#[test]
fn four_invariants_hold_in_random_schedules() {
    let named = std::env::var("PLANTED").unwrap_or_default();
    let named = planted().find(|(name, _)| *name == named);
    let counts = Mutex::new(BTreeMap::<_, u64>::new());
    let schedules = count(500);
    run_without_runtime(schedules, |_, seed| {
        let mut world = World::new(seed, named.map_or("", |(name, _)| name));
        world.run();
        let mut counts = counts.lock().unwrap();
        for (name, count) in world.counts {
            *counts.entry(name).or_default() += count;
        }
    });
    let counts = counts.into_inner().unwrap();
    println!("{schedules} schedules: {counts:?}");
    // A model in which nothing happens proves nothing.
    assert!(schedules < 200 || counts.len() > 8, "{counts:?}");
}

/// The planted mistakes, each with the seed of a schedule that breaks an invariant only with the mistake.
fn planted() -> impl Iterator<Item = (&'static str, u64)> {
    let lines = include_str!("schedules.txt").lines();
    let lines = lines.map(|line| line.split_once(' ').unwrap());
    lines.map(|(name, schedule)| (name, schedule.parse().unwrap()))
}

/// `PLANTED_SCHEDULES` is the number of seeds to try for each mistake, starting with the seed in the table. `PLANTED` selects one
/// mistake.
#[test]
fn each_planted_mistake_is_found() {
    let set = std::env::var("PLANTED_SCHEDULES").ok();
    let schedules: u64 = set.map_or(1, |set| set.parse().unwrap());
    // A program that panics because of a mistake has found it too.
    let holds =
        |seed: u64, planted: &'static str| catch_unwind(|| World::new(seed, planted).run()).is_ok();
    let mut missed = Vec::new();
    let only = std::env::var("PLANTED").ok();
    let is_tried = |name: &str| only.as_deref().is_none_or(|only| only == name);
    for (name, first) in planted().filter(|(name, _)| is_tried(name)) {
        let mut seeds = first..first + schedules;
        match seeds.find(|seed| !holds(*seed, name) && holds(*seed, "")) {
            Some(seed) if seed == first => {}
            Some(seed) => println!("{name} {seed}"),
            None => missed.push(name),
        }
    }
    assert_eq!(missed, Vec::<&str>::new());
}
