//! Interleaved rounds of clients, and rows of the results.

use std::time::Duration;

use super::{Goal, Run, Server, Threads, row};

/// Returns CPU time and number of items.
type Work = dyn Fn(&Run<'_>) -> (Duration, usize);

/// A client with its name and its work.
pub struct Peer {
    name: &'static str,
    work: Box<Work>,
    /// On one thread, and on four.
    goals: [Goal; 2],
}

impl Peer {
    pub fn new(name: &'static str, work: impl Fn(&Run<'_>) -> (Duration, usize) + 'static) -> Self {
        Self {
            name,
            work: Box::new(work),
            goals: [Goal::None; 2],
        }
    }

    /// How many times as long as the first client on one thread this one may take.
    pub fn at_most(mut self, on_one_thread: f64, on_four: Option<f64>) -> Self {
        self.goals =
            [Some(on_one_thread), on_four].map(|times| times.map_or(Goal::None, Goal::AtMost));
        self
    }
}

/// The work of clients against a server.
pub struct Table<'a> {
    pub work: &'a str,
    /// The items of the work, for the time of one.
    pub items: usize,
    pub rounds: usize,
}

impl Table<'_> {
    /// Runs each client once per round, and prints the least times relative to the first on one thread. With `PEER=name` only that client
    /// runs, on one thread, for a profiler, and nothing is printed.
    pub fn show(&self, server: &Server, peers: &[Peer]) {
        if let Ok(name) = std::env::var("PEER") {
            let alone = peers.iter().filter(|peer| peer.name == name);
            for peer in alone.cycle().take(self.rounds) {
                (peer.work)(&Run::new(server, Threads::One));
            }
            return;
        }
        let all = [Threads::One, Threads::Four];
        let least = self.least(&all.map(|threads| Run::new(server, threads)), peers);
        let first = least[0][0].as_secs_f64();
        for (at, threads) in all.into_iter().enumerate() {
            let work = format!("{}, {}", self.work, threads.name());
            for (peer, least) in peers.iter().zip(&least) {
                let (ratio, goal) = (least[at].as_secs_f64() / first, peer.goals[at]);
                row(&work, peer.name, ratio, "times", goal);
            }
        }
        let case = format!("{}, {}, CPU time", peers[0].name, all[0].name());
        row(
            self.work,
            &case,
            first * 1e6 / self.items as f64,
            "µs",
            Goal::None,
        );
    }

    fn least(&self, runs: &[Run<'_>; 2], peers: &[Peer]) -> Vec<[Duration; 2]> {
        let mut least = vec![[Duration::MAX; 2]; peers.len()];
        for _ in 0..self.rounds {
            for (at, run) in runs.iter().enumerate() {
                for (least, peer) in least.iter_mut().zip(peers) {
                    let (time, count) = (peer.work)(run);
                    assert_eq!(count, self.items, "{}", peer.name);
                    least[at] = time.min(least[at]);
                }
            }
        }
        least
    }
}

/// A number with commas.
pub fn count(number: usize) -> String {
    match number / 1_000 {
        0 => number.to_string(),
        thousands => format!("{},{:03}", count(thousands), number % 1_000),
    }
}
