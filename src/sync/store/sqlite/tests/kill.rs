//! A process is killed in the middle of commits, and the next one finds all that were acknowledged.
//!
//! The children are this test binary again.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::{env, io};

use super::folder::{ACCOUNT, Folder, batch, document, rows};
use crate::sync::store::{SqliteSync, SyncStore};

const FILE: &str = "ENVD_SDK_TEST_SYNC_KILL_FILE";
const ROUNDS: u64 = 50;
/// Large enough that checkpoints of the log happen as well.
const PAYLOAD: usize = 40_000;

/// Passes at once unless a parent has set it a task: commits until it is killed, and acknowledges each commit.
#[test]
fn what_a_child_does() {
    let Some(file) = env::var_os(FILE) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = SqliteSync::open(file).unwrap();
        let walk = document(&store).await;
        let mut number = walk.map_or(0, |walk| walk.text.parse().unwrap());
        loop {
            number += 1;
            assert!(
                store
                    .commit(ACCOUNT, &batch(number, PAYLOAD))
                    .await
                    .unwrap()
            );
            println!("\n@@{number}");
            io::stdout().flush().unwrap();
        }
    });
}

#[tokio::test]
async fn no_acknowledged_commit_is_lost_by_a_kill() {
    let folder = Folder::new();
    let mut random = fastrand::Rng::with_seed(4711);
    let mut acknowledged = 0;
    for round in 0..ROUNDS {
        let name = "sync::store::sqlite::tests::kill::what_a_child_does";
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture", "--test-threads=1"])
            .env(FILE, folder.file())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut numbers = lines.filter_map(|line| line.ok()?.strip_prefix("@@")?.parse().ok());
        // At some point in the commits that follow, while the parent does nothing of known length.
        for _ in 0..=random.u32(..12) {
            acknowledged = numbers.next().unwrap_or_else(|| panic!("round {round}"));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged = numbers.last().unwrap_or(acknowledged);
        let store = folder.store();
        let walk = document(&store).await.unwrap();
        let last: u64 = walk.text.parse().unwrap();
        // The last one may have been committed before the child could tell.
        assert!(
            (acknowledged..=acknowledged + 1).contains(&last),
            "round {round}"
        );
        let rows = rows(&store).await;
        assert!(
            rows.iter().map(|row| row.sequence).eq(1..=last),
            "round {round}"
        );
        assert!(rows.iter().all(|row| row.payload.len() == PAYLOAD));
    }
    assert!(acknowledged >= ROUNDS);
}
