//! What a pass did.

use std::fmt;

use serde::Serialize;

use crate::{counted, instant};
use envd_sdk::model::Timestamp;

/// What [`Outbox::send`](super::Outbox::send) did, and what is left. `Display` tells it in words.
///
/// ```
/// # equipment::example(async {
/// # let fake = envd_sdk::fake::Fake::start().await;
/// # let account = fake.client().build()?.account(fake.account_id());
/// # use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
/// # use envd_sync::{Outbox, Replica};
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// # let outbox = Outbox::new(&Replica::new(&account, envd_sync::store::MemorySync::new()));
/// outbox.save(input).await?;
/// let report = outbox.send().await?;
/// println!("{report}");
/// assert_eq!((report.confirmed, report.waiting), (1, 0));
/// // A person is needed.
/// assert!(!report.login_needed && report.needs_attention == 0);
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OutboxReport {
    /// How many declarations were confirmed.
    pub confirmed: u64,
    /// How many of them the service saved with problems: they are in [`Declaration::findings`](super::Declaration::findings). The
    /// problems of a record that was found after its reply was lost are unknown, and not counted.
    pub confirmed_with_problems: u64,
    /// How many declarations are refused now.
    pub refused: u64,
    /// How many declarations need a decision now.
    pub needs_attention: u64,
    /// How many declarations are not at their end and need no decision: they wait for reception, a login, a look or each other.
    pub waiting: u64,
    /// How many requests were made, those of the replica included; one that the client sends again counts once.
    pub requests: u64,
    /// How many further records were found: [`Declaration::late_duplicates`](super::Declaration::late_duplicates).
    pub late_duplicates: u64,
    /// Whether nothing is sent before the user has logged in again.
    pub login_needed: bool,
    /// Why nothing more was sent, in words; `None`: everything that could be sent was.
    pub stopped_by: Option<String>,
    /// When something is due again, on the clock of the outbox; `None`: nothing is, until something is written or decided.
    pub next_at: Option<Timestamp>,
}

impl OutboxReport {
    /// With what a later pass did.
    pub(super) fn add(&mut self, later: Self) {
        let before = std::mem::replace(self, later);
        self.confirmed += before.confirmed;
        self.confirmed_with_problems += before.confirmed_with_problems;
        self.requests += before.requests;
        self.late_duplicates += before.late_duplicates;
    }
}

impl fmt::Display for OutboxReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} confirmed", self.confirmed)?;
        for (count, what) in [
            (self.refused, "refused"),
            (self.needs_attention, "for a person to decide"),
            (self.waiting, "waiting"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        write!(f, "; {}", counted(self.requests, "request"))?;
        if self.confirmed_with_problems > 0 {
            let count = self.confirmed_with_problems;
            write!(f, "; {count} of the confirmed with problems")?;
        }
        if self.late_duplicates > 0 {
            let records = counted(self.late_duplicates, "record");
            write!(f, "; one too many, perhaps: {records}")?;
        }
        if self.login_needed {
            f.write_str("; a login is needed")?;
        } else if let Some(why) = &self.stopped_by {
            write!(f, "; stopped: {why}")?;
        }
        match &self.next_at {
            Some(at) => write!(f, "; next at {}", instant(at)),
            None => Ok(()),
        }
    }
}
