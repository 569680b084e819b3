//! Stories of lists and drafts: one program, and others that use the same store.

use std::time::Duration;

use serde_json::{Value, json};

use super::sample::{
    ACCOUNT, TODAY, answer, bank, banks_at, cattle, input, newer, now, on, received,
};
use crate::bank::banks::list_name;
use crate::bank::{BankRefresh, Banks, LocalDraft};
use crate::error::{Error, Result};
use crate::store::rows::Batch;
use crate::store::tests::faulty_store::{FaultyStore, Moment};
use crate::store::{MemorySync, SyncStore};
use crate::tests::shown;
use envd_sdk::Clock;
use envd_sdk::model::{FormType, Timestamp};
use envd_sdk::validate::{ContentHash, Form};

const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A store, and a program that uses it.
struct Device {
    store: FaultyStore,
    clock: Clock,
    banks: Banks,
}

/// A list that differs by the order of its first question.
fn numbered(order: u8) -> Value {
    cattle(|list| list[0]["order"] = json!(order))
}

fn hash(list: &Value) -> ContentHash {
    bank(list).content_hash()
}

/// The time when the test began, and this long after it.
fn after(time: Duration) -> Timestamp {
    Timestamp::from(now() + time)
}

/// A form of the list, filled in.
fn filled(received: &BankRefresh) -> Form {
    let input = input(FormType::Lpac1).answer(answer("3", Some(0), "24"));
    received.bank.questionnaire().form(&input, &on(TODAY))
}

/// Asserts that a call failed with this kind of error, which says this.
#[track_caller]
fn refused<T>(called: Result<T>, kind: &str, says: &str) {
    let error: Error = called.err().expect("an error");
    assert_eq!(format!("{:?}", error.kind()), kind);
    let shown = shown(&error);
    assert!(shown.contains(says), "{shown}");
}

impl Device {
    fn new() -> Self {
        let store = FaultyStore::new(&MemorySync::new(), usize::MAX);
        let clock = Clock::manual(now());
        let banks = banks_at(store.clone(), clock.clone());
        Self {
            store,
            clock,
            banks,
        }
    }

    /// Another program on the same store.
    fn other(&self) -> Banks {
        banks_at(self.store.clone(), self.clock.clone())
    }

    /// Runs this when the program is about to write.
    fn before_commit(&self, happens: impl Future<Output = ()> + Send + 'static) {
        self.store.at(Moment::BeforeCommit(1), happens);
    }

    /// Receives a list. Returns whether it changed, and the number of commits.
    async fn receive(&self, list: &Value) -> (bool, usize) {
        let before = self.store.commits();
        let received = self.banks.receive(list).await;
        (received.changed, self.store.commits() - before)
    }

    /// Receives the first list, and fills in a form of it.
    async fn form(&self) -> Form {
        filled(&self.banks.receive(&cattle(|_| ())).await)
    }

    async fn latest(&self) -> ContentHash {
        let latest = self.banks.latest().await.unwrap();
        latest.unwrap().content_hash()
    }

    async fn received_at(&self) -> Timestamp {
        let latest = self.banks.latest().await.unwrap();
        latest.unwrap().received_at().clone()
    }

    async fn confirmed_at(&self) -> Timestamp {
        let latest = self.banks.latest().await.unwrap();
        latest.unwrap().confirmed_at().clone()
    }

    async fn lists(&self) -> Vec<ContentHash> {
        let index = self.banks.load().await.unwrap().value;
        index.lists.iter().map(|list| list.content_hash).collect()
    }

    async fn prune(&self) -> Vec<ContentHash> {
        self.banks.prune([]).await.unwrap()
    }

    async fn create(&self, form: &Form) -> LocalDraft {
        let draft = self.banks.create_draft("1", &form.save()).await;
        draft.unwrap()
    }

    async fn update(&self, read: &LocalDraft, form: &Form) -> Result<LocalDraft> {
        self.banks.update_draft(read, &form.save()).await
    }

    async fn stored_draft(&self) -> Option<LocalDraft> {
        self.banks.draft("1").await.unwrap()
    }

    async fn open(&self, draft: &LocalDraft) -> Result<Form> {
        let form = draft.form().clone();
        self.banks.open(form, &on("2026-11-21")).await
    }

    /// Moves a draft to the latest list.
    async fn moved(&self, draft: &LocalDraft) -> Form {
        let latest = self.banks.latest().await.unwrap().unwrap();
        let form = draft.form().clone();
        let moved = self.banks.open_with(form, &latest, &on(TODAY)).await;
        moved.unwrap().form
    }

    /// Writes a document of the store.
    async fn put(&self, document: String, text: &str) {
        let batch = Batch {
            documents: vec![(document, Some(text.to_owned()))],
            ..Batch::default()
        };
        assert!(self.store.commit(ACCOUNT, &batch).await.unwrap());
    }

    /// The version of the index.
    async fn index(&self) -> u64 {
        let index = self.store.documents(ACCOUNT, "bank/index").await.unwrap();
        index[0].version
    }
}

#[tokio::test]
async fn the_same_list_is_confirmed_once_a_day_and_not_written_otherwise() {
    let device = Device::new();
    let list = cattle(|_| ());
    let with_unknown_field = cattle(|list| list[0]["later"] = json!(1));
    assert_eq!(device.receive(&list).await, (true, 1));

    device.clock.advance(2 * HOUR);
    assert_eq!(device.receive(&with_unknown_field).await, (false, 0));
    assert_eq!(device.received_at().await, after(Duration::ZERO));
    assert_eq!(device.confirmed_at().await, after(Duration::ZERO));

    device.clock.advance(21 * HOUR + 9 * HOUR / 10);
    assert_eq!(device.receive(&list).await, (false, 0));
    assert_eq!(device.confirmed_at().await, after(Duration::ZERO));

    device.clock.advance(24 * HOUR + HOUR / 10);
    assert_eq!(device.receive(&list).await, (false, 1));
    assert_eq!(device.received_at().await, after(Duration::ZERO));
    assert_eq!(device.confirmed_at().await, after(2 * DAY));

    // The clock was wrong, and is set back.
    device.clock.set_wall(now() - 2 * DAY);
    assert_eq!(device.receive(&list).await, (false, 1));
    let confirmed = device.confirmed_at().await.to_time().unwrap();
    assert!(confirmed < now());
}

#[tokio::test]
async fn an_earlier_list_that_comes_again_is_the_latest_one() {
    let device = Device::new();
    let first = cattle(|_| ());
    device.receive(&first).await;
    assert_eq!(device.receive(&newer()).await, (true, 1));
    assert_eq!(device.latest().await, hash(&newer()));

    device.clock.advance(12 * HOUR);
    assert!(device.receive(&first).await.0);
    assert_eq!(device.latest().await, hash(&first));
    assert_eq!(device.received_at().await, after(Duration::ZERO));
    assert_eq!(device.confirmed_at().await, after(12 * HOUR));
    assert_eq!(device.lists().await, [hash(&first), hash(&newer())]);
}

#[tokio::test]
async fn a_reply_does_not_replace_a_list_that_another_process_received_meanwhile() {
    let device = Device::new();
    let (list, json) = received(&cattle(|_| ()));

    let requested = device.banks.load().await.unwrap();
    let other = device.other();
    device.before_commit(async move { drop(other.receive(&newer()).await) });
    let kept = device.banks.keep(requested, &list, &json).await.unwrap();
    assert!(kept.is_none(), "it is to be requested again");
    assert_eq!(device.latest().await, hash(&newer()));

    // Both processes received the same list, which is stored once.
    let requested = device.banks.load().await.unwrap();
    let other = device.other();
    device.before_commit(async move { drop(other.receive(&cattle(|_| ())).await) });
    let kept = device.banks.keep(requested, &list, &json).await.unwrap();
    assert!(kept.unwrap().changed);
    assert_eq!(
        device.lists().await,
        [hash(&newer()), hash(&cattle(|_| ()))]
    );
}

#[tokio::test]
async fn only_what_nothing_needs_is_removed_and_only_on_request() {
    let device = Device::new();
    let [third, fourth, fifth, sixth] = [3, 4, 5, 6].map(numbered);
    let form = filled(&device.banks.receive(&third).await);
    let mine = device.create(&form).await;
    for list in [&fourth, &fifth, &sixth] {
        device.receive(list).await;
    }

    let removed = device.banks.prune([hash(&fourth)]).await.unwrap();
    assert_eq!(removed, [hash(&fifth)]);
    let left = [&third, &fourth, &sixth].map(hash);
    assert_eq!(device.lists().await, left);
    device.banks.remove_draft(&mine).await.unwrap();
    assert_eq!(device.lists().await, left);

    assert_eq!(device.prune().await, [hash(&third), hash(&fourth)]);
    assert_eq!(device.prune().await, []);
    let opened = device.open(&mine).await;
    refused(opened, "Config", "does not hold the question list");
}

#[tokio::test]
async fn a_damaged_list_is_an_error_and_received_again() {
    let list = cattle(|_| ());
    for damaged in ["{", "{}", &newer().to_string(), "null"] {
        let device = Device::new();
        let form = device.form().await;
        let mine = device.create(&form).await;
        device.put(list_name(hash(&list)), damaged).await;
        refused(device.banks.latest().await, "Store", "");
        refused(device.open(&mine).await, "Store", "");

        assert!(!device.receive(&list).await.0, "{damaged}");
        assert_eq!(device.latest().await, hash(&list));
        device.open(&mine).await.unwrap();
    }
}

#[tokio::test]
async fn an_index_of_a_newer_version_is_left_alone() {
    for (format, says) in [("2", "update this program"), ("x", "cannot be read")] {
        let device = Device::new();
        let index = format!(r#"{{"format": {format}}}"#);
        device.put("bank/index".to_owned(), &index).await;
        refused(device.banks.latest().await, "Store", says);

        // Before any request.
        let commits = device.store.commits();
        refused(device.banks.refresh().await, "Store", says);
        assert_eq!(device.store.commits(), commits);
        assert_eq!(device.index().await, 1);
        let documents = device.store.documents(ACCOUNT, "").await.unwrap();
        assert_eq!(documents.len(), 1);
    }
}

#[tokio::test]
async fn two_writers_of_a_draft_never_overwrite_each_other() {
    let device = Device::new();
    let mut form = device.form().await;
    let mine = device.create(&form).await;
    let other = device.banks.create_draft("1", &form.save()).await;
    refused(other, "Config", "there is a draft with this name");

    form.answer("17", "Yes").unwrap();
    let theirs = device.update(&mine, &form).await.unwrap();
    let late = device.update(&mine, &form).await;
    refused(late, "Config", "has changed since");
    let removed = device.banks.remove_draft(&mine).await;
    refused(removed, "Config", "has changed since");
    assert_eq!(device.stored_draft().await.as_ref(), Some(&theirs));

    device.banks.remove_draft(&theirs).await.unwrap();
    let late = device.update(&theirs, &form).await;
    refused(late, "Config", "has changed since");

    // The draft was created again: its document has the same version as the first one had.
    let anew = device.create(&form).await;
    let late = device.update(&mine, &form).await;
    refused(late, "Config", "has changed since");
    assert_eq!(device.stored_draft().await, Some(anew));
}

#[tokio::test]
async fn a_draft_that_is_changed_or_made_anew_between_read_and_commit_is_not_overwritten() {
    for is_made_anew in [false, true] {
        let device = Device::new();
        let mut form = device.form().await;
        let mine = device.create(&form).await;
        form.answer("17", "No").unwrap();
        let theirs = form.save();
        let read = mine.clone();
        let other = device.other();
        device.before_commit(async move {
            if is_made_anew {
                other.remove_draft(&read).await.unwrap();
                drop(other.create_draft("1", &theirs).await.unwrap());
            } else {
                drop(other.update_draft(&read, &theirs).await.unwrap());
            }
        });

        form.answer("17", "Yes").unwrap();
        let late = device.update(&mine, &form).await;
        refused(late, "Config", "has changed since");
        let stored = device.stored_draft().await.unwrap();
        assert_ne!(stored, mine);
        assert_ne!(stored.form(), &form.save());
    }
}

#[tokio::test]
async fn a_list_is_not_removed_while_a_draft_of_it_is_written() {
    // If the list is removed first, the draft cannot be written.
    let device = Device::new();
    let form = device.form().await;
    device.receive(&newer()).await;
    let other = device.other();
    device.before_commit(async move {
        let removed = other.prune([]).await.unwrap();
        assert_eq!(removed.len(), 1);
    });
    let created = device.banks.create_draft("1", &form.save()).await;
    refused(created, "Config", "");
    assert_eq!(device.banks.drafts().await.unwrap(), []);

    // If the draft is written first, the list stays.
    device.receive(&cattle(|_| ())).await;
    device.receive(&newer()).await;
    let other = device.other();
    let saved = form.save();
    device.before_commit(async move { drop(other.create_draft("1", &saved).await.unwrap()) });
    assert_eq!(device.prune().await, []);
    assert!(device.stored_draft().await.is_some());
    assert_eq!(
        device.lists().await,
        [hash(&newer()), hash(&cattle(|_| ()))]
    );
}

#[tokio::test]
async fn an_edit_writes_the_draft_alone_and_a_full_store_loses_nothing() {
    let device = Device::new();
    let mut form = device.form().await;
    let mine = device.create(&form).await;
    assert_eq!(device.index().await, 2);
    form.answer("17", "Yes").unwrap();
    let commits = device.store.commits();
    let ours = device.update(&mine, &form).await.unwrap();
    assert_eq!(device.store.commits(), commits + 1);
    assert_eq!(device.index().await, 2);

    device.store.allow(0);
    form.answer("17", "No").unwrap();
    refused(device.update(&ours, &form).await, "Store", "");
    assert_eq!(device.stored_draft().await, Some(ours));
}

#[tokio::test]
async fn a_moved_form_is_accepted_over_the_draft_that_it_was_opened_from() {
    let device = Device::new();
    let mut form = device.form().await;
    let mine = device.create(&form).await;
    device.receive(&newer()).await;
    form.answer("17", "Yes").unwrap();
    let edited = device.update(&mine, &form).await.unwrap();
    let of_mine = device.moved(&mine).await;
    let late = device.update(&mine, &of_mine).await;
    refused(late, "Config", "has changed since");

    let of_edited = device.moved(&edited).await;
    let moved = device.update(&edited, &of_edited).await.unwrap();
    assert_eq!(device.stored_draft().await.as_ref(), Some(&moved));
    // No draft pins the old list any more.
    assert_eq!(device.prune().await, [hash(&cattle(|_| ()))]);
    let opened = device.open(&moved).await.unwrap();
    assert_eq!(&opened.save(), moved.form());
}
