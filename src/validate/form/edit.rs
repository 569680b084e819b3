//! The edits of a form, and their effects.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::draft::ReadInput;
use super::super::question_tree::{ItemKind, QuestionTree};
use super::super::walk::{Instance, Walk};
use super::super::{Explanation, Finding, QuestionRef, Rule, answers, explanation};
use super::{Form, FormState, Judged};
use crate::model::{AnswerInput, ConsignmentInput, Maybe, QuestionId};

/// The effect of an edit of a [`Form`](super::Form).
///
/// ```
/// # use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
/// # use envd_sdk::validate::{Context, Questionnaire};
/// # let questions: Vec<Question> = serde_json::from_str(
/// #     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING", "childQuestions": [
/// #           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}],
/// #            "validators": [{"type": "required"}]}]}]"#,
/// # )?;
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// # let mut form = Questionnaire::prepare(&questions).form(&input, &Context::on(Day::parse("2026-11-20")?));
/// let change = form.answer("17", "No")?;
/// // Only what changed is drawn again. Question 20 is new, so an open answer is not a mistake yet.
/// assert_eq!(change.appeared[0].id, "20");
/// assert_eq!(change.added[0].sentence(), "Question 20 is not answered. Enter an answer.");
/// assert!(change.vanished.is_empty() && change.mistakes.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Questions that now apply and did not before.
    pub appeared: Vec<QuestionRef>,
    /// Questions that no longer apply.
    pub vanished: Vec<QuestionRef>,
    /// New findings.
    pub added: Vec<Arc<Finding>>,
    /// The part of [`added`](Self::added) to show at once: a wrong value, or a required answer that was removed. The rest are only
    /// questions still to be answered, because the edit made them appear or added their row.
    pub mistakes: Vec<Arc<Finding>>,
    /// Findings that no longer hold.
    pub removed: Vec<Arc<Finding>>,
}

/// Why an edit was refused. The form is unchanged.
///
/// ```
/// # use envd_sdk::model::{ConsignmentInput, Day};
/// # use envd_sdk::validate::{Context, EditError, Questionnaire};
/// # let context = Context::on(Day::parse("2026-11-20")?);
/// let mut form = Questionnaire::prepare(&[]).form(&ConsignmentInput::default(), &context);
/// let error = form.answer("17", "Yes").unwrap_err();
/// assert!(matches!(error, EditError::UnknownQuestion(_)));
/// # Ok::<(), envd_sdk::model::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// No question has this id.
    #[error("no question has the id {0}")]
    UnknownQuestion(QuestionId),
    /// A heading takes no answer.
    #[error("question {0} is a heading and takes no answer")]
    Heading(QuestionId),
    /// A section takes no answer; the questions in its rows do.
    #[error("question {0} is answered in its rows: add a row")]
    Section(QuestionId),
    /// Only a section has rows.
    #[error("question {0} has no rows")]
    NotASection(QuestionId),
    /// The question is read-only.
    #[error("question {0} is read-only")]
    ReadOnly(QuestionId),
    /// The row does not exist, or the question is not inside rows.
    #[error("question {0}: no such row")]
    NoSuchRow(QuestionRef),
    /// A section inside a row has at most one row, and it already exists.
    #[error("question {0}: the row is there already")]
    RowExists(QuestionRef),
    /// The question does not apply now.
    #[error("question {question} does not apply: {because}")]
    DoesNotApply {
        /// The question.
        question: QuestionRef,
        /// The reason why it does not apply.
        because: Explanation,
    },
    /// The form would become too large to check: see [`Rule::Size`](super::super::Rule::Size).
    #[error("there would be too many rows and answers to check")]
    TooLarge,
    /// The consignment has no such field, or the field does not take the value.
    #[error("the value does not fit the field {path}: {}", .findings.first().map_or("", |f| f.message.as_str()))]
    Field {
        /// The path of the field.
        path: String,
        /// The reasons, each at its own path.
        findings: Vec<Finding>,
    },
}

/// The elements that only one of the two lists has, in each direction. Duplicates count individually.
pub(super) fn differences<T: Clone + Eq + Hash>(before: &[T], after: &[T]) -> (Vec<T>, Vec<T>) {
    // Usually the lists differ only in the middle.
    let same = before
        .iter()
        .zip(after)
        .take_while(|(one, other)| one == other);
    let start = same.count();
    let ((_, before), (_, after)) = (before.split_at(start), after.split_at(start));
    let same = before.iter().rev().zip(after.iter().rev());
    let end = same.take_while(|(one, other)| one == other).count();
    let (before, _) = before.split_at(before.len() - end);
    let (after, _) = after.split_at(after.len() - end);
    let only = |all: &[T], others: &[T]| {
        let mut counts: HashMap<&T, usize> = HashMap::new();
        for other in others {
            *counts.entry(other).or_default() += 1;
        }
        all.iter()
            .filter(|one| match counts.get_mut(one) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            })
            .cloned()
            .collect()
    };
    (only(before, after), only(after, before))
}

/// Leaves out findings about missing answers, unless the edit removed the answer.
pub(super) fn mistakes(added: &[Arc<Finding>], before: &Walk<'_>) -> Vec<Arc<Finding>> {
    let was_answered = |question: &QuestionRef| {
        let mut instances = before.found.instances.iter();
        instances.any(|at| before.reference(*at) == *question && before.is_filled(*at))
    };
    added
        .iter()
        .filter(|finding| {
            finding.rule != Rule::Required || finding.question.as_ref().is_some_and(was_answered)
        })
        .cloned()
        .collect()
}

/// The most edits that can be undone.
const UNDO_STEPS: usize = 100;

impl From<&str> for QuestionRef {
    /// A question outside rows.
    fn from(id: &str) -> Self {
        Self::new(id, None)
    }
}

impl<I: Into<QuestionId>, R: Into<Option<i64>>> From<(I, R)> for QuestionRef {
    /// A question in a row, from 0: `("3", 0)`.
    fn from((id, row): (I, R)) -> Self {
        Self::new(id, row.into())
    }
}

impl From<&Self> for QuestionRef {
    fn from(question: &Self) -> Self {
        question.clone()
    }
}

impl Form {
    /// Answers a question, in a row as `("3", 0)`. `None` or an empty text removes the answer.
    ///
    /// # Errors
    ///
    /// [`EditError`] if the question takes no answer there. A wrong value is accepted, as a finding of the
    /// [report](Self::report).
    pub fn answer<'v>(
        &mut self,
        question: impl Into<QuestionRef>,
        value: impl Into<Option<&'v str>>,
    ) -> Result<Change, EditError> {
        let question = question.into();
        let position = self.position(&question, |kind| {
            !matches!(kind, ItemKind::Rows | ItemKind::Display)
        })?;
        let questionnaire = self.questionnaire.clone();
        if questionnaire.tree[position].read_only {
            return Err(EditError::ReadOnly(question.id));
        }
        let value = value.into().filter(|value| !value.is_empty());
        self.edit(|state| {
            state.skipped.remove(&question);
            put(&questionnaire.tree, &mut state.input, &question, value);
        })
    }

    /// Adds a row to a section. The row is sent only once it has an answer.
    ///
    /// A section inside a row is named together with that row, as in [`Item::question`](super::Item::question), and has at most one
    /// row of its own.
    ///
    /// # Errors
    ///
    /// [`EditError`] if there is no such section, or it cannot have another row.
    pub fn add_row(&mut self, section: impl Into<QuestionRef>) -> Result<Change, EditError> {
        let section = section.into();
        let first = self.position(&section, |kind| kind == ItemKind::Rows)?;
        let walk = self.walk();
        let is_outermost = |at: Instance| walk.tree[at.question].is_outermost_section();
        // Several sections may share the id; prefer one without a row.
        let with_id = walk.tree.with(Some(&section.id)).iter();
        let mut sections = with_id.map(|question| Instance::new(*question, section.row));
        let instance = sections.find(|at| {
            walk.found.instances.contains(at)
                && walk.tree[at.question].kind == ItemKind::Rows
                && walk.rows_of(*at).is_empty()
        });
        let instance = instance.unwrap_or(Instance::new(first, section.row));
        let last = walk.rows_of(instance).last();
        let index = match last {
            _ if is_outermost(instance) => {
                let last = last.and_then(|last| last.row).unwrap_or(-1);
                let next = last.max(-1).checked_add(1);
                Some(next.ok_or(EditError::TooLarge)?)
            }
            Some(_) => return Err(EditError::RowExists(section)),
            None => section.row,
        };
        self.edit(|state| {
            state.skipped.remove(&section);
            state.opened.insert((section.id, index));
        })
    }

    /// Removes a row of a section with all its answers. Other rows keep their numbers.
    ///
    /// # Errors
    ///
    /// [`EditError`] if the section or the row does not exist.
    pub fn remove_row(
        &mut self,
        section: impl Into<QuestionId>,
        row: impl Into<Option<i64>>,
    ) -> Result<Change, EditError> {
        let id = section.into();
        let index = row.into();
        let tree = &self.questionnaire.clone().tree;
        let at = QuestionRef::new(id.clone(), index);
        let mut with_id = tree.with(Some(&id)).iter();
        let is_inner = with_id.all(|at| !tree[*at].is_outermost_section());
        let outside = QuestionRef::new(id.clone(), None);
        let section = if is_inner { &at } else { &outside };
        let question = self.position(section, |kind| kind == ItemKind::Rows)?;
        if !self.walk().has_row(Instance::new(question, index)) {
            return Err(EditError::NoSuchRow(at));
        }
        let below = question + 1..tree[question].end;
        let ids: Vec<QuestionId> = below.map(|below| tree[below].id.clone()).collect();
        let is_below = |other: &QuestionId| *other == id || ids.contains(other);
        self.edit(|state| {
            state
                .opened
                .retain(|(other, row)| *row != index || !is_below(other));
            state
                .skipped
                .retain(|other| other.row != index || !ids.contains(&other.id));
            if let Some(answers) = state.input.answers.value_mut() {
                answers.retain(|given| {
                    let is_below = given.question_id.value().is_some_and(|id| ids.contains(id));
                    answers::row(given) != index || !is_below
                });
            }
        })
    }

    /// Leaves a question or an empty section open: [`next`](Self::next) passes over it until the question is answered or its answer
    /// is removed.
    ///
    /// # Errors
    ///
    /// [`EditError`] if the question does not exist or does not apply.
    pub fn skip(&mut self, question: impl Into<QuestionRef>) -> Result<(), EditError> {
        let question = question.into();
        self.position(&question, |_| true)?;
        self.edit(|state| {
            state.skipped.insert(question);
        })?;
        Ok(())
    }

    /// Sets any field other than an answer by its path: `origin.pic`, `movementDate`, `declaration.accept`, `forms`. `None` removes
    /// the value.
    ///
    /// # Errors
    ///
    /// [`EditError::Field`] if the consignment has no such field, or if the value has the wrong type. A wrong value of the right
    /// type is a finding of the [report](Self::report).
    ///
    /// ```
    /// # use envd_sdk::model::{ConsignmentInput, Day};
    /// # use envd_sdk::validate::{Context, Questionnaire};
    /// # let context = Context::on(Day::parse("2026-11-20")?);
    /// let mut form = Questionnaire::prepare(&[]).form(&ConsignmentInput::default(), &context);
    /// form.field("forms", ["LPAC1"])?;
    /// form.field("declaration.accept", true)?;
    /// let change = form.field("origin.pic", "QAZZ777")?;
    /// assert_eq!(change.added[0].code, "origin.pic");
    /// assert!(form.field("origin.colour", "red").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn field(&mut self, path: &str, value: impl Serialize) -> Result<Change, EditError> {
        let mut input = self.state.input.clone();
        let answers = std::mem::take(&mut input.answers);
        let value = serde_json::to_value(value).unwrap_or_default();
        let json = with_field(
            serde_json::to_value(&input).unwrap_or_default(),
            path,
            value,
        );
        let draft = json.map(|json| ReadInput::read(&json));
        let refused = |findings| EditError::Field {
            path: path.to_owned(),
            findings,
        };
        let draft = draft.ok_or_else(|| refused(Vec::new()))?;
        if !draft.findings.is_empty() {
            return Err(refused(draft.findings));
        }
        input = draft.input;
        input.answers = answers;
        self.edit(|state| state.input = input)
    }

    /// Undoes the last edit, up to 100 times; `None` if there is nothing left to undo.
    pub fn undo(&mut self) -> Option<Change> {
        let state = self.before.pop()?;
        let before = std::mem::replace(&mut self.state, state);
        let judged = Judged::new(&self.questionnaire, &self.state, &self.context);
        Some(self.show(judged, &before))
    }

    /// Edits the state, then checks it.
    fn edit(&mut self, edit: impl FnOnce(&mut FormState)) -> Result<Change, EditError> {
        let before = self.state.clone();
        edit(&mut self.state);
        if self.state == before {
            return Ok(Change::default());
        }
        let judged = Judged::new(&self.questionnaire, &self.state, &self.context);
        if judged.applied.is_too_large && !self.judged.applied.is_too_large {
            self.state = before;
            return Err(EditError::TooLarge);
        }
        if self.before.len() == UNDO_STEPS {
            self.before.remove(0);
        }
        let change = self.show(judged, &before);
        self.before.push(before);
        Ok(change)
    }

    /// Stores the result of a check and returns the difference to the previous one; `state` is the state before the edit.
    fn show(&mut self, judged: Judged, state: &FormState) -> Change {
        let before = std::mem::replace(&mut self.judged, judged);
        let tree = &self.questionnaire.tree;
        let references = |instances: Vec<Instance>| -> Vec<QuestionRef> {
            let instances = instances.into_iter();
            let reference = |Instance { question, row }| QuestionRef::new(&tree[question].id, row);
            instances.map(reference).collect()
        };
        let (vanished, appeared) =
            differences(&before.applied.instances, &self.judged.applied.instances);
        let (removed, added) = differences(&before.report.findings, &self.judged.report.findings);
        let walk = Walk {
            tree,
            answers: state.input.answers(),
            found: Cow::Borrowed(&before.applied),
        };
        Change {
            appeared: references(appeared),
            vanished: references(vanished),
            mistakes: mistakes(&added, &walk),
            added,
            removed,
        }
    }

    /// The position of the question that applies in this row and has a wanted kind, or why no question does.
    fn position(
        &self,
        question: &QuestionRef,
        is_wanted: impl Fn(ItemKind) -> bool,
    ) -> Result<usize, EditError> {
        let id = question.id.clone();
        let row = question.row;
        let tree = &self.questionnaire.tree;
        let with_id = tree.with(Some(&id)).iter().copied();
        let mut with_id = with_id.filter(|_| !id.as_str().is_empty());
        let kind = |question: usize| tree[question].kind;
        let instances = &self.judged.applied.instances;
        let applies = |question: &usize| instances.contains(&Instance::new(*question, row));
        if let Some(found) = with_id
            .clone()
            .find(|question| is_wanted(kind(*question)) && applies(question))
        {
            return Ok(found);
        }
        let Some(first) = with_id.clone().next() else {
            return Err(EditError::UnknownQuestion(id));
        };
        Err(match kind(with_id.find(applies).unwrap_or(first)) {
            kind if is_wanted(kind) => self.hidden(question),
            ItemKind::Rows => EditError::Section(id),
            ItemKind::Display if !is_wanted(ItemKind::Rows) => EditError::Heading(id),
            _ => EditError::NotASection(id),
        })
    }

    fn hidden(&self, question: &QuestionRef) -> EditError {
        let because = explanation::explain(&self.walk(), &question.id, question.row);
        let question = question.clone();
        match because {
            // The question applies, but not in this row.
            Explanation::Applies | Explanation::NoSuchRow => EditError::NoSuchRow(question),
            because => EditError::DoesNotApply { question, because },
        }
    }
}

/// Replaces the first answer to the question and removes its other answers; without a value, removes all.
fn put(
    tree: &QuestionTree,
    input: &mut ConsignmentInput,
    question: &QuestionRef,
    value: Option<&str>,
) {
    let mut with_id = tree.with(Some(&question.id)).iter();
    let is_outside = with_id.all(|question| tree[*question].rows_of.is_none());
    let mut answer = value.map(|value| {
        let answer = AnswerInput::new(&question.id, value);
        match question.row {
            Some(row) => answer.row(row),
            None => answer,
        }
    });
    if answer.is_some() && input.answers.value().is_none() {
        input.answers = Maybe::Value(Vec::new());
    }
    let Some(answers) = input.answers.value_mut() else {
        return;
    };
    answers.retain_mut(|given| {
        let is_here = given.question_id.value() == Some(&question.id)
            && (is_outside || answers::row(given) == question.row);
        if is_here && let Some(answer) = answer.take() {
            *given = answer;
            return true;
        }
        !is_here
    });
    answers.extend(answer);
}

/// Sets or removes a field of a JSON object by its path. `None` for the answers, and if the path leads through a non-object.
fn with_field(mut json: Value, path: &str, value: Value) -> Option<Value> {
    let (above, name) = path.rsplit_once('.').unwrap_or(("", path));
    let mut object = json.as_object_mut()?;
    for name in above.split('.').filter(|name| !name.is_empty()) {
        if value.is_null() && object.get(name).is_none_or(Value::is_null) {
            // Removing a missing field must not create its parent objects.
            return Some(json);
        }
        let below = object.entry(name).or_insert(Value::Null);
        if below.is_null() {
            *below = Map::new().into();
        }
        object = below.as_object_mut()?;
    }
    if value.is_null() {
        object.remove(name);
    } else {
        object.insert(name.to_owned(), value);
    }
    (path != "answers").then_some(json)
}
