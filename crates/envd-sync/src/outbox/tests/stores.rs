//! A store that fails: full, read-only, damaged, or of a later version.

use super::farm::{Farm, draft, load, now, saved};
use crate::outbox::EntryState;
use crate::store::SyncStore;
use crate::store::rows::{Batch, Document};
use envd_sdk::ErrorKind;

impl Farm {
    async fn documents(&self) -> Vec<Document> {
        let account = self.fake.account_id();
        self.store.documents(account, "").await.unwrap()
    }

    async fn overwrite(&self, name: &str, text: &str) {
        let batch = Batch {
            documents: vec![(name.to_owned(), Some(text.to_owned()))],
            ..Batch::default()
        };
        assert!(
            self.store
                .commit(self.fake.account_id(), &batch)
                .await
                .unwrap()
        );
    }
}

/// Holds: failure point 21: the store of an outbox.
///
/// From each commit of a pass on, the store takes nothing: every request after it would be unmarked.
#[tokio::test]
async fn a_store_that_takes_nothing_stops_the_outbox_before_a_request_that_is_not_marked() {
    for commits in 0..20 {
        let farm = Farm::start().await;
        let entry = farm.outbox().save(load(24)).await.unwrap();
        let store = farm.faulty(commits);
        let outbox = farm.outbox_on(store.clone());
        let ended = outbox.pass().await;
        let marked = now(&farm.outbox(), entry.id).await.attempts.len();
        assert_eq!(farm.saves(), marked, "after {commits} commits");
        let Err(error) = ended else {
            assert!(commits > 3);
            return;
        };
        assert!(error.kind() == ErrorKind::Store, "{error}");
        let error = outbox.save(load(25)).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Store);
        // There is room again.
        store.allow(usize::MAX);
        let report = farm.send(&outbox).await;
        assert_eq!(
            (report.waiting, farm.loads()),
            (0, vec![draft(24)]),
            "after {commits} commits"
        );
        assert_eq!(farm.saves(), 1, "after {commits} commits");
    }
    panic!("it did not end");
}

#[tokio::test]
async fn a_damaged_store_sends_nothing_and_is_not_overwritten() {
    let farm = Farm::start().await;
    farm.outbox().save(load(24)).await.unwrap();
    let store = farm.faulty(usize::MAX);
    store.fail_reads();
    let outbox = farm.outbox_on(store);
    assert!(outbox.send().await.unwrap_err().kind() == ErrorKind::Store);
    assert!(outbox.save(load(25)).await.unwrap_err().kind() == ErrorKind::Store);
    assert!(outbox.entries().await.unwrap_err().kind() == ErrorKind::Store);

    for name in ["outbox/head", "outbox/live/000000000001"] {
        for text in ["{", r#"{"format":99,"next":1,"leases":0,"pruned":0}"#] {
            let farm = Farm::start().await;
            let entry = farm.outbox().save(load(24)).await.unwrap();
            farm.overwrite(name, text).await;
            let before = farm.documents().await;
            let outbox = farm.outbox();
            let sent = outbox.send().await.unwrap_err();
            assert!(sent.kind() == ErrorKind::Store, "{name}: {sent}");
            assert!(outbox.save(load(25)).await.unwrap_err().kind() == ErrorKind::Store);
            assert!(outbox.edit(entry.id, load(25)).await.unwrap_err().kind() == ErrorKind::Store);
            assert_eq!(farm.documents().await, before, "{name}");
            assert_eq!(farm.fake.requests().len(), 0, "{name}");
        }
    }
}

#[tokio::test]
async fn a_later_and_an_earlier_version_are_named() {
    for (format, named) in [(99, "newer version"), (1, "earlier version")] {
        let farm = Farm::start().await;
        let head = format!(r#"{{"format":{format},"next":1,"leases":0,"pruned":0}}"#);
        farm.overwrite("outbox/head", &head).await;
        let error = farm.outbox().send().await.unwrap_err();
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains(named), "{source}");
    }
}

/// What looks keep of the changes of the copy is let go when nothing is looked for any more.
#[tokio::test]
async fn the_changes_that_a_look_needs_are_kept_as_long_as_it_does() {
    let (farm, outbox, _) = saved().await;
    let is_held = async || {
        farm.documents()
            .await
            .iter()
            .any(|document| document.name == "consumer/")
    };
    farm.fault(envd_sdk::fake::Fault::dropped_before());
    outbox.pass().await.unwrap();
    assert!(is_held().await);
    farm.send(&outbox).await;
    // It was sent twice: for a day a stray is looked for.
    assert!(is_held().await);
    farm.clock
        .advance(std::time::Duration::from_secs(25 * 3_600));
    farm.send(&outbox).await;
    assert!(!is_held().await);
    let entry = outbox.save(load(25)).await.unwrap();
    farm.send(&outbox).await;
    assert_eq!(now(&outbox, entry.id).await.state, EntryState::Confirmed);
    assert!(!is_held().await);
}
