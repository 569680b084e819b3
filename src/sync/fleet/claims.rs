//! Claims accounts, prolongs their leases and gives them back, each for many accounts in one statement.
//!
//! Every time in these statements is of the database's clock; hosts tell and are told lengths only.

use std::cmp::Reverse;
use std::time::{Duration, SystemTime};

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::{ToSql, Type};

use super::tables::{Tables, unreadable};
use crate::auth::StoreError;
use crate::auth::postgres::connection::DatabaseError;
use crate::auth::postgres::database::Parameter;
use crate::transport::Clock;

/// The oldest due first. Rows that another host is claiming are passed over without waiting.
const CLAIM: &str = "WITH due AS (
    SELECT account FROM {account}
    WHERE due_at OPERATOR(pg_catalog.<=) pg_catalog.now()
    AND (lease_until IS NULL OR lease_until OPERATOR(pg_catalog.<=) pg_catalog.now())
    ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE {account} AS claimed SET lease_host = $2,
    lease_number = claimed.lease_number OPERATOR(pg_catalog.+) 1,
    lease_until = pg_catalog.now() OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs => $3)
FROM due WHERE claimed.account OPERATOR(pg_catalog.=) due.account
RETURNING claimed.account, lease_number, announced, outbox_version, failures, idle_passes, waiting, needs_attention,
    EXTRACT(EPOCH FROM due_at OPERATOR(pg_catalog.-) pg_catalog.now())::pg_catalog.float8,
    EXTRACT(EPOCH FROM sync_due_at OPERATOR(pg_catalog.-) pg_catalog.now())::pg_catalog.float8,
    EXTRACT(EPOCH FROM outbox_due_at OPERATOR(pg_catalog.-) pg_catalog.now())::pg_catalog.float8,
    EXTRACT(EPOCH FROM pg_catalog.clock_timestamp())::pg_catalog.float8";

const PROLONG: &str = "UPDATE {account} SET lease_until =
    pg_catalog.now() OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs => $3)
WHERE account OPERATOR(pg_catalog.=) ANY ($1) AND lease_host OPERATOR(pg_catalog.=) $2
RETURNING account, lease_number";

/// What was announced since the claim makes the account due at once. [`Done::columns`] are the columns.
const GIVE_BACK: &str = "UPDATE {account} AS given SET lease_host = NULL, lease_until = NULL,
    sync_due_at = pg_catalog.now() OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs => done.sync_in),
    outbox_due_at = CASE WHEN given.announced OPERATOR(pg_catalog.=) done.announced
        THEN pg_catalog.now() OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs => done.outbox_in)
        ELSE pg_catalog.now() END,
    due_at = pg_catalog.now() OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs =>
        CASE WHEN given.announced OPERATOR(pg_catalog.=) done.announced THEN done.due_in
        ELSE COALESCE(done.told, 0) END),
    not_before = pg_catalog.now() OPERATOR(pg_catalog.+) pg_catalog.make_interval(secs => done.told),
    outbox_version = done.outbox_version, failures = done.failures, failure = done.failure,
    login_needed = done.login_needed, idle_passes = done.idle_passes, waiting = done.waiting, needs_attention = done.needs_attention,
    synced_at = CASE WHEN done.synced THEN pg_catalog.now() ELSE given.synced_at END,
    ended_at = pg_catalog.now()
FROM unnest({values}) AS done ({columns})
WHERE given.account OPERATOR(pg_catalog.=) done.account AND given.lease_host OPERATOR(pg_catalog.=) $1
AND given.lease_number OPERATOR(pg_catalog.=) done.number
RETURNING given.account";

/// What was not begun, or not ended, stays due.
const RELEASE: &str = "UPDATE {account} SET lease_host = NULL, lease_until = NULL
WHERE lease_host OPERATOR(pg_catalog.=) $1 RETURNING 1";

/// An account that this host works on.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) account: String,
    /// One more with each claim of the account by any host.
    pub(super) number: i64,
    /// Shows the database's time.
    pub(super) clock: Clock,
    announced: i64,
    /// The version of the outbox after the last pass over it.
    pub(super) outbox_version: u64,
    pub(super) failures: u32,
    pub(super) idle_passes: u32,
    pub(super) waiting: u64,
    pub(super) needs_attention: u64,
    /// How late it was claimed.
    pub(super) late: Duration,
    sync_in: f64,
    outbox_in: Option<f64>,
    /// On the clock since boot.
    claimed_at: Duration,
}

impl Claim {
    fn read(row: &Row, claimed_at: Duration) -> Result<Self, DatabaseError> {
        let count = |at: usize| Ok::<_, DatabaseError>(row.try_get::<_, i64>(at)?.cast_unsigned());
        let now = Duration::from_secs_f64(row.try_get::<_, f64>(11)?.max(0.0));
        Ok(Self {
            account: row.try_get(0)?,
            number: row.try_get(1)?,
            clock: Clock::starting_at(SystemTime::UNIX_EPOCH + now),
            announced: row.try_get(2)?,
            outbox_version: count(3)?,
            failures: row.try_get::<_, i32>(4)?.cast_unsigned(),
            idle_passes: row.try_get::<_, i32>(5)?.cast_unsigned(),
            waiting: count(6)?,
            needs_attention: count(7)?,
            late: Duration::from_secs_f64((-row.try_get::<_, f64>(8)?).max(0.0)),
            sync_in: row.try_get(9)?,
            outbox_in: row.try_get(10)?,
            claimed_at,
        })
    }

    /// The seconds until the next sync is due; negative when it is.
    pub(super) fn sync_in(&self) -> f64 {
        self.sync_in - self.age()
    }

    /// The seconds until a pass over the outbox is due, unless it changes before.
    pub(super) fn outbox_in(&self) -> Option<f64> {
        self.outbox_in.map(|seconds| seconds - self.age())
    }

    fn age(&self) -> f64 {
        let age = Clock::system().boot().saturating_sub(self.claimed_at);
        age.as_secs_f64()
    }
}

/// How the work on an account ended. Times are seconds from now.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) claim: Claim,
    pub(super) sync_in: f64,
    pub(super) outbox_in: Option<f64>,
    pub(super) due_in: f64,
    /// What the service has told the account to wait.
    pub(super) told: Option<f64>,
    pub(super) outbox_version: u64,
    pub(super) failures: u32,
    pub(super) failure: Option<String>,
    pub(super) login_needed: bool,
    /// How many passes over the outbox in a row made requests and confirmed nothing.
    pub(super) idle_passes: u32,
    pub(super) waiting: u64,
    pub(super) needs_attention: u64,
    pub(super) synced: bool,
}

/// A column of a statement: its name, its type, and a value for each account.
type Column<'a> = (&'static str, Type, Box<dyn ToSql + Sync + Send + 'a>);

impl Done {
    fn columns(done: &[Self]) -> [Column<'_>; 15] {
        fn of<'a, T: ToSql + Sync + Send + 'a>(
            name: &'static str,
            kind: Type,
            done: &'a [Done],
            value: impl Fn(&'a Done) -> T,
        ) -> Column<'a> {
            let values: Vec<T> = done.iter().map(value).collect();
            (name, kind, Box::new(values))
        }
        let long = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let int = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
        let (text, float) = (Type::TEXT_ARRAY, Type::FLOAT8_ARRAY);
        let (bigint, integer) = (Type::INT8_ARRAY, Type::INT4_ARRAY);
        [
            of("account", text.clone(), done, |done| &*done.claim.account),
            of("number", bigint.clone(), done, |done| done.claim.number),
            of("announced", bigint.clone(), done, |done| {
                done.claim.announced
            }),
            of("sync_in", float.clone(), done, |done| done.sync_in),
            of("outbox_in", float.clone(), done, |done| done.outbox_in),
            of("due_in", float.clone(), done, |done| done.due_in),
            of("told", float, done, |done| done.told),
            of("outbox_version", bigint.clone(), done, |done| {
                long(done.outbox_version)
            }),
            of("failures", integer.clone(), done, |done| int(done.failures)),
            of("failure", text, done, |done| done.failure.as_deref()),
            of("login_needed", Type::BOOL_ARRAY, done, |done| {
                done.login_needed
            }),
            of("idle_passes", integer, done, |done| int(done.idle_passes)),
            of("waiting", bigint.clone(), done, |done| long(done.waiting)),
            of("needs_attention", bigint, done, |done| {
                long(done.needs_attention)
            }),
            of("synced", Type::BOOL_ARRAY, done, |done| done.synced),
        ]
    }
}

impl Tables {
    /// Claims what is due longest. A claim whose reply is lost ends with its lease.
    pub(super) async fn claim(
        &self,
        host: &str,
        lease: Duration,
        most: usize,
    ) -> Result<Vec<Claim>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let lease = lease.as_secs_f64();
        let parameters: [Parameter<'_>; 3] = [
            (&most, Type::INT8),
            (&host, Type::TEXT),
            (&lease, Type::FLOAT8),
        ];
        let rows = self.query_once(CLAIM, &parameters).await?;
        let claimed_at = Clock::system().boot();
        let claims = rows.iter().map(|row| Claim::read(row, claimed_at));
        let mut claims = claims.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
        // The rows of an update have no order.
        claims.sort_by_key(|claim| Reverse(claim.late));
        Ok(claims)
    }

    /// Prolongs the leases of a host; returns those that it still has.
    pub(super) async fn prolong(
        &self,
        host: &str,
        lease: Duration,
        accounts: &[&str],
    ) -> Result<Vec<(String, i64)>, StoreError> {
        let lease = lease.as_secs_f64();
        let parameters: [Parameter<'_>; 3] = [
            (&accounts, Type::TEXT_ARRAY),
            (&host, Type::TEXT),
            (&lease, Type::FLOAT8),
        ];
        let rows = self.query(PROLONG, &parameters).await?;
        let held = rows
            .iter()
            .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
        held.collect::<Result<_, DatabaseError>>()
            .map_err(unreadable)
    }

    /// Gives accounts back; returns how many were still this host's.
    pub(super) async fn give_back(&self, host: &str, done: &[Done]) -> Result<usize, StoreError> {
        let columns = Done::columns(done);
        let names = columns.iter().map(|(name, ..)| *name).collect::<Vec<_>>();
        let values = (2..).take(columns.len()).map(|number| format!("${number}"));
        let statement = GIVE_BACK
            .replace("{values}", &values.collect::<Vec<_>>().join(", "))
            .replace("{columns}", &names.join(", "));
        let mut parameters: Vec<Parameter<'_>> = vec![(&host, Type::TEXT)];
        parameters.extend(
            columns
                .iter()
                .map(|(_, kind, values)| -> Parameter<'_> { (&**values, kind.clone()) }),
        );
        Ok(self.query(&statement, &parameters).await?.len())
    }

    /// Gives all leases of a host back; returns how many it had.
    pub(super) async fn release(&self, host: &str) -> Result<usize, StoreError> {
        Ok(self.query(RELEASE, &[(&host, Type::TEXT)]).await?.len())
    }
}
