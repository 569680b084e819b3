//! A declaration that is written down, beside one commit of SQLite.

use std::path::Path;
use std::time::{Duration, Instant};

use envd_sdk::sync::outbox::Outbox;
use rusqlite::{Connection, TransactionBehavior};

use crate::measure::{Goal, row};
use crate::{declaration, median, text_of};

/// How many of each, in turn.
const ROUNDS: usize = 301;

/// A table of texts, with the settings of the store.
fn plain(file: &Path) -> Connection {
    let connection = Connection::open(file).unwrap();
    let mode: String = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .unwrap();
    assert_eq!(mode, "wal");
    connection
        .pragma_update(None, "synchronous", "FULL")
        .unwrap();
    connection
        .pragma_update(None, "wal_autocheckpoint", 4_000)
        .unwrap();
    let table = "CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL)";
    connection.execute_batch(table).unwrap();
    connection
}

fn commit(connection: &mut Connection, text: &str) -> Duration {
    let begun = Instant::now();
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .unwrap();
    transaction
        .prepare_cached("INSERT INTO texts (text) VALUES (?)")
        .unwrap()
        .execute([text])
        .unwrap();
    transaction.commit().unwrap();
    begun.elapsed()
}

/// Returns whether the goal is met.
pub async fn compare(outbox: &Outbox, folder: &Path) -> bool {
    let mut connection = plain(&folder.join("plain.db"));
    let text = text_of(&declaration(0));
    let (mut commits, mut saves) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        commits.push(commit(&mut connection, &text));
        let input = declaration(round);
        let begun = Instant::now();
        outbox.save(input).await.unwrap();
        saves.push(begun.elapsed());
    }
    let [commit, save] = [commits, saves].map(median);
    let work = "declaration written down, with 40 answers";
    row(
        work,
        "a commit of one row by rusqlite, synced, wall time",
        commit * 1e6,
        "µs",
        Goal::None,
    );
    row(
        work,
        "beside that commit",
        save / commit,
        "times",
        Goal::AtMost(1.5),
    )
}
