//! The report of a pass.

use std::fmt;

use serde::Serialize;

use crate::{counted, instant};
use envd_sdk::model::Timestamp;

/// The result of [`Outbox::send`](super::Outbox::send): what it did, and what still waits. `Display` writes it as a sentence.
///
/// ```
/// # test_support::example(async {
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
/// // The user has to act.
/// assert!(!report.login_needed && report.needs_attention == 0);
/// # Ok(()) });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OutboxReport {
    /// The number of declarations that were confirmed.
    pub confirmed: u64,
    /// The number of confirmed declarations that the service saved with problems: see
    /// [`Declaration::findings`](super::Declaration::findings). The problems of a record that was found after its reply was lost are
    /// unknown, and not counted.
    pub confirmed_with_problems: u64,
    /// The number of declarations that are refused now.
    pub refused: u64,
    /// The number of declarations that need a decision now.
    pub needs_attention: u64,
    /// The number of other declarations that are not confirmed or discarded. They wait for reception, a login, the next search after a
    /// lost reply, or another declaration.
    pub waiting: u64,
    /// The number of requests, including those of the replica. A request that the client repeats counts once.
    pub requests: u64,
    /// The number of late duplicates that were found: see [`Declaration::late_duplicates`](super::Declaration::late_duplicates).
    pub late_duplicates: u64,
    /// Whether the user has to log in again before anything is sent.
    pub login_needed: bool,
    /// Why sending stopped; `None`: everything that could be sent was sent.
    pub stopped_by: Option<String>,
    /// When something is due next, on the clock of the outbox; `None`: not before the user writes or decides something.
    pub next_at: Option<Timestamp>,
}

impl OutboxReport {
    /// Adds the report of a later pass.
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
            (self.needs_attention, "to be decided"),
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
            write!(f, "; may be surplus: {records}")?;
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
