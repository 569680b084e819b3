//! The entry point: a list of questions, prepared for checking many consignments.

use std::sync::Arc;

use super::draft::ReadInput;
use super::explanation::{Explanation, explain};
use super::forms::NamedForms;
use super::question_tree::QuestionTree;
use super::walk::{OpenedRows, Walk};
use super::{
    ContentHash, Context, Policy, QuestionRules, Report, advice, fields, forms, judge, prune,
};
use crate::model::{AnswerInput, ConsignmentInput, Question};
use crate::profile::{FurtherForm, ServiceProfile};

/// A list of questions, prepared for checking many consignments. It is cheap to clone.
///
/// ```
/// use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, FormType, PartyInput, Question};
/// use envd_sdk::validate::{Context, Questionnaire};
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "SINGLE_CHOICE", "childQuestions": [
///           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}]}]}]"#,
/// )?;
/// let questionnaire = Questionnaire::prepare(&questions);
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let today = Context::on(Day::parse("2026-11-20")?);
/// assert!(questionnaire.validate(&input, &today).ready_to_submit());
/// // A form shows which questions need an answer.
/// let form = questionnaire.form(&input.answer(AnswerInput::new("17", "No")), &today);
/// assert_eq!(form.next().unwrap().question.id, "20");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Questionnaire {
    pub(super) tree: Arc<QuestionTree>,
    /// Forms from the profile.
    // profile: forms
    further: Arc<[FurtherForm]>,
}

impl Questionnaire {
    /// Prepares the questions. It never fails: rules that it cannot check are in [`Report::unchecked`].
    pub fn prepare(questions: &[Question]) -> Self {
        Self::prepare_with(questions, Policy::default())
    }

    /// As [`prepare`](Self::prepare), with other choices where the specification is open.
    pub fn prepare_with(questions: &[Question], policy: Policy) -> Self {
        Self {
            tree: Arc::new(QuestionTree::read(questions, policy)),
            further: Arc::default(),
        }
    }

    /// Adds the forms that a profile names. A form newer than this crate counts as known if a question or the profile names it.
    /// Otherwise it is advice, since the server may know it.
    ///
    /// ```
    /// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput};
    /// use envd_sdk::profile::{FurtherForm, ServiceProfile, Sourced};
    /// use envd_sdk::validate::{Context, Questionnaire};
    ///
    /// let mut newer = FurtherForm::new("LPAC2");
    /// newer.from = Day::new(2027, 7, 1);
    /// let mut profile = ServiceProfile::default();
    /// profile.forms = Sourced::seen(vec![newer]);
    ///
    /// let questionnaire = Questionnaire::prepare(&[]).with_profile(&profile);
    /// let forms = [FormType::from("LPAC2")];
    /// let input = ConsignmentInput::new(forms, PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// let on = |day| questionnaire.validate(&input, &Context::on(day)).can_create();
    /// assert!(!on(Day::parse("2027-06-30")?));
    /// assert!(on(Day::parse("2027-07-01")?));
    /// # Ok::<(), envd_sdk::model::TextError>(())
    /// ```
    #[must_use]
    pub fn with_profile(mut self, profile: &ServiceProfile) -> Self {
        self.further = profile.forms.value.as_slice().into();
        self
    }

    /// Checks a consignment: its fields, then the answers to the questions that apply.
    ///
    /// The server stops at a value that its schema cannot take, such as an unknown status. The remaining problems are then in
    /// [`Report::not_judged`].
    pub fn validate(&self, input: &ConsignmentInput, context: &Context) -> Report {
        self.judge(&self.walk(input), input, context)
    }

    /// Checks a consignment with a walk of its answers.
    pub(super) fn judge(
        &self,
        walk: &Walk<'_>,
        input: &ConsignmentInput,
        context: &Context,
    ) -> Report {
        self.check(walk, input, context)
            .stopped_by(forms::refused_values(input), &[])
    }

    fn check(&self, walk: &Walk<'_>, input: &ConsignmentInput, context: &Context) -> Report {
        let mut report = Report::new(QuestionRules::NoQuestionsLoaded);
        let named = NamedForms {
            further: &self.further,
            questions: Some(&self.tree),
        };
        let answers = walk.sent_answers();
        fields::check(
            input,
            answers,
            context,
            self.tree.policy,
            named,
            &mut report,
        );
        judge::check(walk, context, &mut report);
        if context.advice {
            advice::of_answers(walk, &mut report.advice);
        }
        report
    }

    /// As [`validate`](Self::validate), for JSON that may not have the shape of a consignment.
    ///
    /// Each value of the wrong type is a finding at its path. The server stops there; problems with the other values are in
    /// [`Report::not_judged`].
    pub fn validate_json(&self, input: &serde_json::Value, context: &Context) -> Report {
        let draft = ReadInput::read(input);
        let report = self.check(&self.walk(&draft.input), &draft.input, context);
        draft.report(report)
    }

    /// Why a question applies in a row (`None` outside rows), or why it does not.
    pub fn explain(&self, id: &str, row: Option<i64>, input: &ConsignmentInput) -> Explanation {
        explain(&self.walk(input), &id.into(), row)
    }

    /// Removes the answers to questions that do not apply, and returns them. A second call removes nothing.
    ///
    /// Answers with unknown ids are kept: the list may be older than the answers. If there is too much to check
    /// ([`Rule::Size`](super::Rule::Size)), all answers are kept.
    ///
    /// ```
    /// # use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType, PartyInput, Question};
    /// # use envd_sdk::validate::Questionnaire;
    /// let questions: Vec<Question> = serde_json::from_str(
    ///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING", "childQuestions": [
    ///           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}]}]}]"#,
    /// )?;
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let mut input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
    ///     .answer(AnswerInput::new("17", "Yes"))
    ///     .answer(AnswerInput::new("20", "bought in May"));
    /// let gone = Questionnaire::prepare(&questions).prune(&mut input);
    /// assert_eq!(gone.len(), 1);
    /// assert_eq!(input.answers().len(), 1);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use = "these are the answers that were removed"]
    pub fn prune(&self, input: &mut ConsignmentInput) -> Vec<AnswerInput> {
        let superfluous = prune::superfluous(&self.walk(input));
        prune::remove(input, &superfluous)
    }

    /// Identifies this list of questions by a hash of everything that the service sends about them.
    ///
    /// The hash is the same in every process and in every version of this crate, so a stored draft can name the list that it was
    /// filled in with. It does not depend on the [`Policy`].
    pub fn content_hash(&self) -> ContentHash {
        self.tree.content_hash()
    }

    /// Evaluates the questions for a consignment.
    pub(super) fn walk<'a>(&'a self, input: &'a ConsignmentInput) -> Walk<'a> {
        Walk::new(&self.tree, input, &OpenedRows::new())
    }
}

debug_shows!(Questionnaire, |it| questions: it.tree.len());
