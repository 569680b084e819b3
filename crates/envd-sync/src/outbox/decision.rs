//! What only a person can decide.

use std::fmt;

use serde::{Deserialize, Serialize};

use envd_sdk::model::ConsignmentId;

/// What becomes of a declaration, from a person. `Declaration::decisions` has those that fit now, and `Declaration::consequence` says
/// what each will do. The text is the name, such as `keep mine`.
///
/// It holds for what was there when the question was asked: if the record changes again, a person is asked again.
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
    /// Sends what is wanted here, over what the service had when the question was asked. A record that is gone is created again;
    /// what is too late is sent anyway.
    KeepMine,
    /// Keeps what the service has, and gives the declaration up.
    TakeTheirs,
    /// Sends it again: none of the candidates is it, or the reason of a refusal has passed.
    Resend,
    /// This record is the declaration. It is read first; if it differs from what is wanted, that is compared next.
    Adopt(ConsignmentId),
    /// Sends what another user wrote, under the login of now. A text that another user signed does not take this decision: edit it,
    /// so that it is signed again.
    SendAsMe,
    /// Gives the declaration up; nothing is deleted on the service.
    Discard,
}

impl Decision {
    /// All, in the order of the buttons of a screen.
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

    /// By its text, in which hyphens may replace blanks.
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
