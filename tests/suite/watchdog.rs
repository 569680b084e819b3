//! Ends this binary if a test waits forever on a fake or a clock, and prints the test and where the wait began.

use std::collections::HashMap;
use std::io::Write as _;
use std::panic::Location;
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use test_support::script::LIMIT;

/// The place and time of a test's last request for a fake or a client.
struct Watched {
    test: String,
    at: &'static Location<'static>,
    since: Instant,
}

static TESTS: LazyLock<Mutex<HashMap<ThreadId, Watched>>> = LazyLock::new(|| {
    let seconds = |limit: String| Duration::from_secs(limit.parse().unwrap());
    let limit = std::env::var(OTHER_LIMIT).map_or(LIMIT, seconds);
    thread::spawn(move || watch_all(limit));
    Mutex::default()
});

/// The variable that overrides the limit, in seconds.
const OTHER_LIMIT: &str = "ENVD_SDK_TEST_LIMIT";

/// Stops watching a test when it ends.
struct Ended(ThreadId);

impl Drop for Ended {
    fn drop(&mut self) {
        tests(|tests| tests.remove(&self.0));
    }
}

fn tests<T>(change: impl FnOnce(&mut HashMap<ThreadId, Watched>) -> T) -> T {
    change(&mut TESTS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Restarts the time limit of the test on this thread.
#[track_caller]
pub(crate) fn watch() {
    thread_local!(static ENDED: Ended = Ended(thread::current().id()));
    let id = ENDED.with(|ended| ended.0);
    let test = thread::current().name().unwrap_or("a thread").to_owned();
    let at = Location::caller();
    let since = Instant::now();
    tests(|tests| tests.insert(id, Watched { test, at, since }));
}

fn watch_all(limit: Duration) {
    loop {
        thread::sleep(limit / 10);
        tests(|tests| {
            if let Some(Watched { test, at, .. }) =
                tests.values().find(|it| it.since.elapsed() > limit)
            {
                // Not `eprintln`, whose output the test harness would capture.
                let _ = writeln!(
                    std::io::stderr(),
                    "the test {test} waits for ever: {limit:?} since {at}"
                );
                std::process::exit(101);
            }
        });
    }
}

#[tokio::test]
#[ignore = "run by the test below"]
async fn it_waits_for_ever() {
    crate::fixed_date::start_fake().await.until_delayed().await;
}

#[test]
fn a_test_that_waits_for_ever_fails_and_is_named() {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "watchdog::it_waits_for_ever", "--ignored"]);
    let output = child.env(OTHER_LIMIT, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(101), "{said}");
    let named =
        "the test watchdog::it_waits_for_ever waits for ever: 1s since tests/suite/watchdog.rs:";
    assert!(said.contains(named), "{said}");
}
