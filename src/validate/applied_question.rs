//! What to ask, and how far the answers have come.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::QuestionRef;
use super::applicability::{Applicability, Row};
use super::prepared::{Group, Kind, Prepared, Span, at};
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
///          "validators": [{"type": "required"}], "acceptableAnswers": [{"value": "Yes"}, {"value": "No"}]}]"#,
/// )?;
/// let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
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
    /// What kind of answer is wanted.
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

/// One of the answers to choose from.
///
/// Of an [`AppliedQuestion`], whose page has an example, or of an [`Item`](super::Item).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// What is sent as the answer.
    pub value: String,
    /// What people see; the value where the server gives no name.
    pub name: String,
}

impl From<(&str, &str)> for Choice {
    fn from((value, name): (&str, &str)) -> Self {
        Self {
            value: value.to_owned(),
            name: if name.is_empty() { value } else { name }.to_owned(),
        }
    }
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
    /// The value that was wanted and found, with its name; `None` where any answer will do.
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
    let mut applied = Vec::new();
    questions.walk(|position, row| applied.push(describe(questions, position, row)));
    applied
}

pub(super) fn describe(
    questions: &Applicability<'_>,
    position: usize,
    row: Option<&Row>,
) -> AppliedQuestion {
    let prepared = questions.prepared;
    let (node, presentation) = (&prepared.nodes[position], &prepared.presentations[position]);
    AppliedQuestion {
        question: QuestionRef::new(prepared.id_of(position), row.and_then(|row| row.index)),
        text: presentation.text.to_string(),
        order: presentation.order,
        question_type: presentation.question_type.clone(),
        choices: choices(prepared, position),
        because: because(questions, position, row),
        required: node.required,
        answered: match node.kind {
            Kind::Rows => questions.has_rows(position, row),
            _ => questions.is_filled(position, row),
        },
        answerable: node.kind != Kind::Display && !node.read_only,
    }
}

fn choices(prepared: &Prepared, position: usize) -> Vec<Choice> {
    let node = &prepared.nodes[position];
    let names = prepared.choice_names[node.choices.range()].iter();
    let choices = prepared.choices(node).iter().zip(names);
    let choices = choices.map(|(value, name)| (prepared.values.text(*value), name.as_str()));
    choices.map(Choice::from).collect()
}

fn because(questions: &Applicability<'_>, position: usize, row: Option<&Row>) -> Vec<Because> {
    let prepared = questions.prepared;
    let node = &prepared.nodes[position];
    if node.groups.is_empty() {
        let above = prepared.parent(position).map(|above| Because {
            question: prepared.id_of(above),
            text: prepared.presentations[above].text.to_string(),
            answer: None,
        });
        return above.into_iter().collect();
    }
    let groups = prepared.groups(node).iter();
    let met = groups.filter_map(|group| {
        // One wanted value at a time tells which was found.
        let mut values = group.wanted.range().map(|nth| Group {
            source: group.source,
            wanted: Span {
                start: at(nth),
                end: at(nth + 1),
            },
        });
        let found = values.find(|one| questions.is_met(one, node, row))?;
        let value = prepared.wanted(&found).next()?;
        let source = prepared.nodes_of_number(group.source).next()?;
        let mut choices = choices(prepared, source).into_iter();
        let choice = choices.find(|choice| choice.value == value);
        Some(Because {
            question: prepared.id_of(source),
            text: prepared.presentations[source].text.to_string(),
            answer: choice.or_else(|| Some((value, "").into())),
        })
    });
    met.collect()
}

/// Counts without describing.
pub(super) fn progress(questions: &Applicability<'_>) -> Progress {
    let mut progress = Progress::default();
    questions.walk(|position, row| {
        let node = &questions.prepared.nodes[position];
        if node.takes_answers() && !node.read_only {
            let answered = usize::from(questions.is_filled(position, row));
            progress.questions += 1;
            progress.answered += answered;
            if node.required {
                progress.required += 1;
                progress.required_answered += answered;
            }
        }
    });
    progress
}
