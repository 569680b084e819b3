//! The times at which the loop syncs again.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::mpsc;

use super::site::{Site, copied};
use crate::loop_control::LoopHandle;
use crate::replica::{Replica, SyncEvent};
use crate::store::MemorySync;
use crate::store::tests::faulty_store::FaultyStore;
use crate::tests::script::within;
use envd_sdk::Clock;

/// A loop in a task, and its events.
struct Running {
    events: mpsc::UnboundedReceiver<SyncEvent>,
    handle: LoopHandle,
    task: tokio::task::JoinHandle<()>,
    clock: Clock,
}

const INTERVAL: Duration = Duration::from_secs(300);

impl Running {
    fn start(replica: &Replica, clock: &Clock) -> Self {
        Self::start_every(INTERVAL, replica, clock)
    }

    fn start_every(interval: Duration, replica: &Replica, clock: &Clock) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let syncs = replica.run_with(interval, fastrand::Rng::with_seed(1));
        let handle = syncs.handle();
        let syncs = syncs.on_event(move |event| sender.send(event.clone()).unwrap());
        Self {
            events,
            handle,
            task: tokio::spawn(syncs.into_future()),
            clock: clock.clone(),
        }
    }

    async fn event(&mut self) -> SyncEvent {
        within("an event of the loop", self.events.recv())
            .await
            .unwrap()
    }

    async fn stop(self) {
        self.handle.stop();
        within("a loop that is stopped", self.task).await.unwrap();
    }

    /// Returns the next event and the seconds until the next sync, and advances the clock to that sync.
    async fn next(&mut self) -> (SyncEvent, u64) {
        let event = self.event().await;
        let (SyncEvent::Synced { next_at, .. }
        | SyncEvent::Failed { next_at, .. }
        | SyncEvent::LoginNeeded { next_at, .. }) = &event;
        let now = self.clock.now();
        let wait = next_at.to_time().unwrap().duration_since(now).unwrap();
        // The loop starts to wait after the event.
        let sleeps = async {
            while self.clock.sleepers() == 0 {
                tokio::task::yield_now().await;
            }
        };
        within("a wait until the next sync", sleeps).await;
        self.clock.advance(wait + Duration::from_millis(1));
        (event, wait.as_secs())
    }
}

#[tokio::test]
async fn it_syncs_after_each_interval_and_writes_nothing_when_nothing_is_new() {
    let site = Site::with(5);
    let store = FaultyStore::new(&MemorySync::new(), usize::MAX);
    let replica = site.replica(store.clone());
    site.make_incremental(&replica).await;
    let commits = store.commits();
    let mut running = Running::start(&replica, &site.clock);
    for _ in 0..5 {
        let (event, wait) = running.next().await;
        assert!(matches!(event, SyncEvent::Synced { .. }), "{event:?}");
        assert!((240..=360).contains(&wait), "{wait}");
    }
    assert_eq!(store.commits(), commits);
    running.stop().await;
}

#[tokio::test]
async fn an_interval_without_an_end_is_one_sync() {
    let site = Site::with(3);
    let replica = site.replica(MemorySync::new());
    let mut running = Running::start_every(Duration::MAX, &replica, &site.clock);
    let event = running.event().await;
    assert!(matches!(event, SyncEvent::Synced { .. }), "{event:?}");
    running.stop().await;
}

#[tokio::test]
async fn failures_wait_longer_each_time_and_as_long_as_the_service_says() {
    let site = Site::with(3);
    let replica = site.replica(MemorySync::new());
    site.lock().lists = Some((500, ""));
    let mut running = Running::start(&replica, &site.clock);
    let mut waits = Vec::new();
    for _ in 0..7 {
        let (event, wait) = running.next().await;
        assert!(matches!(event, SyncEvent::Failed { .. }), "{event:?}");
        waits.push(wait);
    }
    let expected = [30, 60, 120, 240, 480, 900, 900];
    for (wait, expected) in waits.iter().zip(expected) {
        let range = expected * 4 / 5..=expected * 6 / 5;
        assert!(range.contains(wait), "{waits:?}");
    }
    site.lock().lists = Some((429, "3000"));
    running.next().await;
    let (_, wait) = running.next().await;
    assert!((3_000..=3_400).contains(&wait), "{wait}");
    site.lock().lists = None;
    let mut event = running.next().await;
    while matches!(event.0, SyncEvent::Failed { .. }) {
        event = running.next().await;
    }
    assert!((240..=360).contains(&event.1));
    // The next failure counts as the first again.
    site.lock().lists = Some((500, ""));
    while matches!(event.0, SyncEvent::Synced { .. }) {
        event = running.next().await;
    }
    assert!((24..=36).contains(&event.1), "{}", event.1);
}

#[tokio::test]
async fn a_lost_login_pauses_it_and_a_new_one_resumes_it() {
    let site = Site::with(3);
    let error = envd_sdk::Error::login_needed();
    let answer = Arc::new(Mutex::new(Err(error)));
    let source = Arc::clone(&answer);
    let client = site.account("envd-1").client().with_token_source(move || {
        let answer = source.lock().unwrap().clone();
        async move { answer }
    });
    let store = MemorySync::new();
    let replica = Replica::new(&client.account("envd-1"), store.clone());
    let mut running = Running::start(&replica, &site.clock);
    for _ in 0..3 {
        let (event, wait) = running.next().await;
        assert!(matches!(event, SyncEvent::LoginNeeded { .. }), "{event:?}");
        assert!((48..=72).contains(&wait), "{wait}");
    }
    assert_eq!(site.take_requests().len(), 0);
    let token = envd_sdk::auth::AccessToken::new("a-token").unwrap();
    *answer.lock().unwrap() = Ok(token);
    let event = loop {
        match running.next().await.0 {
            SyncEvent::LoginNeeded { .. } => {}
            event => break event,
        }
    };
    assert!(matches!(event, SyncEvent::Synced { .. }), "{event:?}");
    assert_eq!(copied(&store).await, site.ids());
}

#[tokio::test]
async fn it_can_be_woken_and_stopped() {
    let site = Site::with(3);
    let replica = site.replica(MemorySync::new());
    let mut running = Running::start(&replica, &site.clock);
    running.event().await;
    running.handle.wake_now();
    running.event().await;
    running.stop().await;
}
