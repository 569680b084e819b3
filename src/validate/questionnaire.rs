//! A list of questions, prepared for many consignments.

use std::fmt;
use std::sync::Arc;

use super::explain::{Explanation, explain};
use super::node::Prepared;
use super::play::Play;
use super::{AppliedQuestion, Context, Lint, QuestionRules, Report, applied, fields, judge};
use crate::model::{ConsignmentInput, Question};

/// A list of questions, prepared for many consignments. It is cheap to clone.
///
/// ```
/// use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType, PartyInput, Question};
/// use envd_sdk::validate::Questionnaire;
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "SINGLE_CHOICE", "childQuestions": [
///           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}]}]}]"#,
/// )?;
/// let questionnaire = Questionnaire::prepare(&questions);
/// let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// assert_eq!(questionnaire.next_questions(&input)[0].question.id, "17");
/// let input = input.answer(AnswerInput::new("17", "No"));
/// assert_eq!(questionnaire.next_questions(&input)[0].question.id, "20");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone)]
pub struct Questionnaire(Arc<Prepared>);

impl Questionnaire {
    /// Prepares the questions. It never fails: what is odd about them is in [`lints`](Self::lints).
    #[must_use]
    pub fn prepare(questions: &[Question]) -> Self {
        Self(Arc::new(Prepared::of(questions)))
    }

    /// Checks a consignment: its fields, then the answers to the questions that apply.
    ///
    /// After a value that the server's schema cannot take, such as an unknown form, nothing else is checked, because the
    /// server stops there too; [`Report::question_rules`] tells.
    #[must_use]
    pub fn validate(&self, input: &ConsignmentInput, context: &Context) -> Report {
        let mut report = Report::new(QuestionRules::NoQuestionsLoaded);
        if fields::check(input, context, &mut report.findings) {
            report.question_rules = QuestionRules::Checked;
            let play = Play::new(&self.0, input);
            judge::check(&play, context, &mut report);
            if context.advice {
                judge::advise(&play, input.answers(), &mut report);
            }
        }
        report
    }

    /// The questions that apply now, answered or not, in display order.
    #[must_use]
    pub fn applicable(&self, input: &ConsignmentInput) -> Vec<AppliedQuestion> {
        applied::list(&Play::new(&self.0, input))
    }

    /// The questions that apply now and wait for an answer, in display order. A REPEATABLE question waits for its first row.
    #[must_use]
    pub fn next_questions(&self, input: &ConsignmentInput) -> Vec<AppliedQuestion> {
        let mut questions = self.applicable(input);
        questions.retain(|question| question.answerable && !question.answered);
        questions
    }

    /// Why a question applies in a row (`None` outside rows), or why it does not.
    #[must_use]
    pub fn explain(&self, id: &str, row: Option<i64>, input: &ConsignmentInput) -> Explanation {
        explain(&Play::new(&self.0, input), id, row)
    }

    /// What is odd about the questions.
    #[must_use]
    pub fn lints(&self) -> &[Lint] {
        &self.0.lints
    }
}

impl fmt::Debug for Questionnaire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Questionnaire")
            .field("questions", &self.0.nodes.len())
            .field("lints", &self.0.lints.len())
            .finish_non_exhaustive()
    }
}
