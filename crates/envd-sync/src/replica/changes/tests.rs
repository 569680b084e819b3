//! The feed against random histories, in which the copy changes between any two reads of the store.

mod history;

use envd_sdk::auth::StaticToken;
use envd_sdk::model::ConsignmentStatus;
use envd_sdk::{Client, ErrorKind};
use std::sync::Arc;

use self::history::{History, Interleaved};
use super::{Change, ChangeKind, Changes, needless_up_to};
use crate::account_store::{AccountStore, json};
use crate::replica::Replica;
use crate::replica::local_record::{Depth, LocalRecord};
use crate::store::rows::ChangeRow;
use crate::store::{MemorySync, SyncStore};
use equipment::schedules::count;
use equipment::seeded::seed;

const ACCOUNT: &str = "envd-1";

fn feed(store: Arc<dyn SyncStore>, name: &str) -> Changes {
    Changes::new(AccountStore::new(store, ACCOUNT), name.to_owned())
}

async fn all(feed: &mut Changes) -> Vec<Change> {
    let mut told = Vec::new();
    while let Some(change) = feed.next().await.unwrap() {
        told.push(change);
    }
    told
}

/// Number, record and what was told of it, such as `changed 3`.
type Told = (u64, String, String);

fn told(change: &Change) -> Told {
    let version = change.record().value()["version"].clone();
    let kind = match &change.kind {
        ChangeKind::Appeared { .. } => "appeared",
        ChangeKind::Changed { .. } => "changed",
        ChangeKind::Gone { .. } => "gone",
        ChangeKind::Pruned { .. } => "pruned",
    };
    let id = change.id.to_string();
    (change.sequence, id, format!("{kind} {version}"))
}

/// Holds: a consumer that is named late is told everything.
#[tokio::test]
async fn a_consumer_that_is_named_late_is_told_all_that_the_copy_holds_and_then_what_changed() {
    let store = Arc::new(MemorySync::new());
    let mut history = History::new(store.clone(), 1);
    history.set("a", 1).await;
    history.set("b", 1).await;
    history.set("c", 1).await;
    history.set("a", 2).await;
    history.remove("b").await;

    let mut late = feed(store.clone(), "late");
    let first = late.next().await.unwrap().unwrap();
    // What changes from here on comes after all that was there.
    history.set("a", 3).await;
    history.remove("c").await;
    history.set("d", 1).await;
    let mut seen = vec![first];
    seen.extend(all(&mut late).await);
    let seen: Vec<_> = seen.iter().map(told).collect();
    let line = |sequence, id: &str, what: &str| (sequence, id.to_owned(), what.to_owned());
    let expected = [
        line(3, "c", "appeared 1"),
        line(4, "a", "appeared 2"),
        line(6, "a", "changed 3"),
        line(7, "c", "gone 1"),
        line(8, "d", "appeared 1"),
    ];
    assert_eq!(seen, expected);
    // Nothing was acknowledged, so all comes again, and what is gone is known from its change alone.
    let again = all(&mut feed(store, "late")).await;
    assert_eq!(again.iter().map(told).collect::<Vec<_>>(), expected);
}

/// Holds: consumers do not disturb each other, and two processes with one lose nothing.
#[tokio::test]
async fn a_position_moves_forward_only_and_is_one_for_all_processes() {
    let store = Arc::new(MemorySync::new());
    let mut history = History::new(store.clone(), 1);
    let mut one = feed(store.clone(), "shared");
    assert!(one.next().await.unwrap().is_none());
    for version in 1..=3 {
        history.set("a", version).await;
    }
    let mut other = feed(store.clone(), "shared");
    let (ours, theirs) = (all(&mut one).await, all(&mut other).await);
    assert_eq!((ours.len(), &ours), (3, &theirs));
    one.acknowledge(&ours[1]).await.unwrap();
    other.acknowledge(&theirs[0]).await.unwrap();
    let left = all(&mut feed(store.clone(), "shared")).await;
    assert_eq!(left, ours[2..]);
    // Another consumer is not affected.
    let other = all(&mut feed(store, "another")).await;
    assert_eq!(
        other.iter().map(told).collect::<Vec<_>>(),
        [(3, "a".into(), "appeared 3".into())]
    );
}

#[tokio::test]
async fn consumers_are_listed_and_removed_and_hold_changes_until_then() {
    let store = Arc::new(MemorySync::new());
    let mut history = History::new(store.clone(), 1);
    history.set("a", 1).await;
    let account = AccountStore::new(store.clone(), ACCOUNT);
    let needless = || needless_up_to(&account, 2);
    let (mut slow, mut quick) = (feed(store.clone(), "slow"), feed(store.clone(), "slow 2"));
    slow.next().await.unwrap();
    let change = quick.next().await.unwrap().unwrap();
    history.set("a", 2).await;
    // The copy as of the first change is not told to the end, and needs no change up to it.
    assert_eq!(needless().await.unwrap(), 1);
    quick.acknowledge(&change).await.unwrap();
    let last = all(&mut quick).await.pop().unwrap();
    quick.acknowledge(&last).await.unwrap();
    let client = Client::builder("http://127.0.0.1:9/")
        .token_source(StaticToken::new("a-token").unwrap())
        .build()
        .unwrap();
    let replica = Replica::new(&client.account(ACCOUNT), store.clone());
    let known = replica.consumers().await.unwrap();
    let known: Vec<_> = known
        .iter()
        .map(|c| (c.name.as_str(), c.acknowledged, c.is_catching_up))
        .collect();
    assert_eq!(known, [("slow", 0, true), ("slow 2", 2, false)]);
    assert_eq!(needless().await.unwrap(), 1);

    assert!(replica.remove_consumer("slow").await.unwrap());
    assert!(!replica.remove_consumer("slow").await.unwrap());
    assert_eq!(needless().await.unwrap(), 2);
    // One that still runs does not come back by itself.
    let error = slow.acknowledge(&change).await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Config && error.to_string().contains("\"slow\" was removed"),
        "{error}"
    );
    assert!(slow.next().await.unwrap_err().kind() == ErrorKind::Config);
}

#[tokio::test]
async fn names_and_changes_that_cannot_be_used_are_told() {
    let store = Arc::new(MemorySync::new());
    for name in ["", "a\nb", &"x".repeat(101)] {
        assert!(
            feed(store.clone(), name).next().await.unwrap_err().kind() == ErrorKind::Config,
            "{name:?}"
        );
    }
    let mut history = History::new(store.clone(), 1);
    history.set("a", 1).await;
    let mut ours = feed(store, "ours");
    let mut change = ours.next().await.unwrap().unwrap();
    change.sequence = 2;
    let error = ours.acknowledge(&change).await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::Config && error.to_string().contains("not one of this account"),
        "{error}"
    );
}

/// Two processes for each of three consumers, which are named, read, acknowledge and end at any moment, while the copy changes
/// and forgets between any two calls of the store.
#[tokio::test]
async fn each_consumer_is_told_every_state_once_or_more_and_in_order() {
    for run in 0..count(20) {
        let seed = seed().wrapping_add(run);
        let mut random = fastrand::Rng::with_seed(seed);
        let store = Arc::new(Interleaved::new(seed));
        let names = ["accounting", "yard", "yard screen"];
        let mut readers: Vec<Reader> = names
            .iter()
            .flat_map(|name| [name, name])
            .map(|name| Reader::new(&store, name, 2))
            .collect();
        for _ in 0..60 {
            let reader = random.choice(&mut readers).unwrap();
            match random.u8(..10) {
                0 => reader.restart(&store, random.usize(1..5)),
                1..=3 => reader.acknowledge(&mut random).await,
                _ => reader.next().await,
            }
        }
        let expected = store.calm().await;
        for name in names {
            let mut told: Vec<Told> = Vec::new();
            for reader in readers.iter_mut().filter(|reader| reader.name == name) {
                told.append(&mut reader.handled);
            }
            // What was told and not acknowledged is told again.
            if expected.is_named(name) {
                let rest = all(&mut feed(store.clone(), name)).await;
                told.extend(rest.iter().map(self::told));
            }
            told.sort();
            told.dedup();
            assert_eq!(told, expected.since_named(name), "{name}, seed {seed}");
        }
    }
}

/// A process with a feed.
struct Reader {
    name: &'static str,
    feed: Changes,
    acknowledged: u64,
    /// Told and not acknowledged.
    open: Vec<Change>,
    /// Told and acknowledged.
    handled: Vec<Told>,
}

impl Reader {
    fn new(store: &Arc<Interleaved>, name: &'static str, chunk: usize) -> Self {
        let mut feed = feed(store.clone(), name);
        feed.chunk = chunk;
        Self {
            name,
            feed,
            acknowledged: 0,
            open: Vec::new(),
            handled: Vec::new(),
        }
    }

    async fn next(&mut self) {
        let Some(change) = self.feed.next().await.unwrap() else {
            return;
        };
        let last = self
            .open
            .last()
            .map_or(self.acknowledged, |last| last.sequence);
        assert!(change.sequence > last, "{change:?} after {last}");
        self.open.push(change);
    }

    async fn acknowledge(&mut self, random: &mut fastrand::Rng) {
        if self.open.is_empty() {
            return;
        }
        let at = random.usize(..self.open.len());
        self.feed.acknowledge(&self.open[at]).await.unwrap();
        self.acknowledged = self.open[at].sequence;
        let handled = self.open.drain(..=at);
        self.handled.extend(handled.map(|change| told(&change)));
    }

    fn restart(&mut self, store: &Arc<Interleaved>, chunk: usize) {
        let before = std::mem::replace(self, Self::new(store, self.name, chunk));
        (self.acknowledged, self.handled) = (before.acknowledged, before.handled);
    }
}

fn summary(json: &str) -> LocalRecord {
    LocalRecord::new(serde_json::from_str(json).unwrap(), Depth::Summary)
}

#[test]
fn changes_come_back_from_what_a_store_keeps() {
    let draft = summary(r#"{"status": "DRAFT", "unknown": {"deep": [1.50]}}"#);
    let sent = summary(r#"{"status": "SUBMITTED", "unknown": {"deep": [1.50]}}"#);
    for (before, after, shown) in [
        (None, Some(&draft), r#"{"appeared":{"record":"#),
        (Some(&draft), Some(&sent), r#"{"changed":{"before":"#),
        (Some(&sent), None, r#"{"gone":{"lastSeen":"#),
    ] {
        let last_seen = before.unwrap_or(&draft).clone();
        let kind = match after {
            Some(after) => ChangeKind::between(before, after).unwrap(),
            None => ChangeKind::Gone { last_seen },
        };
        let payload = json(&kind);
        assert!(payload.starts_with(shown), "{payload}");
        let row = ChangeRow {
            sequence: 3,
            previous: 0,
            id: "7".to_owned(),
            payload,
        };
        let change = Change::from_row(&row).unwrap();
        assert_eq!((change.sequence, change.id.as_str()), (3, "7"));
        assert_eq!(change.record(), after.or(before).unwrap());
        assert_eq!(change.kind, kind);
        assert_eq!(kind.into_before().as_ref(), before);
    }
}

#[test]
fn a_status_change_is_told_apart() {
    let between = |before, after| ChangeKind::between(Some(&summary(before)), &summary(after));
    let Some(ChangeKind::Changed { fields, status, .. }) = between(
        r#"{"status": "DRAFT", "heads": 1}"#,
        r#"{"status": "SUBMITTED", "heads": 2}"#,
    ) else {
        panic!("changed");
    };
    assert_eq!(fields, ["heads", "status"]);
    let status = status.unwrap();
    assert_eq!(status.before, Some(ConsignmentStatus::Draft));
    assert_eq!(status.after, Some(ConsignmentStatus::Submitted));
    let other = between(r#"{"heads": 1}"#, r#"{"heads": 2}"#);
    assert!(matches!(
        other,
        Some(ChangeKind::Changed { status: None, .. })
    ));
    assert_eq!(
        between(
            r#"{"a": 1, "updatedAt": "1"}"#,
            r#"{"a": 1, "updatedAt": "2"}"#
        ),
        None
    );
}
