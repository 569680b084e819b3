//! A form that is opened with a newer list of questions, and what that changes.

use std::collections::{HashMap, HashSet};

use super::{Bank, Banks, DraftError};
use crate::error::Result;
use envd_sdk::model::{AnswerInput, FormType};
use envd_sdk::validate::{
    Change, Choice, Context, ExplainedAnswer, Explanation, Form, Item, QuestionRef, Questionnaire,
    Report, Rule, SavedForm,
};

/// A form that is opened with a newer list of questions, and what that changes: from [`Banks::open_with`].
///
/// Nothing is stored yet. Show it to a person, who may go on in the [`form`](Self::form) at once; [`Banks::update_draft`] with that
/// form accepts it. See [`Banks::open_with`] for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MovedForm {
    /// The form with the newer list, and with the forms that replace those that are closed. Its
    /// [blockers](Form::blockers) are what has to be answered or corrected now.
    pub form: Form,
    /// What that changes, as an edit of the form would say it: the questions that appear and vanish, and the findings that come and
    /// go. A question that appears may have an answer, which was in the draft and not sent.
    pub change: Change,
    /// The answers that are not sent any more, in the order of the draft.
    pub dropped: Vec<DroppedAnswer>,
    /// Answered questions whose answer a person has to read again: the question has another kind, text, help or reason to apply, or
    /// the chosen answer has another name or is gone.
    pub reworded: Vec<QuestionRef>,
}

/// An answer that a newer list or other forms leave out.
///
/// Of a [`MovedForm`]. `Debug` leaves out what the user entered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DroppedAnswer {
    /// The question, with the row of the answer if it stands in one.
    pub question: QuestionRef,
    /// The text of the question in the list that the draft pins.
    pub text: String,
    /// The answer, as it is in the draft.
    pub answer: AnswerInput,
    /// Why it is not sent. It stays in the form in case that its question applies again, unless that is
    /// [unknown](Explanation::Unknown) to the newer list.
    pub because: Explanation,
}

impl Banks {
    /// Opens a form that was saved with another list of questions, and says what that changes. Nothing is stored and nothing is
    /// sent.
    ///
    /// Forms that can no longer be created on the day of the context are replaced where the specification names the form that
    /// replaces them: LPAG2 by LPAG3 (spec 9.4). With [`Operation::Update`](envd_sdk::validate::Operation::Update) no form is, since an
    /// existing record keeps its forms. For other forms set the [field](Form::field) `forms` of the form that is returned.
    ///
    /// ```
    /// # equipment::example(async {
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
    /// use envd_sdk::validate::Context;
    /// use envd_sync::Banks;
    /// use envd_sync::store::MemorySync;
    ///
    /// # let fake = envd_sdk::fake::Fake::start().await;
    /// # let account = fake.client().build()?.account(fake.account_id());
    /// let banks = Banks::new(&account, MemorySync::new());
    /// let bank = banks.refresh().await?.bank;
    /// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
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
    /// // A person has read it and accepts.
    /// let draft = banks.update_draft(&draft, &moved.form.save()).await?;
    /// assert_eq!(draft.form().input().forms, [FormType::Lpag3]);
    /// # Ok(()) });
    /// ```
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
        let (was, is) = (older.explain_answers(&draft), newer.explain_answers(&input));
        let mut explained = was.iter().zip(&is);
        if let Some(answers) = input.answers.value_mut() {
            // What only the older list knows would be sent as the answer to an unknown question.
            let is_gone = |(was, is): (&ExplainedAnswer, &ExplainedAnswer)| {
                is.explanation == Explanation::Unknown && was.explanation != is.explanation
            };
            answers.retain(|_| !explained.next().is_some_and(is_gone));
        }
        let form = newer.adopt(before, input);

        let (items_before, items) = (before.items(), form.items());
        let (items_before, items) = (by_question(&items_before), by_question(&items));
        let (mut dropped, mut reworded) = (Vec::new(), Vec::new());
        for ((answer, was), is) in draft.answers().iter().zip(&was).zip(is) {
            let (Explanation::Applies, [question, ..]) = (&was.explanation, &was.questions[..])
            else {
                continue;
            };
            let (was, now) = (
                items_before.get(question).copied(),
                items.get(question).copied(),
            );
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

/// The forms, with those that the report says are closed replaced where a form replaces them.
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
        // The draft may have the newer form as well.
        let mut seen = HashSet::new();
        open.retain(|form| seen.insert(form.clone()));
    }
    open
}

/// All by which a person understands an answer.
fn wording(item: &Item) -> impl PartialEq {
    let value = item.value.as_deref().unwrap_or_default();
    // A choice of several is answered with a list.
    let is_chosen = |choice: &&Choice| value.contains(&choice.value);
    let chosen: Vec<&Choice> = item.choices.iter().filter(is_chosen).collect();
    // Why it applies names the question above, or the trigger.
    let texts = [&item.help, &item.tip, &item.why];
    (item.kind, &item.text, texts, chosen)
}

/// The items of a form; where several have one id, the first.
fn by_question(items: &[Item]) -> HashMap<&QuestionRef, &Item> {
    let mut all = HashMap::new();
    for item in items.iter().flat_map(Item::descendants) {
        all.entry(&item.question).or_insert(item);
    }
    all
}
