//! Explains why a question applies or not.

use std::fmt;

use super::walk::{HiddenBy, Instance, Walk};
use super::{QuestionRef, Questionnaire, answers};
use crate::model::{ConsignmentInput, QuestionId};

/// Why a question applies or not. `Display` puts it into words.
///
/// From [`Questionnaire::explain`](super::Questionnaire::explain).
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput, Question};
/// use envd_sdk::validate::Questionnaire;
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING", "text": "Bred here?", "childQuestions": [
///           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}]}]}]"#,
/// )?;
/// let origin = PartyInput::new("QAZZ7777");
/// let destination = PartyInput::new("QDZZ3333");
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let explanation = Questionnaire::prepare(&questions).explain("20", None, &input);
/// println!("{explanation}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explanation {
    /// It applies.
    Applies,
    /// No question has this id.
    Unknown,
    /// The question, or one above it, is on none of the forms.
    OtherForms,
    /// The row does not exist.
    NoSuchRow,
    /// A question above it does not apply.
    ParentHidden(QuestionRef),
    /// The question above it has no answer.
    ParentUnanswered(QuestionRef),
    /// The first trigger that is not met: no answer that counts has one of its values.
    TriggerNotMet {
        /// The question it depends on; empty if the trigger names none.
        source: QuestionId,
        /// The values that meet the trigger.
        values: Vec<String>,
    },
    /// The list or the answers are too large to check: see [`Rule::Size`](super::Rule::Size).
    TooLarge,
    /// It depends on itself, through triggers and questions above, so it never applies.
    Cycle,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applies => f.write_str("it applies"),
            Self::Unknown => f.write_str("no question has this id"),
            Self::OtherForms => f.write_str("it belongs to other forms"),
            Self::NoSuchRow => f.write_str("the row does not exist"),
            Self::ParentHidden(above) => write!(f, "question {above} above it does not apply"),
            Self::ParentUnanswered(above) => write!(f, "question {above} above it has no answer"),
            Self::TriggerNotMet { source, values } => {
                let values = values.join(" or ");
                write!(f, "question {source} is not answered {values}")
            }
            Self::TooLarge => f.write_str("there are too many questions and answers to check"),
            Self::Cycle => f.write_str("it depends on itself"),
        }
    }
}

/// The question of an answer, and why it applies or not.
///
/// From [`Questionnaire::explain_answers`], whose page has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExplainedAnswer {
    /// The question, with its row if it is inside a section. There are two if questions inside and outside sections share the id.
    /// Never empty: an answer without a question has its own id and row here.
    pub questions: Vec<QuestionRef>,
    /// Why the question applies or not, as [`Questionnaire::explain`] returns it.
    pub explanation: Explanation,
}

impl Questionnaire {
    /// As [`explain`](Self::explain), for every answer in input order. The input is checked only once.
    ///
    /// ```
    /// use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType, PartyInput, Question};
    /// use envd_sdk::validate::{Explanation, Questionnaire};
    ///
    /// let questions: Vec<Question> =
    ///     serde_json::from_str(r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}]"#)?;
    /// let origin = PartyInput::new("QAZZ7777");
    /// let destination = PartyInput::new("QDZZ3333");
    /// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination)
    ///     .answer(AnswerInput::new("17", "Yes"))
    ///     .answer(AnswerInput::new("23", "No"));
    /// let explained = Questionnaire::prepare(&questions).explain_answers(&input);
    /// assert_eq!(explained[0].explanation, Explanation::Applies);
    /// assert_eq!(explained[1].explanation, Explanation::Unknown);
    /// assert_eq!(explained[1].questions[0].id, "23");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn explain_answers(&self, input: &ConsignmentInput) -> Vec<ExplainedAnswer> {
        let walk = self.walk(input);
        let explained = input.answers().iter().map(|answer| {
            let id = answer.question_id.value().cloned().unwrap_or_default();
            let row = answers::row(answer);
            let with_id = self.tree.with(Some(&id));
            let is_outside = |question: &usize| self.tree[*question].rows_of.is_none();
            let place = |is_outside: bool| QuestionRef::new(&id, row.filter(|_| !is_outside));
            let applies = |question: &&usize| walk.applies(Instance::new(**question, row));
            let mut questions = Vec::new();
            for question in with_id.iter().filter(applies) {
                let place = place(is_outside(question));
                if !questions.contains(&place) {
                    questions.push(place);
                }
            }
            if questions.is_empty() {
                questions.push(place(!with_id.is_empty() && with_id.iter().all(is_outside)));
            }
            ExplainedAnswer {
                questions,
                explanation: explain(&walk, &id, row),
            }
        });
        explained.collect()
    }
}

/// If several questions share the id: the first that applies, else the first on the forms.
pub(super) fn explain(walk: &Walk<'_>, id: &QuestionId, row: Option<i64>) -> Explanation {
    let with_id = walk.tree.with(Some(id)).iter();
    let mut instances = with_id.map(|question| Instance::new(*question, row));
    if instances.len() == 0 {
        return Explanation::Unknown;
    }
    if walk.found.is_too_large {
        return Explanation::TooLarge;
    }
    if instances.clone().any(|instance| walk.applies(instance)) {
        return Explanation::Applies;
    }
    let of_forms = instances.find(|instance| walk.is_on_forms(instance.question));
    of_forms.map_or(Explanation::OtherForms, |instance| {
        of_hidden(walk, instance)
    })
}

fn of_hidden(walk: &Walk<'_>, instance: Instance) -> Explanation {
    if walk.is_in_cycle(instance.question) {
        return Explanation::Cycle;
    }
    let rows_of = walk.tree[instance.question].rows_of;
    if rows_of.is_some_and(|section| !walk.has_row(instance.with(section))) {
        return Explanation::NoSuchRow;
    }
    match walk.hidden_by(instance) {
        Some(HiddenBy::Parent(above)) => Explanation::ParentHidden(walk.reference(above)),
        Some(HiddenBy::UnansweredParent(above)) => {
            Explanation::ParentUnanswered(walk.reference(above))
        }
        Some(HiddenBy::Trigger(trigger)) => Explanation::TriggerNotMet {
            source: trigger.source.clone().unwrap_or_default(),
            values: trigger.values.iter().map(ToString::to_string).collect(),
        },
        None => Explanation::Cycle,
    }
}
