//! A host: runs due accounts until it is stopped.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use envd_postgres::PostgresSync;
use envd_sdk::{Client, Clock};
use envd_sync::outbox::OutboxReport;
use envd_sync::replica::SyncReport;
use envd_sync::{Outbox, Replica};
use graphile_worker::{
    IntoTaskHandlerResult, LocalQueueConfig, RefetchDelayConfig, TaskHandler, Worker,
    WorkerContext, WorkerOptions, WorkerRecoveryConfig,
};
use tokio::sync::watch;
use tokio::time::sleep;

use super::arguments::HostOptions;
use super::cli::{self, Failure};
use super::queue::{AccountJob, Ended, Queue};
use super::service::Service;

/// The interval at which a host polls for due accounts. It does not use notifications: the engine notifies all hosts about each
/// job, and each run creates a job.
const POLL: Duration = Duration::from_millis(200);

/// The wait after a first failure. It doubles with each further failure, up to the interval.
const FIRST_WAIT: Duration = Duration::from_secs(5);

/// The wait before the engine restarts after a database failure.
const RESTART: Duration = Duration::from_secs(1);

/// The time that a stopping host gives its runs to finish.
const GRACE: Duration = Duration::from_secs(10);

struct Host {
    client: Client,
    copies: PostgresSync,
    queue: Queue,
    options: HostOptions,
}

/// Serves accounts until Ctrl-C or SIGTERM.
pub(crate) async fn run(service: &Service, options: HostOptions) -> Result<(), Failure> {
    let stop = cli::stop()?;
    let stopping = watch::Sender::new(false);
    let client = service.client().await?;
    let host = Arc::new(Host {
        client: match &options.name {
            Some(name) => client.header(super::counts::HOST, name.as_str()),
            None => client,
        }
        .build()?,
        copies: service.copies()?,
        queue: service.queue(),
        options,
    });
    let serving = async {
        while !*stopping.borrow() {
            // The engine ends if it loses the database.
            let failure = match worker(&host, service, &stopping).await {
                Ok(worker) => worker.run().await.err().map(Failure::from),
                Err(failure) => Some(failure),
            };
            if let Some(failure) = failure {
                let failure = service.explained(failure).await;
                eprintln!("{host}: {}", cli::printable(failure));
                sleep(RESTART).await;
            }
        }
    };
    let reviving = async {
        loop {
            sleep(host.options.interval).await;
            // OK to ignore: if the database is unavailable, the next interval tries again.
            let _ = host.queue.revive(host.options.interval).await;
        }
    };
    let stopped = async {
        tokio::select! {
            () = stop => {}
            () = reviving => {}
        }
        stopping.send_replace(true);
    };
    tokio::join!(serving, stopped);
    Ok(())
}

async fn worker(
    host: &Arc<Host>,
    service: &Service,
    stopping: &watch::Sender<bool>,
) -> Result<Worker, Failure> {
    let HostOptions { jobs, lease, .. } = host.options;
    let mut stopped = stopping.subscribe();
    let stopped = async move {
        let _ = stopped.wait_for(|stopped| *stopped).await;
    };
    let recovery = WorkerRecoveryConfig::default()
        .heartbeat_interval(lease / 4)
        .sweep_interval(lease / 4)
        .sweep_threshold(lease)
        .recovery_delay(Duration::ZERO);
    // Without the delay the engine polls again immediately when no job was due.
    let delay = RefetchDelayConfig::default()
        .with_duration(POLL)
        .with_threshold(0);
    let local = LocalQueueConfig::default()
        .with_size(jobs)
        .with_refetch_delay(delay);
    let options = WorkerOptions::default()
        .database(service.pool.pool().clone())
        .schema(host.queue.schema.clone())
        .concurrency(jobs)
        .poll_interval(POLL)
        .use_notification_delivery(false)
        .local_queue(local)
        .worker_recovery(recovery)
        .listen_os_shutdown_signals(false)
        .shutdown_signal(stopped)
        .shutdown_grace_period(GRACE)
        .shutdown_interrupted_job_retry_delay(Duration::ZERO)
        .add_extension(Arc::clone(host))
        .define_job::<AccountJob>();
    Ok(options.init().await?)
}

impl TaskHandler for AccountJob {
    const IDENTIFIER: &'static str = "account";

    /// After an error the engine runs the job again, if this host still has it.
    async fn run(self, job: WorkerContext) -> impl IntoTaskHandlerResult {
        let host = job.get_ext::<Arc<Host>>().ok_or("no host")?;
        let done = host.serve(&self, &job).await;
        done.map_err(|failure| {
            let failure = cli::printable(cli::chain(failure.as_ref()));
            eprintln!("{host}, {}: {failure}", self.account);
            failure
        })
    }
}

impl Host {
    /// Runs an account: sends due entries of its outbox, and updates its copy.
    async fn serve(&self, job: &AccountJob, context: &WorkerContext) -> Result<(), Failure> {
        let pace = Duration::from_secs_f64(1.0 / self.options.per_second);
        let turn = self.queue.turn(context, pace).await?;
        let turn = turn.ok_or("another host has the account")?;
        let clock = Clock::starting_at(turn.now);
        sleep(turn.wait).await;

        let replica = self.client.account(&*job.account);
        let replica = Replica::new(&replica, self.copies.clone()).clock(clock.clone());
        let outbox = Outbox::new(&replica).clock(clock.clone());
        let outbox = outbox
            .lease(self.options.lease)
            .reconcile_after(self.options.settle);
        let sent = outbox.send_due().await;
        let synced = replica.sync().await;
        let problem = match (&sent, &synced) {
            (Err(error), _) | (_, Err(error)) => Some(cli::chain(error)),
            (Ok(sent), Ok(_)) => sent.stopped_by.clone(),
        };
        if let Some(problem) = &problem {
            eprintln!("{self}, {}: {}", job.account, cli::printable(problem));
        }

        let sent = sent.unwrap_or_default();
        let synced = synced.unwrap_or_default();
        let ended = self.ended(job, &clock, &sent, &synced, problem.is_some());
        let is_ours = self.queue.end(context, &job.account, &ended).await?;
        is_ours
            .then_some(())
            .ok_or_else(|| "another host has the account".into())
    }

    fn ended(
        &self,
        job: &AccountJob,
        clock: &Clock,
        sent: &OutboxReport,
        synced: &SyncReport,
        has_failed: bool,
    ) -> Ended {
        let interval = self.options.interval;
        let due_at = sent
            .next_at
            .as_ref()
            .and_then(envd_sdk::model::Timestamp::to_time);
        let due_in = due_at.map(|at| at.duration_since(clock.now()).unwrap_or_default());
        let due_in = due_in.unwrap_or(if has_failed { Duration::ZERO } else { interval });
        // The outbox has its own back-off for entries without a clear answer. This counts failures that stop the entire run.
        let failures = if has_failed {
            job.failures.saturating_add(1)
        } else {
            0
        };
        let doublings = failures.saturating_sub(1).unsigned_abs();
        let back_off = match failures {
            0 => Duration::ZERO,
            _ => FIRST_WAIT.saturating_mul(2_u32.saturating_pow(doublings)),
        };
        // Retry at least once per interval, unless the service asked for a longer wait.
        let reported = self.client.paused_for().unwrap_or_default();
        let requests = sent.requests + synced.requests;
        let above = u32::try_from(requests.saturating_sub(1)).unwrap_or(u32::MAX);
        Ended {
            failures,
            next_in: due_in.max(back_off).min(interval).max(reported),
            debt: Duration::from_secs_f64(f64::from(above) / self.options.per_second),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.options.name.as_deref().unwrap_or("host"))
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
