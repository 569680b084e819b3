//! Kills a process in the middle of commits to a file; the next process finds all acknowledged commits.

use envd_sync::store::SqliteSync;
use envd_sync::store::SyncStore;
use envd_sync::store::rows::*;
use processes::{Folder, child, reply, task};

const ACCOUNT: &str = "farm";
const ROUNDS: u64 = 50;
/// Large enough to cause checkpoints of the log.
const PAYLOAD: usize = 40_000;

/// A batch with a row, and a document with its number.
fn batch(number: u64) -> Batch {
    let row = RecordRow {
        id: format!("{number:06}"),
        sequence: number,
        payload: "x".repeat(PAYLOAD),
        ..RecordRow::default()
    };
    Batch {
        documents: vec![("walk".to_owned(), Some(number.to_string()))],
        rows: vec![row],
        ..Batch::default()
    }
}

/// The number of the last commit.
async fn last(store: &SqliteSync) -> u64 {
    let walk = store.documents(ACCOUNT, "walk").await.unwrap().pop();
    walk.map_or(0, |walk| walk.text.parse().unwrap())
}

/// Commits until it is killed, and acknowledges each commit.
#[tokio::test]
async fn writer_process() {
    let Some(task) = task() else { return };
    let store = SqliteSync::open(&task[0]).unwrap();
    for number in last(&store).await + 1.. {
        let written = store.commit(ACCOUNT, &batch(number)).await;
        assert!(written.unwrap());
        reply(&number.to_string());
    }
}

#[tokio::test]
async fn no_acknowledged_commit_is_lost_by_a_kill() {
    let folder = Folder::new();
    let mut random = fastrand::Rng::with_seed(4711);
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let mut writer = child!(writer_process, folder.text("farm.db"));
        // Kill it at a random point in the following commits.
        for _ in 0..=random.u32(..12) {
            acknowledged = writer.receive().parse().unwrap();
        }
        writer.kill();
        let read = writer.by_ref().last();
        acknowledged = read.map_or(acknowledged, |number| number.parse().unwrap());
        let store = SqliteSync::open(folder.path("farm.db")).unwrap();
        let last = last(&store).await;
        // The child may have committed once more without reporting it.
        let known = acknowledged..=acknowledged + 1;
        assert!(known.contains(&last), "round {round}: {last} of {known:?}");
        let all = Query {
            limit: 100_000,
            ..Query::default()
        };
        let rows = store.query(ACCOUNT, &all).await.unwrap();
        let sequences = rows.iter().map(|row| row.sequence);
        assert!(sequences.eq(1..=last), "round {round}");
        assert!(rows.iter().all(|row| row.payload.len() == PAYLOAD));
    }
    assert!(acknowledged >= ROUNDS);
}
