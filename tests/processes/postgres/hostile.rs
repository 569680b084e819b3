//! A hostile role on the same server, which creates functions, operators, types, casts and tables with the names that the
//! statements of the stores use.

use std::fmt::Write;

use envd_postgres::deadpool_postgres::Pool;
use envd_postgres::deadpool_postgres::tokio_postgres::Client;
use envd_sdk::auth::StoreErrorKind;
use test_support::script::rows;

use super::both::Store;
use super::database::{self, Access, chain, connect};

/// Values of `search_path` under which planted objects shadow those of the server.
const SEARCH_PATHS: [&str; 3] = ["\"$user\", public", "public, pg_catalog", "public"];

/// A database with two roles: the application's, and a hostile role that may create schemas, and objects in `public`.
struct Shared {
    name: String,
    _server: Access,
}

impl Shared {
    async fn new() -> Self {
        let shared = Self {
            _server: Access::shared().await,
            name: database::unique("envd_hostile"),
        };
        let name = &shared.name;
        let roles = format!("CREATE ROLE {name}_app LOGIN; CREATE ROLE {name}_evil LOGIN");
        let client = database::client().await;
        client.batch_execute(&roles).await.unwrap();
        let create = format!("CREATE DATABASE {name}");
        client.batch_execute(&create).await.unwrap();
        // Every role had this right before Postgres 15, and a shared database may still grant it.
        let grants = format!(
            "GRANT ALL ON SCHEMA public TO {name}_evil; GRANT CREATE ON DATABASE {name} TO {name}_app, {name}_evil"
        );
        shared.as_admin(&grants).await;
        shared
    }

    async fn admin(&self) -> Client {
        connect(database::config().dbname(&self.name)).await
    }

    async fn as_admin(&self, statements: &str) {
        self.admin().await.batch_execute(statements).await.unwrap();
    }

    async fn as_evil(&self, statements: &str) {
        let evil = connect(database::config().dbname(&self.name).user(self.evil())).await;
        evil.batch_execute(statements).await.unwrap();
    }

    /// The name of the hostile role.
    fn evil(&self) -> String {
        format!("{}_evil", self.name)
    }

    /// Each function counts its calls in a sequence, which a rollback does not reset.
    async fn plant(&self) {
        let mut planted = "CREATE TYPE public.seed AS (number integer);".to_owned();
        for (number, function) in rows(include_str!("planted.txt")).enumerate() {
            let [name, arguments, result, value] = function[..] else {
                panic!("{function:?}")
            };
            write!(
                planted,
                "CREATE SEQUENCE public.\"{name}_{number}\"; GRANT ALL ON SEQUENCE public.\"{name}_{number}\" TO PUBLIC;
                 CREATE FUNCTION public.{name}({arguments}) RETURNS {result} LANGUAGE plpgsql AS $$ BEGIN
                 PERFORM pg_catalog.nextval('public.{name}_{number}'::pg_catalog.regclass); RETURN {value}; END $$;"
            )
            .unwrap();
        }
        for operator in ["=", "<>", "<", "<=", ">", ">="] {
            for kind in ["text", "bigint", "integer", "name"] {
                write!(
                    planted,
                    "CREATE OPERATOR public.{operator} (FUNCTION = public.same, LEFTARG = {kind}, RIGHTARG = {kind});"
                )
                .unwrap();
            }
        }
        self.as_evil(&planted).await;
        self.as_evil(include_str!("planted.sql")).await;
    }

    /// The stores of a role; of the superuser if the name is empty.
    fn stores_of(&self, role: &str, schema: &str) -> [Store; 2] {
        Store::both(&self.pool_as(role), schema)
    }

    fn pool_as(&self, role: &str) -> Pool {
        let mut config = database::config();
        config.dbname(&self.name);
        if !role.is_empty() {
            config.user(format!("{}_{role}", self.name));
        }
        database::pool_of(config, 4)
    }

    /// The planted functions that were called.
    async fn called(&self) -> String {
        let query = "SELECT pg_catalog.string_agg(sequencename::pg_catalog.text, ' ')
            FROM pg_catalog.pg_sequences WHERE last_value IS NOT NULL";
        let row = self.admin().await.query_one(query, &[]).await.unwrap();
        row.get::<_, Option<String>>(0).unwrap_or_default()
    }

    async fn rows(&self, table: &str) -> i64 {
        let query = format!("SELECT pg_catalog.count(*) FROM {table}");
        let row = self.admin().await.query_one(&query, &[]).await.unwrap();
        row.get(0)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let name = &self.name;
        database::run_blocking(vec![
            format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
            format!("DROP ROLE IF EXISTS {name}_app, {name}_evil"),
        ]);
    }
}

#[tokio::test]
async fn functions_and_tables_of_another_role_are_not_used() {
    let shared = Shared::new().await;
    shared.plant().await;
    for (number, path) in SEARCH_PATHS.iter().enumerate() {
        let set = format!("ALTER DATABASE {} SET search_path = {path}", shared.name);
        database::client().await.batch_execute(&set).await.unwrap();
        for role in ["app", ""] {
            for store in shared.stores_of(role, &format!("envd_{role}{number}")) {
                let used = store.use_everything().await;
                let what = format!("{} as {role:?} with search_path {path}", store.prefix());
                assert_eq!(shared.called().await, "", "{what}");
                used.unwrap_or_else(|error| panic!("{what}: {}", chain(&error)));
            }
            assert_eq!(shared.rows("public.tokens").await, 0);
        }
        for store in shared.stores_of("app", &format!("script_{number}")) {
            let app = connect(database::config().dbname(&shared.name)).await;
            let done = app.batch_execute(&store.script()).await;
            assert_eq!(shared.called().await, "", "the script with {path}");
            done.unwrap();
        }
    }
}

#[tokio::test]
async fn a_schema_that_another_role_created_is_refused() {
    let shared = Shared::new().await;
    let refuse = async |role: &str, schema: &str| {
        for store in shared.stores_of(role, schema) {
            store.refuses_to_migrate(StoreErrorKind::Insecure).await;
            store.refuses(StoreErrorKind::Insecure, "").await;
        }
    };
    // The tables have the correct columns, and every role may write them.
    for theirs in shared.stores_of("evil", "trap") {
        theirs.migrate().await.unwrap();
    }
    let open =
        "GRANT ALL ON SCHEMA trap TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA trap TO PUBLIC";
    shared.as_evil(open).await;
    for role in ["app", ""] {
        refuse(role, "trap").await;
        assert_eq!(shared.rows("trap.tokens").await, 0);
    }
    // The same for the role that runs the script, and for a member of the role that created the schema.
    for store in shared.stores_of("app", "trap") {
        let done = shared.admin().await.batch_execute(&store.script()).await;
        let error = done.unwrap_err();
        let error = error.as_db_error().unwrap();
        assert!(error.message().contains("another role"), "{error:?}");
    }
    let join = format!("GRANT {0}_evil TO {0}_app", shared.name);
    shared.as_admin(&join).await;
    refuse("app", "trap").await;
    // The application owns the schema, but another role owns one of the tables.
    for (mixed, table) in shared
        .stores_of("app", "mixed")
        .iter()
        .zip(["tokens", "sync_payload"])
    {
        mixed.migrate().await.unwrap();
        let change = format!("ALTER TABLE mixed.{table} OWNER TO {}", shared.evil());
        shared.as_admin(&change).await;
    }
    refuse("app", "mixed").await;
    refuse("", "mixed").await;
    // The application owns the schema but not the table of migrations; reading that table would run foreign code.
    shared.plant().await;
    refuse("app", "public").await;
    assert_eq!(shared.called().await, "");
}

#[tokio::test]
async fn a_named_deployment_role_may_own_the_tables() {
    let shared = Shared::new().await;
    for deployer in shared.stores_of("evil", "deployed") {
        deployer.migrate().await.unwrap();
    }
    for store in shared.stores_of("app", "deployed") {
        store.refuses(StoreErrorKind::Insecure, "").await;
    }
    let named = Store::both_of(&shared.pool_as("app"), "deployed", &shared.evil());
    for store in &named {
        store.refuses(StoreErrorKind::Denied, "").await;
    }
    let grants = format!(
        "GRANT USAGE ON SCHEMA deployed TO {0}_app; GRANT ALL ON ALL TABLES IN SCHEMA deployed TO {0}_app",
        shared.name
    );
    shared.as_evil(&grants).await;
    for store in &named {
        store.write().await.unwrap();
    }
}
