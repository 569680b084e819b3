//! Schedules the accounts: one keyed job per account in the tables of `graphile_worker`.
//!
//! Each account has its own queue, so its runs never overlap. Otherwise a run could find the outbox locked by an earlier run,
//! and end with a schedule later than the entry that it was woken for.
//!
//! An account always has a job, waiting or running. A run ends with the statement [`end`](Queue::end), which replaces its own
//! job by the next run, unless [`wake`](Queue::wake) has already done so or another host has recovered the job. So neither a
//! killed nor a frozen host can lose the schedule of an account. The queue does not store when an outbox is due: each run sends
//! all entries that are due, so no sync can delay them.

use std::time::{Duration, SystemTime};

use envd_postgres::deadpool_postgres::Pool;
use graphile_worker::{WorkerContext, WorkerUtils};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cli::Failure;

/// The payload of a job.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct AccountJob {
    pub(crate) account: String,
    /// The number of consecutive failed runs before this job.
    #[serde(default)]
    pub(crate) failures: i32,
}

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    pool: Pool,
    /// The schema of the engine.
    pub(crate) schema: String,
}

/// When a run may begin.
pub(crate) struct Turn {
    pub(crate) wait: Duration,
    /// The time of the database: the clocks of the hosts may differ.
    pub(crate) now: SystemTime,
}

/// The end of a run.
pub(crate) struct Ended {
    pub(crate) failures: i32,
    pub(crate) next_in: Duration,
    /// The time by which the run exceeded its share of the request rate.
    pub(crate) debt: Duration,
}

impl Queue {
    pub(crate) fn new(pool: Pool, schema: &str) -> Self {
        let schema = format!("{schema}_jobs");
        Self { pool, schema }
    }

    pub(crate) async fn migrate(&self) -> Result<(), Failure> {
        WorkerUtils::new(self.pool.clone(), self.schema.clone())
            .migrate()
            .await?;
        let pace = self.sql(
            "CREATE TABLE IF NOT EXISTS {jobs}.pace (free_at pg_catalog.timestamptz NOT NULL);
             INSERT INTO {jobs}.pace SELECT '-infinity' WHERE NOT EXISTS (SELECT FROM {jobs}.pace)",
        );
        Ok(self.pool.get().await?.batch_execute(&pace).await?)
    }

    /// Makes accounts due immediately. Creates a job for an account without one; if an account is running, its next run is due.
    pub(crate) async fn wake(&self, accounts: &[String]) -> Result<(), Failure> {
        let wake = self.sql(
            "SELECT {jobs}.add_job('account', pg_catalog.json_build_object('account', account), job_key => account,
                 queue_name => account)
             FROM pg_catalog.unnest($1::pg_catalog.text[]) AS account",
        );
        self.pool.get().await?.query(&wake, &[&accounts]).await?;
        Ok(())
    }

    /// Reserves the start of a run: the runs of all hosts start at least `pace` apart. `None` if another host has the job.
    pub(crate) async fn turn(
        &self,
        job: &WorkerContext,
        pace: Duration,
    ) -> Result<Option<Turn>, Failure> {
        let turn = self.sql(
            "UPDATE {jobs}.pace SET free_at = greatest(free_at, pg_catalog.clock_timestamp()) + pg_catalog.make_interval(secs => $3)
             WHERE EXISTS (SELECT FROM {jobs}.jobs WHERE id = $1 AND locked_by = $2)
             RETURNING extract(epoch FROM free_at - pg_catalog.clock_timestamp())::pg_catalog.float8 - $3,
                       extract(epoch FROM pg_catalog.clock_timestamp())::pg_catalog.float8",
        );
        let id = *job.job().id();
        let pace = pace.as_secs_f64();
        let database = self.pool.get().await?;
        let turn = database
            .query_opt(&turn, &[&id, &job.worker_id(), &pace])
            .await?;
        let Some(turn) = turn else {
            return Ok(None);
        };
        let seconds = |column| Duration::try_from_secs_f64(turn.get::<_, f64>(column).max(0.0));
        let now = SystemTime::UNIX_EPOCH.checked_add(seconds(1)?);
        Ok(Some(Turn {
            wait: seconds(0)?,
            now: now.ok_or("the time of the database is beyond the calendar")?,
        }))
    }

    /// Schedules the next run of an account. Returns `false` if another host has the job and will schedule it.
    pub(crate) async fn end(
        &self,
        job: &WorkerContext,
        account: &str,
        ended: &Ended,
    ) -> Result<bool, Failure> {
        let end = self.sql(
            "WITH paid AS (UPDATE {jobs}.pace
                 SET free_at = greatest(free_at, pg_catalog.clock_timestamp()) + pg_catalog.make_interval(secs => $6) WHERE $6::pg_catalog.float8 > 0)
             SELECT {jobs}.add_job('account', pg_catalog.json_build_object('account', $3::pg_catalog.text, 'failures', $4::pg_catalog.int4), job_key => $3,
                 queue_name => $3, run_at => pg_catalog.clock_timestamp() + pg_catalog.make_interval(secs => $5), job_key_mode => 'preserve_run_at')
             FROM {jobs}.jobs WHERE id = $1 AND locked_by = $2",
        );
        let next_in = ended.next_in.as_secs_f64();
        let debt = ended.debt.as_secs_f64();
        let database = self.pool.get().await?;
        let scheduled = database
            .query(
                &end,
                &[
                    job.job().id(),
                    &job.worker_id(),
                    &account,
                    &ended.failures,
                    &next_in,
                    &debt,
                ],
            )
            .await?;
        Ok(!scheduled.is_empty())
    }

    /// Reschedules jobs that the engine would retry later than after an interval, or never: its waits grow to six hours.
    pub(crate) async fn revive(&self, interval: Duration) -> Result<(), Failure> {
        let revive = self.sql(
            "SELECT {jobs}.reschedule_jobs(pg_catalog.array_agg(id), run_at => pg_catalog.now(), attempts => 0) FROM {jobs}.jobs
             WHERE key IS NOT NULL AND locked_at IS NULL AND attempts > 0
               AND (attempts = max_attempts OR run_at > pg_catalog.now() + pg_catalog.make_interval(secs => $1))",
        );
        let database = self.pool.get().await?;
        database.query(&revive, &[&interval.as_secs_f64()]).await?;
        Ok(())
    }

    /// The accounts, sorted.
    pub(crate) async fn accounts(&self) -> Result<Vec<String>, Failure> {
        let accounts = self.sql("SELECT key FROM {jobs}.jobs WHERE key IS NOT NULL ORDER BY key");
        let accounts = self.pool.get().await?.query(&accounts, &[]).await?;
        Ok(accounts.iter().map(|account| account.get(0)).collect())
    }

    /// The number of accounts in total, due, running, and waiting after an error, and how long the oldest has been due.
    pub(crate) async fn status(&self) -> Result<Value, Failure> {
        let status = self.sql(
            "SELECT pg_catalog.count(*), pg_catalog.count(*) FILTER (WHERE is_due), pg_catalog.count(*) FILTER (WHERE locked_at IS NOT NULL),
                 pg_catalog.count(*) FILTER (WHERE locked_at IS NULL AND attempts > 0),
                 coalesce(pg_catalog.max(extract(epoch FROM pg_catalog.now() - run_at)) FILTER (WHERE is_due), 0)::pg_catalog.float8
             FROM (SELECT *, locked_at IS NULL AND run_at <= pg_catalog.now() AS is_due FROM {jobs}.jobs) AS jobs
             WHERE key IS NOT NULL",
        );
        let status = self.pool.get().await?.query_one(&status, &[]).await?;
        let [accounts, due, running, retried] =
            [0, 1, 2, 3].map(|column| status.get::<_, i64>(column));
        let late: f64 = status.get(4);
        Ok(json!({
            "accounts": accounts,
            "due": due,
            "running": running,
            "retried": retried,
            "lateSeconds": late,
        }))
    }

    fn sql(&self, statement: &str) -> String {
        statement.replace("{jobs}", &self.schema)
    }
}
