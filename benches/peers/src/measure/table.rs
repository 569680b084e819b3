//! Interleaved rounds of clients, and a table of the results.

use std::time::Duration;

use super::{Server, last_page_faults};

/// A client with its name and its work at an address, which returns CPU time and number of items.
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

/// The minimum times of the clients.
pub struct Table(Vec<(&'static str, Duration)>);

impl Table {
    /// Runs each client once per round, and prints the minimum times relative to the first. With `PEER=name` only that client
    /// runs, for a profiler, and no table is printed.
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
        let mut traffic = vec![(0, 0, 0); peers.len()];
        for _ in 0..rounds {
            for (row, peer) in peers.iter().enumerate() {
                let before = (server.connections(), server.requests(), server.body_bytes());
                let (time, count) = (peer.work)(server.base());
                assert_eq!(count, items, "{}", peer.name);
                rows[row].1 = rows[row].1.min(time);
                let requests = server.requests() - before.1;
                let bytes = (server.body_bytes() - before.2) / requests.max(1);
                let faults = last_page_faults() / requests.max(1) as u64;
                traffic[row] = (server.connections() - before.0, bytes, faults);
            }
        }
        println!(
            "{:34} {:>8} {:>7} {:>12} {:>11} {:>7}",
            "", "CPU ms", "ratio", "connections", "body bytes", "faults"
        );
        let table = Self(rows);
        for ((name, time), (connections, bytes, faults)) in table.0.iter().zip(traffic) {
            let milliseconds = time.as_secs_f64() * 1e3;
            let ratio = table.ratio(name, table.0[0].0);
            println!("{name:34} {milliseconds:8.1} {ratio:7.2} {connections:12} {bytes:11} {faults:7}");
        }
        Some(table)
    }

    /// The time of a client relative to that of another.
    pub fn ratio(&self, one: &str, other: &str) -> f64 {
        let time = |name: &str| {
            let row = self.0.iter().find(|(row, _)| *row == name);
            row.unwrap().1.as_secs_f64()
        };
        time(one) / time(other)
    }
}

/// Prints the title of a table.
pub fn header(title: &str) {
    println!("\n{title}");
}

/// Prints whether a goal is met.
pub fn goal(what: &str, ratio: f64, met: bool) {
    let verdict = if met { "met" } else { "MISSED" };
    println!("  goal: {what}: {ratio:.2} {verdict}");
}
