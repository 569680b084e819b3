//! What only a person can decide.

use std::fmt;

use super::apply::{self, Moment, RowEvent, apply};
use super::compare::ServiceFields;
use super::row::{Listing, Row};
use envd_sdk::model::ConsignmentId;

/// What becomes of a declaration, from a person: [`guide::outbox`](crate::guide::outbox) says which fits when, and
/// [`Declaration::decisions`](super::Declaration::decisions) which fit now.
///
/// It holds for what was there when the question was asked: if the record changes again, a person is asked again.
///
/// See [`Outbox::decide`](super::Outbox::decide) for an example of each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Sends what is wanted here, over what the service had when the question was asked. A record that is gone is made anew;
    /// what is too late is sent anyway.
    KeepMine,
    /// Keeps what the service has, and gives the declaration up.
    TakeTheirs,
    /// Sends it again: none of the [candidates](super::Declaration::candidates) is it, or the reason of a refusal has passed.
    Resend,
    /// This record is the declaration. It is read first; if it differs from what is wanted, that is compared next.
    Adopt(ConsignmentId),
    /// Gives the declaration up; nothing is deleted on the service.
    Discard,
}

/// The name, such as `keep mine`.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(apply::PersonsDecision::from(self).name())
    }
}

impl From<&Decision> for apply::PersonsDecision {
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::KeepMine => Self::KeepMine,
            Decision::TakeTheirs => Self::TakeTheirs,
            Decision::Resend => Self::Resend,
            Decision::Adopt(id) => Self::Adopt(id.as_str().to_owned()),
            Decision::Discard => Self::Discard,
        }
    }
}

/// The decisions that a row takes.
pub(super) fn fitting(row: &Row, candidates: &[ConsignmentId]) -> Vec<Decision> {
    let (listed, service) = (Listing::default(), ServiceFields::default());
    let moment = Moment {
        now: 0,
        listed: &listed,
        begun: 0,
        reconcile_after: 0,
        service: &service,
    };
    let adopted = candidates.iter().cloned().map(Decision::Adopt);
    let all = [Decision::KeepMine, Decision::TakeTheirs, Decision::Resend].into_iter();
    let all = all.chain(adopted).chain([Decision::Discard]);
    all.filter(|decision| {
        let event = RowEvent::Decided(decision.into());
        apply(&mut row.clone(), &event, &moment).is_ok()
    })
    .collect()
}
