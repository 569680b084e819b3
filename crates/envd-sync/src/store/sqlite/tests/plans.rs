//! The indexes that `SQLite` chooses.

use rusqlite::{Connection, params_from_iter};

use super::folder::Folder;
use crate::store::rows::{Batch, LocalPosition, Query, RecordRow, RowKeys};
use crate::store::sqlite::statements::Search;
use crate::store::{Order, SyncStore};

const ACCOUNTS: u64 = 10;
const ROWS: u64 = 200;

fn row(number: u64) -> RecordRow {
    let is_rare = number.is_multiple_of(100);
    RecordRow {
        id: format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        sequence: number,
        keys: RowKeys {
            status: Some(if is_rare { "RARE" } else { "DRAFT" }.to_owned()),
            species: Some("CATTLE".into()),
            number: Some(format!("C-{number}")),
            origin_pic: Some("3HOME001".into()),
            destination_pic: Some(format!("3ABCD{:03}", number % 200)),
            movement_day: Some(format!("2027-01-{:02}", 1 + number % 28)),
            updated_at: Some(format!("2027-01-01T00:00:00.{:03}", number % 999)),
        },
        ..RecordRow::default()
    }
}

const CONDITIONS: [fn(&mut Query); 12] = [
    |_| {},
    |query| query.status = Some("DRAFT".into()),
    |query| query.status = Some("RARE".into()),
    |query| query.species = Some("CATTLE".into()),
    |query| query.number = Some("C-77".into()),
    |query| query.pic = Some("3HOME001".into()),
    |query| query.pic = Some("3ABCD007".into()),
    |query| query.movement_from = Some("2027-01-20".into()),
    |query| query.movement_to = Some("2027-01-02".into()),
    |query| query.updated_from = Some("2027-01-01T00:00:00.5".into()),
    |query| query.before_generation = Some(7),
    |query| query.up_to_sequence = Some(100),
];

/// The plans of a search and of its count, with a line for each table read.
fn plans(database: &Connection, query: &Query) -> Vec<String> {
    let mut plans = Vec::new();
    for search in [Search::page(Some(1), query), Search::count(Some(1), query)] {
        let explain = format!("EXPLAIN QUERY PLAN {}", search.sql);
        let mut statement = database.prepare(&explain).unwrap();
        let parameters = params_from_iter(search.values);
        let lines = statement.query_map(parameters, |row| row.get(3)).unwrap();
        plans.extend(lines.map(Result::unwrap));
    }
    plans.retain(|line: &String| line.contains(" records"));
    plans
}

#[tokio::test]
async fn no_query_reads_rows_of_other_accounts_or_all_of_the_table() {
    let folder = Folder::new();
    let store = folder.store();
    for account in 0..ACCOUNTS {
        let rows = (0..ROWS).map(|number| row(account * ROWS + number));
        let batch = Batch {
            rows: rows.collect(),
            ..Batch::default()
        };
        let account = format!("farm {account}");
        assert!(store.commit(&account, &batch).await.unwrap());
    }
    let database = Connection::open(folder.file()).unwrap();
    for statistics in [true, false] {
        if !statistics {
            let drop = "DROP TABLE sqlite_stat1; DROP TABLE sqlite_stat4; ANALYZE sqlite_schema";
            database.execute_batch(drop).unwrap();
        }
        for (number, one) in CONDITIONS.iter().enumerate() {
            for other in &CONDITIONS[number..] {
                for order in [Order::Id, Order::LastUpdated, Order::Sequence] {
                    for after in [
                        None,
                        Some(LocalPosition::from(&row(77))),
                        Some(LocalPosition::default()),
                    ] {
                        let mut query = Query {
                            order,
                            after,
                            limit: 20,
                            ..Query::default()
                        };
                        one(&mut query);
                        other(&mut query);
                        for line in plans(&database, &query) {
                            let is_by_index = line.contains("INDEX records_");
                            assert!(
                                is_by_index && line.contains("(account=?"),
                                "{line}: {query:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// The index by sequence has all rows; only the statistics show that few rows have this status.
#[tokio::test]
async fn rows_that_are_few_are_found_by_their_condition_and_many_in_their_order() {
    let folder = Folder::new();
    let store = folder.store();
    let batch = Batch {
        rows: (0..2_000).map(row).collect(),
        ..Batch::default()
    };
    assert!(store.commit("farm", &batch).await.unwrap());
    let database = Connection::open(folder.file()).unwrap();
    for (status, index) in [("RARE", "records_status"), ("DRAFT", "records_sequence")] {
        let query = Query {
            status: Some(status.to_owned()),
            order: Order::Sequence,
            limit: 20,
            ..Query::default()
        };
        let plans = plans(&database, &query);
        assert!(plans[0].contains(index), "{plans:?}");
    }
}

/// If rows are pruned, the row numbers grow although the table does not.
#[tokio::test]
async fn values_are_counted_again_only_when_the_numbers_of_rows_have_doubled() {
    let folder = Folder::new();
    let store = folder.store();
    let rows = |numbers: std::ops::Range<u64>| Batch {
        rows: numbers.map(row).collect(),
        ..Batch::default()
    };
    store.commit("farm", &rows(0..1_200)).await.unwrap();
    for (numbers, counted) in [(1_200..1_210, false), (1_210..2_500, true)] {
        let forget = "DELETE FROM sqlite_stat1";
        store.writer.lock().await.execute_batch(forget).unwrap();
        store.commit("farm", &rows(numbers)).await.unwrap();
        let count = "SELECT count(*) FROM sqlite_stat1";
        let found: i64 = (store.writer.lock().await)
            .query_row(count, (), |row| row.get(0))
            .unwrap();
        assert_eq!(found > 0, counted);
    }
}
