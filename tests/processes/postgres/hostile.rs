//! A hostile role on the same server, which creates functions, operators, types, casts and tables with the names that the
//! statements of the store use.

use std::time::Duration;

use envd_postgres::PostgresStore;
use envd_postgres::deadpool_postgres::Pool;
use envd_postgres::deadpool_postgres::tokio_postgres::Client;
use envd_sdk::auth::{StoreError, StoreErrorKind, TokenStore};

use super::database::{self, Access, chain, connect};
use super::faults::record;
use crate::stores::sessions::KEY;

/// Values of `search_path` under which planted objects shadow those of the server.
pub(super) const SEARCH_PATHS: [&str; 3] = ["\"$user\", public", "public, pg_catalog", "public"];

/// Name, arguments, result and returned expression of each planted function.
const FUNCTIONS: &[[&str; 4]] = &[
    ["hashtextextended", "text, integer", "bigint", "0"],
    ["hashtextextended", "text, bigint", "bigint", "0"],
    ["hashtextextended", "text, public.seed", "bigint", "0"],
    ["pg_try_advisory_xact_lock", "bigint", "boolean", "true"],
    ["pg_advisory_xact_lock", "bigint", "boolean", "true"],
    ["current_database", "", "name", "'x'::pg_catalog.name"],
    ["now", "", "timestamptz", "'epoch'::pg_catalog.timestamptz"],
    [
        "clock_timestamp",
        "",
        "timestamptz",
        "'epoch'::pg_catalog.timestamptz",
    ],
    [
        "to_timestamp",
        "float8",
        "timestamptz",
        "'epoch'::pg_catalog.timestamptz",
    ],
    [
        "to_timestamp",
        "numeric",
        "timestamptz",
        "'epoch'::pg_catalog.timestamptz",
    ],
    ["date_part", "text, interval", "float8", "0"],
    ["greatest_so_far", "integer, integer", "integer", "0"],
    ["same", "text, text", "boolean", "true"],
    ["same", "bigint, bigint", "boolean", "true"],
    ["same", "integer, integer", "boolean", "true"],
    ["same", "name, name", "boolean", "true"],
    ["same", "name, text", "boolean", "true"],
    ["same", "oid, oid", "boolean", "true"],
    [
        "less",
        "timestamptz, timestamptz",
        "interval",
        "'0'::pg_catalog.interval",
    ],
    ["seed", "integer", "public.seed", "pg_catalog.row($1)"],
    ["of_domain", "text", "boolean", "true"],
    ["of_view", "", "integer", "1"],
];

/// Further objects that the hostile role creates after the functions.
const OBJECTS: &str = "
    CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = text, RIGHTARG = text);
    CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = bigint, RIGHTARG = bigint);
    CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = integer, RIGHTARG = integer);
    CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = name, RIGHTARG = name);
    CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = name, RIGHTARG = text);
    CREATE OPERATOR public.= (FUNCTION = public.same, LEFTARG = oid, RIGHTARG = oid);
    CREATE OPERATOR public.- (FUNCTION = public.less, LEFTARG = timestamptz, RIGHTARG = timestamptz);
    CREATE AGGREGATE public.max (integer) (SFUNC = public.greatest_so_far, STYPE = integer);
    CREATE CAST (integer AS public.seed) WITH FUNCTION public.seed(integer) AS IMPLICIT;
    CREATE TABLE public.tokens (account text PRIMARY KEY, version bigint, record text, generation bigint,
        issued_at timestamptz, expires_at timestamptz, refresh_began_at timestamptz, written_at timestamptz);
    CREATE VIEW public.tokens_migrations AS SELECT public.of_view() AS version;
    CREATE VIEW public.pg_namespace AS SELECT 'x'::name AS nspname, public.of_view() AS oid;
    CREATE VIEW public.pg_class AS SELECT 'x'::name AS relname, public.of_view() AS relnamespace;
    CREATE VIEW public.pg_roles AS SELECT 'x'::name AS rolname, public.of_view() AS oid;
    CREATE VIEW public.pg_database AS SELECT 'x'::name AS datname, public.of_view() AS datdba;
    GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC;
    CREATE DOMAIN public.text AS pg_catalog.text CHECK (public.of_domain(VALUE));
    CREATE DOMAIN public.name AS pg_catalog.name CHECK (public.of_domain(VALUE::pg_catalog.text));
    CREATE DOMAIN public.float8 AS pg_catalog.float8 CHECK (public.of_domain('x'::pg_catalog.text));
    CREATE DOMAIN public.int8 AS pg_catalog.int8 CHECK (public.of_domain('x'::pg_catalog.text));
    CREATE DOMAIN public.int4 AS pg_catalog.int4 CHECK (public.of_domain('x'::pg_catalog.text));
    CREATE DOMAIN public.timestamptz AS pg_catalog.timestamptz CHECK (public.of_domain('x'::pg_catalog.text));
";

/// A database with two roles: that of the application, and a hostile one that may create schemas, and objects in `public`.
pub(super) struct Shared {
    pub(super) name: String,
    _server: Access,
}

impl Shared {
    pub(super) async fn new() -> Self {
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
        shared.admin().await.batch_execute(&grants).await.unwrap();
        shared
    }

    pub(super) async fn admin(&self) -> Client {
        connect(database::config().dbname(&self.name)).await
    }

    pub(super) async fn evil(&self) -> Client {
        let user = format!("{}_evil", self.name);
        connect(database::config().dbname(&self.name).user(&user)).await
    }

    /// Each function counts its calls in a sequence, which a rollback does not reset.
    pub(super) async fn plant(&self) {
        let seed = "CREATE TYPE public.seed AS (number integer)";
        self.evil().await.batch_execute(seed).await.unwrap();
        self.plant_all(FUNCTIONS, OBJECTS).await;
    }

    /// As [`plant`](Self::plant), with other names.
    pub(super) async fn plant_all(&self, functions: &[[&str; 4]], objects: &str) {
        let evil = self.evil().await;
        let mut statements = String::new();
        for (number, [name, arguments, result, value]) in functions.iter().enumerate() {
            use std::fmt::Write;
            write!(
                statements,
                "CREATE SEQUENCE public.\"{name}_{number}\"; GRANT ALL ON SEQUENCE public.\"{name}_{number}\" TO PUBLIC;
                 CREATE FUNCTION public.{name}({arguments}) RETURNS {result} LANGUAGE plpgsql AS $$ BEGIN
                 PERFORM pg_catalog.nextval('public.{name}_{number}'::pg_catalog.regclass); RETURN {value}; END $$;"
            )
            .unwrap();
        }
        evil.batch_execute(&statements).await.unwrap();
        evil.batch_execute(objects).await.unwrap();
    }

    fn store_as(&self, role: &str, schema: &str) -> PostgresStore {
        database::store(&self.pool_as(role), schema)
    }

    /// Connections of a role; without a name, of the superuser.
    pub(super) fn pool_as(&self, role: &str) -> Pool {
        let mut config = database::config();
        config.dbname(&self.name);
        if !role.is_empty() {
            config.user(format!("{}_{role}", self.name));
        }
        database::pool_of(config, 4)
    }

    /// The planted functions that were called.
    pub(super) async fn called(&self) -> String {
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
            let store = shared.store_as(role, &format!("envd_{role}{number}"));
            let used = use_everything(&store).await;
            let called = shared.called().await;
            assert_eq!(called, "", "as {role:?} with search_path {path}");
            used.unwrap_or_else(|error| panic!("{role:?}, {path}: {}", chain(&error)));
            assert_eq!(shared.rows("public.tokens").await, 0);
        }
        let script = shared
            .store_as("app", &format!("script_{number}"))
            .migration_sql();
        let app = connect(database::config().dbname(&shared.name)).await;
        let done = app.batch_execute(&script).await;
        assert_eq!(
            shared.called().await,
            "",
            "the script with search_path {path}"
        );
        done.unwrap();
    }
}

/// Uses each operation of the store, and checks that locks exclude each other and that connections keep no state.
async fn use_everything(store: &PostgresStore) -> Result<(), StoreError> {
    store.migrate().await?;
    store.migrate().await?;
    let first = store.swap(KEY, None, &record(1)).await?;
    assert!(first.is_some());
    assert!(store.swap(KEY, None, &record(2)).await?.is_none());
    let (guard, stored) = store.lock_and_load(KEY, Duration::ZERO).await?;
    assert_eq!(stored.unwrap().record.tokens().generation(), 1);
    let excluded = store.lock(KEY, Duration::ZERO).await.unwrap_err();
    assert!(
        excluded.kind() == StoreErrorKind::LockTimeout,
        "{}",
        chain(&excluded)
    );
    let other = store.lock("another account", Duration::ZERO).await?;
    let second = store.swap(KEY, first, &record(2)).await?.unwrap();
    drop((guard, other));
    assert!(store.swap(KEY, first, &record(3)).await?.is_none());
    let stored = store.load(KEY).await?.unwrap();
    assert_eq!(stored.record.tokens().generation(), 2);
    assert!(store.load("another account").await?.is_none());
    assert!(store.remove(KEY, second).await?);
    Ok(())
}

async fn refused(store: &PostgresStore) {
    let refusals = [
        store.migrate().await.unwrap_err(),
        store.load(KEY).await.unwrap_err(),
        store.swap(KEY, None, &record(1)).await.unwrap_err(),
        store.lock(KEY, Duration::ZERO).await.unwrap_err(),
        store
            .remove(KEY, envd_sdk::auth::Version::new(1))
            .await
            .unwrap_err(),
    ];
    for error in refusals {
        assert!(
            error.kind() == StoreErrorKind::Insecure,
            "{}",
            chain(&error)
        );
    }
}

#[tokio::test]
async fn a_schema_that_another_role_created_is_refused() {
    let shared = Shared::new().await;
    // The tables have the correct columns, and every role may write them.
    let theirs = shared.store_as("evil", "trap");
    theirs.migrate().await.unwrap();
    let open =
        "GRANT ALL ON SCHEMA trap TO PUBLIC; GRANT ALL ON ALL TABLES IN SCHEMA trap TO PUBLIC";
    shared.evil().await.batch_execute(open).await.unwrap();
    for role in ["app", ""] {
        refused(&shared.store_as(role, "trap")).await;
        assert_eq!(shared.rows("trap.tokens").await, 0);
    }
    // The same for the role that runs the script, and for a member of the role that created the schema.
    let script = shared.store_as("app", "trap").migration_sql();
    let error = shared
        .admin()
        .await
        .batch_execute(&script)
        .await
        .unwrap_err();
    let error = error.as_db_error().unwrap();
    assert!(error.message().contains("another role"), "{error:?}");
    let join = format!("GRANT {0}_evil TO {0}_app", shared.name);
    shared.admin().await.batch_execute(&join).await.unwrap();
    refused(&shared.store_as("app", "trap")).await;
    // The application owns the schema, but not the table of migrations; reading that would run foreign code.
    shared.plant().await;
    refused(&shared.store_as("app", "public")).await;
    assert_eq!(shared.called().await, "");
}

#[tokio::test]
async fn a_named_deployment_role_may_own_the_tables() {
    let shared = Shared::new().await;
    let deployer = shared.store_as("evil", "deployed");
    deployer.migrate().await.unwrap();
    let grants = format!(
        "GRANT USAGE ON SCHEMA deployed TO {0}_app; GRANT ALL ON ALL TABLES IN SCHEMA deployed TO {0}_app",
        shared.name
    );
    shared.evil().await.batch_execute(&grants).await.unwrap();
    refused(&shared.store_as("app", "deployed")).await;
    let mut config = database::config();
    config
        .dbname(&shared.name)
        .user(format!("{}_app", shared.name));
    let named = database::settings(&database::pool_of(config, 4), "deployed");
    let named = named
        .owner(format!("{}_evil", shared.name))
        .build()
        .unwrap();
    assert!(named.swap(KEY, None, &record(1)).await.unwrap().is_some());
    drop(named.lock(KEY, Duration::ZERO).await.unwrap());
}

/// The store does not change `search_path` for other statements on connections of the caller's pool.
#[tokio::test]
async fn the_search_path_of_the_pool_does_not_change() {
    let shared = Shared::new().await;
    let mut config = database::config();
    config
        .dbname(&shared.name)
        .options("-c search_path=pool_of_the_caller");
    let pool = database::pool_of(config, 3);
    let store = database::store(&pool, "envd");
    use_everything(&store).await.unwrap();
    // Concurrently, so that each connection is checked.
    let mut connections = Vec::new();
    for _ in 0..3 {
        connections.push(pool.get().await.unwrap());
    }
    for connection in connections {
        let row = connection.query_one("SHOW search_path", &[]).await;
        assert_eq!(row.unwrap().get::<_, &str>(0), "pool_of_the_caller");
    }
}
