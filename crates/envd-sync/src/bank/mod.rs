//! Question lists for forms that are filled in offline, and the drafts that pin them.
//!
//! | task | see |
//! | --- | --- |
//! | store the questions of the service, and check for newer ones | [`Banks::refresh`], [`Banks::latest`], [`Bank`] |
//! | start and validate a form offline | [`Bank::questionnaire`], [`Questionnaire::form`](envd_sdk::validate::Questionnaire::form) |
//! | store a form, and open it the next day | [`Banks::create_draft`], [`Banks::draft`], [`Banks::open`], [`LocalDraft`] |
//! | open a draft with a newer list or form, and show what changes | [`Banks::open_with`], [`MovedForm`] |
//! | remove lists that nothing needs | [`Banks::prune`] |
//!
//! A list is stored as received, under the [hash](envd_sdk::validate::ContentHash) of its content. A form names the list
//! that it was filled in with, so it always opens and validates with that list, even after the service has a newer one.
//! [`guide::sync`] has a section about it.
//!
//! Lists and drafts are documents of the store: `bank/index`, `bank/list/<hash>` and `bank/draft/<name>`. Every write that
//! adds, removes or pins a list expects the version of the index, so a list cannot be removed while another process writes
//! a draft that pins it.
//!
//! [`guide::sync`]: mod@crate::guide::sync#forms-without-reception

mod banks;
mod local_draft;
mod moved_form;
mod question_bank;
#[cfg(test)]
mod tests;

pub use self::banks::BankRefresh;
#[doc(alias = "offline")]
pub use self::banks::Banks;
pub use self::local_draft::{DraftError, LocalDraft};
pub use self::moved_form::{DroppedAnswer, MovedForm};
pub use self::question_bank::Bank;
