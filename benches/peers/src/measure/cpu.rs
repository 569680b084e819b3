//! The CPU time of a client.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinSet;

/// Runs a future on one thread; returns its CPU time and its result.
pub fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let begun = cpu();
    let result = runtime.block_on(work);
    (cpu() - begun, result)
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
