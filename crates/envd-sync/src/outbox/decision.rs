//! The answers to questions that only the user can decide.

use std::fmt;

use serde::{Deserialize, Serialize};

use envd_sdk::model::ConsignmentId;

/// The user's answer to a question about a declaration. `Declaration::decisions` lists the possible answers, and
/// `Declaration::consequence` describes what each will do. The text form is the name, such as `keep mine`.
///
/// A decision applies to the state that the question showed. If the record changes again, the user is asked again.
///
/// ```
/// use envd_sync::outbox::Decision;
///
/// let decision: Decision = "keep-mine".parse()?;
/// assert_eq!(decision, Decision::KeepMine);
/// assert_eq!(decision.to_string(), "keep mine");
/// # Ok::<(), envd_sync::Error>(())
/// ```
///
/// `Outbox::decide` has an example of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Decision {
    /// Sends the user's version over the state that the service had when the question was asked. A record that is gone is created
    /// again, and a late declaration is sent anyway.
    KeepMine,
    /// Keeps what the service has, and discards the declaration.
    TakeTheirs,
    /// Sends it again: none of the candidates is this declaration, or the reason for the refusal no longer applies.
    Resend,
    /// This record is the declaration. The outbox reads it first. If it differs from what the user wants, the outbox compares the two
    /// next.
    Adopt(ConsignmentId),
    /// Sends the declaration of another user under the current login. Not possible for a text that the other user signed: edit it, so
    /// that it is signed again.
    SendAsMe,
    /// Discards the declaration here, and deletes nothing on the service.
    Discard,
}

impl Decision {
    /// All decisions, in the order of the buttons on a screen.
    pub(crate) fn all(candidates: &[ConsignmentId]) -> Vec<Self> {
        let mut all = vec![
            Self::SendAsMe,
            Self::KeepMine,
            Self::TakeTheirs,
            Self::Resend,
        ];
        all.extend(candidates.iter().cloned().map(Self::Adopt));
        all.push(Self::Discard);
        all
    }

    /// Parses the text form. Hyphens may replace blanks.
    pub(crate) fn named(text: &str) -> Option<Self> {
        if let Some(id) = text.strip_prefix("adopt ") {
            return Some(Self::Adopt(id.into()));
        }
        let name = text.replace('-', " ");
        Self::all(&[]).into_iter().find(|one| one.name() == name)
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::KeepMine => "keep mine",
            Self::TakeTheirs => "take theirs",
            Self::Resend => "resend",
            Self::Adopt(_) => "adopt",
            Self::SendAsMe => "send as me",
            Self::Discard => "discard",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
