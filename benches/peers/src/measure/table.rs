//! Interleaved rounds of some clients, and what came of them.

use std::time::Duration;

use super::Server;

/// A client: its name, and its work at an address. The work says what it cost and how many items it has seen.
pub struct Peer {
    pub name: &'static str,
    pub work: Box<dyn Fn(&str) -> (Duration, usize)>,
}

impl Peer {
    pub fn new(name: &'static str, work: impl Fn(&str) -> (Duration, usize) + 'static) -> Self {
        let work = Box::new(work);
        Self { name, work }
    }
}

/// The least times of some clients.
pub struct Table(Vec<(&'static str, Duration)>);

impl Table {
    /// Lets each client work once a round, and prints the least times relative to the first. `PEER=name` lets that one
    /// work alone, for a profiler, and there is no table.
    pub fn of(server: &Server, rounds: usize, items: usize, peers: &[Peer]) -> Option<Self> {
        if let Ok(name) = std::env::var("PEER") {
            let alone = peers.iter().filter(|peer| peer.name == name);
            for peer in alone.cycle().take(rounds) {
                (peer.work)(server.base());
            }
            return None;
        }
        let mut rows: Vec<_> = peers
            .iter()
            .map(|peer| (peer.name, Duration::MAX))
            .collect();
        let mut traffic = vec![(0, 0); peers.len()];
        for _ in 0..rounds {
            for (which, peer) in peers.iter().enumerate() {
                let before = (server.connections(), server.requests(), server.body_bytes());
                let (time, seen) = (peer.work)(server.base());
                assert_eq!(seen, items, "{}", peer.name);
                rows[which].1 = rows[which].1.min(time);
                let requests = server.requests() - before.1;
                let bytes = (server.body_bytes() - before.2) / requests.max(1);
                traffic[which] = (server.connections() - before.0, bytes);
            }
        }
        println!(
            "{:34} {:>8} {:>7} {:>12} {:>11}",
            "", "CPU ms", "ratio", "connections", "body bytes"
        );
        let table = Self(rows);
        for ((name, time), (connections, bytes)) in table.0.iter().zip(traffic) {
            let milliseconds = time.as_secs_f64() * 1e3;
            let ratio = table.ratio(name, table.0[0].0);
            println!("{name:34} {milliseconds:8.1} {ratio:7.2} {connections:12} {bytes:11}");
        }
        Some(table)
    }

    /// The time of a client relative to that of another.
    pub fn ratio(&self, one: &str, other: &str) -> f64 {
        let time = |wanted: &str| {
            let row = self.0.iter().find(|(name, _)| *name == wanted);
            row.unwrap().1.as_secs_f64()
        };
        time(one) / time(other)
    }
}

/// Prints the title of a table.
pub fn header(title: &str) {
    println!("\n{title}");
}

/// Prints whether a goal is kept.
pub fn goal(what: &str, ratio: f64, kept: bool) {
    let verdict = if kept { "kept" } else { "MISSED" };
    println!("  goal: {what}: {ratio:.2} {verdict}");
}
