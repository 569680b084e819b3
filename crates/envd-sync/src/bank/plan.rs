//! What moving a draft to another list of questions or to other forms would do to it.

use std::fmt;
use std::sync::Arc;

use envd_sdk::model::{AnswerInput, ConsignmentStatus, FormType};
use envd_sdk::validate::{Blocker, ContentHash, Explanation, Finding, QuestionRef, SavedForm};

/// What moving a draft to another list of questions, or to other forms, would do to it: from [`Bank::plan`](super::Bank::plan).
///
/// Show it to a person; what [`accept`](Self::accept) returns is what was shown. Each answer of the draft is in
/// [`answers`](Self::answers) once. `Debug` and `Display` leave out what the user entered.
///
/// See [`Bank::plan`](super::Bank::plan) for an example.
#[derive(Clone)]
pub struct Plan {
    pub(super) draft: SavedForm,
    pub(super) moved: SavedForm,
    pub(super) answers: Vec<PlannedAnswer>,
    pub(super) required: Vec<Blocker>,
    pub(super) findings: Vec<Arc<Finding>>,
    pub(super) appeared: Vec<QuestionRef>,
    pub(super) vanished: Vec<QuestionRef>,
}

/// An answer of a draft, and what becomes of it. `Debug` leaves out what the user entered.
///
/// Of a [`Plan`]. See [`Bank::plan`](super::Bank::plan) for an example.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct PlannedAnswer {
    /// The question, with the row of the answer if it stands in one.
    pub question: QuestionRef,
    /// The answer, as it is in the draft.
    pub answer: AnswerInput,
    /// The text of the question in the list that the draft pins; `None` where the question does not apply there.
    pub text_before: Option<String>,
    /// The text of the question in the newer list; `None` where the question does not apply there.
    pub text: Option<String>,
    /// What becomes of it.
    pub outcome: AnswerOutcome,
}

/// What becomes of an answer.
///
/// ```
/// use envd_sync::bank::{AnswerOutcome, Plan};
///
/// fn lines(plan: &Plan) -> Vec<String> {
///     let line = |answer: &envd_sync::bank::PlannedAnswer| match &answer.outcome {
///         AnswerOutcome::Kept => format!("{}: kept", answer.question.id),
///         AnswerOutcome::Reworded => {
///             format!("{}: kept; the question has other words", answer.question.id)
///         }
///         AnswerOutcome::NotAcceptable(findings) => {
///             format!("{}: {}", answer.question.id, findings[0].sentence())
///         }
///         other => format!("{}: {other:?}", answer.question.id),
///     };
///     plan.answers().iter().map(line).collect()
/// }
/// # let _ = lines;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerOutcome {
    /// It is kept: the question is the same, and takes the answer.
    Kept,
    /// It is kept, but a person has to read it: the text, help or kind of the question has changed, the name of the chosen
    /// answer, the place of the question in or out of rows, or what it says of the question above or its trigger.
    Reworded,
    /// It is kept, and its question applies, which it did not before: a person has to read it.
    NowApplies,
    /// It is kept in the draft, to be corrected: the newer list does not take it.
    NotAcceptable(Vec<Arc<Finding>>),
    /// It is kept in the draft but not sent, since its question does not apply. It counts again once that applies.
    NotApplicable(Explanation),
    /// It is removed from the draft: the newer list has no such question, or the forms do not.
    Dropped(Explanation),
}

/// Why a draft is not moved, or not written.
///
/// ```
/// use envd_sync::bank::DraftError;
///
/// fn advice(error: &DraftError) -> &'static str {
///     match error {
///         DraftError::Changed => "Somebody has saved this draft since you opened it. Open it again.",
///         DraftError::NameTaken => "There is a draft of this name. Choose another one.",
///         _ => "The draft cannot be moved.",
///     }
/// }
/// # let _ = advice;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The declaration is accepted or has a signature: what was signed is never moved.
    #[error(
        "the declaration is accepted or signed: a signed declaration is not moved; to use other questions, make a new one and have it signed"
    )]
    Signed,
    /// The status is neither absent nor DRAFT.
    #[error("the consignment has a status other than DRAFT: only drafts are moved")]
    NotADraft,
    /// The draft was filled in with another list than the one that the plan is made from.
    #[error(
        "the draft pins the question list {pinned}, not {bank}: plan with the bank that it pins"
    )]
    OtherList {
        /// The list that the draft pins.
        pinned: ContentHash,
        /// The list of the bank.
        bank: ContentHash,
    },
    /// There are too many questions, rows and answers to judge: see [`Rule::Size`](envd_sdk::validate::Rule::Size).
    #[error("there are too many questions, rows and answers to judge")]
    TooLarge,
    /// The draft was written or removed since it was read, or since the plan was made.
    #[error("the draft has changed since it was read: read it again, and make a new plan")]
    Changed,
    /// There is a draft with this name.
    #[error("there is a draft with this name: read and update it, or choose another name")]
    NameTaken,
}

impl Plan {
    /// The list that it is moved to.
    #[must_use]
    pub fn content_hash(&self) -> ContentHash {
        self.moved.content_hash()
    }

    /// The forms that it has then.
    #[must_use]
    pub fn forms(&self) -> &[FormType] {
        &self.moved.input().forms
    }

    /// Whether moving changes the draft at all.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        self.draft != self.moved
    }

    /// All answers of the draft, in its order, each with what becomes of it.
    #[must_use]
    pub fn answers(&self) -> &[PlannedAnswer] {
        &self.answers
    }

    /// The answers that are removed.
    pub fn dropped(&self) -> impl Iterator<Item = &PlannedAnswer> {
        let is_dropped =
            |answer: &&PlannedAnswer| matches!(answer.outcome, AnswerOutcome::Dropped(_));
        self.answers.iter().filter(is_dropped)
    }

    /// What has to be answered before the draft can be submitted, and had not before: questions, and sections without a row.
    #[must_use]
    pub fn required(&self) -> &[Blocker] {
        &self.required
    }

    /// What else is wrong with the moved draft and was not before, such as forms of different species.
    #[must_use]
    pub fn findings(&self) -> &[Arc<Finding>] {
        &self.findings
    }

    /// The questions and sections that apply then and did not before, row by row.
    #[must_use]
    pub fn appeared(&self) -> &[QuestionRef] {
        &self.appeared
    }

    /// The questions and sections that no longer apply, answered or not, row by row.
    #[must_use]
    pub fn vanished(&self) -> &[QuestionRef] {
        &self.vanished
    }

    /// The moved draft, which pins the newer list. A person has to have accepted the plan. `draft` is the draft as it is now.
    ///
    /// # Errors
    ///
    /// [`DraftError::Changed`] if the draft is not the one that the plan was made from, and [`DraftError::Signed`] or
    /// [`DraftError::NotADraft`] if it was signed or submitted meanwhile.
    pub fn accept(&self, draft: &SavedForm) -> Result<SavedForm, DraftError> {
        DraftError::unless_movable(draft)?;
        if *draft != self.draft {
            return Err(DraftError::Changed);
        }
        Ok(self.moved.clone())
    }
}

impl DraftError {
    /// An error for what is signed or submitted.
    pub(super) fn unless_movable(draft: &SavedForm) -> Result<(), Self> {
        let input = draft.input();
        let declaration = input.declaration.value();
        let is_signed = declaration.is_some_and(|declaration| {
            let signature = declaration.signature.value();
            declaration.accept.value() == Some(&true)
                || signature.is_some_and(|signature| !signature.is_empty())
        });
        let status = input.status.value();
        if is_signed {
            Err(Self::Signed)
        } else if status.is_some_and(|status| *status != ConsignmentStatus::Draft) {
            Err(Self::NotADraft)
        } else {
            Ok(())
        }
    }
}

impl fmt::Display for Plan {
    /// One line: the forms, and how many answers have which outcome.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |forms: &[FormType]| {
            let names: Vec<&str> = forms.iter().map(FormType::as_str).collect();
            names.join(", ")
        };
        let (before, after) = (names(&self.draft.input().forms), names(self.forms()));
        if before != after {
            write!(f, "{before} becomes ")?;
        }
        let mut counts = [0; 5];
        for answer in &self.answers {
            counts[match answer.outcome {
                AnswerOutcome::Kept => 0,
                AnswerOutcome::Reworded | AnswerOutcome::NowApplies => 1,
                AnswerOutcome::NotAcceptable(_) => 2,
                AnswerOutcome::NotApplicable(_) => 3,
                AnswerOutcome::Dropped(_) => 4,
            }] += 1;
        }
        let [kept, reread, wrong, waiting, dropped] = counts;
        let required = self.required.len();
        write!(
            f,
            "{after}; answers: {kept} kept, {reread} to be read again, {wrong} not acceptable, {waiting} not applicable, {dropped} dropped; newly required: {required}"
        )
    }
}

debug_shows!(Plan, |it|
    draft: it.draft,
    content_hash: it.content_hash(),
    answers: it.answers,
);

debug_shows!(PlannedAnswer, |it| question: it.question, outcome: it.outcome);
