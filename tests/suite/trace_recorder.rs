//! Runs a test of the traces in a separate process.
//!
//! tracing caches for each callsite whether a subscriber is interested. With several tests in one process, a callsite that
//! another thread registers while a subscriber is being installed stays disabled. A process that runs one test, and
//! installs its subscriber first, has no such race.

use std::env;
use std::fmt::{self, Write};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// One line for each span, event and log record of this process, with a flag if this crate recorded it.
static LINES: Mutex<Vec<(bool, String)>> = Mutex::new(Vec::new());

/// All lines so far.
pub(super) fn recorded() -> String {
    joined(|_| true)
}

/// The lines of this crate so far.
pub(super) fn recorded_by_us() -> String {
    joined(|ours| ours)
}

fn joined(include: impl Fn(bool) -> bool) -> String {
    let lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = lines.iter().filter(|(ours, _)| include(*ours));
    let lines: Vec<_> = lines.map(|(_, line)| line.as_str()).collect();
    lines.join("\n")
}

fn write_line(ours: bool, line: String) {
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    lines.push((ours, line));
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.target().starts_with("envd_sdk")
}

struct Recorder {
    spans: AtomicU64,
}

static RECORDER: Recorder = Recorder {
    spans: AtomicU64::new(0),
};

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

fn fields(read: impl FnOnce(&mut Fields)) -> String {
    let mut fields = Fields(String::new());
    read(&mut fields);
    fields.0
}

impl Subscriber for &'static Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let ours = is_ours(span.metadata());
        // Later values carry only the id, so an odd id marks a span of this crate.
        let id = 2 * self.spans.fetch_add(1, Ordering::SeqCst) + 2 + u64::from(ours);
        let name = span.metadata().name();
        write_line(ours, format!("{id} {name}{}", fields(|f| span.record(f))));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let id = span.into_u64();
        write_line(id % 2 == 1, format!("{id}{}", fields(|f| values.record(f))));
    }

    fn event(&self, event: &Event<'_>) {
        let line = format!(
            "{}{}",
            event.metadata().target(),
            fields(|f| event.record(f))
        );
        write_line(is_ours(event.metadata()), line);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl log::Log for Recorder {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        let line = format!("{} {}", record.target(), record.args());
        write_line(record.target().starts_with("envd_sdk"), line);
    }

    fn flush(&self) {}
}

const ALONE: &str = "ENVD_SDK_TEST_ALONE";

/// Runs the future in a separate process that runs only the named test (with its module), and records all traces and logs.
pub(super) fn trace_in_separate_process(name: &str, work: impl Future<Output = ()>) {
    if env::var_os(ALONE).is_some() {
        tracing::subscriber::set_global_default(&RECORDER).unwrap();
        log::set_logger(&RECORDER).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        return runtime.unwrap().block_on(work);
    }
    let mut child = Command::new(env::current_exe().unwrap());
    let child = child.args(["--exact", name, "--test-threads=1"]);
    let output = child.env(ALONE, "1").output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{stdout}"
    );
}
