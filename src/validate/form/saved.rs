//! A form that is kept, to be opened later.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::super::walk::OpenedRows;
use super::super::{ContentHash, Context, QuestionRef, Questionnaire};
use super::{Form, FormState};
use crate::model::{ConsignmentInput, QuestionId};

/// A form that is kept, to be opened later: see [`Form::save`]. `Debug` leaves out what the user entered.
///
/// ```
/// # use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
/// # use envd_sdk::validate::{Context, Questionnaire, SavedForm};
/// # let questions: Vec<Question> = serde_json::from_str(r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}]"#)?;
/// # let questionnaire = Questionnaire::prepare(&questions);
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// # let context = Context::on(Day::parse("2026-11-20")?);
/// let mut form = questionnaire.form(&input, &context);
/// form.answer("17", "Yes")?;
/// let json = serde_json::to_string(&form.save())?;
///
/// let saved: SavedForm = serde_json::from_str(&json)?;
/// assert_eq!(saved.content_hash(), questionnaire.content_hash());
/// assert_eq!(questionnaire.open(saved, &context)?.to_input(), form.to_input());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedForm {
    pub(super) content_hash: ContentHash,
    pub(super) input: ConsignmentInput,
    #[serde(default)]
    pub(super) opened: Vec<(QuestionId, Option<i64>)>,
    #[serde(default)]
    pub(super) skipped: Vec<QuestionRef>,
}

debug_shows!(SavedForm, |it| content_hash: it.content_hash);

/// A form was saved with another list of questions.
///
/// ```
/// # use envd_sdk::model::{ConsignmentInput, Day, Question};
/// # use envd_sdk::validate::{Context, Questionnaire};
/// # let newer: Vec<Question> = serde_json::from_str(r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}]"#)?;
/// # let (old, newer) = (Questionnaire::prepare(&[]), Questionnaire::prepare(&newer));
/// # let context = Context::on(Day::parse("2026-11-20")?);
/// let saved = old.form(&ConsignmentInput::default(), &context).save();
/// let error = newer.open(saved.clone(), &context).unwrap_err();
/// assert_eq!(error.saved, old.content_hash());
/// // Start a form with the newer list, from the same consignment.
/// let form = newer.form(&saved.into_input(), &context);
/// # let _ = form;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the form was saved with other questions ({saved}, now {current}); open it with those, or start a form with its input"
)]
#[non_exhaustive]
pub struct QuestionsChanged {
    /// The hash of the list that the form was saved with.
    pub saved: ContentHash,
    /// The hash of the list at hand.
    pub current: ContentHash,
}

impl SavedForm {
    /// The hash of the list of questions that the form was filled in with.
    pub fn content_hash(&self) -> ContentHash {
        self.content_hash
    }

    /// The consignment as far as it was filled in, with answers to questions that do not apply.
    pub fn input(&self) -> &ConsignmentInput {
        &self.input
    }

    /// The consignment as far as it was filled in. Where the list of questions that the form was saved with is at hand, open the form
    /// with that list and let the newer one [adopt](Questionnaire::adopt) it: its rows then stay. Otherwise start a
    /// [form](Questionnaire::form) with this.
    pub fn into_input(self) -> ConsignmentInput {
        self.input
    }
}

impl Form {
    /// All of the form but what can be undone, to be kept and [opened](Questionnaire::open) later.
    #[must_use]
    pub fn save(&self) -> SavedForm {
        let mut skipped: Vec<QuestionRef> = self.state.skipped.iter().cloned().collect();
        skipped.sort_by(|one, other| (&one.id, one.row).cmp(&(&other.id, other.row)));
        SavedForm {
            content_hash: self.questionnaire.content_hash(),
            input: self.state.input.clone(),
            opened: self.state.opened.iter().cloned().collect(),
            skipped,
        }
    }
}

impl Questionnaire {
    /// Opens a form that was saved; the context is today's, and nothing can be undone.
    ///
    /// # Errors
    ///
    /// [`QuestionsChanged`] if it was saved with another list of questions.
    pub fn open(&self, saved: SavedForm, context: &Context) -> Result<Form, QuestionsChanged> {
        let current = self.content_hash();
        if saved.content_hash != current {
            let saved = saved.content_hash;
            return Err(QuestionsChanged { saved, current });
        }
        let state = FormState {
            input: saved.input,
            opened: OpenedRows::from_iter(saved.opened),
            skipped: HashSet::from_iter(saved.skipped),
        };
        Ok(Form::new(self.clone(), state, context.clone()))
    }
}
