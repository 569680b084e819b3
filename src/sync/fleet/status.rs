//! How a fleet is doing.

use std::time::Duration;

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::Type;
use serde::Serialize;

use super::account_fleet::Fleet;
use super::tables::unreadable;
use crate::auth::postgres::connection::DatabaseError;
use crate::error::Result;
use crate::model::AccountId;

const STATUS: &str = "SELECT pg_catalog.count(*),
    pg_catalog.count(*) FILTER (WHERE is_due),
    pg_catalog.count(*) FILTER (WHERE is_leased),
    COALESCE(pg_catalog.max(late) FILTER (WHERE is_due AND NOT is_leased), 0),
    COALESCE(pg_catalog.sum(waiting), 0)::pg_catalog.int8,
    COALESCE(pg_catalog.sum(needs_attention), 0)::pg_catalog.int8,
    pg_catalog.count(*) FILTER (WHERE failures OPERATOR(pg_catalog.>) 0),
    pg_catalog.count(*) FILTER (WHERE login_needed)
FROM (SELECT waiting, needs_attention, failures, login_needed,
    due_at OPERATOR(pg_catalog.<=) pg_catalog.now() AS is_due,
    COALESCE(lease_until OPERATOR(pg_catalog.>) pg_catalog.now(), false) AS is_leased,
    EXTRACT(EPOCH FROM pg_catalog.now() OPERATOR(pg_catalog.-) due_at)::pg_catalog.float8 AS late
    FROM {account}) AS accounts";

const ACCOUNTS: &str = "SELECT account,
    EXTRACT(EPOCH FROM due_at OPERATOR(pg_catalog.-) pg_catalog.now())::pg_catalog.float8,
    COALESCE(lease_until OPERATOR(pg_catalog.>) pg_catalog.now(), false),
    EXTRACT(EPOCH FROM pg_catalog.now() OPERATOR(pg_catalog.-) synced_at)::pg_catalog.float8,
    failures, failure, login_needed, waiting, needs_attention
FROM {account} WHERE account OPERATOR(pg_catalog.>) $1 ORDER BY account LIMIT $2";

/// How a fleet is doing, from [`Fleet::status`]. Times are by the clock of the database.
///
/// ```
/// use std::time::Duration;
///
/// use envd_sdk::sync::fleet::Fleet;
///
/// /// Whether somebody has to look at the fleet.
/// async fn is_late(fleet: &Fleet) -> Result<bool, envd_sdk::Error> {
///     let status = fleet.status().await?;
///     println!("{} of {} accounts are due, {} fail", status.due, status.accounts, status.failing);
///     Ok(status.lag > Duration::from_secs(600))
/// }
/// # let _ = is_late;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetStatus {
    /// How many accounts it serves.
    pub accounts: u64,
    /// How many of them are due, those that a host works on included.
    pub due: u64,
    /// How many a host works on.
    pub leased: u64,
    /// For how long the oldest account that no host works on has been due; zero: none is.
    pub lag: Duration,
    /// How many entries wait in the outboxes, as far as the hosts have seen.
    pub waiting: u64,
    /// How many entries were refused or need a decision.
    pub needs_attention: u64,
    /// How many accounts failed when they were worked on last.
    pub failing: u64,
    /// How many of them need a new login.
    pub login_needed: u64,
}

/// One account of a fleet, from [`Fleet::accounts`].
///
/// ```
/// use envd_sdk::sync::fleet::FleetAccount;
///
/// fn line(account: &FleetAccount) -> String {
///     match account.is_leased {
///         true => format!("{}: a host works on it", account.account),
///         false => format!("{}: due in {:.0} s", account.account, account.due_in_seconds),
///     }
/// }
/// # let _ = line;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetAccount {
    /// The account.
    pub account: AccountId,
    /// In how many seconds it is due; negative: for how long it has been.
    pub due_in_seconds: f64,
    /// Whether a host works on it.
    pub is_leased: bool,
    /// How long ago the replica was brought up to date; `None`: it never was.
    pub synced_ago: Option<Duration>,
    /// How often in a row it failed.
    pub failures: u32,
    /// Why it failed last, in words.
    pub failure: Option<String>,
    /// Whether nothing is done before the user has logged in again.
    pub login_needed: bool,
    /// How many entries wait in its outbox.
    pub waiting: u64,
    /// How many entries were refused or need a decision.
    pub needs_attention: u64,
}

impl Fleet {
    /// How the whole fleet is doing. It reads every account's row, so call it each minute, not each second.
    ///
    /// # Errors
    ///
    /// [`is_store`](crate::Error::is_store) when the database fails.
    pub async fn status(&self) -> Result<FleetStatus> {
        let rows = self.tables().query(STATUS, &[]).await?;
        let Some(row) = rows.first() else {
            return Ok(FleetStatus::default());
        };
        Ok(read_status(row).map_err(unreadable)?)
    }

    /// The accounts of the fleet, in the order of their ids: those after one, at most so many.
    ///
    /// # Errors
    ///
    /// [`is_store`](crate::Error::is_store) when the database fails.
    pub async fn accounts(
        &self,
        after: Option<&AccountId>,
        limit: usize,
    ) -> Result<Vec<FleetAccount>> {
        let after = after.map_or("", AccountId::as_str);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let parameters = [(&after as _, Type::TEXT), (&limit as _, Type::INT8)];
        let rows = self.tables().query(ACCOUNTS, &parameters).await?;
        let accounts = rows.iter().map(read_account).collect::<Result<_, _>>();
        Ok(accounts.map_err(unreadable)?)
    }
}

fn read_status(row: &Row) -> Result<FleetStatus, DatabaseError> {
    let count = |at: usize| Ok::<_, DatabaseError>(row.try_get::<_, i64>(at)?.cast_unsigned());
    Ok(FleetStatus {
        accounts: count(0)?,
        due: count(1)?,
        leased: count(2)?,
        lag: Duration::from_secs_f64(row.try_get::<_, f64>(3)?.max(0.0)),
        waiting: count(4)?,
        needs_attention: count(5)?,
        failing: count(6)?,
        login_needed: count(7)?,
    })
}

fn read_account(row: &Row) -> Result<FleetAccount, DatabaseError> {
    let count = |at: usize| Ok::<_, DatabaseError>(row.try_get::<_, i64>(at)?.cast_unsigned());
    let synced_ago: Option<f64> = row.try_get(3)?;
    Ok(FleetAccount {
        account: row.try_get::<_, &str>(0)?.into(),
        due_in_seconds: row.try_get(1)?,
        is_leased: row.try_get(2)?,
        synced_ago: synced_ago.map(|seconds| Duration::from_secs_f64(seconds.max(0.0))),
        failures: row.try_get::<_, i32>(4)?.cast_unsigned(),
        failure: row.try_get(5)?,
        login_needed: row.try_get(6)?,
        waiting: count(7)?,
        needs_attention: count(8)?,
    })
}
