//! The questions that apply, and the progress of the answers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::QuestionRef;
use super::answers::Instance;
use super::applicability::Applicability;
use super::question_tree::{Choice, ItemKind};
use crate::model::{QuestionId, QuestionType};

/// A question that applies, in a row where it stands inside a REPEATABLE question.
///
/// From [`Questionnaire::applicable`](super::Questionnaire::applicable) and
/// [`next_questions`](super::Questionnaire::next_questions). A [`Form`](super::Form) has it as an [`Item`](super::Item), with the answer
/// and its findings.
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, FormType, PartyInput, Question};
/// use envd_sdk::validate::Questionnaire;
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "SINGLE_CHOICE", "text": "Bred here?",
///          "validators": [{"type": "required"}],
///          "acceptableAnswers": [{"value": "Yes"}, {"value": "No"}]}]"#,
/// )?;
/// let (origin, destination) = (PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// let input = ConsignmentInput::new([FormType::Lpac1], origin, destination);
/// let open = Questionnaire::prepare(&questions).next_questions(&input);
/// assert_eq!((open[0].text.as_str(), open[0].required), ("Bred here?", true));
/// let names: Vec<&str> = open[0].choices.iter().map(|choice| choice.name.as_str()).collect();
/// assert_eq!(names, ["Yes", "No"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AppliedQuestion {
    /// The question and its row.
    pub question: QuestionRef,
    /// The text of the question.
    pub text: String,
    /// The position on display.
    pub order: Option<i64>,
    /// The kind of answer.
    pub question_type: Option<QuestionType>,
    /// The answers to choose from; empty where the question is no choice.
    pub choices: Vec<Choice>,
    /// The answers by which it applies; empty for a question that stands under no other and has no trigger.
    pub because: Vec<Because>,
    /// Whether an answer must be given, filled or not.
    pub required: bool,
    /// Whether there is an answer; for a REPEATABLE question, whether there is a row.
    pub answered: bool,
    /// Whether the user can answer it: not a heading, and not only presentation.
    pub answerable: bool,
}

/// An answer by which a question applies. `Display` says it in words.
///
/// In [`AppliedQuestion::because`]; [`Item::why`](super::Item::why) is its text. See [`Form`](super::Form) for an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Because {
    /// The question that was answered, or that stands above.
    pub question: QuestionId,
    /// The text of that question; empty where it has none.
    pub text: String,
    /// The value that the trigger names and that was found, with its name; `None` where any answer will do.
    pub answer: Option<Choice>,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let question = match self.text.trim() {
            "" => format!("question {}", self.question),
            text => format!("\u{201c}{text}\u{201d}"),
        };
        match &self.answer {
            Some(answer) => write!(f, "{question} is answered {}", answer.name),
            None => write!(f, "it stands under {question}"),
        }
    }
}

/// How far the answers have come, counted in questions that apply and can be answered, row by row.
///
/// A REPEATABLE question is none of them: what is counted stands in its rows.
///
/// From [`Form::progress`](super::Form::progress) and [`Questionnaire::progress`](super::Questionnaire::progress).
///
/// ```
/// # use envd_sdk::model::{AnswerInput, ConsignmentInput, FormType, PartyInput, Question};
/// # use envd_sdk::validate::Questionnaire;
/// # let questions: Vec<Question> = serde_json::from_str(
/// #     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING"}, {"id": "18", "forms": ["LPAC1"], "type": "STRING"}]"#,
/// # )?;
/// # let questionnaire = Questionnaire::prepare(&questions);
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"))
/// #     .answer(AnswerInput::new("17", "Yes"));
/// let progress = questionnaire.progress(&input);
/// assert_eq!(format!("{} of {}", progress.answered, progress.questions), "1 of 2");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Progress {
    /// Questions that can be answered.
    pub questions: usize,
    /// Those of them that are answered.
    pub answered: usize,
    /// Questions that must be answered.
    pub required: usize,
    /// Those of them that are answered.
    pub required_answered: usize,
}

/// All questions that apply, in display order.
pub(super) fn list(questions: &Applicability<'_>) -> Vec<AppliedQuestion> {
    questions
        .applied
        .iter()
        .map(|instance| describe(questions, *instance))
        .collect()
}

pub(super) fn describe(questions: &Applicability<'_>, instance: Instance) -> AppliedQuestion {
    let question = &questions.tree[instance.question];
    AppliedQuestion {
        question: questions.reference(instance),
        text: question.text.clone(),
        order: question.order,
        question_type: question.question_type.clone(),
        choices: question.choices.iter().map(Choice::from).collect(),
        because: because(questions, instance),
        required: question.required,
        answered: match question.kind {
            ItemKind::Rows => questions.has_rows(instance),
            _ => questions.is_filled(instance),
        },
        answerable: question.kind != ItemKind::Display && !question.read_only,
    }
}

fn because(questions: &Applicability<'_>, instance: Instance) -> Vec<Because> {
    let tree = questions.tree;
    let question = &tree[instance.question];
    if question.triggers.is_empty() {
        let above = question.parent.map(|above| Because {
            question: tree[above].id.clone(),
            text: tree[above].text.clone(),
            answer: None,
        });
        return above.into_iter().collect();
    }
    let met = question.triggers.iter().filter_map(|trigger| {
        let value = questions.trigger_value(trigger, instance)?;
        let source = &tree[*trigger.sources.first()?];
        let choice = source.choices.iter().find(|choice| choice.value == value);
        Some(Because {
            question: source.id.clone(),
            text: source.text.clone(),
            answer: Some(choice.map_or_else(|| Choice::new(value, ""), Choice::from)),
        })
    });
    met.collect()
}

/// Counts without describing.
pub(super) fn progress(questions: &Applicability<'_>) -> Progress {
    let mut progress = Progress::default();
    for instance in &questions.applied {
        let question = &questions.tree[instance.question];
        if question.takes_answers() && !question.read_only {
            let answered = usize::from(questions.is_filled(*instance));
            progress.questions += 1;
            progress.answered += answered;
            if question.required {
                progress.required += 1;
                progress.required_answered += answered;
            }
        }
    }
    progress
}
