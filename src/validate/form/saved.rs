//! Saves forms, reopens them, and moves them to another list of questions.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::super::question_tree::ItemKind;
use super::super::walk::OpenedRows;
use super::super::{ContentHash, Context, QuestionRef, Questionnaire};
use super::edit::{differences, mistakes};
use super::{Change, Form, FormState, Item};
use crate::model::{ConsignmentInput, QuestionId};

/// A form saved for later: see [`Form::save`]. `Debug` leaves out what the user entered.
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

/// The form was saved with another list of questions.
///
/// ```
/// # use envd_sdk::model::{ConsignmentInput, Day, Question};
/// # use envd_sdk::validate::{Context, Questionnaire};
/// # let newer: Vec<Question> = serde_json::from_str(r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}]"#)?;
/// # let old = Questionnaire::prepare(&[]);
/// # let newer = Questionnaire::prepare(&newer);
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
    /// The hash of the current list.
    pub current: ContentHash,
}

impl SavedForm {
    /// The hash of the list of questions that the form was filled in with.
    pub fn content_hash(&self) -> ContentHash {
        self.content_hash
    }

    /// The consignment so far, including answers to questions that do not apply.
    pub fn input(&self) -> &ConsignmentInput {
        &self.input
    }

    /// The consignment so far. If you still have the list of questions that the form was saved with, open the form with that list
    /// and have the newer list [adopt](Questionnaire::adopt) it, which keeps its rows. Otherwise start a new
    /// [form](Questionnaire::form) from this consignment.
    pub fn into_input(self) -> ConsignmentInput {
        self.input
    }
}

impl Form {
    /// Everything except the undo history, to store and [open](Questionnaire::open) later.
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
    /// Opens a saved form with a current context. The undo history starts empty.
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

impl Questionnaire {
    /// Moves a form to this list of questions, such as a newer list of the service.
    ///
    /// `input` is the consignment of the new form: that of the old form, either unchanged or without the answers that this list has
    /// no question for ([`explain_answers`](Self::explain_answers)). Any such answer left in it is sent as an answer to an unknown
    /// question. Rows and [skipped](Form::skip) questions are kept if this list still has them, including rows without any
    /// remaining answer. Earlier edits can no longer be undone.
    ///
    /// ```
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
    /// use envd_sdk::validate::{Context, Explanation, Questionnaire};
    ///
    /// let list = |questions: &str| -> Result<Questionnaire, serde_json::Error> {
    ///     let questions: Vec<Question> = serde_json::from_str(questions)?;
    ///     Ok(Questionnaire::prepare(&questions))
    /// };
    /// let older = list(r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"},
    ///                      {"id": "23", "forms": ["LPAC1"], "type": "STRING"}]"#)?;
    /// let newer = list(r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}]"#)?;
    /// # let context = Context::on(Day::parse("2026-11-20")?);
    /// # let origin = PartyInput::new("QAZZ7777");
    /// # let destination = PartyInput::new("QDZZ3333");
    /// # let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let mut form = older.form(&input, &context);
    /// form.answer("17", "Yes")?;
    /// form.answer("23", "No")?;
    /// let saved = form.save();
    ///
    /// // Later, with the newer list.
    /// let form = older.open(saved, &context)?;
    /// let mut input = form.save().into_input();
    /// let explained = newer.explain_answers(&input);
    /// let mut known = explained.iter().map(|answer| answer.explanation != Explanation::Unknown);
    /// if let Some(answers) = input.answers.value_mut() {
    ///     answers.retain(|_| known.next() == Some(true));
    /// }
    /// let form = newer.adopt(&form, input);
    /// assert_eq!(form.save().content_hash(), newer.content_hash());
    /// assert_eq!(form.to_input().answers().len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias("migrate", "upgrade"))]
    pub fn adopt(&self, form: &Form, input: ConsignmentInput) -> Form {
        let state = FormState {
            input,
            ..form.state.clone()
        };
        let adopted = Form::new(self.clone(), state, form.context.clone());
        let before = form.items();
        let after = adopted.items();
        let mut sections = HashSet::new();
        let mut rows = HashSet::new();
        for item in after.iter().flat_map(Item::descendants) {
            if item.kind == ItemKind::Rows {
                sections.insert(&item.question);
                rows.extend(item.rows.iter().map(|row| (&item.question, row.index)));
            }
        }
        let mut state = adopted.state.clone();
        for item in before.iter().flat_map(Item::descendants) {
            let lost = item.rows.iter().map(|row| (&item.question, row.index));
            let lost = lost.filter(|row| sections.contains(row.0) && !rows.contains(row));
            state
                .opened
                .extend(lost.map(|(section, row)| (section.id.clone(), row)));
        }
        Form::new(adopted.questionnaire, state, adopted.context)
    }
}

impl Form {
    /// Compares this form with an earlier one, such as the original of an [adopted](Questionnaire::adopt) form, and returns the
    /// difference as an edit would.
    ///
    /// ```
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
    /// use envd_sdk::validate::{Context, Questionnaire};
    ///
    /// let json = r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}]"#;
    /// let newer: Vec<Question> = serde_json::from_str(json)?;
    /// # let context = Context::on(Day::parse("2026-11-20")?);
    /// # let origin = PartyInput::new("QAZZ7777");
    /// # let destination = PartyInput::new("QDZZ3333");
    /// # let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
    /// let before = Questionnaire::prepare(&[]).form(&input, &context);
    /// let after = Questionnaire::prepare(&newer).adopt(&before, input);
    /// assert_eq!(after.changes_since(&before).appeared[0].id, "17");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn changes_since(&self, before: &Self) -> Change {
        let applied = |form: &Self| -> Vec<QuestionRef> {
            let tree = &form.questionnaire.tree;
            let instances = form.judged.applied.instances.iter();
            instances
                .map(|one| QuestionRef::new(&tree[one.question].id, one.row))
                .collect()
        };
        let (vanished, appeared) = differences(&applied(before), &applied(self));
        let (removed, added) = differences(&before.report().findings, &self.report().findings);
        Change {
            appeared,
            vanished,
            mistakes: mistakes(&added, &before.walk()),
            added,
            removed,
        }
    }
}
