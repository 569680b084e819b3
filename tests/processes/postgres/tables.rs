//! Migrations, names of schemas and tables, and the contents of a dump.

use envd_postgres::PostgresStore;
use envd_sdk::auth::{StoreErrorKind, TokenStore};

use super::database::{self, Database, chain, client, pool, settings};
use super::faults::record;
use crate::stores::sessions::{KEY, fake, log_in};

#[tokio::test]
async fn without_tables_the_error_names_migrate() {
    let database = Database::empty().await;
    let store = database.store();
    for _ in 0..2 {
        let error = store.load(KEY).await.unwrap_err();
        assert!(error.kind() == StoreErrorKind::Missing, "{}", chain(&error));
        assert!(error.to_string().contains("migrate"), "{error}");
    }
    store.migrate().await.unwrap();
    assert!(store.load(KEY).await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_migrations_run_once() {
    let database = Database::empty().await;
    let hosts = (0..8).map(|_| {
        let store = database.store();
        tokio::spawn(async move { store.migrate().await })
    });
    let hosts: Vec<_> = hosts.collect();
    for host in hosts {
        host.await.unwrap().unwrap();
    }
    let count = "SELECT count(*)::text FROM {table}_migrations";
    assert_eq!(database.query_text(count).await, "1");
}

#[tokio::test]
async fn a_migration_keeps_the_records() {
    let database = Database::new().await;
    let store = database.store();
    store.swap(KEY, None, &record(3)).await.unwrap().unwrap();
    store.migrate().await.unwrap();
    assert!(store.load(KEY).await.unwrap().is_some());
}

#[tokio::test]
async fn the_script_creates_the_same_tables_as_migrate() {
    let database = Database::empty().await;
    let store = database.store();
    let client = client().await;
    client.batch_execute(&store.migration_sql()).await.unwrap();
    store.swap(KEY, None, &record(3)).await.unwrap().unwrap();
    store.migrate().await.unwrap();
}

#[tokio::test]
async fn tables_of_another_version_are_not_touched() {
    let database = Database::new().await;
    database.store().swap(KEY, None, &record(3)).await.unwrap();
    let newer = "INSERT INTO {table}_migrations (version) VALUES (99)";
    database.run(newer).await;
    let store = database.store();
    assert!(store.load(KEY).await.unwrap_err().kind() == StoreErrorKind::NewerVersion);
    let swapped = store.swap(KEY, None, &record(4)).await;
    assert!(swapped.unwrap_err().kind() == StoreErrorKind::NewerVersion);
    let error = store.migrate().await.unwrap_err();
    assert!(
        error.kind() == StoreErrorKind::NewerVersion,
        "{}",
        chain(&error)
    );
    database.run("DELETE FROM {table}_migrations").await;
    let error = database.store().load(KEY).await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::Missing && error.to_string().contains("migrate"));
}

#[tokio::test]
async fn a_role_without_rights_gets_a_permission_error() {
    let database = Database::new().await;
    let role = format!("{}_guest", database.schema).to_lowercase();
    database.run(&format!("CREATE ROLE {role}")).await;
    let pool = database::pool_with(&format!("-c role={role}"), 2);
    let store = database::store(&pool, &database.schema);
    let error = store.load(KEY).await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::Denied, "{}", chain(&error));
    let elsewhere = settings(&pool, "not_there").build().unwrap();
    let error = elsewhere.migrate().await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::Denied, "{}", chain(&error));
    drop((store, elsewhere, pool));
    database.run(&format!("DROP ROLE {role}")).await;
}

#[tokio::test]
async fn names_may_be_keywords_and_have_capitals() {
    let database = Database::empty().await;
    let pool = pool(2);
    let open = |table: &str| {
        let settings = PostgresStore::builder(pool.clone());
        settings
            .schema(&database.schema)
            .table(table)
            .build()
            .unwrap()
    };
    let (one, two) = (open("Select"), open("select"));
    one.migrate().await.unwrap();
    two.migrate().await.unwrap();
    one.swap(KEY, None, &record(1)).await.unwrap().unwrap();
    assert!(two.load(KEY).await.unwrap().is_none());
}

#[test]
fn a_pool_for_one_connection_is_refused() {
    let url = "postgres://user@127.0.0.1:1/none";
    let pool = envd_postgres::loopback_pool(url, 1).unwrap();
    let error = PostgresStore::builder(pool).build().unwrap_err();
    assert!(error.to_string().contains("two"), "{error}");
}

#[tokio::test]
async fn a_dump_of_the_table_shows_no_token() {
    let database = Database::new().await;
    let fake = fake().await;
    let dump = "SELECT string_agg(stored::text, ' ') FROM {table} AS stored";
    // Control: the store without encryption shows the tokens.
    log_in(&fake, database.store()).await;
    let stored = database.store().load(KEY).await.unwrap().unwrap();
    let shown = database.query_text(dump).await;
    let tokens = stored.record.tokens();
    assert!(shown.contains(tokens.access_token().expose()));
    assert!(shown.contains(tokens.refresh_token().unwrap().expose()));
    let gone = database.store().remove(KEY, stored.version).await;
    assert!(gone.unwrap());

    log_in(&fake, database.sealed()).await;
    let stored = database.sealed().load(KEY).await.unwrap().unwrap();
    let (shown, tokens) = (database.query_text(dump).await, stored.record.tokens());
    assert!(shown.contains(KEY) && shown.contains("\"test\"") || shown.contains("test"));
    let subject = tokens.subject().unwrap();
    for secret in [
        tokens.access_token().expose(),
        tokens.refresh_token().unwrap().expose(),
        tokens.id_token().unwrap().expose(),
        subject,
        "offline_access",
    ] {
        assert!(!shown.contains(secret));
        // No usable part of a token either.
        assert!(
            !secret
                .as_bytes()
                .windows(12)
                .any(|part| { shown.as_bytes().windows(12).any(|window| window == part) })
        );
    }
    let times =
        "SELECT (expires_at - issued_at)::text || refresh_began_at::text IS NULL FROM {table}";
    let life = times.replace(" || refresh_began_at::text IS NULL", "");
    assert_eq!(database.query_text(&life).await, "01:00:00");
}
