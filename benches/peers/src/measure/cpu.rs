//! The CPU time of a client.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinSet;

/// Runs a future on one thread; returns its CPU time and its result.
pub fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (begun, faults) = (cpu(), page_faults());
    let result = runtime.block_on(work);
    let time = cpu() - begun;
    FAULTS.store(page_faults() - faults, Ordering::Relaxed);
    (time, result)
}

/// The page faults of the last measurement.
static FAULTS: AtomicU64 = AtomicU64::new(0);

pub fn last_page_faults() -> u64 {
    FAULTS.load(Ordering::Relaxed)
}

/// The page faults of this thread so far; 0 where the system does not show them.
fn page_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    // The name of the thread, in parentheses, may contain spaces; eight fields come between it and the count.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let faults = fields.split_whitespace().nth(7);
    faults.and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Runs the tasks concurrently and returns the sum of their results.
pub async fn side_by_side<F>(lanes: impl IntoIterator<Item = F>) -> usize
where
    F: Future<Output = usize> + Send + 'static,
{
    let tasks: JoinSet<usize> = lanes.into_iter().collect();
    tasks.join_all().await.into_iter().sum()
}

/// The CPU time of this thread so far.
fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        now.tv_sec.unsigned_abs(),
        u32::try_from(now.tv_nsec).unwrap(),
    )
}
