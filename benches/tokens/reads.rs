//! The read path in wall time, compared with a lock around an `Arc`: each reads the token and compares both clocks with its
//! expiry.

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

use crate::managers::{FixedStore, provider};
use crate::row;
use crate::row::Goal;

const READS: u32 = 200_000;
const ROUNDS: usize = 9;
const THREADS: [u32; 4] = [1, 2, 4, 8];

struct CachedToken {
    token: AccessToken,
    wall: SystemTime,
    monotonic: Instant,
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
            monotonic: Instant::now() + day,
        })
    };
    let std_lock = RwLock::new(cached());
    let tokio_lock = tokio::sync::RwLock::new(cached());
    let is_valid =
        |cached: &CachedToken| clock.now() < cached.wall && Instant::now() < cached.monotonic;
    let times = measure([
        &|| {
            black_box((clock.now(), Instant::now()));
        },
        &|| {
            black_box(manager.current());
        },
        // A token holds a header value, so a clone of it costs the same.
        &|| {
            black_box((clock.now(), Instant::now(), token.clone()));
        },
        &|| {
            black_box(manager.current());
        },
        &|| {
            let cached = std_lock.read().expect("no panics").clone();
            black_box(is_valid(&cached).then(|| cached.token.generation()));
        },
        &|| {
            let mut context = Context::from_waker(Waker::noop());
            // Without writers a read lock is always ready.
            let Poll::Ready(cached) = pin!(tokio_lock.read()).poll(&mut context) else {
                return;
            };
            let cached = cached.clone();
            black_box(is_valid(&cached).then(|| cached.token.generation()));
        },
    ]);
    show(times)
}

type Read<'a> = &'a (dyn Fn() + Sync);

/// Nanoseconds of a read for each way and number of threads. Interleaved, so that all run under the same load. The minimum
/// of the rounds counts: other load only adds time.
fn measure(reads: [Read<'_>; 6]) -> [[f64; THREADS.len()]; 6] {
    let mut least = [[f64::INFINITY; THREADS.len()]; 6];
    for _ in 0..ROUNDS {
        for (least, read) in least.iter_mut().zip(reads) {
            for (least, threads) in least.iter_mut().zip(THREADS) {
                *least = least.min(time_per_read(threads, read));
            }
        }
    }
    least
}

fn show(
    [clocks, borrowed, header, request, std_lock, tokio_lock]: [[f64; THREADS.len()]; 6],
) -> bool {
    let most = THREADS.len() - 1;
    row(
        "two clocks alone, of which a read takes both",
        clocks[0],
        "ns",
        Goal::None,
    );
    let mut met = row(
        "read of a token, one thread",
        borrowed[0],
        "ns",
        Goal::AtMost(45.0),
    );
    for (at, threads) in THREADS.into_iter().enumerate().skip(1) {
        let case = format!("read on {threads} threads beside one thread, wall time a core");
        met &= row(
            &case,
            borrowed[at] / borrowed[0],
            "times",
            Goal::AtMost(1.3),
        );
    }
    for (name, at) in [("one thread", 0), ("8 threads", most)] {
        let case =
            format!("read into a request beside two clocks and the copy of a header, {name}");
        met &= row(&case, request[at] / header[at], "times", Goal::AtMost(1.3));
    }
    for (name, lock) in [("std", std_lock), ("tokio", tokio_lock)] {
        let case = format!("read through a `RwLock` of {name} on 8 threads, beside ours");
        row(&case, lock[most] / borrowed[most], "times", Goal::None);
    }
    met
}

/// Nanoseconds of wall time per read from the first thread's begin to the last one's end, as if each thread that the
/// machine runs at once had a core of its own.
fn time_per_read(threads: u32, read: Read<'_>) -> f64 {
    let barrier = Barrier::new(threads as usize);
    let time = || {
        barrier.wait();
        let begun = Instant::now();
        for _ in 0..READS {
            read();
        }
        (begun, Instant::now())
    };
    let spans: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(time)).collect();
        let ended = running.into_iter();
        ended
            .map(|thread| thread.join().expect("no panics"))
            .collect()
    });
    let first = spans.iter().map(|(begun, _)| *begun).min();
    let last = spans.iter().map(|(_, ended)| *ended).max();
    let wall = last
        .zip(first)
        .map_or(Duration::ZERO, |(last, first)| last - first);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let at_once = f64::from(threads).min(cores as f64);
    wall.as_secs_f64() * 1e9 * at_once / f64::from(READS * threads)
}
