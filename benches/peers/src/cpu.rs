//! The CPU time of a client, on one thread or on two.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

use crate::canned::Server;

/// The threads of a client's runtime.
#[derive(Clone, Copy)]
pub enum Threads {
    One,
    Two,
}

impl Threads {
    pub const ALL: [Self; 2] = [Self::One, Self::Two];

    pub fn name(self) -> &'static str {
        match self {
            Self::One => "one thread",
            Self::Two => "two threads",
        }
    }

    pub fn runtime(self) -> Runtime {
        let mut builder = match self {
            Self::One => Builder::new_current_thread(),
            Self::Two => Builder::new_multi_thread(),
        };
        builder.worker_threads(2).enable_all().build().unwrap()
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

    /// The address of its interface for documents.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Runs a future in a runtime of its own: the CPU time of the client and the future's result.
    pub fn timed<T, F>(&self, work: F) -> (Duration, T)
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
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
            Threads::Two => runtime.block_on(runtime.spawn(work)).unwrap(),
        };
        (self.cpu().saturating_sub(begun), result)
    }

    /// The CPU time of the client so far. On two threads it is that of the process without the server's.
    fn cpu(&self) -> Duration {
        match self.threads {
            Threads::One => of_thread(),
            Threads::Two => clock(ClockId::ProcessCPUTime).saturating_sub(self.server.cpu()),
        }
    }
}

/// Runs the tasks concurrently: the sum of their results.
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
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}
