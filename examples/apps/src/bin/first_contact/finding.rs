//! The result of one query.

use serde_json::{Value, json};

/// The verdict on an assumption.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    AsAssumed,
    /// The service differs, and the profile now records the difference.
    Changed,
    /// The service differs in a way that a person has to look at.
    Look,
    /// The service did not show whether it differs.
    Open,
}

impl Verdict {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::AsAssumed => "as assumed",
            Self::Changed => "changed",
            Self::Look => "look at it",
            Self::Open => "not shown",
        }
    }
}

/// An assumption, and the findings about it.
pub(crate) struct Finding {
    pub(crate) what: String,
    pub(crate) assumed: String,
    /// Names and codes of the service; never a value of a record.
    pub(crate) found: String,
    /// The text of the service. Only for the screen, because a service may repeat its input.
    pub(crate) words: String,
    pub(crate) verdict: Verdict,
    /// The entry of the profile.
    pub(crate) entry: String,
}

impl Finding {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "what": self.what,
            "assumed": self.assumed,
            "found": self.found,
            "words": self.words,
            "verdict": self.verdict.as_str(),
            "entry": self.entry,
        })
    }
}
