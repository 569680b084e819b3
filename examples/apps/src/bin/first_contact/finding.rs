//! What was asked, and what came of it.

use serde_json::{Value, json};

/// What became of a guess.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Verdict {
    AsAssumed,
    /// The profile says it now.
    Changed,
    /// It differs, and somebody has to look at it.
    Look,
    /// The service did not show it.
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

/// The answer to one question.
pub(crate) struct Finding {
    pub(crate) what: String,
    pub(crate) assumed: String,
    /// Names and codes of the service; no value of a record.
    pub(crate) found: String,
    /// What the service itself said: for the screen alone, since a service repeats what it was sent.
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
