//! Processes that write to one account at the same time.

use envd_sync::store::SyncStore;
use envd_sync::store::rows::*;

use processes::{Process, child, task};

use super::database::{self, Database};

const ACCOUNT: &str = "one account";
const PROCESSES: u64 = 8;
const COMMITS: u64 = 20;

/// Creates the tables, then increments a counter.
#[tokio::test]
async fn child_process() {
    let Some(task) = task() else { return };
    let store = database::sync(&database::pool(2), &task[0]);
    store.migrate().await.unwrap();
    let mut written = 0;
    while written < COMMITS {
        let documents = store.documents(ACCOUNT, "count").await.unwrap();
        let version = documents.first().map_or(0, |count| count.version);
        let row = RecordRow {
            id: (version + 1).to_string(),
            sequence: version + 1,
            ..RecordRow::default()
        };
        let batch = Batch {
            expected: vec![("count".to_owned(), version)],
            documents: vec![("count".to_owned(), Some(String::new()))],
            rows: vec![row],
            ..Batch::default()
        };
        written += u64::from(store.commit(ACCOUNT, &batch).await.unwrap());
    }
}

#[tokio::test]
async fn eight_processes_make_the_tables_once_and_lose_no_commit() {
    let database = Database::empty().await;
    let start = |_| child!(child_process, database.schema);
    let children: Vec<Process> = (0..PROCESSES).map(start).collect();
    for mut child in children {
        assert_eq!(child.wait(), Some(0));
    }
    let store = database.sync();
    let documents = store.documents(ACCOUNT, "").await.unwrap();
    assert_eq!(documents[0].version, PROCESSES * COMMITS);
    let rows = "SELECT count(*)::text || ' ' || max(sequence) FROM {schema}.sync_record";
    let all = PROCESSES * COMMITS;
    assert_eq!(database.query_text(rows).await, format!("{all} {all}"));
    let applied = "SELECT count(*)::text FROM {schema}.sync_migrations";
    assert_eq!(database.query_text(applied).await, "1");
}
