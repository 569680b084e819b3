//! A model of the outbox: random schedules drive the pure functions against a plain service in memory, which was written from the
//! guarantees and not from the code. Four laws hold in each schedule:
//!
//! 1. A record that we did not write is never submitted by us.
//! 2. A field that somebody else wrote is never lost without a question.
//! 3. A record that is reported as a duplicate is one.
//! 4. Every wish ends met, asked, refused or discarded within two days of reachable time.
//!
//! `MODEL_SEED` and `MODEL_SCHEDULES` choose other schedules; `MODEL_ONE` prints what happens in the
//! schedule of that seed, and `PLANTED` plants a mistake into it.

#![expect(
    clippy::match_same_arms,
    clippy::semicolon_if_nothing_returned,
    clippy::single_match_else,
    clippy::struct_excessive_bools,
    reason = "lists of what can happen"
)]

mod laws;
mod person;
mod planted;
mod program;
mod service;
mod world;

use std::collections::BTreeMap;

use world::World;

#[test]
fn four_laws_hold_in_random_schedules() {
    let number = |name: &str, default: u64| {
        let set = std::env::var(name).ok();
        set.map_or(default, |set| set.parse().unwrap())
    };
    if let Ok(one) = std::env::var("MODEL_ONE") {
        let mut world = World::new(one.parse().unwrap(), true);
        let named = std::env::var("PLANTED").unwrap_or_default();
        let planted = planted().find(|(name, _)| *name == named);
        world.planted = planted.map_or("", |(name, _)| name);
        world.run();
        panic!("{:?}", world.laws.broken);
    }
    let (seed, schedules) = (number("MODEL_SEED", 1), number("MODEL_SCHEDULES", 500));
    let mut counts = BTreeMap::<_, u64>::new();
    let mut broken = Vec::new();
    for at in 0..schedules {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(at);
        let mut world = World::new(seed, false);
        world.run();
        if let Some(law) = world.laws.broken {
            broken.push(format!("schedule {at} (seed {seed}): {law}"));
            if broken.len() == 8 {
                break;
            }
        }
        for (name, count) in world.counts {
            *counts.entry(name).or_default() += count;
        }
    }
    println!("{schedules} schedules: {counts:?}");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    // A model in which nothing happens proves nothing.
    assert!(schedules < 200 || counts.len() > 8, "{counts:?}");
}

/// The planted mistakes, each with a schedule that holds without it and breaks a law with it.
fn planted() -> impl Iterator<Item = (&'static str, u64)> {
    let lines = include_str!("planted.txt").lines();
    let lines = lines.map(|line| line.split_once(' ').unwrap());
    lines.map(|(name, schedule)| (name, schedule.parse().unwrap()))
}

/// `PLANTED_SCHEDULES` schedules from the one of the table on are tried.
#[test]
fn each_planted_mistake_is_found() {
    let set = std::env::var("PLANTED_SCHEDULES").ok();
    let schedules: u64 = set.map_or(1, |set| set.parse().unwrap());
    let holds = |seed: u64, planted: &'static str| {
        let mut world = World::new(seed, false);
        world.planted = planted;
        world.run();
        world.laws.broken.is_none()
    };
    let mut missed = Vec::new();
    for (name, first) in planted() {
        // A program that trips over a mistake has found it as well.
        let breaks = |seed: &u64| !std::panic::catch_unwind(|| holds(*seed, name)).unwrap_or(false);
        let mut seeds = first..first + schedules;
        match seeds.find(|seed| breaks(seed) && holds(*seed, "")) {
            Some(seed) if seed == first => {}
            Some(seed) => println!("{name} {seed}"),
            None => missed.push(name),
        }
    }
    assert_eq!(missed, Vec::<&str>::new());
}
