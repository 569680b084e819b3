//! A host in a child process.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use envd_sdk::Client;
use envd_sdk::auth::StaticToken;
use envd_sdk::auth::postgres::loopback_pool;
use envd_sdk::sync::fleet::{Fleet, FleetEvent};
use envd_sdk::sync::store::PostgresSync;

use crate::database::{SCHEMA, url};

/// Killed when it is dropped.
pub struct Host(Child);

impl Host {
    pub fn start(service: &str) -> Self {
        let host = Command::new(std::env::current_exe().unwrap())
            .args(["host", service])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Self(host.unwrap())
    }

    pub fn until_ready(&mut self) {
        let output = BufReader::new(self.0.stdout.take().unwrap());
        assert_eq!(output.lines().next().unwrap().unwrap(), "ready");
    }

    /// The bytes of its resident set.
    pub fn resident(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
        kilobytes.parse::<usize>().unwrap() * 1024
    }

    /// The CPU time that it has used.
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks = fields.split(' ').skip(11).take(2);
        // A hundred ticks a second on every Linux.
        Duration::from_millis(
            10 * ticks
                .map(|ticks| ticks.parse::<u64>().unwrap())
                .sum::<u64>(),
        )
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Shared by the parent and the hosts.
pub fn fleet() -> Fleet {
    let pool = loopback_pool(&url(), 16).unwrap();
    let store = PostgresSync::builder(pool.clone()).schema(SCHEMA).build();
    Fleet::builder(pool, store.unwrap())
        .schema(SCHEMA)
        .interval(Duration::from_secs(3_600))
        .poll(Duration::from_millis(200))
        .time_out(Duration::from_secs(30))
        .build()
        .unwrap()
}

pub async fn run(service: &str) {
    let client = Client::builder(service)
        .token_source(StaticToken::new("a-token").unwrap())
        .build()
        .unwrap();
    let fleet = fleet();
    fleet.status().await.unwrap();
    let running = fleet.run(move |id| {
        let account = client.account(id);
        async { Ok(account) }
    });
    let running = running.on_event(|event| match event {
        FleetEvent::Failed { error, .. } | FleetEvent::DatabaseFailed { error, .. } => {
            eprintln!("{error}");
        }
        _ => {}
    });
    let handle = running.handle();
    thread::spawn(move || {
        let _ = std::io::stdin().read_line(&mut String::new());
        handle.stop();
    });
    println!("ready");
    running.await;
}
