//! Processes that write to one account at the same time.

use std::env;
use std::process::{Child, Command};

use envd_sdk::sync::store::{Batch, Row, SyncStore};

use super::database::{self, Database};

/// Set for a child: the schema.
const SCHEMA: &str = "ENVD_SDK_TEST_SYNC_SCHEMA";

const ACCOUNT: &str = "one account";
const PROCESSES: u64 = 8;
const COMMITS: u64 = 20;

/// Makes the tables, then adds to a count. Passes at once unless a parent has set a schema.
#[tokio::test]
async fn child_process() {
    let Ok(schema) = env::var(SCHEMA) else { return };
    let store = database::sync(&database::pool(2), &schema);
    store.migrate().await.unwrap();
    let mut written = 0;
    while written < COMMITS {
        let documents = store.documents(ACCOUNT, "count").await.unwrap();
        let version = documents.first().map_or(0, |count| count.version);
        let row = Row {
            id: (version + 1).to_string(),
            sequence: version + 1,
            ..Row::default()
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
    let Some(database) = Database::empty().await else {
        return;
    };
    let start = |_| {
        let (_binary, module) = module_path!().split_once("::").unwrap();
        Command::new(env::current_exe().unwrap())
            .args(["--exact", &format!("{module}::child_process")])
            .env(SCHEMA, &database.schema)
            .spawn()
            .unwrap()
    };
    let children: Vec<Child> = (0..PROCESSES).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
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
