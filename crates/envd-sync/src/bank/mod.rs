//! Question lists for forms that are filled in without reception, and the drafts that pin them.
//!
//! | task | see |
//! | --- | --- |
//! | keep the questions of the service, and ask for newer ones | [`Banks::refresh`], [`Banks::latest`], [`Bank`] |
//! | start and validate a form without reception | [`Bank::questionnaire`], [`Questionnaire::form`](envd_sdk::validate::Questionnaire::form) |
//! | keep a form, and open it the next day | [`Banks::create_draft`], [`Banks::draft`], [`Banks::open`], [`LocalDraft`] |
//! | open a draft with a newer list or form, and show what changes | [`Banks::open_with`], [`MovedForm`] |
//! | remove lists that nothing needs | [`Banks::prune`] |
//!
//! A list is kept by the [hash](envd_sdk::validate::ContentHash) of its content, as it was received. A form names the list that it was
//! filled in with, so it opens and validates with that list, whatever the service sends by then. [`guide::sync`] has a section
//! about it.
//!
//! What is kept are documents of the store: `bank/index`, `bank/list/<hash>` and `bank/draft/<name>`. What adds, removes or pins a
//! list expects the version of the index, so no list is removed while a draft that pins it is written.
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
