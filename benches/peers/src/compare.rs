//! Rows of figures, and interleaved rounds of the clients that are compared.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::canned::Server;
use crate::cpu::{Run, Threads};
use crate::row::{Goal, row};

/// Whether a goal of this process is missed.
pub static MISSED: AtomicBool = AtomicBool::new(false);

/// What is done: the first cell of its rows.
pub struct Work<T>(pub T);

impl<T: AsRef<str>> Work<T> {
    pub fn show(&self, case: &str, figure: f64, unit: &str) {
        self.row(case, figure, unit, Goal::None);
    }

    pub fn at_most(&self, limit: f64, case: &str, figure: f64, unit: &str) {
        self.row(case, figure, unit, Goal::AtMost(limit));
    }

    pub fn row(&self, case: &str, figure: f64, unit: &str, goal: Goal) {
        if !row(self.0.as_ref(), case, figure, unit, goal) {
            MISSED.store(true, Ordering::Relaxed);
        }
    }
}

/// The CPU time and the number of items of a run.
pub type Measure = dyn Fn(&Run<'_>) -> (Duration, usize);

/// A client: its name, its work, and its goals on one thread beside the first client, and on two beside itself on one.
pub struct Peer(&'static str, Box<Measure>, Goal, Option<f64>);

impl Peer {
    pub fn new(name: &'static str, work: impl Fn(&Run<'_>) -> (Duration, usize) + 'static) -> Self {
        Self(name, Box::new(work), Goal::None, None)
    }

    pub fn at_most(self, on_one: f64, on_two: Option<f64>) -> Self {
        Self(self.0, self.1, Goal::AtMost(on_one), on_two)
    }
}

/// Runs each client once per round, and prints the least times relative to the first on one thread. With `PEER=name` only
/// that client runs, on one thread, for a profiler, and nothing is printed.
pub fn compare(work: &str, items: usize, rounds: usize, server: &Server, peers: &[Peer]) {
    if let Ok(name) = std::env::var("PEER") {
        let alone = peers.iter().filter(|peer| peer.0 == name);
        for peer in alone.cycle().take(rounds) {
            (peer.1)(&Run::new(server, Threads::One));
        }
        return;
    }
    let runs = Threads::ALL.map(|threads| Run::new(server, threads));
    let cases = runs
        .iter()
        .flat_map(|run| peers.iter().map(move |peer| (run, peer)));
    let cases: Vec<_> = cases.collect();
    let times = least(rounds, &cases, |(run, Peer(name, work, ..))| {
        let (time, count) = work(run);
        assert_eq!(count, items, "{name}");
        time
    });
    let [one, two] = Threads::ALL.map(|threads| Work(format!("{work}, {}", threads.name())));
    let (on_one, on_two) = times.split_at(peers.len());
    for (Peer(name, _, goal, _), time) in peers.iter().zip(on_one) {
        one.row(name, time / on_one[0], "times", *goal);
    }
    for (Peer(name, ..), time) in peers.iter().zip(on_two) {
        two.show(name, time / on_one[0], "times");
    }
    for (at, Peer(name, _, _, limit)) in peers.iter().enumerate() {
        if let Some(limit) = limit {
            let case = format!("{name}, beside one thread");
            two.at_most(*limit, &case, on_two[at] / on_one[at], "times");
        }
    }
    let case = format!("{}, {}, CPU time", peers[0].0, Threads::One.name());
    Work(work).show(&case, on_one[0] * 1e6 / items as f64, "µs");
}

/// The least CPU time of each case, in seconds; the rounds are interleaved.
pub fn least<C>(rounds: usize, cases: &[C], time: impl Fn(&C) -> Duration) -> Vec<f64> {
    let mut least = vec![Duration::MAX; cases.len()];
    for _ in 0..rounds {
        for (least, case) in least.iter_mut().zip(cases) {
            *least = time(case).min(*least);
        }
    }
    least.iter().map(Duration::as_secs_f64).collect()
}

/// A number with commas.
pub fn count(number: usize) -> String {
    match number / 1_000 {
        0 => number.to_string(),
        thousands => format!("{},{:03}", count(thousands), number % 1_000),
    }
}
