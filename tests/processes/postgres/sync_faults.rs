//! Faults of databases and networks while a copy is written.

use std::time::Duration;

use envd_postgres::PostgresSync;
use envd_sdk::auth::{StoreError, StoreErrorKind};
use envd_sync::store::SyncStore;
use processes::{Mode, Proxy, within};

use super::copies::{ACCOUNT, batch, contents};
use super::database::{self, Database, chain, is_of};
use super::outages::restart;

/// The number of statements in the first round trip; the second writes.
const BEGIN: usize = 4;

/// Checks that the batch over this version, and every earlier batch, was written once.
async fn ensure_written(store: &PostgresSync, before: u64) {
    let (documents, rows, changes) = contents(store).await;
    let walk = documents.iter().find(|document| document.name == "walk");
    assert_eq!(walk.map(|walk| walk.version), Some(before + 1));
    assert_eq!(documents.len(), 2);
    let sequences: Vec<u64> = rows.iter().map(|row| row.sequence).collect();
    assert_eq!(sequences, [before + 1]);
    let sequences: Vec<u64> = changes.iter().map(|change| change.sequence).collect();
    assert_eq!(sequences, [before + 1]);
}

fn ensure_quiet(error: &StoreError) {
    let shown = format!("{error:?} {}", chain(error));
    assert!(!shown.contains("s3cr3t"), "{shown}");
}

/// A store that is connected through a proxy.
async fn through(proxy: &Proxy, database: &Database) -> PostgresSync {
    let store = database::sync(&database::pool_through(proxy, 1), &database.schema);
    store.documents(ACCOUNT, "").await.unwrap();
    store
}

/// The number of statements in a commit of [`batch`].
async fn statements(database: &Database) -> usize {
    let proxy = database::proxy().await;
    let store = through(&proxy, database).await;
    let before = proxy.statements();
    assert!(store.commit("another account", &batch(0)).await.unwrap());
    proxy.statements() - before
}

/// Interrupts a commit before each of these statements, and checks its result and the stored data.
async fn interrupted(
    database: &Database,
    before_statements: impl IntoIterator<Item = usize>,
    interrupt: impl AsyncFn(&Proxy),
) {
    let proxy = database::proxy().await;
    let near = database.sync();
    for (version, passed) in (0..).zip(before_statements) {
        let far = through(&proxy, database).await;
        let before = contents(&near).await;
        proxy.hold_after(passed);
        let committing = tokio::spawn({
            let far = far.clone();
            async move { far.commit(ACCOUNT, &batch(version)).await }
        });
        proxy.stopped().await;
        interrupt(&proxy).await;
        match within("the end of a commit", committing).await.unwrap() {
            // Nothing was written when the connection was lost, so the store retried the commit.
            Ok(written) => assert!(written && passed < BEGIN, "{passed}"),
            Err(error) => {
                is_of(&error, StoreErrorKind::Unreachable);
                ensure_quiet(&error);
                assert_eq!(contents(&near).await, before, "{passed}");
                assert!(near.commit(ACCOUNT, &batch(version)).await.unwrap());
            }
        }
        ensure_written(&near, version).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_connection_is_cut_between_two_statements_is_whole_or_not_there() {
    let (database, _) = Database::new_sync().await;
    let statements = statements(&database).await;
    assert!(statements > 10, "{statements}");
    interrupted(&database, 0..statements, async |proxy| {
        proxy.set(Mode::Cut);
        proxy.set(Mode::Pass);
    })
    .await;
}

/// A restart takes seconds on a busy machine, so this does not restart between all statements.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_during_which_the_database_restarts_is_whole_or_not_there() {
    let database = Database::new_exclusive().await;
    database.sync().migrate().await.unwrap();
    let last = statements(&database).await - 1;
    interrupted(&database, [BEGIN - 1, BEGIN, last], async |proxy| {
        restart(&database).await;
        proxy.set(Mode::Cut);
        proxy.set(Mode::Pass);
    })
    .await;
}

/// The caller gets an error and does not know whether the batch was written; a second write is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_is_lost_is_an_error_and_there_once() {
    let (database, near) = Database::new_sync().await;
    let proxy = database::proxy().await;
    for version in 0..5 {
        let far = through(&proxy, &database).await;
        // The replies to the first round trip pass.
        proxy.hold_after(BEGIN);
        let committing = tokio::spawn({
            let far = far.clone();
            async move { far.commit(ACCOUNT, &batch(version)).await }
        });
        proxy.stopped().await;
        proxy.set(Mode::HoldReplies);
        let is_there = async || {
            let documents = near.documents(ACCOUNT, "walk").await.unwrap();
            documents.first().map_or(0, |scan| scan.version) == version + 1
        };
        processes::until("a commit whose answer is held", is_there).await;
        assert!(!committing.is_finished());
        proxy.set(Mode::Cut);
        proxy.set(Mode::Pass);
        let done = within("the end of a commit", committing).await;
        let error = done.unwrap().unwrap_err();
        is_of(&error, StoreErrorKind::Unreachable);
        ensure_quiet(&error);
        assert!(!far.commit(ACCOUNT, &batch(version)).await.unwrap());
        ensure_written(&near, version).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_without_an_answer_times_out_and_frees_the_account() {
    let (database, near) = Database::new_sync().await;
    let proxy = database::proxy().await;
    for (version, passed) in (0..).zip([0, 3, 4, 7]) {
        let pool = database::pool_through(&proxy, 1);
        let far = database::sync_settings(&pool, &database.schema);
        let far = far.time_out(Duration::from_millis(300)).build().unwrap();
        // Connect first: a new connection may take longer than the limit on a busy machine.
        let is_connected = async || far.documents(ACCOUNT, "").await.is_ok();
        processes::until("a connection", is_connected).await;
        proxy.hold_after(passed);
        let error = far.commit(ACCOUNT, &batch(version)).await.unwrap_err();
        is_of(&error, StoreErrorKind::Unreachable);
        // The connection is still open; the server ends its idle transaction.
        assert!(near.commit(ACCOUNT, &batch(version)).await.unwrap());
        proxy.set(Mode::Cut);
        proxy.set(Mode::Pass);
        ensure_written(&near, version).await;
    }
}

#[tokio::test]
async fn an_account_that_another_process_writes_is_a_lock_timeout() {
    let (database, store) = Database::new_sync().await;
    store.commit(ACCOUNT, &batch(0)).await.unwrap();
    let client = database::client().await;
    let hold = database.named("BEGIN; SELECT 1 FROM {schema}.sync_lock FOR UPDATE");
    client.batch_execute(&hold).await.unwrap();
    let hasty = database::sync_settings(&database::pool(2), &database.schema);
    let hasty = hasty.time_out(Duration::from_secs(2)).build().unwrap();
    let error = hasty.commit(ACCOUNT, &batch(1)).await.unwrap_err();
    is_of(&error, StoreErrorKind::LockTimeout);
    // Neither reads nor other accounts wait.
    assert_eq!(hasty.documents(ACCOUNT, "").await.unwrap().len(), 2);
    assert!(hasty.commit("another account", &batch(0)).await.unwrap());
    client.batch_execute("ROLLBACK").await.unwrap();
    assert!(hasty.commit(ACCOUNT, &batch(1)).await.unwrap());
}

#[tokio::test]
async fn full_read_only_and_slow_databases_are_errors_of_their_own_and_write_nothing() {
    let (database, store) = Database::new_sync().await;
    store.commit(ACCOUNT, &batch(0)).await.unwrap();
    let with = |options: &str| {
        let pool = database::pool_with(options, 2);
        database::sync(&pool, &database.schema)
    };
    let read_only = with("-c default_transaction_read_only=on");
    let error = read_only.commit(ACCOUNT, &batch(1)).await.unwrap_err();
    is_of(&error, StoreErrorKind::Denied);
    assert_eq!(read_only.documents(ACCOUNT, "").await.unwrap().len(), 2);

    database.fill("{schema}.sync_payload", "INSERT").await;
    let error = store.commit(ACCOUNT, &batch(1)).await.unwrap_err();
    is_of(&error, StoreErrorKind::Full);
    ensure_quiet(&error);
    database
        .run("DROP TRIGGER full_disk ON {schema}.sync_payload")
        .await;

    let impatient = with("-c statement_timeout=100ms");
    let client = database::client().await;
    let hold = database.named("BEGIN; LOCK TABLE {schema}.sync_change");
    client.batch_execute(&hold).await.unwrap();
    let error = impatient.commit(ACCOUNT, &batch(1)).await.unwrap_err();
    is_of(&error, StoreErrorKind::Unreachable);
    client.batch_execute("ROLLBACK").await.unwrap();
    ensure_written(&store, 0).await;
    assert!(store.commit(ACCOUNT, &batch(1)).await.unwrap());
    ensure_written(&store, 1).await;
}

/// Some errors of the server quote the sent data.
#[tokio::test]
async fn refused_values_are_not_quoted() {
    let (_database, store) = Database::new_sync().await;
    store.commit(ACCOUNT, &batch(0)).await.unwrap();
    let mut repeated = batch(1);
    repeated.forget_changes = None;
    repeated.changes[0].sequence = 1;
    let mut with_nul = batch(1);
    with_nul.rows[0].payload = "s3cr3t\0".to_owned();
    let mut too_large = batch(1);
    too_large.rows[0].sequence = u64::MAX;
    for refused in [repeated, with_nul, too_large] {
        let error = store.commit(ACCOUNT, &refused).await.unwrap_err();
        ensure_quiet(&error);
        ensure_written(&store, 0).await;
    }
    let error = store.documents("s3cr3t\0", "").await.unwrap_err();
    ensure_quiet(&error);
    assert!(!format!("{store:?}").contains("s3cr3t"));
}
