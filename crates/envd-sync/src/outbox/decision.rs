//! What only a person can decide.

use std::fmt;

use super::apply::{self, Event, Moment, apply};
use super::compare::ServiceFields;
use super::declaration::{Declaration, DeclarationId};
use super::outbox::Outbox;
use super::row::{Listing, Row};
use crate::error::{Error, Result};
use envd_sdk::model::ConsignmentId;

/// What becomes of a declaration, from a person: [`guide::outbox`](crate::guide::outbox) says which fits when, and
/// [`Declaration::decisions`] which fit now.
///
/// It holds for what was there when the question was asked: if the record changes again, a person is asked again.
///
/// See [`Outbox::decide`] for an example of each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// Sends what is wanted here, over what the service had when the question was asked. A record that is gone is made anew;
    /// what is too late is sent anyway.
    KeepMine,
    /// Keeps what the service has, and gives the declaration up.
    TakeTheirs,
    /// Sends it again: none of the [candidates](Declaration::candidates) is it, or the reason of a refusal has passed.
    Resend,
    /// This record is the declaration. It is read first; if it differs from what is wanted, that is compared next.
    Adopt(ConsignmentId),
    /// Gives the declaration up; nothing is deleted on the service.
    Discard,
}

/// The name, such as `keep mine`.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(apply::Decision::from(self).name())
    }
}

impl From<&Decision> for apply::Decision {
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
        let event = Event::Decided(decision.into());
        apply(&mut row.clone(), &event, &moment).is_ok()
    })
    .collect()
}

impl Outbox {
    /// Decides what becomes of a declaration; [`Declaration::decisions`] lists what fits.
    ///
    /// One declaration each, with the decision that ends it:
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
    /// use envd_sync::outbox::{Decision, DeclarationState, Reason};
    /// # use envd_sync::{Outbox, Replica};
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
    /// # let website = account.clone();
    /// # let input = || ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// // Changed on the website since it was edited here.
    /// # let id = account.save_consignment(input()).await?.value.id.ok_or("no id")?;
    /// let base = account.consignment(id.clone()).await?.value;
    /// let moved = |day| ConsignmentInput::from(&base).movement(day, "05:15").id(id.clone());
    /// let mine = outbox.update(&base, moved("2099-01-15")).await?;
    /// let (_, problems) = website.save_consignment(moved("2099-01-20")).await?.into_parts();
    /// println!("saved with {} problems", problems.len());
    /// outbox.send().await?;
    /// let asked = outbox.declaration(mine.id).await?.ok_or("it is gone")?;
    /// assert_eq!(asked.reason, Some(Reason::Conflict));
    /// outbox.decide(mine.id, Decision::KeepMine).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    ///
    /// // Changed again, with the other answer.
    /// let (_, problems) = website.save_consignment(moved("2099-01-21")).await?.into_parts();
    /// println!("saved with {} problems", problems.len());
    /// outbox.edit(mine.id, moved("2099-01-16")).await?;
    /// outbox.send().await?;
    /// let declaration = outbox.decide(mine.id, Decision::TakeTheirs).await?;
    /// assert_eq!(declaration.state, DeclarationState::Discarded);
    ///
    /// // Refused: corrected, and sent again.
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("002", "a movement date is required");
    /// let refused = outbox.save(input().movement("2099-04-01", "05:15")).await?;
    /// outbox.send().await?;
    /// # fake.on_operation("CreateOrSaveConsignment").refuse("003", "the service is being moved");
    /// outbox.edit(refused.id, input().movement("2099-04-02", "05:15")).await?;
    /// outbox.send().await?;
    ///
    /// // Refused for a reason that has passed.
    /// outbox.decide(refused.id, Decision::Resend).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    ///
    /// // Not wanted any more.
    /// let unwanted = outbox.save(input().movement("2099-03-01", "05:15")).await?;
    /// outbox.decide(unwanted.id, Decision::Discard).await?;
    ///
    /// // Somebody has made the same declaration on the website: a person says whether it is this one.
    /// # let twin = || input().movement("2099-02-01", "05:15");
    /// let twin_of = outbox.save(twin()).await?;
    /// let (_, problems) = website.save_consignment(twin()).await?.into_parts();
    /// println!("saved with {} problems", problems.len());
    /// outbox.send().await?;
    /// let mut asked = outbox.declaration(twin_of.id).await?.ok_or("it is gone")?;
    /// assert_eq!(asked.reason, Some(Reason::Candidates));
    /// outbox.decide(twin_of.id, Decision::Adopt(asked.candidates.remove(0))).await?;
    /// assert_eq!(outbox.send().await?.confirmed, 1);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::Error::Usage) when there is no such declaration, or the decision does not fit it;
    /// [`Error::Store`](crate::Error::Store) when the store fails.
    pub async fn decide(&self, id: DeclarationId, decision: Decision) -> Result<Declaration> {
        let event = Event::Decided((&decision).into());
        self.change_row(id, |draft, row| match draft.append(row, &event) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::usage(format!(
                "declaration {id}: \"{decision}\" does not fit it now"
            ))),
        })
        .await
    }
}
