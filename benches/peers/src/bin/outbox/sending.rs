//! A pass over what waits, beside a loop of plain saves over the same kind of server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use envd_sdk::sync::store::{MemorySync, SqliteSync, SyncStore};

use crate::measure::{Goal, Request, Run, Server, Threads, count, row};
use crate::service::Service;
use crate::{WAITING, account, declaration};

/// The least CPU time of so many rounds counts.
const ROUNDS: usize = 3;

/// Of one declaration.
#[derive(Clone, Copy)]
struct Cost {
    /// CPU time of the client, in seconds.
    cpu: f64,
    requests: f64,
}

struct Bench {
    service: Arc<Service>,
    server: Server,
}

impl Bench {
    fn start() -> Self {
        let service = Arc::new(Service::default());
        let answers = Arc::clone(&service);
        let server = Server::start(move |request: &Request<'_>, reply: &mut Vec<u8>| {
            answers.answer(request.body, reply);
        });
        Self { service, server }
    }

    /// The cost of work that makes so many records.
    fn cost<P, F>(
        &self,
        records: usize,
        prepare: impl Future<Output = P>,
        work: impl FnOnce(P) -> F,
    ) -> Cost
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let run = Run::new(&self.server, Threads::Four);
        let (cpu, ()) = run.timed_after(prepare, work);
        assert_eq!(self.service.records(), records);
        let requests = self.service.requests.load(Ordering::Relaxed) as f64;
        Cost {
            cpu: cpu.as_secs_f64() / records as f64,
            requests: requests / records as f64,
        }
    }
}

/// One save after the other; each record is read afterwards, or not.
fn saved(records: usize, is_read: bool) -> Cost {
    let bench = Bench::start();
    let account = account(bench.server.base());
    let work = |()| async move {
        for number in 0..records {
            let saved = account.save_consignment(declaration(number)).await;
            let id = saved.unwrap().value.id.unwrap();
            if is_read {
                account.consignment(id).await.unwrap();
            }
        }
    };
    bench.cost(records, async {}, work)
}

/// All that waits in an outbox; writing it down is not counted.
fn sent(records: usize, store: impl SyncStore) -> Cost {
    let bench = Bench::start();
    let outbox = account(bench.server.base()).outbox(store);
    let prepare = async {
        for number in 0..records {
            outbox.save(declaration(number)).await.unwrap();
        }
        outbox
    };
    let work = move |outbox: envd_sdk::sync::outbox::Outbox| async move {
        let report = outbox.send().await.unwrap();
        assert_eq!(report.confirmed, records as u64, "{report}");
    };
    bench.cost(records, prepare, work)
}

fn least(all: &[Cost]) -> Cost {
    let least = all
        .iter()
        .min_by(|one, other| one.cpu.total_cmp(&other.cpu));
    *least.unwrap()
}

pub fn compare(folder: &Path) {
    let few = WAITING / 10;
    saved(few, true);
    let (mut alone, mut read, mut in_memory, mut of_few, mut in_file) =
        (vec![], vec![], vec![], vec![], vec![]);
    for round in 0..ROUNDS {
        alone.push(saved(WAITING, false));
        read.push(saved(WAITING, true));
        in_memory.push(sent(WAITING, MemorySync::new()));
        of_few.push(sent(few, MemorySync::new()));
        let file = folder.join(format!("sending-{round}.db"));
        in_file.push(sent(WAITING, SqliteSync::open(file).unwrap()));
    }
    let [alone, read, in_memory, of_few, in_file] =
        [alone, read, in_memory, of_few, in_file].map(|all| least(&all));
    let work = format!("one of {} declarations that are sent", count(WAITING));
    let show = |case: &str, figure: f64, unit: &str| row(&work, case, figure, unit, Goal::None);
    show("a plain save, CPU time", alone.cpu * 1e6, "µs");
    show(
        "a plain save and a read of the record, beside it",
        read.cpu / alone.cpu,
        "times",
    );
    show(
        "from an outbox in memory, beside it",
        in_memory.cpu / alone.cpu,
        "times",
    );
    show(
        "from an outbox in a file, beside it",
        in_file.cpu / alone.cpu,
        "times",
    );
    show("requests of the outbox", in_file.requests, "each");
    let case = format!("from an outbox in memory, beside one of {}", count(few));
    show(&case, in_memory.cpu / of_few.cpu, "times");
}
