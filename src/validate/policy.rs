//! Choices that the specification leaves open.

/// How to read what the specification leaves open; the default is what the rest of this module's documentation tells.
///
/// ```
/// use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType, PartyInput, Question};
/// use envd_sdk::validate::{Policy, Questionnaire};
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING", "childQuestions": [
///           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}]}]},
///         {"id": "30", "forms": ["LPAC1"], "type": "STRING", "triggers": [{"questionId": "20", "value": "bought"}]}]"#,
/// )?;
/// // Question 20 does not apply any more, but its answer is still there.
/// let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"))
///     .answer(AnswerInput::new("17", "Yes"))
///     .answer(AnswerInput::new("20", "bought"));
///
/// assert_eq!(Questionnaire::prepare(&questions).applicable(&input).len(), 1);
/// let policy = Policy::default().stale_answers_count(true);
/// assert_eq!(Questionnaire::prepare_with(&questions, policy).applicable(&input).len(), 2);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Policy {
    pub(super) stale_answers_count: bool,
    pub(super) accreditations_are_advice: bool,
}

impl Policy {
    /// Whether an answer to a question that no longer applies, because one above it or its trigger has changed, still
    /// triggers others; it does not unless said otherwise. assumed: the specification does not say.
    ///
    /// Answers to questions of other forms never count, and [`prune`](super::Questionnaire::prune) keeps what counts.
    #[must_use]
    pub fn stale_answers_count(mut self, count: bool) -> Self {
        self.stale_answers_count = count;
        self
    }

    /// Whether a form that the user is not accredited for is advice and no error. assumed: spec 1.3 says that a user creates
    /// forms only of programs that they are accredited to, but shows an accreditation that the server looks at for LPAHRG0
    /// only.
    ///
    /// [`validate_fields`](super::validate_fields) has no policy; there, leave the accreditations out of the context.
    #[must_use]
    pub fn accreditations_are_advice(mut self, advice: bool) -> Self {
        self.accreditations_are_advice = advice;
        self
    }
}
