//! Migrations, names of schemas and tables, damaged rows, and the contents of a dump.

use envd_postgres::{PostgresPool, PostgresStore, PostgresSync};
use envd_sdk::auth::{StoreError, StoreErrorKind, TokenStore};
use envd_sync::store::SyncStore;
use envd_sync::store::rows::*;

use super::both::Store;
use super::copies::{ACCOUNT, batch};
use super::database::{self, Access, Database, OtherDatabase, chain, client, is_of, pool, pool_of};
use super::faults::record;
use crate::stores::sessions::{KEY, fake, log_in};

/// Tokens and copies share a schema, each with its own migrations.
#[tokio::test]
async fn without_tables_the_error_names_migrate() {
    let database = Database::empty().await;
    for store in database.both() {
        store.refuses(StoreErrorKind::Missing, "migrate").await;
        store.migrate().await.unwrap();
        store.write().await.unwrap();
        store.migrate().await.unwrap();
        assert_eq!(store.written().await, 1);
    }
}

#[tokio::test]
async fn the_script_creates_the_same_tables_as_migrate() {
    let database = Database::empty().await;
    for store in database.both() {
        client().await.batch_execute(&store.script()).await.unwrap();
        store.write().await.unwrap();
        store.migrate().await.unwrap();
        assert_eq!(store.written().await, 1);
    }
}

/// The tables may come from a dump of another database.
#[tokio::test]
async fn a_database_that_cannot_store_every_text_is_refused_by_migrate_and_by_the_first_use() {
    let _access = Access::shared().await;
    for (encoding, is_usable) in [("LATIN1", false), ("WIN1252", false), ("SQL_ASCII", true)] {
        let other = OtherDatabase::new(encoding).await;
        for store in Store::both(&pool_of(other.config(), 4), "envd") {
            if is_usable {
                store.use_everything().await.unwrap();
                continue;
            }
            let error = store.migrate().await.unwrap_err();
            assert!(chain(&error).contains("UTF8"), "{}", chain(&error));
            store.refuses_to_migrate(StoreErrorKind::Unsupported).await;
            let prefix = store.prefix();
            let restored = format!(
                "CREATE SCHEMA IF NOT EXISTS envd;
                 CREATE TABLE envd.{prefix}_migrations (version int4, oldest int4);
                 INSERT INTO envd.{prefix}_migrations VALUES (99, 1)"
            );
            let client = database::connect(&other.config()).await;
            client.batch_execute(&restored).await.unwrap();
            store.refuses(StoreErrorKind::Unsupported, "UTF8").await;
        }
    }
}

/// During a deployment, hosts of two versions use the tables. Hosts of the old version continue if the new version declares compatibility.
#[tokio::test]
async fn a_program_goes_on_with_newer_tables_that_it_can_use_and_writes_nothing_to_others() {
    let database = Database::empty().await;
    let started = || database.both().into_iter();
    for (running, at) in database.both().iter().zip(0..) {
        running.migrate().await.unwrap();
        running.write().await.unwrap();
        let migrations = format!("{{schema}}.{}_migrations", running.prefix());
        let newer = |oldest| {
            format!("INSERT INTO {migrations} (version, oldest) VALUES (98 + {oldest}, {oldest})")
        };
        database.run(&newer(1)).await;
        let other = started().nth(at).unwrap();
        other.migrate().await.unwrap();
        other.write().await.unwrap();
        running.write().await.unwrap();

        database.run(&newer(2)).await;
        let newer = StoreErrorKind::NewerVersion;
        // A host of tokens checks the version only at the start.
        if let Store::Copies(_) = running {
            assert!(running.write().await.unwrap_err().kind() == newer);
        }
        let other = started().nth(at).unwrap();
        other.refuses(newer, "").await;
        other.refuses_to_migrate(newer).await;

        database.run(&format!("DELETE FROM {migrations}")).await;
        let other = started().nth(at).unwrap();
        other.refuses(StoreErrorKind::Missing, "migrate").await;
        database
            .run(&format!("INSERT INTO {migrations} (version) VALUES (1)"))
            .await;
        assert_eq!(running.written().await, 3);
    }
}

/// A migration waits for commits that have read the version, and blocks commits that have not.
#[tokio::test]
async fn a_commit_does_not_end_after_a_migration_that_it_has_not_seen() {
    let (database, store) = Database::new_sync().await;
    store.commit(ACCOUNT, &batch(0)).await.unwrap();
    let migration = client().await;
    let begin = "BEGIN; LOCK TABLE {schema}.sync_migrations IN ACCESS EXCLUSIVE MODE;
        INSERT INTO {schema}.sync_migrations (version) VALUES (99)";
    migration
        .batch_execute(&database.named(begin))
        .await
        .unwrap();
    let committing = tokio::spawn({
        let store = store.clone();
        async move { store.commit(ACCOUNT, &batch(1)).await }
    });
    let waiting = "SELECT count(*)::text FROM pg_locks
        WHERE NOT granted AND relation = '{schema}.sync_migrations'::regclass";
    let waits = async || database.query_text(waiting).await != "0";
    processes::until("a commit that waits", waits).await;
    migration.batch_execute("COMMIT").await.unwrap();
    let error = committing.await.unwrap().unwrap_err();
    is_of(&error, StoreErrorKind::NewerVersion);
}

#[tokio::test]
async fn damaged_rows_are_unreadable_and_are_not_overwritten() {
    let (database, store) = Database::new_sync().await;
    store.commit(ACCOUNT, &batch(0)).await.unwrap();
    let ids = ["s3cr3t-1".to_owned()];
    let query = Query {
        limit: 9,
        ..Query::default()
    };
    let unreadable = |error: StoreError| {
        let shown = format!("{error:?} {}", chain(&error));
        assert!(
            error.kind() == StoreErrorKind::Unreadable && !shown.contains("s3cr3t"),
            "{shown}"
        );
    };
    for damage in [
        "UPDATE {schema}.sync_record SET sequence = -1",
        "UPDATE {schema}.sync_record SET sequence = 1, generation = -1",
        "UPDATE {schema}.sync_record SET generation = 1; DELETE FROM {schema}.sync_payload",
    ] {
        database.run(damage).await;
        unreadable(store.rows(ACCOUNT, &ids).await.unwrap_err());
        unreadable(store.query(ACCOUNT, &query).await.unwrap_err());
    }
    database
        .run("UPDATE {schema}.sync_document SET version = -1")
        .await;
    unreadable(store.documents(ACCOUNT, "").await.unwrap_err());
    unreadable(store.commit(ACCOUNT, &batch(0)).await.unwrap_err());
    database
        .run("UPDATE {schema}.sync_change SET previous = -1")
        .await;
    let range = ChangeRange::After(0);
    unreadable(store.changes(ACCOUNT, range, 9).await.unwrap_err());
    let changed = "SELECT count(*)::text FROM {schema}.sync_document WHERE version = -1";
    assert_eq!(database.query_text(changed).await, "2");
}

#[tokio::test]
async fn a_role_without_rights_gets_a_permission_error() {
    let database = Database::empty().await;
    let role = format!("{}_guest", database.schema).to_lowercase();
    database.run(&format!("CREATE ROLE {role}")).await;
    let pool = database::pool_with(&format!("-c role={role}"), 2);
    for store in database.both() {
        store.migrate().await.unwrap();
    }
    for store in Store::both(&pool, &database.schema) {
        store.refuses(StoreErrorKind::Denied, "").await;
    }
    for store in Store::both(&pool, "not_there") {
        store.refuses_to_migrate(StoreErrorKind::Denied).await;
    }
    drop(pool);
    database.run(&format!("DROP ROLE {role}")).await;
}

#[tokio::test]
async fn names_may_be_keywords_and_have_capitals() {
    let database = Database::empty().await;
    let pool = pool(2);
    let open = |table: &str| {
        let settings = PostgresStore::builder(PostgresPool::from_pool(pool.clone()));
        settings
            .schema(&database.schema)
            .table(table)
            .build()
            .unwrap()
    };
    let one = open("Select");
    let two = open("select");
    one.migrate().await.unwrap();
    two.migrate().await.unwrap();
    one.swap(KEY, None, &record(1)).await.unwrap().unwrap();
    assert!(two.load(KEY).await.unwrap().is_none());
}

#[test]
fn a_pool_for_one_connection_is_refused() {
    let url = "postgres://user@127.0.0.1:1/none";
    let pool = PostgresPool::from_url(url, 1).unwrap();
    let error = PostgresStore::builder(pool).build().unwrap_err();
    assert!(error.to_string().contains("two"), "{error}");
}

#[test]
fn a_builder_shows_its_schema_and_no_address() {
    let pool = PostgresPool::from_url("postgres://u@127.0.0.1:1/d", 1).unwrap();
    let shown = format!("{:?}", PostgresSync::builder(pool).schema("farm"));
    assert!(shown.contains("farm") && !shown.contains("127.0.0.1"));
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
    let shown = database.query_text(dump).await;
    let tokens = stored.record.tokens();
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
        // Not even a usable part of a token.
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
