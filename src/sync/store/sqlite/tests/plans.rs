//! Which indexes `SQLite` chooses.

use rusqlite::{Connection, params_from_iter};

use super::folder::Folder;
use crate::sync::store::sqlite::row_query::{page, sql_query};
use crate::sync::store::{Batch, Order, Query, Row, RowKeys, RowStore};

const ACCOUNTS: u64 = 10;
const ROWS: u64 = 200;

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn row(number: u64) -> Row {
    let is_rare = number.is_multiple_of(100);
    Row {
        id: format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        sequence: number,
        keys: RowKeys {
            status: text(if is_rare { "RARE" } else { "DRAFT" }),
            species: text("CATTLE"),
            number: Some(format!("C-{number}")),
            origin_pic: text("3HOME001"),
            destination_pic: Some(format!("3ABCD{:03}", number % 200)),
            movement_day: Some(format!("2027-01-{:02}", 1 + number % 28)),
            updated_at: Some(format!("2027-01-01T00:00:00.{:03}", number % 999)),
        },
        ..Row::default()
    }
}

const CONDITIONS: [fn(&mut Query); 12] = [
    |_| {},
    |query| query.status = text("DRAFT"),
    |query| query.status = text("RARE"),
    |query| query.species = text("CATTLE"),
    |query| query.number = text("C-77"),
    |query| query.pic = text("3HOME001"),
    |query| query.pic = text("3ABCD007"),
    |query| query.movement_from = text("2027-01-20"),
    |query| query.movement_to = text("2027-01-02"),
    |query| query.updated_from = text("2027-01-01T00:00:00.5"),
    |query| query.before_generation = Some(7),
    |query| query.up_to_sequence = Some(100),
];

/// The plans of a search and of its count, a line for each table that is read.
fn plans(database: &Connection, query: &Query) -> Vec<String> {
    let mut plans = Vec::new();
    for is_count in [false, true] {
        let mut sql = sql_query(1, query);
        let statement = if is_count {
            sql.count()
        } else {
            page(&mut sql)
        };
        let explain = format!("EXPLAIN QUERY PLAN {statement}");
        let mut statement = database.prepare(&explain).unwrap();
        let parameters = params_from_iter(sql.parameters);
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
                    for after in [None, Some(row(77)), Some(Row::default())] {
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

/// In the order of the sequence an index has all rows, so only the statistics show that few have this status.
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
            status: text(status),
            order: Order::Sequence,
            limit: 20,
            ..Query::default()
        };
        let plans = plans(&database, &query);
        assert!(plans[0].contains(index), "{plans:?}");
    }
}
