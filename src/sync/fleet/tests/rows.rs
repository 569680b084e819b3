//! The tables of one test.

use std::env;
use std::time::Duration;

use deadpool_postgres::Pool;

use crate::auth::postgres::database::DatabaseSettings;
use crate::auth::postgres::loopback_pool;
use crate::sync::fleet::claims::{Claim, Done};
use crate::sync::fleet::tables::Tables;

pub(super) const LEASE: Duration = Duration::from_secs(600);

pub(super) struct Rows {
    pub(super) tables: Tables,
    pool: Pool,
    schema: String,
}

impl Rows {
    /// With accounts that are due since so many seconds; `None` if no server is configured.
    pub(super) async fn new(late: &[(&str, i32)]) -> Option<Self> {
        let url = env::var("ENVD_SDK_TEST_POSTGRES").ok()?;
        let pool = loopback_pool(&url, 8).unwrap();
        let schema = format!("fleet_{:016x}", fastrand::u64(..));
        let mut database = DatabaseSettings::new(pool.clone());
        database.schema.clone_from(&schema);
        database.time_out = Duration::from_secs(30);
        let tables = Tables::new(database, "Fleet").unwrap();
        tables.migrate().await.unwrap();
        let rows = Self {
            tables,
            pool,
            schema,
        };
        for (account, late) in late {
            rows.run(&format!(
                "INSERT INTO {{table}} (account, due_at, sync_due_at)
                SELECT '{account}', at, at FROM (SELECT now() - interval '{late} s' AS at) AS late"
            ))
            .await;
        }
        Some(rows)
    }

    /// Executes statements; `{table}` stands for the table of the accounts.
    pub(super) async fn run(&self, statements: &str) {
        let statements = self.named(statements);
        let client = self.pool.get().await.unwrap();
        client.batch_execute(&statements).await.unwrap();
    }

    /// One text of the row of an account.
    pub(super) async fn text(&self, account: &str, expression: &str) -> String {
        let query =
            format!("SELECT ({expression})::text FROM {{table}} WHERE account = '{account}'");
        let client = self.pool.get().await.unwrap();
        let row = client.query_one(&self.named(&query), &[]).await.unwrap();
        row.get::<_, Option<String>>(0).unwrap_or_default()
    }

    pub(super) async fn claim(&self, host: &str, most: usize) -> Vec<Claim> {
        self.tables.claim(host, LEASE, most).await.unwrap()
    }

    pub(super) async fn give_back(&self, host: &str, done: Done) -> usize {
        self.tables.give_back(host, &[done]).await.unwrap()
    }

    pub(super) async fn drop(self) {
        self.run(&format!("DROP SCHEMA {} CASCADE", self.schema))
            .await;
    }

    fn named(&self, statements: &str) -> String {
        let table = format!("{}.\"Fleet_account\"", self.schema);
        statements.replace("{table}", &table)
    }
}

pub(super) fn names(claims: &[Claim]) -> Vec<&str> {
    claims.iter().map(|claim| &*claim.account).collect()
}

/// Ended work, after which the account is due in so many seconds.
pub(super) fn done(claim: Claim, due_in: f64) -> Done {
    Done {
        sync_in: due_in,
        due_in,
        ..Done::begin(claim)
    }
}
