//! What the store of copies costs: statements, round trips, and the rows that they read.

use envd_sdk::sync::store::{
    Batch, ChangeRange, Order, PostgresSync, Query, Row, RowKeys, SyncStore,
};
use processes::Proxy;

use super::database::{self, Database};
use super::sync_faults::batch;

const ACCOUNT: &str = "farm";

/// A row of which half have a common status and every 2,000th a rare one.
fn row(number: u64) -> Row {
    let status = match number % 2_000 {
        0 => "RARE",
        odd if odd % 2 == 1 => "DRAFT",
        _ => "SUBMITTED",
    };
    // Rows that moved last are not those that were changed last: else the order would have to be read from the other end.
    let day = format!("2026-{:02}-{:02}", 1 + number % 12, 1 + number % 28);
    let changed = format!(
        "2026-{:02}-{:02}",
        1 + number / 12 % 12,
        1 + number / 7 % 28
    );
    Row {
        id: format!("{:016x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        sequence: number + 1,
        generation: 1,
        keys: RowKeys {
            status: Some(status.to_owned()),
            species: Some("CATTLE".to_owned()),
            number: Some(format!("C-{number}")),
            origin_pic: Some("3HOME001".to_owned()),
            destination_pic: Some(format!("3ABCD{:03}", number % 200)),
            movement_day: Some(day),
            updated_at: (!number.is_multiple_of(10))
                .then(|| format!("{changed}T10:00:00.{number:06}")),
        },
        payload: "{}".to_owned(),
    }
}

const ROWS: u64 = 24_000;
/// The store counts to 5,000. Where half of all rows meet a condition, any index finds so many of them soon.
const MOST: u64 = 3 * 5_000;

/// A store whose connection reports the plan of each statement, with the rows that it has read.
async fn explained(proxy: &Proxy, database: &Database, options: &str) -> PostgresSync {
    let options = format!(
        "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c client_min_messages=log
         -c auto_explain.log_analyze=on -c auto_explain.log_timing=off {options}"
    );
    let mut config = database::config_without_host();
    config.host("127.0.0.1").port(proxy.address().port());
    config.options(options.replace('\n', " "));
    let store = database::sync(&database::pool_of(config, 1), &database.schema);
    store.documents(ACCOUNT, "").await.unwrap();
    proxy.take_replies();
    store
}

/// The plans that the server has reported.
fn plans(proxy: &Proxy) -> Vec<String> {
    let replies = proxy.take_replies();
    let plans = replies.split("plan:\nQuery Text: ").skip(1);
    let plans = plans.map(|plan| plan.split('\0').next().unwrap());
    plans.map(ToOwned::to_owned).collect()
}

/// Each scan of a table of ours with what belongs to it.
fn scans(plan: &str) -> Vec<&str> {
    let is_scan = |node: &&str| {
        let head = node.lines().next().unwrap_or_default();
        head.contains(" Scan ") && head.contains(" on sync_")
    };
    // The nodes follow the statement.
    let head = plan.lines().take_while(|line| !line.contains("(cost="));
    let nodes = &plan[head.map(|line| line.len() + 1).sum::<usize>()..];
    let nodes = nodes.split("->").flat_map(|node| node.split("\n  SubPlan"));
    nodes.filter(is_scan).collect()
}

fn conditions() -> Vec<Query> {
    let text = |text: &str| Some(text.to_owned());
    let all = Query::default;
    vec![
        all(),
        Query {
            status: text("DRAFT"),
            ..all()
        },
        Query {
            status: text("RARE"),
            ..all()
        },
        Query {
            status: text("none"),
            ..all()
        },
        Query {
            species: text("CATTLE"),
            ..all()
        },
        Query {
            number: text("C-77"),
            ..all()
        },
        Query {
            pic: text("3ABCD007"),
            ..all()
        },
        Query {
            pic: text("3HOME001"),
            ..all()
        },
        Query {
            movement_from: text("2026-12-27"),
            ..all()
        },
        Query {
            movement_from: text("2026-05-03"),
            movement_to: text("2026-05-03"),
            ..all()
        },
        Query {
            movement_to: text("2026-06-30"),
            ..all()
        },
        Query {
            updated_from: text("2026-12-27T00:00:00"),
            ..all()
        },
        Query {
            updated_from: text("2026-06-01T00:00:00"),
            ..all()
        },
        Query {
            status: text("DRAFT"),
            species: text("CATTLE"),
            ..all()
        },
        Query {
            status: text("RARE"),
            pic: text("3HOME001"),
            ..all()
        },
        Query {
            status: text("DRAFT"),
            up_to_sequence: Some(ROWS),
            ..all()
        },
    ]
}

/// Without statistics of the tables, and with them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_of_many_rows_are_found_without_reading_many() {
    let (database, store) = Database::new_sync().await;
    let rows: Vec<Row> = (0..ROWS).map(row).collect();
    for account in [ACCOUNT, "other"] {
        let batch = Batch {
            rows: rows.clone(),
            ..Batch::default()
        };
        store.commit(account, &batch).await.unwrap();
    }
    let proxy = database::proxy().await;
    for analyze in ["", "ANALYZE {schema}.sync_record"] {
        database.run(analyze).await;
        let explained = explained(&proxy, &database, "").await;
        for mut query in conditions() {
            query.limit = 20;
            for order in [Order::Id, Order::LastUpdated, Order::Sequence] {
                for after in [None, Some(row(ROWS / 2)), Some(row(10))] {
                    (query.order, query.after) = (order, after);
                    explained.query(ACCOUNT, &query).await.unwrap();
                    for plan in plans(&proxy) {
                        for scan in scans(&plan) {
                            assert!(rows_read(scan) <= MOST, "{query:?}\n{plan}");
                        }
                    }
                }
            }
        }
    }
}

/// The rows that a scan has returned, and those that it has read and left out.
fn rows_read(scan: &str) -> u64 {
    let number = |text: &str| {
        let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap()
    };
    let actual = scan.split("(actual rows=").nth(1).map_or(0, number);
    let removed = scan
        .split("Rows Removed by Filter: ")
        .nth(1)
        .map_or(0, number);
    actual + removed
}

/// With tables of any size, each statement can find its rows by the account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_statement_uses_an_index_with_the_account_first() {
    let (database, _) = Database::new_sync().await;
    let proxy = database::proxy().await;
    // Small tables are read as a whole unless that is off.
    let store = explained(&proxy, &database, "-c enable_seqscan=off").await;
    for version in 0..3 {
        assert!(store.commit(ACCOUNT, &batch(version)).await.unwrap());
    }
    let ids = ["s3cr3t-3".to_owned()];
    assert_eq!(store.rows(ACCOUNT, &ids).await.unwrap().len(), 1);
    for prefix in ["", "note"] {
        store.documents(ACCOUNT, prefix).await.unwrap();
    }
    for range in [
        ChangeRange::After(0),
        ChangeRange::Replacing { after: 0, up_to: 2 },
    ] {
        store.changes(ACCOUNT, range, 9).await.unwrap();
    }
    let unseen = Query {
        before_generation: Some(7),
        ..Query::default()
    };
    for mut query in conditions().into_iter().chain([unseen]) {
        query.limit = 20;
        store.count(ACCOUNT, &query).await.unwrap();
        store.query(ACCOUNT, &query).await.unwrap();
    }
    let plans = plans(&proxy);
    assert!(plans.len() > 70, "{}", plans.len());
    let mut tables = Vec::new();
    for plan in &plans {
        for scan in scans(plan) {
            // One row for each version of the tables.
            if scan.contains("sync_migrations") {
                continue;
            }
            // Of a bitmap scan, the second half has the condition of the first half.
            let is_by_account = scan.contains("Index Cond: ((account = ")
                || scan.contains("Index Cond: (account = ")
                || scan.contains("Bitmap Heap Scan");
            assert!(is_by_account, "{scan}\nin {plan}");
            let table = scan.split("sync_").nth(1).unwrap();
            tables.push(table.split(|c: char| !c.is_ascii_lowercase()).next());
        }
    }
    for table in ["document", "record", "payload", "change"] {
        assert!(tables.contains(&Some(table)), "{table}");
    }
}

/// Round trips and statements of a call.
async fn cost<T>(proxy: &Proxy, call: impl Future<Output = T>) -> (usize, usize) {
    let round_trips = |proxy: &Proxy| proxy.round_trips().0 + proxy.round_trips().1;
    let before = (round_trips(proxy), proxy.statements());
    call.await;
    (round_trips(proxy) - before.0, proxy.statements() - before.1)
}

/// On one thread, all statements of a round trip are sent before the first reply is read.
#[tokio::test]
async fn calls_take_one_round_trip_and_commits_two() {
    let (database, _) = Database::new_sync().await;
    let proxy = database::proxy().await;
    let store = database::sync(&database::pool_through(&proxy, 1), &database.schema);
    store.documents(ACCOUNT, "").await.unwrap();
    let page = Batch {
        rows: (0..100).map(row).collect(),
        ..batch(0)
    };
    // Four begin; documents are removed and written; rows are written, seen and removed; changes added and forgotten; the end.
    assert_eq!(cost(&proxy, store.commit(ACCOUNT, &page)).await, (2, 14));
    assert_eq!(cost(&proxy, store.commit(ACCOUNT, &page)).await, (2, 5));
    let ids: Vec<String> = page.rows.iter().map(|row| row.id.clone()).collect();
    assert_eq!(cost(&proxy, store.rows(ACCOUNT, &ids)).await, (1, 1));
    assert_eq!(cost(&proxy, store.documents(ACCOUNT, "")).await, (1, 1));
    let changes = store.changes(ACCOUNT, ChangeRange::After(0), 10);
    assert_eq!(cost(&proxy, changes).await, (1, 1));
    let mut query = Query {
        limit: 20,
        ..Query::default()
    };
    assert_eq!(cost(&proxy, store.query(ACCOUNT, &query)).await, (1, 3));
    query.status = Some("DRAFT".to_owned());
    assert_eq!(cost(&proxy, store.query(ACCOUNT, &query)).await, (2, 4));
}
