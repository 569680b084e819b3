//! Question lists for forms that are filled in without reception, and the drafts that pin them.
//!
//! | task | see |
//! | --- | --- |
//! | download the questions of the service and keep them | [`Banks::refresh`], [`Banks::latest`], [`Bank`] |
//! | start and validate a form without reception | [`Bank::questionnaire`], [`Questionnaire::form`](envd_sdk::validate::Questionnaire::form) |
//! | keep a form, and open it the next day | [`Banks::create_draft`], [`Banks::draft`], [`Banks::open`], [`LocalDraft`] |
//! | open a draft with a newer list or form, and show what changes | [`Banks::open_with`], [`MovedForm`] |
//! | remove unused lists | [`Banks::prune`] |
//!
//! A list is stored verbatim, under the [hash](envd_sdk::validate::ContentHash) of its content. A form names the list that it was
//! filled in with. So it opens and validates with that list, even if the service sends another list by then. [`guide::sync`] has a
//! section about it.
//!
//! The store holds the documents `bank/index`, `bank/list/<hash>` and `bank/draft/<name>`. Every write that adds, removes or pins a
//! list expects the version of the index. So no list is removed while a draft that pins it is being written.
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
