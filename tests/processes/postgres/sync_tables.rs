//! Tables of copies, of this version and of others, and what is in them.

use envd_postgres::PostgresSync;
use envd_sdk::auth::{StoreError, StoreErrorKind};
use envd_sync::store::SyncStore;
use envd_sync::store::rows::*;

use super::database::{self, Database, chain, client};
use super::sync_faults::{ACCOUNT, batch, contents};

#[tokio::test]
async fn without_tables_of_copies_the_error_names_migrate() {
    let database = Database::empty().await;
    let store = database.sync();
    for error in [
        store.documents(ACCOUNT, "").await.unwrap_err(),
        store.commit(ACCOUNT, &batch(0)).await.unwrap_err(),
    ] {
        assert!(error.kind() == StoreErrorKind::Missing, "{}", chain(&error));
        assert!(error.to_string().contains("migrate"), "{error}");
    }
    store.migrate().await.unwrap();
    assert!(store.commit(ACCOUNT, &batch(0)).await.unwrap());
    store.migrate().await.unwrap();
    assert_eq!(contents(&store).await.1.len(), 1);
}

#[tokio::test]
async fn the_script_creates_the_same_tables_of_copies_as_migrate() {
    let database = Database::empty().await;
    let store = database.sync();
    client()
        .await
        .batch_execute(&store.migration_sql())
        .await
        .unwrap();
    assert!(store.commit(ACCOUNT, &batch(0)).await.unwrap());
    store.migrate().await.unwrap();
    // Tokens and copies share a schema, each with migrations of its own.
    database.store().migrate().await.unwrap();
    assert_eq!(contents(&store).await.1.len(), 1);
}

/// During a deploy hosts of two versions use the tables. Those of the version before go on if the newer one says that they can.
#[tokio::test]
async fn a_program_goes_on_with_newer_tables_that_it_can_use_and_writes_nothing_to_others() {
    let (database, running) = Database::new_sync().await;
    running.commit(ACCOUNT, &batch(0)).await.unwrap();
    let newer = |oldest| {
        format!(
            "INSERT INTO {{schema}}.sync_migrations (version, oldest) VALUES (98 + {oldest}, {oldest})"
        )
    };
    database.run(&newer(1)).await;
    let started = database.sync();
    started.migrate().await.unwrap();
    assert!(started.commit(ACCOUNT, &batch(1)).await.unwrap());
    assert!(running.commit(ACCOUNT, &batch(2)).await.unwrap());

    let before = contents(&running).await;
    database.run(&newer(2)).await;
    let refused = running.commit(ACCOUNT, &batch(3)).await.unwrap_err();
    assert!(
        refused.kind() == StoreErrorKind::NewerVersion,
        "{}",
        chain(&refused)
    );
    let started = database.sync();
    for error in [
        started.migrate().await.unwrap_err(),
        started.documents(ACCOUNT, "").await.unwrap_err(),
        started.commit(ACCOUNT, &batch(3)).await.unwrap_err(),
    ] {
        assert!(
            error.kind() == StoreErrorKind::NewerVersion,
            "{}",
            chain(&error)
        );
    }
    assert_eq!(contents(&running).await, before);

    database.run("DELETE FROM {schema}.sync_migrations").await;
    let error = database.sync().documents(ACCOUNT, "").await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::Missing && error.to_string().contains("migrate"));
}

/// A migration waits for the commits that have read the version, and holds up those that have not.
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
    while database.query_text(waiting).await == "0" {}
    migration.batch_execute("COMMIT").await.unwrap();
    let error = committing.await.unwrap().unwrap_err();
    assert!(
        error.kind() == StoreErrorKind::NewerVersion,
        "{}",
        chain(&error)
    );
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
async fn a_role_without_rights_on_the_copies_gets_a_permission_error() {
    let (database, _) = Database::new_sync().await;
    let role = format!("{}_guest", database.schema).to_lowercase();
    database.run(&format!("CREATE ROLE {role}")).await;
    let pool = database::pool_with(&format!("-c role={role}"), 2);
    let store = database::sync(&pool, &database.schema);
    let error = store.documents(ACCOUNT, "").await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::Denied, "{}", chain(&error));
    let error = store.commit(ACCOUNT, &batch(0)).await.unwrap_err();
    assert!(error.kind() == StoreErrorKind::Denied, "{}", chain(&error));
    drop((store, pool));
    database.run(&format!("DROP ROLE {role}")).await;
}

#[test]
fn names_of_schemas_and_owners_are_checked() {
    let pool = || envd_postgres::loopback_pool("postgres://u@127.0.0.1:1/d", 1).unwrap();
    assert!(PostgresSync::builder(pool()).build().is_ok());
    assert!(
        PostgresSync::builder(pool())
            .schema("a\"b")
            .build()
            .is_err()
    );
    assert!(PostgresSync::builder(pool()).owner("a'b").build().is_err());
    let shown = format!("{:?}", PostgresSync::builder(pool()).schema("farm"));
    assert!(shown.contains("farm") && !shown.contains("127.0.0.1"));
}
