//! A stored list of questions.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::banks::KeptList;
use crate::account_store::unreadable;
use envd_sdk::auth::StoreError;
use envd_sdk::model::{FormType, QuestionList, Timestamp};
use envd_sdk::validate::{ContentHash, Policy, Questionnaire};

/// A stored list of questions, with which forms are filled in and validated without reception; cheap to clone.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::model::FormType;
/// use envd_sync::Banks;
/// use envd_sync::store::MemorySync;
///
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # let now = fake.clock().now();
/// let banks = Banks::new(&account, MemorySync::new());
/// let bank = banks.refresh().await?.bank;
/// assert!(bank.forms().contains(&FormType::Lpac1));
/// assert_eq!(bank.questionnaire().content_hash(), bank.content_hash());
/// assert_eq!(bank.age(now).as_secs(), 0);
/// # Ok(()) });
/// ```
#[derive(Clone)]
pub struct Bank {
    kept: KeptList,
    json: Arc<str>,
    questionnaire: Questionnaire,
}

impl Bank {
    /// Prepares a stored list. It is damaged if its content does not match the hash in its name.
    pub(super) fn open(kept: KeptList, json: String, policy: Policy) -> Result<Self, StoreError> {
        Ok(Self {
            questionnaire: prepare(kept.content_hash, &json, policy)?,
            json: json.into(),
            kept,
        })
    }

    /// The hash that identifies the list: [`SavedForm::content_hash`](envd_sdk::validate::SavedForm::content_hash) names it.
    pub fn content_hash(&self) -> ContentHash {
        self.kept.content_hash
    }

    /// The prepared questions; start forms with [`Questionnaire::form`].
    pub fn questionnaire(&self) -> &Questionnaire {
        &self.questionnaire
    }

    /// When this list was first received, in UTC, on the clock of the [`Banks`](super::Banks).
    ///
    /// For the day see [`Timestamp::day_in`].
    pub fn received_at(&self) -> &Timestamp {
        &self.kept.received_at
    }

    /// When the service last sent this list, in UTC and at most a day too early: see [`Banks::refresh`](super::Banks::refresh).
    pub fn confirmed_at(&self) -> &Timestamp {
        &self.kept.confirmed_at
    }

    /// The time since [`confirmed_at`](Self::confirmed_at); zero if that is later than `now`.
    pub fn age(&self, now: SystemTime) -> Duration {
        let confirmed = self.kept.confirmed_at.to_time().unwrap_or(now);
        now.duration_since(confirmed).unwrap_or_default()
    }

    /// The forms that the questions name, in a fixed order.
    pub fn forms(&self) -> &[FormType] {
        &self.kept.forms
    }

    /// The received JSON, unknown fields included: an object with `items`.
    pub fn json(&self) -> &str {
        &self.json
    }
}

debug_shows!(Bank, |it|
    content_hash: it.kept.content_hash,
    received_at: it.kept.received_at,
    confirmed_at: it.kept.confirmed_at,
);

/// Parses and prepares the questions of a stored list.
pub(super) fn prepare(
    hash: ContentHash,
    json: &str,
    policy: Policy,
) -> Result<Questionnaire, StoreError> {
    let list: Option<QuestionList> = serde_json::from_str(json).ok();
    let questionnaire = list.map(|list| Questionnaire::prepare_with(&list.items, policy));
    let questionnaire = questionnaire.filter(|prepared| prepared.content_hash() == hash);
    questionnaire.ok_or_else(|| {
        unreadable(format!(
            "the question list {hash} of the store is damaged: it cannot be read, or has another content"
        ))
    })
}
