//! Question lists for forms that are filled in without reception, and the drafts that pin them.

mod bank;
mod banks;
mod index;
mod local_draft;
mod plan;
mod planning;
#[cfg(test)]
mod tests;

pub use self::bank::Bank;
pub use self::banks::{BankRefresh, Banks};
pub use self::local_draft::LocalDraft;
pub use self::plan::{AnswerOutcome, DraftError, Plan, PlannedAnswer};
