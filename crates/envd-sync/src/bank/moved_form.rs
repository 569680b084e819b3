//! Opens a form with a newer list of questions, and reports the differences.

use std::collections::{HashMap, HashSet};

use super::{Bank, Banks, DraftError};
use crate::error::Result;
use envd_sdk::model::{AnswerInput, FormType};
use envd_sdk::validate::{
    Change, Choice, Context, ExplainedAnswer, Explanation, Form, Item, QuestionRef, Questionnaire,
    Report, Rule, SavedForm,
};

/// A form opened with a newer list of questions, and the differences; from [`Banks::open_with`].
///
/// Nothing is stored yet. Show the differences to the user, who can continue in the [`form`](Self::form) at once. To accept them,
/// pass that form to [`Banks::update_draft`]. See [`Banks::open_with`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MovedForm {
    /// The form with the newer list. Closed forms are replaced by their successors. Its [blockers](Form::blockers) are what the
    /// user has to answer or correct now.
    pub form: Form,
    /// The differences, in the shape of an edit of the form: questions that appear and vanish, and findings that come and go. A
    /// question that appears may already have an answer, which was in the draft but not sent.
    pub change: Change,
    /// The answers that are no longer sent, in the order of the draft.
    pub dropped: Vec<DroppedAnswer>,
    /// Answered questions to be reviewed by the user: the kind, text, help or reason of the question changed, or the chosen answer
    /// was renamed or removed.
    pub reworded: Vec<QuestionRef>,
}

/// An answer that is no longer sent with the newer list or with other forms.
///
/// In [`MovedForm::dropped`]. `Debug` hides the user's input.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DroppedAnswer {
    /// The question, with the row if the answer is in one.
    pub question: QuestionRef,
    /// The text of the question in the list that the draft pins.
    pub text: String,
    /// The answer in the draft.
    pub answer: AnswerInput,
    /// The reason why it is not sent. The answer stays in the form, in case its question applies again, unless the question is
    /// [unknown](Explanation::Unknown) to the newer list.
    pub because: Explanation,
}

impl Banks {
    /// Opens a saved form with another list of questions, and reports the differences; nothing is stored or sent.
    ///
    /// Forms that can no longer be created on the day of the context are replaced if the specification names a successor: LPAG2 by
    /// LPAG3 (spec 9.4). With [`Operation::Update`](envd_sdk::validate::Operation::Update) no form is replaced, since an existing
    /// record keeps its forms. To choose other forms, set the [field](Form::field) `forms` of the returned form.
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
    /// use envd_sdk::validate::Context;
    /// use envd_sync::Banks;
    /// use envd_sync::store::MemorySync;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let banks = Banks::new(&account, MemorySync::new());
    /// let bank = banks.refresh().await?.bank;
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpag2], origin, destination);
    /// let mut form = bank.questionnaire().form(&input, &Context::on(Day::parse("2024-11-18")?));
    /// form.answer("17", "Yes")?;
    /// form.answer("23", "No")?;
    /// let draft = banks.create_draft("goats", &form.save()).await?;
    ///
    /// // The next day LPAG2 is closed, and LPAG3 has no question 23.
    /// let today = Context::on(Day::parse("2024-11-19")?);
    /// let newer = banks.latest().await?.ok_or("no list")?;
    /// let moved = banks.open_with(draft.form().clone(), &newer, &today).await?;
    /// assert_eq!(moved.dropped[0].question.id, "23");
    /// for finding in &moved.change.added {
    ///     println!("{}", finding.sentence());
    /// }
    ///
    /// // The user has read the differences and accepts them.
    /// let draft = banks.update_draft(&draft, &moved.form.save()).await?;
    /// assert_eq!(draft.form().input().forms, [FormType::Lpag3]);
    /// # Ok(()) });
    /// ```
    ///
    /// # Cancel safety
    ///
    /// A read: dropping the future has no effect.
    ///
    /// # Errors
    ///
    /// [`Error::Draft`](crate::Error::Draft) with [`DraftError::Signed`] when the declaration is signed or submitted; otherwise as
    /// [`open`](Self::open).
    pub async fn open_with(
        &self,
        saved: SavedForm,
        newer: &Bank,
        context: &Context,
    ) -> Result<MovedForm> {
        DraftError::unless_movable(&saved)?;
        let (older, before) = self.open_pinned(saved, context).await?;
        Ok(MovedForm::new(&older, &before, newer.questionnaire()))
    }
}

impl MovedForm {
    pub(super) fn new(older: &Questionnaire, before: &Form, newer: &Questionnaire) -> Self {
        let draft = before.save().into_input();
        let mut input = draft.clone();
        input.forms = open_forms(&draft.forms, before.report());
        let was = older.explain_answers(&draft);
        let is = newer.explain_answers(&input);
        let mut explained = was.iter().zip(&is);
        if let Some(answers) = input.answers.value_mut() {
            // The service would receive these as answers to an unknown question.
            let is_gone = |(was, is): (&ExplainedAnswer, &ExplainedAnswer)| {
                is.explanation == Explanation::Unknown && was.explanation != is.explanation
            };
            answers.retain(|_| !explained.next().is_some_and(is_gone));
        }
        let form = newer.adopt(before, input);

        let items_before = before.items();
        let items = form.items();
        let items_before = by_question(&items_before);
        let items = by_question(&items);
        let mut dropped = Vec::new();
        let mut reworded = Vec::new();
        for ((answer, was), is) in draft.answers().iter().zip(&was).zip(is) {
            let (Explanation::Applies, [question, ..]) = (&was.explanation, &was.questions[..])
            else {
                continue;
            };
            let was = items_before.get(question).copied();
            let now = items.get(question).copied();
            match is.explanation {
                Explanation::Applies if was.map(wording) == now.map(wording) => {}
                Explanation::Applies => reworded.push(question.clone()),
                Explanation::TooLarge => {}
                because => dropped.push(DroppedAnswer {
                    question: question.clone(),
                    text: was.map_or_else(String::new, |item| item.text.clone()),
                    answer: answer.clone(),
                    because,
                }),
            }
        }
        Self {
            change: form.changes_since(before),
            form,
            dropped,
            reworded,
        }
    }
}

/// Replaces the forms that the report calls closed, if they have a successor.
fn open_forms(forms: &[FormType], report: &Report) -> Vec<FormType> {
    let findings = || report.findings().iter().chain(report.not_judged());
    let is_closed = |form: &FormType| {
        findings().any(|it| it.rule == Rule::FormOpen && it.value.as_deref() == Some(form.as_str()))
    };
    let replaced = |form: &FormType| form.replaced_by().filter(|_| is_closed(form));
    let open = forms
        .iter()
        .map(|form| replaced(form).unwrap_or_else(|| form.clone()));
    let mut open: Vec<FormType> = open.collect();
    if open != forms {
        // The draft may already have the newer form.
        let mut seen = HashSet::new();
        open.retain(|form| seen.insert(form.clone()));
    }
    open
}

/// Everything that gives the answer its meaning for a reader.
fn wording(item: &Item) -> impl PartialEq {
    let value = item.value.as_deref().unwrap_or_default();
    // A multiple choice is answered with a list.
    let is_chosen = |choice: &&Choice| value.contains(&choice.value);
    let chosen: Vec<&Choice> = item.choices.iter().filter(is_chosen).collect();
    // `why` names the question above, or the trigger.
    let texts = [&item.help, &item.tip, &item.why];
    (item.kind, &item.text, texts, chosen)
}

/// The items of a form by question; the first if several have the same id.
fn by_question(items: &[Item]) -> HashMap<&QuestionRef, &Item> {
    let mut all = HashMap::new();
    for item in items.iter().flat_map(Item::descendants) {
        all.entry(&item.question).or_insert(item);
    }
    all
}
