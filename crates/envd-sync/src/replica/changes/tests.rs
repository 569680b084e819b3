//! Changes and their stored form, and the errors of a feed. The scenarios and schedules of the replica test what a feed delivers.

use std::sync::Arc;

use super::{Change, ChangeKind, Changes};
use crate::account_store::{AccountStore, json};
use crate::replica::local_record::{Depth, LocalRecord};
use crate::store::MemorySync;
use crate::store::rows::ChangeRow;
use envd_sdk::ErrorKind;
use envd_sdk::model::ConsignmentStatus;

impl Changes {
    /// Sets the number of rows per read, so that tests read a snapshot in parts.
    pub(crate) fn in_chunks(mut self, chunk: usize) -> Self {
        self.chunk = chunk;
        self
    }
}

/// Holds: a consumer has a name that can be stored, and acknowledges what it was told.
#[tokio::test]
async fn names_and_changes_that_cannot_be_used_are_delivered() {
    let account = AccountStore::new(Arc::new(MemorySync::new()), "envd-1");
    let feed = |name: &str| Changes::new(account.clone(), name.to_owned());
    for name in ["", "a\nb", &"x".repeat(101)] {
        let error = feed(name).next().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{name:?}");
    }
    let record = summary("{}");
    let change = Change {
        sequence: 1,
        id: "7".into(),
        kind: ChangeKind::Appeared { record },
    };
    let error = feed("ours").acknowledge(&change).await.unwrap_err();
    let says = error.to_string();
    let is_known = says.contains("not one of this account");
    assert!(error.kind() == ErrorKind::Config && is_known, "{error}");
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
fn a_status_change_differs_from_other_changes() {
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
