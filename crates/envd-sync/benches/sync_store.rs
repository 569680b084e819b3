//! The replica's store in a file: commits of a page, and reads of 20 out of 200,000 rows by each condition.
//!
//! `cargo bench -p envd-sync --bench sync_store`. It writes about 500 MB into the folder of temporary files, and deletes them.

use std::time::{Duration, Instant};
use std::{env, fs, process};

use envd_sync::store::rows::{Batch, LocalPosition, Query, RecordRow, RowKeys};
use envd_sync::store::{Order, SqliteSync, StoreError, SyncStore};

const ROWS: u64 = 200_000;
const PAGE: u64 = 100;
const ACCOUNT: &str = "account";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if !env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let folder = env::temp_dir().join(format!("envd-sdk-sync-bench-{}", process::id()));
    fs::create_dir(&folder)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let measured = runtime.block_on(async {
        let store = SqliteSync::open(folder.join("farm.db"))?;
        println!("SqliteSync");
        commits(&store).await?;
        queries(&store).await
    });
    fs::remove_dir_all(&folder)?;
    measured?;
    Ok(())
}

async fn commits(store: &impl SyncStore) -> Result<(), StoreError> {
    let begun = Instant::now();
    let mut pages = Vec::new();
    for page in 0..ROWS / PAGE {
        let rows = (page * PAGE..(page + 1) * PAGE).map(row).collect();
        let batch = batch(rows);
        let begun = Instant::now();
        store.commit(ACCOUNT, &batch).await?;
        pages.push(begun.elapsed());
    }
    println!("{ROWS} rows in pages of {PAGE}: {:?}", begun.elapsed());
    println!("  a page: {}", spread(&mut pages));
    println!("  memory afterwards: {}", memory());
    let mut seen = Vec::new();
    for page in 0..200 {
        let ids = (page * PAGE..(page + 1) * PAGE).map(id).collect();
        let batch = Batch {
            seen: Some((2, ids)),
            ..batch(Vec::new())
        };
        let begun = Instant::now();
        store.commit(ACCOUNT, &batch).await?;
        seen.push(begun.elapsed());
    }
    println!("  a page that was seen: {}", spread(&mut seen));
    let mut alone = Vec::new();
    for _ in 0..200 {
        let begun = Instant::now();
        store.commit(ACCOUNT, &batch(Vec::new())).await?;
        alone.push(begun.elapsed());
    }
    println!("  one document: {}", spread(&mut alone));
    Ok(())
}

async fn queries(store: &impl SyncStore) -> Result<(), StoreError> {
    println!("20 of {ROWS} rows: ms by id, last updated, sequence, second half; count");
    for (name, conditions) in conditions() {
        let mut line = format!("  {name:24}");
        for (order, after) in [
            (Order::Id, None),
            (Order::LastUpdated, None),
            (Order::Sequence, None),
            (
                Order::LastUpdated,
                Some(LocalPosition::from(&row(ROWS / 2))),
            ),
        ] {
            let mut query = conditions.clone();
            (query.order, query.after, query.limit) = (order, after, 20);
            let mut times = Vec::new();
            for _ in 0..9 {
                let begun = Instant::now();
                store.query(ACCOUNT, &query).await?;
                times.push(begun.elapsed());
            }
            times.sort();
            line = format!("{line}{:9.2}", times[4].as_secs_f64() * 1e3);
        }
        let begun = Instant::now();
        let count = store.count(ACCOUNT, &conditions).await?;
        let took = begun.elapsed().as_secs_f64() * 1e3;
        println!("{line}   {took:7.2} ({count})");
    }
    println!("  memory afterwards: {}", memory());
    Ok(())
}

fn conditions() -> Vec<(&'static str, Query)> {
    let case = |name, set: fn(&mut Query)| {
        let mut query = Query::default();
        set(&mut query);
        (name, query)
    };
    vec![
        case("all", |_| ()),
        case("status, one in two", |q| {
            q.status = Some("SUBMITTED".into());
        }),
        case("status, one in 100", |q| q.status = Some("DRAFT".into())),
        case("status, 20 of them", |q| q.status = Some("RARE".into())),
        case("status, none", |q| q.status = Some("x".into())),
        case("species", |q| q.species = Some("SHEEP".into())),
        case("number", |q| q.number = Some("C-123456".into())),
        case("pic, one in 1,000", |q| q.pic = Some("3ABCD500".into())),
        case("pic, of all", |q| q.pic = Some("3HOME001".into())),
        case("movement day", |q| {
            (q.movement_from, q.movement_to) =
                (Some("2026-05-03".into()), Some("2026-05-03".into()));
        }),
        case("movement, half", |q| {
            q.movement_from = Some("2026-07-01".into());
        }),
        case("movement, oldest 2 %", |q| {
            q.movement_to = Some("2026-01-07".into());
        }),
        case("movement, oldest 10 %", |q| {
            q.movement_to = Some("2026-02-03".into());
        }),
        case("updated since, last", |q| {
            q.updated_from = Some("2026-12-21T23:30:00".into());
        }),
        case("updated since, half", |q| {
            q.updated_from = Some("2026-07-01T00:00:00".into());
        }),
        case("status and species", |q| {
            (q.status, q.species) = (Some("SUBMITTED".into()), Some("GOAT".into()));
        }),
        case("status and pic", |q| {
            (q.status, q.pic) = (Some("DRAFT".into()), Some("3HOME001".into()));
        }),
        case("generation, none", |q| q.before_generation = Some(1)),
        case("generation, all", |q| q.before_generation = Some(9)),
    ]
}

fn batch(rows: Vec<RecordRow>) -> Batch {
    Batch {
        documents: vec![("walk".to_owned(), Some("{\"page\":7}".to_owned()))],
        rows,
        ..Batch::default()
    }
}

/// The ids of the service are random.
fn id(number: u64) -> String {
    let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{hash:016x}-{number:08x}")
}

fn row(number: u64) -> RecordRow {
    let second = number * 362 * 86_400 / ROWS;
    let day = second / 86_400;
    let day = format!("2026-{:02}-{:02}", 1 + day / 31, 1 + day % 31);
    let status = match number % 100 {
        0 if number.is_multiple_of(10_000) => "RARE",
        0 => "DRAFT",
        1..=49 => "LOCKED",
        _ => "SUBMITTED",
    };
    let species = ["CATTLE", "SHEEP", "SHEEP", "GOAT"][(number % 7 / 2) as usize];
    let time = second % 86_400;
    let time = format!(
        "{:02}:{:02}:{:02}.123",
        time / 3_600,
        time / 60 % 60,
        time % 60
    );
    RecordRow {
        id: id(number),
        sequence: number + 1,
        generation: 1,
        keys: RowKeys {
            status: Some(status.to_owned()),
            species: Some(species.to_owned()),
            number: Some(format!("C-{number}")),
            origin_pic: Some("3HOME001".to_owned()),
            destination_pic: Some(format!("3ABCD{:03}", number % 1_000)),
            movement_day: Some(day.clone()),
            updated_at: Some(format!("{day}T{time}")),
        },
        payload: format!("{{\"answers\":\"{}\"}}", "x".repeat(1_500)),
    }
}

fn spread(times: &mut [Duration]) -> String {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    format!("median {:?}, 99 % {:?}, most {:?}", at(50), at(99), at(100))
}

/// The peak memory of the process, if the system reports it.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM"));
    peak.unwrap_or("unknown").to_owned()
}
