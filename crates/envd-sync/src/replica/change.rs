//! What changed in the copy.

use serde::{Deserialize, Serialize};

use super::difference::changed_fields;
use super::local_record::LocalRecord;
use crate::account_store::unreadable;
use crate::store::rows::ChangeRow;
use envd_sdk::auth::StoreError;
use envd_sdk::model::{ConsignmentId, ConsignmentStatus};

/// One change of one record, as [`Changes`](super::Changes) tells it.
///
/// See [`Changes`](super::Changes) for an example.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The number of the change, from 1, increasing in the account. Numbers may be left out.
    pub sequence: u64,
    /// The record.
    pub id: ConsignmentId,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What happened to a record.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # let replica = Replica::new(&account, envd_sync::store::MemorySync::new());
/// use envd_sync::replica::ChangeKind;
/// # use envd_sync::Replica;
///
/// replica.sync().await?;
/// let mut feed = replica.changes("screen");
/// while let Some(change) = feed.next().await? {
///     match &change.kind {
///         ChangeKind::Appeared { .. } => println!("{} is new", change.id),
///         ChangeKind::Changed { status: Some(status), .. } => {
///             println!("{} is now {:?}", change.id, status.after);
///         }
///         ChangeKind::Changed { .. } => println!("{} changed", change.id),
///         _ => println!("{} is gone", change.id),
///     }
///     feed.acknowledge(&change).await?;
/// }
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ChangeKind {
    /// It is listed for the first time, or again after it was gone; or the consumer is new and the copy holds it.
    #[non_exhaustive]
    Appeared {
        /// As it was listed.
        record: LocalRecord,
    },
    /// Its content differs from before.
    #[non_exhaustive]
    Changed {
        /// As it was.
        before: LocalRecord,
        /// As it was listed now.
        after: LocalRecord,
        /// The paths of the fields that differ, such as `status`, `origin.pic` and `forms[0].serialNumber`, unknown fields
        /// included. The date of the last update is never among them. An empty path is the whole record.
        fields: Vec<String>,
        /// The status before and after, if it differs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<StatusChange>,
    },
    /// The service lists it no more, and does not show it when asked for it. It may be deleted, or the user may not see it
    /// any more: the service gives the same answer to both. A record that is deleted and still shown is [`Changed`](Self::Changed)
    /// to the status DELETED.
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    Gone {
        /// As it was listed last.
        last_seen: LocalRecord,
    },
    /// The copy keeps it no longer: see [`Replica::retention`](super::Replica::retention). The service may show it.
    #[serde(rename_all = "camelCase")]
    #[non_exhaustive]
    Pruned {
        /// As it was listed last.
        last_seen: LocalRecord,
    },
}

/// A status that changed.
///
/// In [`ChangeKind::Changed`]. The [page of the crate](crate) has an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StatusChange {
    /// The status before.
    pub before: Option<ConsignmentStatus>,
    /// The status now.
    pub after: Option<ConsignmentStatus>,
}

impl Change {
    /// The record as it is now, or as it was listed last.
    #[must_use]
    pub fn record(&self) -> &LocalRecord {
        match &self.kind {
            ChangeKind::Appeared { record } => record,
            ChangeKind::Changed { after, .. } => after,
            ChangeKind::Gone { last_seen } | ChangeKind::Pruned { last_seen } => last_seen,
        }
    }

    /// What a store has kept.
    pub(crate) fn from_row(row: &ChangeRow) -> Result<Self, StoreError> {
        let kind = serde_json::from_str(&row.payload).map_err(|_| {
            unreadable(format!(
                "the change {} in the copy cannot be read",
                row.sequence
            ))
        })?;
        Ok(Self {
            sequence: row.sequence,
            id: row.id.as_str().into(),
            kind,
        })
    }
}

impl ChangeKind {
    /// What happened between two states of a record; `None`: nothing, or its date alone.
    pub(crate) fn between(before: Option<&LocalRecord>, after: &LocalRecord) -> Option<Self> {
        let Some(before) = before else {
            let record = after.clone();
            return Some(Self::Appeared { record });
        };
        if before.json() == after.json() {
            return None;
        }
        let fields = changed_fields(&before.value(), &after.value());
        let (was, is) = (before.status(), after.status());
        let status = (was != is).then_some(StatusChange {
            before: was,
            after: is,
        });
        (!fields.is_empty()).then(|| Self::Changed {
            before: before.clone(),
            after: after.clone(),
            fields,
            status,
        })
    }

    /// What a store keeps of it.
    pub(crate) fn to_payload(&self) -> String {
        // OK because a struct of JSON and texts can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The record before the change, if there was one.
    pub(crate) fn into_before(self) -> Option<LocalRecord> {
        match self {
            Self::Appeared { .. } => None,
            Self::Changed { before: record, .. }
            | Self::Gone { last_seen: record }
            | Self::Pruned { last_seen: record } => Some(record),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::local_record::Depth;
    use super::*;

    fn record(json: &str) -> LocalRecord {
        LocalRecord::new(serde_json::from_str(json).unwrap(), Depth::Summary)
    }

    #[test]
    fn changes_come_back_from_what_a_store_keeps() {
        let draft = record(r#"{"status": "DRAFT", "unknown": {"deep": [1.50]}}"#);
        let sent = record(r#"{"status": "SUBMITTED", "unknown": {"deep": [1.50]}}"#);
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
            let payload = kind.to_payload();
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
        let between = |before, after| ChangeKind::between(Some(&record(before)), &record(after));
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
}
