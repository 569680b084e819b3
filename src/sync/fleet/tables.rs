//! The tables of a fleet, and what all of its statements have in common.

use std::time::Duration;

use deadpool_postgres::tokio_postgres::Row;
use deadpool_postgres::tokio_postgres::types::Type;

use crate::auth::StoreError;
use crate::auth::postgres::connection::DatabaseError;
use crate::auth::postgres::database::{Database, DatabaseSettings, Parameter};
use crate::auth::postgres::schema::{Layout, Migration};

const MIGRATIONS: &[Migration] = &[Migration {
    version: 1,
    oldest: None,
    statements: include_str!("migrations/1.sql"),
}];

/// What hosts listen to. The payload names the tables, so that fleets in one database do not wake each other.
pub(crate) const CHANNEL: &str = "envd_sdk_fleet";

/// Makes accounts due that the user has just written something for, and wakes the hosts. A lease on one stays: its host
/// finds another number when it gives the account back, and leaves it due.
pub(crate) const ANNOUNCE: &str = "WITH announced AS (
    UPDATE {account} SET announced = announced OPERATOR(pg_catalog.+) 1,
        due_at = LEAST(due_at, GREATEST(pg_catalog.now(), not_before)),
        outbox_due_at = LEAST(outbox_due_at, pg_catalog.now())
    WHERE account OPERATOR(pg_catalog.=) ANY ($1) RETURNING 1)
SELECT pg_catalog.pg_notify($2, $3) FROM announced LIMIT 1";

/// `$1`: the end of the handed out time moves on by so many seconds, unless it is more than a second ahead.
const DRAW: &str = "INSERT INTO {budget} AS budget (name, spent_until)
    VALUES ('requests', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+)
        pg_catalog.make_interval(secs => $1))
    ON CONFLICT (name) DO UPDATE SET spent_until =
        GREATEST(budget.spent_until, pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.+)
        pg_catalog.make_interval(secs => $1)
    WHERE budget.spent_until OPERATOR(pg_catalog.<)
        (pg_catalog.clock_timestamp() OPERATOR(pg_catalog.+) '1 second'::pg_catalog.interval)
    RETURNING EXTRACT(EPOCH FROM spent_until OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp())
        ::pg_catalog.float8";

/// The tables of a fleet.
pub(super) struct Tables {
    database: Database,
    /// What notifications about these tables say.
    pub(super) payload: String,
}

impl Tables {
    pub(super) fn new(database: DatabaseSettings, prefix: &str) -> Result<Self, StoreError> {
        let of = |name: &str| format!("{prefix}_{name}");
        let (account, budget) = (of("account"), of("budget"));
        let layout = Layout {
            tables: &[("{account}", &account), ("{budget}", &budget)],
            prefix,
            migrations: MIGRATIONS,
        };
        let database = database.build(&layout)?;
        Ok(Self {
            payload: database.schema.table.clone(),
            database,
        })
    }

    pub(super) async fn migrate(&self) -> Result<(), StoreError> {
        self.database.migrate().await
    }

    pub(super) fn script(&self) -> String {
        self.database.schema.script()
    }

    /// Sends a statement, once more if the connection is lost: it may be sent twice.
    pub(super) async fn query(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        self.database.query(statement, parameters).await
    }

    /// Sends a statement once.
    pub(super) async fn query_once(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let rows = self.database.send_once(None, statement, parameters).await;
        rows.map_err(|error| error.error)
    }

    /// Makes accounts due now, and wakes the hosts.
    pub(super) async fn announce(&self, accounts: &[String]) -> Result<(), StoreError> {
        self.query_notifying(ANNOUNCE, accounts).await.map(drop)
    }

    /// Sends a statement about accounts, `$1`, that wakes the hosts.
    pub(super) async fn query_notifying(
        &self,
        statement: &str,
        accounts: &[String],
    ) -> Result<Vec<Row>, StoreError> {
        let parameters: [Parameter<'_>; 3] = [
            (&accounts, Type::TEXT_ARRAY),
            (&CHANNEL, Type::TEXT),
            (&self.payload, Type::TEXT),
        ];
        self.query(statement, &parameters).await
    }

    /// Draws time of the whole fleet for requests. Returns how far ahead the drawn time ends; `None`: the next second is
    /// handed out already.
    pub(super) async fn draw(&self, time: Duration) -> Result<Option<Duration>, StoreError> {
        let seconds = time.as_secs_f64();
        let rows = self.query_once(DRAW, &[(&seconds, Type::FLOAT8)]).await?;
        let ahead = rows.first().map(|row| row.try_get::<_, f64>(0));
        let ahead = ahead.transpose().map_err(unreadable)?;
        Ok(ahead.map(|ahead| Duration::from_secs_f64(ahead.max(0.0))))
    }
}

/// A reply in another form than the statement asks for.
pub(super) fn unreadable(error: impl Into<DatabaseError>) -> StoreError {
    error.into().error
}
