//! What the parent does with the database: makes accounts due, and counts statements.

use std::time::Duration;

use envd_sdk::auth::postgres::deadpool_postgres::Pool;
use envd_sdk::auth::postgres::loopback_pool;
use envd_sdk::sync::store::PostgresSync;

use crate::host;

pub const SCHEMA: &str = "envd_bench_fleet";

pub fn url() -> String {
    std::env::var("DATABASE_URL").expect("DATABASE_URL names a Postgres database on this machine")
}

pub struct Database {
    pool: Pool,
    has_statements: bool,
}

impl Database {
    pub async fn start() -> Self {
        let pool = loopback_pool(&url(), 2).unwrap();
        let statistics = "CREATE EXTENSION IF NOT EXISTS pg_stat_statements;
            SELECT pg_stat_statements_reset()";
        let has_statements = pool.get().await.unwrap().batch_execute(statistics).await;
        let database = Self {
            has_statements: has_statements.is_ok(),
            pool,
        };
        if !database.has_statements {
            println!("pg_stat_statements is not loaded: transactions are counted");
        }
        database.drop_schema().await;
        let store = PostgresSync::builder(database.pool.clone()).schema(SCHEMA);
        store.build().unwrap().migrate().await.unwrap();
        host::fleet().migrate().await.unwrap();
        database
    }

    pub async fn drop_schema(&self) {
        let dropped = format!("DROP SCHEMA IF EXISTS {SCHEMA} CASCADE");
        self.run(&dropped).await;
    }

    /// Adds accounts that are not due.
    pub async fn add(&self, accounts: usize) {
        self.run(&format!(
            "INSERT INTO {SCHEMA}.fleet_account (account, due_at)
            SELECT 'envd-' || n, 'infinity' FROM generate_series(0, {accounts} - 1) AS n"
        ))
        .await;
    }

    pub async fn make_due(&self) {
        self.run(&format!(
            "UPDATE {SCHEMA}.fleet_account SET due_at = now(), sync_due_at = now()"
        ))
        .await;
    }

    /// Waits until no account is due, or worked on.
    pub async fn until_idle(&self) {
        let busy = format!(
            "SELECT count(*) AS bench FROM {SCHEMA}.fleet_account WHERE due_at <= now() OR lease_host IS NOT NULL"
        );
        while self.number(&busy).await > 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// How many statements, or transactions, the server has carried out for the hosts.
    pub async fn statements(&self) -> i64 {
        let query = if self.has_statements {
            format!(
                "SELECT sum(calls)::bigint AS bench FROM pg_stat_statements
                WHERE query LIKE '%{SCHEMA}%' AND query NOT LIKE '%bench %' OR query ~* '^(begin|commit|rollback|set)'"
            )
        } else {
            "SELECT xact_commit AS bench FROM pg_stat_database WHERE datname = current_database()"
                .to_owned()
        };
        self.number(&query).await
    }

    async fn run(&self, statement: &str) {
        let connection = self.pool.get().await.unwrap();
        connection.batch_execute(statement).await.unwrap();
    }

    async fn number(&self, query: &str) -> i64 {
        let connection = self.pool.get().await.unwrap();
        connection.query_one(query, &[]).await.unwrap().get(0)
    }
}
