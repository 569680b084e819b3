//! Makes plans: the form before and the form after are compared, question by question and row by row.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{AnswerOutcome, Bank, DraftError, Plan, PlannedAnswer};
use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType};
use envd_sdk::validate::{
    Blocker, Context, Explanation, Finding, Form, Item, QuestionRef, Questionnaire, Report, Rule,
    SavedForm,
};

impl Bank {
    /// What moving a draft of this list to a newer one would do to it. Nothing is written.
    ///
    /// Forms that can no longer be created on the day of the context are replaced where the specification names the form that
    /// replaces them: LPAG2 by LPAG3 (spec 9.4). With [`Operation::Update`](envd_sdk::validate::Operation::Update) no form is, since an
    /// existing record keeps its forms. For other forms see [`plan_with_forms`](Self::plan_with_forms).
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
    /// let pinned = banks.bank(draft.content_hash()).await?.ok_or("no list")?;
    /// let plan = pinned.plan(draft.form(), &newer, &today)?;
    /// assert_eq!(plan.forms(), [FormType::Lpag3]);
    /// assert_eq!(plan.dropped().next().map(|answer| answer.question.id.as_str()), Some("23"));
    ///
    /// // A person has read the plan and accepts it.
    /// let draft = banks.move_draft(&draft, &plan).await?;
    /// assert_eq!(draft.form().input().forms, [FormType::Lpag3]);
    /// # Ok(()) });
    /// ```
    ///
    /// # Errors
    ///
    /// [`DraftError`] if the declaration is signed, the consignment is no draft, the draft pins another list, or there is too
    /// much to judge.
    pub fn plan(
        &self,
        draft: &SavedForm,
        newer: &Self,
        context: &Context,
    ) -> Result<Plan, DraftError> {
        let before = self.open_draft(draft, context)?;
        let forms = replaced(&draft.input().forms, before.report());
        self.compare(&before, draft, newer, forms)
    }

    /// As [`plan`](Self::plan), with these forms in place of those of the draft.
    ///
    /// # Errors
    ///
    /// As [`plan`](Self::plan).
    pub fn plan_with_forms(
        &self,
        draft: &SavedForm,
        newer: &Self,
        forms: impl IntoIterator<Item = FormType>,
        context: &Context,
    ) -> Result<Plan, DraftError> {
        let before = self.open_draft(draft, context)?;
        let forms = forms.into_iter().collect();
        self.compare(&before, draft, newer, forms)
    }

    fn open_draft(&self, draft: &SavedForm, context: &Context) -> Result<Form, DraftError> {
        DraftError::unless_movable(draft)?;
        open(self.questionnaire(), draft.clone(), context)
    }

    fn compare(
        &self,
        before: &Form,
        draft: &SavedForm,
        newer: &Self,
        forms: Vec<FormType>,
    ) -> Result<Plan, DraftError> {
        let mut input = draft.input().clone();
        input.forms = forms;
        let was = explained(self.questionnaire(), draft.input());
        let is = explained(newer.questionnaire(), &input);
        let is_dropped: Vec<bool> = was.iter().zip(&is).map(is_dropped).collect();
        if let Some(answers) = input.answers.value_mut() {
            let mut dropped = is_dropped.iter();
            answers.retain(|_| dropped.next() != Some(&true));
        }
        // A row stays when all answers in it are dropped.
        let after = judged(newer.questionnaire().adopt(before, input))?;
        let items = before.items();
        let cells = FormCells::new(&items);
        let items_after = after.items();
        let cells_after = FormCells::new(&items_after);
        let findings = answer_findings(after.report());
        let explained = was.into_iter().zip(is).zip(is_dropped);
        let answers = draft.input().answers().iter().zip(explained);
        let answers = answers.map(|(answer, ((was, is), is_dropped))| {
            let (was, is) = ((&cells, was), (&cells_after, is));
            planned(answer, was, is, &findings, is_dropped)
        });
        Ok(Plan {
            answers: answers.collect(),
            required: newly_required(before, &after),
            findings: further_findings(before.report(), after.report()),
            appeared: cells_after.without(&cells),
            vanished: cells.without(&cells_after),
            draft: draft.clone(),
            moved: after.save(),
        })
    }
}

/// Opens a form with the list that it pins.
fn open(
    questionnaire: &Questionnaire,
    saved: SavedForm,
    context: &Context,
) -> Result<Form, DraftError> {
    let form = questionnaire.open(saved, context);
    let form = form.map_err(|changed| DraftError::OtherList {
        pinned: changed.saved,
        bank: changed.current,
    })?;
    judged(form)
}

fn judged(form: Form) -> Result<Form, DraftError> {
    let is_too_large = all_findings(form.report()).any(|finding| finding.rule == Rule::Size);
    (!is_too_large).then_some(form).ok_or(DraftError::TooLarge)
}

/// The forms, with those that the report says are closed replaced where a form replaces them.
fn replaced(forms: &[FormType], report: &Report) -> Vec<FormType> {
    let is_closed = |form: &FormType| {
        let closed = all_findings(report).filter(|finding| finding.rule == Rule::FormOpen);
        closed
            .filter_map(|finding| finding.value.as_deref())
            .any(|value| value == form.as_str())
    };
    let mut replaced = Vec::with_capacity(forms.len());
    for form in forms {
        match form.replaced_by().filter(|_| is_closed(form)) {
            // The draft may have the newer form as well.
            Some(newer) if forms.contains(&newer) || replaced.contains(&newer) => {}
            Some(newer) => replaced.push(newer),
            None => replaced.push(form.clone()),
        }
    }
    replaced
}

fn all_findings(report: &Report) -> impl Iterator<Item = &Arc<Finding>> {
    report.findings().iter().chain(report.not_judged())
}

/// The questions of an answer, of which there is at least one, and why they apply or not.
type Explained = (Vec<QuestionRef>, Explanation);

fn explained(questionnaire: &Questionnaire, input: &ConsignmentInput) -> Vec<Explained> {
    let answers = questionnaire.explain_answers(input).into_iter();
    answers
        .map(|answer| (answer.questions, answer.explanation))
        .collect()
}

/// Whether an answer has no question any more: left in the draft, it would be sent as the answer to an unknown one.
fn is_dropped(((_, was), (_, is)): (&Explained, &Explained)) -> bool {
    matches!(is, Explanation::Unknown | Explanation::OtherForms) && was != is
}

fn planned(
    answer: &AnswerInput,
    (cells, (places_before, was)): (&FormCells<'_>, Explained),
    (cells_after, (places, is)): (&FormCells<'_>, Explained),
    findings: &Findings<'_>,
    is_dropped: bool,
) -> PlannedAnswer {
    let (before, after) = (cells.of(&places_before[0]), cells_after.of(&places[0]));
    let wrong = places.iter().filter_map(|place| findings.get(place));
    let wrong = wrong.flatten().copied().cloned();
    let is_reworded = places_before != places
        || before
            .zip(after)
            .is_some_and(|(before, after)| is_reworded(answer, before, after));
    let outcome = match is {
        because if is_dropped => AnswerOutcome::Dropped(because),
        Explanation::Applies => match wrong.collect::<Vec<_>>() {
            wrong if !wrong.is_empty() => AnswerOutcome::NotAcceptable(wrong),
            _ if was != Explanation::Applies => AnswerOutcome::NowApplies,
            _ if is_reworded => AnswerOutcome::Reworded,
            _ => AnswerOutcome::Kept,
        },
        // The same in both lists: it is sent as before.
        Explanation::Unknown => AnswerOutcome::Kept,
        because => AnswerOutcome::NotApplicable(because),
    };
    PlannedAnswer {
        text_before: before.map(|item| item.text.clone()),
        text: after.map(|item| item.text.clone()),
        question: places[0].clone(),
        answer: answer.clone(),
        outcome,
    }
}

/// By question, what is wrong with its answers.
type Findings<'a> = HashMap<&'a QuestionRef, Vec<&'a Arc<Finding>>>;

fn answer_findings(report: &Report) -> Findings<'_> {
    let mut findings = Findings::new();
    for finding in all_findings(report).filter(|finding| finding.rule != Rule::Required) {
        if let Some(question) = &finding.question {
            findings.entry(question).or_default().push(finding);
        }
    }
    findings
}

/// Whether a person may understand the answer in another way.
fn is_reworded(answer: &AnswerInput, before: &Item, after: &Item) -> bool {
    // Why it applies names the question above, or the trigger.
    let texts = |item: &Item| {
        let further = [&item.help, &item.tip, &item.why];
        (item.text.clone(), further.map(Clone::clone))
    };
    let value = answer.value.value().map_or("", String::as_str);
    // A choice of several is answered with a list.
    let is_chosen =
        |choice: &str| choice == value || value.split(',').any(|part| part.trim() == choice);
    let names = |item: &Item| -> HashSet<(String, String)> {
        let chosen = item
            .choices
            .iter()
            .filter(|choice| is_chosen(&choice.value));
        chosen
            .map(|choice| (choice.value.clone(), choice.name.clone()))
            .collect()
    };
    before.kind != after.kind || texts(before) != texts(after) || names(before) != names(after)
}

fn newly_required(before: &Form, after: &Form) -> Vec<Blocker> {
    /// A question to be answered, a section without a row, or an empty row.
    type Key = (u8, QuestionRef, Option<i64>);
    fn key(blocker: &Blocker) -> Option<Key> {
        match blocker {
            Blocker::Finding(finding) if finding.rule == Rule::Required => {
                Some((0, finding.question.clone()?, None))
            }
            Blocker::NoRow { section, .. } => Some((1, section.clone(), None)),
            Blocker::EmptyRow { section, row, .. } => Some((2, section.clone(), *row)),
            _ => None,
        }
    }
    /// A server that stops at an unknown form says less than the person has to know.
    fn blockers(form: &Form) -> Vec<Blocker> {
        let not_judged = form.report().not_judged().iter().cloned();
        let judged = form.blockers().into_iter();
        judged.chain(not_judged.map(Blocker::Finding)).collect()
    }
    let known: HashSet<Key> = blockers(before).iter().filter_map(key).collect();
    let mut required = blockers(after);
    required.retain(|blocker| key(blocker).is_some_and(|key| !known.contains(&key)));
    required
}

/// The findings of another place or rule than those before, without those about answers.
fn further_findings(before: &Report, after: &Report) -> Vec<Arc<Finding>> {
    let key = |finding: &Arc<Finding>| (finding.rule, finding.path.clone(), finding.value.clone());
    let known: HashSet<_> = all_findings(before).map(key).collect();
    let mut further: Vec<Arc<Finding>> = all_findings(after).cloned().collect();
    further.retain(|finding| finding.question.is_none() && !known.contains(&key(finding)));
    further
}

/// The items of a form by question and row.
struct FormCells<'a> {
    by_question: HashMap<&'a QuestionRef, &'a Item>,
    /// In display order.
    all: Vec<&'a Item>,
}

impl<'a> FormCells<'a> {
    fn new(items: &'a [Item]) -> Self {
        let all: Vec<&Item> = items.iter().flat_map(Item::descendants).collect();
        // Where several have the id, the first one.
        let by_question = all.iter().rev().map(|item| (&item.question, *item));
        Self {
            by_question: by_question.collect(),
            all,
        }
    }

    fn of(&self, question: &QuestionRef) -> Option<&'a Item> {
        self.by_question.get(question).copied()
    }

    /// The questions that the other form does not have, in display order.
    fn without(&self, other: &Self) -> Vec<QuestionRef> {
        let questions = self.all.iter().map(|item| &item.question);
        let only = questions.filter(|question| other.of(question).is_none());
        only.cloned().collect()
    }
}
