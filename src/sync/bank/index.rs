//! Which lists are kept, which one the service has sent last, and which ones drafts pin: one small document, whose version all
//! writes expect that add, remove or pin a list.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::{FormType, Question, Timestamp};
use crate::validate::ContentHash;

/// The name of the document.
pub(super) const INDEX: &str = "bank/index";

/// The form of the documents. A newer version of this crate may write another one.
pub(super) const FORMAT: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Index {
    pub(super) format: u32,
    /// The list that the service has sent last.
    pub(super) latest: Option<ContentHash>,
    /// In the order in which they were received first.
    pub(super) lists: Vec<KeptList>,
    /// The list of each draft, by the name of the draft.
    pub(super) pins: BTreeMap<String, ContentHash>,
}

/// A list of questions that is kept, without the questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeptList {
    pub(super) content_hash: ContentHash,
    pub(super) received_at: Timestamp,
    pub(super) confirmed_at: Timestamp,
    pub(super) forms: Vec<FormType>,
}

impl Default for Index {
    fn default() -> Self {
        Self {
            format: FORMAT,
            latest: None,
            lists: Vec::new(),
            pins: BTreeMap::new(),
        }
    }
}

impl Index {
    pub(super) fn list(&self, hash: ContentHash) -> Option<&KeptList> {
        self.lists.iter().find(|list| list.content_hash == hash)
    }

    pub(super) fn list_mut(&mut self, hash: ContentHash) -> Option<&mut KeptList> {
        self.lists.iter_mut().find(|list| list.content_hash == hash)
    }
}

/// The name of the document of a list.
pub(super) fn list_name(hash: ContentHash) -> String {
    format!("bank/list/{hash}")
}

/// The forms that questions name, on all levels.
pub(super) fn forms_of(questions: &[Question]) -> Vec<FormType> {
    let mut forms = BTreeSet::new();
    let mut open: Vec<&Question> = questions.iter().collect();
    while let Some(question) = open.pop() {
        forms.extend(question.forms.iter().cloned());
        open.extend(question.child_questions.iter());
    }
    forms.into_iter().collect()
}
