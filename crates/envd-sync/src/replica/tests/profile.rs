//! Whether the profile holds: which walks follow from it, and what full walks find out.

use std::time::Duration;

use serde_json::{Value, json};

use super::listing::{Compared, DAY};
use super::site::{Site, copied};
use crate::replica::{Replica, SyncMode, SyncReport};
use crate::store::MemorySync;
use crate::store::SyncStore;
use crate::store::rows::Batch;
use envd_sdk::ErrorKind;
use envd_sdk::profile::Sourced;

const HOUR: u64 = DAY / 24;

async fn sync(replica: &Replica) -> SyncReport {
    replica.sync().await.unwrap()
}

/// Holds: failure point 24: the next full walk finds all, says so, and the account is read in full from then on.
#[tokio::test]
async fn a_profile_that_does_not_hold_is_refuted_by_the_next_full_walk() {
    for (compared, lag, late, is_refuted) in [
        (Compared::Updated, 0, false, false),
        (Compared::Nothing, 0, false, false),
        (Compared::Created, 0, false, true),
        (Compared::Moved, 0, false, true),
        // The whole list as it was before, which its latest date shows; or one record that comes late.
        (Compared::Updated, 2, false, false),
        (Compared::Updated, 0, true, true),
    ] {
        let case = format!("{compared:?}, {lag} lists late, {late}");
        let (site, store) = (Site::with(6), MemorySync::new());
        (site.lock().list.compared, site.lock().list.lag) = (compared, lag);
        let replica = site.replica(store.clone()).page_size(100);
        for _ in 0..=lag {
            replica.sync_full().await.unwrap();
        }
        for number in 0..3 {
            {
                let mut service = site.lock();
                let heads = |record: &mut Value| record["heads"] = json!(number);
                service.list.now += HOUR;
                service.save("r002", heads);
                service.list.record("r002", "").is_listed = !late;
                service.list.now += HOUR;
                service.save(&format!("n{number}"), |record| {
                    record["movementDate"] = json!("2027-01-01");
                });
            }
            sync(&replica).await;
        }
        site.lock().list.record("r002", "").is_listed = true;
        site.clock.advance(Duration::from_millis(DAY));
        let report = sync(&replica).await;
        assert_eq!(report.mode, SyncMode::Full, "{case}");
        let named = report
            .problems
            .iter()
            .any(|it| it.contains("does not hold: r002 changed"));
        assert_eq!(named, is_refuted, "{case}: {report}");
        let after = sync(&replica).await;
        assert_eq!(after.mode == SyncMode::Full, is_refuted, "{case}: {after}");
        assert_eq!(
            after.why.contains("does not hold"),
            is_refuted,
            "{case}: {after}"
        );
        for _ in 0..lag {
            replica.sync_full().await.unwrap();
        }
        assert_eq!(copied(&store).await, site.ids(), "{case}");
    }
}

/// An account in which records are edited and none is made: what was shown last is not listed either.
#[tokio::test]
async fn a_change_that_was_shown_and_is_not_listed_makes_the_sync_full_and_refutes_the_profile() {
    let (site, store) = (Site::with(5), MemorySync::new());
    site.lock().list.compared = Compared::Created;
    let replica = site.replica(store.clone());
    site.lock().next_day("r004", 1);
    assert_eq!(sync(&replica).await.why, "first sync");
    let report = sync(&replica).await;
    assert_eq!(report.mode, SyncMode::Full, "{report}");
    assert!(report.why.contains("listed neither"), "{report}");
    assert!(report.problems[0].contains("r004"), "{report}");
    assert!(report.next_full_walk.is_none());
    // It is believed again when the profile is given anew: another entry, or none for one sync. Then the change is missed again.
    let entry = replica.compared.clone();
    for (value, is_believed) in [
        (entry.clone(), false),
        (Sourced::seen(entry.value), true),
        (entry.clone(), true),
        (entry.clone(), false),
        (Sourced::seen(None), false),
        (entry, true),
    ] {
        let mut given = replica.clone();
        given.compared = value;
        let report = sync(&given).await;
        assert_eq!(report.mode, SyncMode::Full, "{report}");
        assert_eq!(report.problems.len(), usize::from(is_believed), "{report}");
    }
}

/// Holds: what another version wrote is neither read nor overwritten.
#[tokio::test]
async fn a_copy_of_another_version_is_refused_and_stays() {
    for (format, says) in [(1, "begin with a new file"), (99, "update this program")] {
        let (site, store) = (Site::with(3), MemorySync::new());
        let text = json!({"format": format, "nextSequence": 7}).to_string();
        let batch = Batch {
            documents: vec![("replica".to_owned(), Some(text.clone()))],
            ..Batch::default()
        };
        assert!(store.commit("envd-1", &batch).await.unwrap());
        let error = site.replica(store.clone()).sync().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Store);
        let source = std::error::Error::source(&error).unwrap().to_string();
        assert!(source.contains(says), "{source}");
        let kept = store.documents("envd-1", "replica").await.unwrap();
        assert_eq!(kept[0].text, text);
        assert_eq!(site.take_requests().len(), 0);
    }
}
