//! The cost of the store of copies: statements, round trips, and used indexes.

use envd_postgres::PostgresSync;
use envd_sync::store::Order;
use envd_sync::store::SyncStore;
use envd_sync::store::rows::*;
use processes::Proxy;

use super::copies::batch;
use super::database::{self, Database};

const ACCOUNT: &str = "farm";

/// A row: half of them have a common status, and every 2,000th a rare status.
fn row(number: u64) -> RecordRow {
    let status = match number % 2_000 {
        0 => "RARE",
        odd if odd % 2 == 1 => "DRAFT",
        _ => "SUBMITTED",
    };
    // The order by movement differs from the order by change; otherwise an ordered scan would start from the other end.
    let day = format!("2026-{:02}-{:02}", 1 + number % 12, 1 + number % 28);
    let changed = format!(
        "2026-{:02}-{:02}",
        1 + number / 12 % 12,
        1 + number / 7 % 28
    );
    RecordRow {
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

/// The number of rows in each account.
const ROWS: u64 = 3_000;
const ACCOUNTS: u64 = 8;

/// A store whose connection reports the plan of each statement.
async fn explained(proxy: &Proxy, database: &Database, options: &str) -> PostgresSync {
    let options = format!(
        "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 -c client_min_messages=log
         {options}"
    );
    let mut config = database::config_without_host();
    config.host("127.0.0.1").port(proxy.address().port());
    config.options(options.replace('\n', " "));
    let store = database::sync(&database::pool_of(config, 1), &database.schema);
    store.documents(ACCOUNT, "").await.unwrap();
    proxy.take_replies();
    store
}

/// The query plans that the server has reported.
fn plans(proxy: &Proxy) -> Vec<String> {
    let replies = proxy.take_replies();
    let plans = replies.split("plan:\nQuery Text: ").skip(1);
    let plans = plans.map(|plan| plan.split('\0').next().unwrap());
    plans.map(ToOwned::to_owned).collect()
}

/// Each scan of one of our tables, with its details.
fn scans(plan: &str) -> Vec<&str> {
    let is_scan = |node: &&str| {
        let head = node.lines().next().unwrap_or_default();
        head.contains(" Scan ") && head.contains(" on sync_")
    };
    // The plan nodes follow the statement.
    let head = plan.lines().take_while(|line| !line.contains("(cost="));
    let nodes = &plan[head.map(|line| line.len() + 1).sum::<usize>()..];
    let nodes = nodes.split("->").flat_map(|node| node.split("\n  SubPlan"));
    nodes.filter(is_scan).collect()
}

/// Conditions of queries.
const CONDITIONS: &str = "\
    | status DRAFT | status RARE | status none | species CATTLE | number C-77 | pic 3ABCD007 | pic 3HOME001 |
    from 2026-12-27 | from 2026-05-03 to 2026-05-03 | to 2026-06-30 | updated 2026-12-27T00:00:00 |
    updated 2026-06-01T00:00:00 | status DRAFT species CATTLE | status RARE pic 3HOME001 | status DRAFT up-to 3000";

fn conditions() -> Vec<Query> {
    let query = |words: &str| {
        let mut query = Query::default();
        let mut words = words.split_whitespace();
        while let Some(name) = words.next() {
            let text = words.next().map(str::to_owned);
            match name {
                "status" => query.status = text,
                "species" => query.species = text,
                "number" => query.number = text,
                "pic" => query.pic = text,
                "from" => query.movement_from = text,
                "to" => query.movement_to = text,
                "updated" => query.updated_from = text,
                _ => query.up_to_sequence = text.and_then(|text| text.parse().ok()),
            }
        }
        query
    };
    CONDITIONS.split('|').map(query).collect()
}

/// The table of a scan, which must use an index on the account.
fn table_by_account<'a>(scan: &'a str, plan: &str) -> &'a str {
    // In a bitmap scan, the second half repeats the condition of the first.
    let is_by_account = scan.contains("Index Cond: ((account = ")
        || scan.contains("Index Cond: (account = ")
        || scan.contains("Bitmap Heap Scan");
    assert!(is_by_account, "{scan}\nin {plan}");
    let table = scan.split("sync_").nth(1).unwrap();
    table
        .split(|c: char| !c.is_ascii_lowercase())
        .next()
        .unwrap()
}

/// Without statistics of the tables, and with them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_search_reads_rows_of_other_accounts() {
    let (database, store) = Database::new_sync().await;
    let rows: Vec<RecordRow> = (0..ROWS).map(row).collect();
    for account in 0..ACCOUNTS {
        let account = match account {
            0 => ACCOUNT.to_owned(),
            other => format!("other {other}"),
        };
        let batch = Batch {
            rows: rows.clone(),
            ..Batch::default()
        };
        store.commit(&account, &batch).await.unwrap();
    }
    let proxy = database::proxy().await;
    for analyze in ["", "ANALYZE {schema}.sync_record"] {
        database.run(analyze).await;
        let explained = explained(&proxy, &database, "").await;
        for mut query in conditions() {
            query.limit = 20;
            explained.count(ACCOUNT, &query).await.unwrap();
            for order in [Order::Id, Order::LastUpdated, Order::Sequence] {
                for after in [None, Some(row(ROWS / 2)), Some(row(10))] {
                    (query.order, query.after) = (order, after.as_ref().map(LocalPosition::from));
                    explained.query(ACCOUNT, &query).await.unwrap();
                }
            }
        }
        let plans = plans(&proxy);
        let scans = plans
            .iter()
            .flat_map(|plan| scans(plan).into_iter().map(move |scan| (scan, plan)));
        let tables = scans.map(|(scan, plan)| table_by_account(scan, plan));
        assert!(tables.count() > 300);
    }
}

/// With tables of any size, each statement can find its rows by the account.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_statement_uses_an_index_with_the_account_first() {
    let (database, _) = Database::new_sync().await;
    let proxy = database::proxy().await;
    // Otherwise the planner reads small tables sequentially.
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
    assert!(plans.len() > 50, "{}", plans.len());
    let mut tables = Vec::new();
    for plan in &plans {
        for scan in scans(plan) {
            // This table has only one row for each version.
            if scan.contains("sync_migrations") {
                continue;
            }
            tables.push(table_by_account(scan, plan));
        }
    }
    for table in ["document", "record", "payload", "change"] {
        assert!(tables.contains(&table), "{table}");
    }
}

/// The number of round trips and statements of a call.
async fn cost<T>(proxy: &Proxy, call: impl Future<Output = T>) -> (usize, usize) {
    let round_trips = |proxy: &Proxy| proxy.round_trips().0 + proxy.round_trips().1;
    let before = (round_trips(proxy), proxy.statements());
    call.await;
    (round_trips(proxy) - before.0, proxy.statements() - before.1)
}

/// On one thread, the client sends all statements of a round trip before it reads the first reply.
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
    // Four statements begin; others remove and write documents, write, mark and remove rows, add and prune changes; one commits.
    assert_eq!(cost(&proxy, store.commit(ACCOUNT, &page)).await, (2, 14));
    assert_eq!(cost(&proxy, store.commit(ACCOUNT, &page)).await, (2, 5));
    let ids: Vec<String> = page.rows.iter().map(|row| row.id.clone()).collect();
    // A read begins a transaction with its `search_path`, and ends it.
    let read = (1, 3);
    assert_eq!(cost(&proxy, store.rows(ACCOUNT, &ids)).await, read);
    assert_eq!(cost(&proxy, store.documents(ACCOUNT, "")).await, read);
    let changes = store.changes(ACCOUNT, ChangeRange::After(0), 10);
    assert_eq!(cost(&proxy, changes).await, read);
    let query = Query {
        status: Some("DRAFT".to_owned()),
        limit: 20,
        ..Query::default()
    };
    assert_eq!(cost(&proxy, store.query(ACCOUNT, &query)).await, read);
    assert_eq!(cost(&proxy, store.count(ACCOUNT, &query)).await, read);
}
