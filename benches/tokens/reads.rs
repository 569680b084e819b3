//! The read path compared with a lock around an `Arc`: each reads the token and compares both clocks with its expiry.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::sync::{Arc, Barrier, RwLock};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use envd_sdk::Clock;
use envd_sdk::auth::{AccessToken, TokenManager, TokenSource};
use envd_sdk::fake::Fake;

use crate::goal;
use crate::managers::{FixedStore, provider};

const READS: u32 = 100_000;
const ROUNDS: usize = 7;
const THREADS: [u32; 3] = [1, 2, 8];

struct CachedToken {
    token: AccessToken,
    wall: SystemTime,
    boot: Instant,
}

/// One read method, with its shortest time per read in nanoseconds for each number of threads.
struct Row<'a> {
    name: &'static str,
    time_per_read: Box<dyn Fn(u32) -> f64 + 'a>,
    best: [f64; 3],
}

impl<'a> Row<'a> {
    fn new(name: &'static str, read: impl Fn() + Sync + 'a) -> Self {
        Self {
            name,
            time_per_read: Box::new(move |threads| time_per_read(threads, &read)),
            best: [f64::INFINITY; 3],
        }
    }
}

pub(crate) async fn run() -> bool {
    let fake = Fake::start().await;
    let clock = Clock::system();
    let builder = TokenManager::builder(provider(&fake, clock.clone()));
    let manager = builder.store(FixedStore::new()).account("sam").build();
    let manager = manager.expect("a manager");
    let token = manager.access_token().await.expect("a token");
    let day = Duration::from_secs(86_400);
    let cached = || {
        Arc::new(CachedToken {
            token: token.clone(),
            wall: clock.now() + day,
            boot: Instant::now() + day,
        })
    };
    let (std_lock, tokio_lock) = (RwLock::new(cached()), tokio::sync::RwLock::new(cached()));
    let is_valid = |cached: &CachedToken| clock.now() < cached.wall && Instant::now() < cached.boot;
    let mut rows = [
        Row::new("the two clocks alone", || {
            black_box((clock.now(), Instant::now()));
        }),
        Row::new("borrowed (read_current)", || {
            black_box(manager.read_current(AccessToken::generation));
        }),
        // A token holds a header value, so a clone of it costs the same.
        Row::new("clocks and one header clone", || {
            black_box((clock.now(), Instant::now(), token.clone()));
        }),
        Row::new("into a request (current)", || {
            black_box(manager.current());
        }),
        Row::new("std RwLock + Arc clone", || {
            let cached = std_lock.read().expect("no panics").clone();
            black_box(is_valid(&cached).then(|| cached.token.generation()));
        }),
        Row::new("tokio RwLock + Arc clone", || {
            let mut context = Context::from_waker(Waker::noop());
            // Without writers a read lock is always ready.
            let Poll::Ready(cached) = pin!(tokio_lock.read()).poll(&mut context) else {
                return;
            };
            let cached = cached.clone();
            black_box(is_valid(&cached).then(|| cached.token.generation()));
        }),
    ];
    measure(&mut rows);
    check_goals(rows.map(|row| row.best))
}

/// Interleaved, so that all rows run under the same load. The minimum of the rounds counts: other load only adds time.
fn measure(rows: &mut [Row<'_>]) {
    for _ in 0..ROUNDS {
        for row in &mut *rows {
            for (best, threads) in row.best.iter_mut().zip(THREADS) {
                *best = best.min((row.time_per_read)(threads));
            }
        }
    }
    println!("one read, ns        threads:       1       2       8");
    for Row { name, best, .. } in rows {
        println!(
            "{name:<32} {:>7.1} {:>7.1} {:>7.1}",
            best[0], best[1], best[2]
        );
    }
}

fn check_goals([clocks, borrowed, header, request, std_lock, tokio_lock]: [[f64; 3]; 6]) -> bool {
    for (at, threads) in THREADS.into_iter().enumerate() {
        println!(
            "{threads} threads: std RwLock takes {:.1} times, tokio RwLock {:.1} times as long as a borrowed read",
            std_lock[at] / borrowed[at],
            tokio_lock[at] / borrowed[at]
        );
    }
    let alone = goal(
        borrowed[0] <= 45.0,
        &format!(
            "a borrowed read takes {:.1} ns alone, {:.1} ns of them beside the clocks (goal: 45 ns in all)",
            borrowed[0],
            borrowed[0] - clocks[0]
        ),
    );
    let over_alone = [1, 2].map(|at| borrowed[at] / borrowed[0]);
    let flat = goal(
        over_alone.iter().all(|ratio| *ratio <= 1.3),
        &format!(
            "on 2 and 8 threads a borrowed read takes {:.2} and {:.2} times as long as alone (goal: flat, 1.3)",
            over_alone[0], over_alone[1]
        ),
    );
    let over_header = [0, 1, 2].map(|at| request[at] / header[at]);
    let into = goal(
        over_header.iter().all(|ratio| *ratio <= 1.3),
        &format!(
            "into a request takes {:.2}, {:.2} and {:.2} times as long as the clocks and one header clone (goal: 1.3)",
            over_header[0], over_header[1], over_header[2]
        ),
    );
    alone && flat && into
}

/// Nanoseconds of CPU time per read, averaged over the threads.
fn time_per_read(threads: u32, read: &(impl Fn() + Sync)) -> f64 {
    let barrier = Barrier::new(threads as usize);
    let time = || {
        barrier.wait();
        let begun = cpu_time();
        for _ in 0..READS {
            read();
        }
        cpu_time().saturating_sub(begun)
    };
    let all: Duration = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(time)).collect();
        let ended = running
            .into_iter()
            .map(|thread| thread.join().expect("no panics"));
        ended.sum()
    });
    all.as_secs_f64() * 1e9 / f64::from(READS * threads)
}

/// The CPU time of this thread, which other load does not change.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(
        time.tv_sec.try_into().unwrap_or_default(),
        time.tv_nsec.try_into().unwrap_or_default(),
    )
}

#[cfg(not(unix))]
fn cpu_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}
