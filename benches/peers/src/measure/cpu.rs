//! The CPU time of a client, on one thread or on several.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::task::JoinSet;

use super::Server;

/// The threads of a client's runtime.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threads {
    One,
    Four,
}

impl Threads {
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "one thread",
            Self::Four => "four threads",
        }
    }

    fn runtime(self) -> tokio::runtime::Runtime {
        let mut builder = match self {
            Self::One => tokio::runtime::Builder::new_current_thread(),
            Self::Four => tokio::runtime::Builder::new_multi_thread(),
        };
        builder.worker_threads(4).enable_all().build().unwrap()
    }
}

/// A server and the threads of its client.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    server: &'a Server,
    threads: Threads,
}

impl<'a> Run<'a> {
    pub fn new(server: &'a Server, threads: Threads) -> Self {
        Self { server, threads }
    }

    /// The address of the server without a path.
    pub fn base(&self) -> String {
        self.server.base().to_owned()
    }

    /// Runs a future in a runtime of its own; returns the CPU time of the client and the future's result.
    pub fn timed<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> (Duration, T) {
        self.timed_after(async {}, |()| work)
    }

    /// Prepares, which is not measured, and then as [`timed`](Self::timed), in the same runtime.
    pub fn timed_after<P, T, F>(
        &self,
        prepare: impl Future<Output = P>,
        work: impl FnOnce(P) -> F,
    ) -> (Duration, T)
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let runtime = self.threads.runtime();
        let work = work(runtime.block_on(prepare));
        let begun = self.cpu();
        let result = match self.threads {
            Threads::One => runtime.block_on(work),
            // On a worker, as the tasks of an application.
            Threads::Four => runtime.block_on(runtime.spawn(work)).unwrap(),
        };
        (self.cpu().saturating_sub(begun), result)
    }

    /// The CPU time of the client so far. On several threads it is that of the process without the server's.
    fn cpu(&self) -> Duration {
        match self.threads {
            Threads::One => clock(ClockId::ThreadCPUTime),
            Threads::Four => clock(ClockId::ProcessCPUTime).saturating_sub(self.server.cpu()),
        }
    }
}

/// Runs a future on one thread, against any server; returns its CPU time and its result.
pub fn timed<T>(work: impl Future<Output = T>) -> (Duration, T) {
    let runtime = Threads::One.runtime();
    let begun = of_thread();
    let result = runtime.block_on(work);
    (of_thread() - begun, result)
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
pub fn of_thread() -> Duration {
    clock(ClockId::ThreadCPUTime)
}

fn clock(id: ClockId) -> Duration {
    let now = clock_gettime(id);
    Duration::new(
        now.tv_sec.unsigned_abs(),
        u32::try_from(now.tv_nsec).unwrap(),
    )
}
