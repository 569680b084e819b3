//! Why a question applies, or why it does not.

use std::fmt;

use super::QuestionRef;
use super::applicability::Applicability;
use crate::model::QuestionId;

/// Why a question applies, or what keeps it from doing so. `Display` is a text of it.
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
/// let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// let explanation = Questionnaire::prepare(&questions).explain("20", None, &input);
/// println!("{explanation}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[doc(alias = "why")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explanation {
    /// It applies.
    Applies,
    /// No question has this id.
    Unknown,
    /// It appears in none of the forms, or a question above it does not.
    OtherForms,
    /// The row has no answer.
    NoSuchRow,
    /// A question above it does not apply.
    ParentHidden(QuestionRef),
    /// The question above it has no answer.
    ParentUnanswered(QuestionRef),
    /// No answer that counts has one of the values; the first trigger of which this is so.
    TriggerNotMet {
        /// The question on which it depends; empty where the trigger names none.
        source: QuestionId,
        /// The values that will do.
        wanted: Vec<String>,
    },
    /// There is too much to judge: see [`Rule::Size`](super::Rule::Size).
    TooLarge,
    /// It depends on itself, through triggers and questions above, so it never applies.
    Ring,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applies => f.write_str("it applies"),
            Self::Unknown => f.write_str("no question has this id"),
            Self::OtherForms => f.write_str("it belongs to other forms"),
            Self::NoSuchRow => f.write_str("no answer stands in this row"),
            Self::ParentHidden(above) => write!(f, "question {above} above it does not apply"),
            Self::ParentUnanswered(above) => write!(f, "question {above} above it has no answer"),
            Self::TriggerNotMet { source, wanted } => {
                write!(
                    f,
                    "question {source} is not answered {}",
                    wanted.join(" or ")
                )
            }
            Self::TooLarge => f.write_str("there are too many questions and answers to judge"),
            Self::Ring => f.write_str("it waits for itself"),
        }
    }
}

/// Of several questions with the id, the first that applies, else the first of the forms.
pub(super) fn explain(questions: &Applicability<'_>, id: &str, index: Option<i64>) -> Explanation {
    let mut nodes = questions.prepared.nodes_of(id).peekable();
    if nodes.peek().is_none() {
        return Explanation::Unknown;
    }
    if questions.too_large {
        return Explanation::TooLarge;
    }
    if nodes.clone().any(|node| questions.applies_in(node, index)) {
        return Explanation::Applies;
    }
    let on_forms = nodes.find(|node| questions.is_on_forms(*node));
    on_forms.map_or(Explanation::OtherForms, |node| {
        of_node(questions, node, index)
    })
}

fn of_node(questions: &Applicability<'_>, position: usize, index: Option<i64>) -> Explanation {
    let prepared = questions.prepared;
    let node = &prepared.nodes[position];
    if questions.is_in_ring(position) {
        return Explanation::Ring;
    }
    let row = questions.row(position, index);
    if node.scope != 0 && row.is_none() {
        return Explanation::NoSuchRow;
    }
    if let Some(above) = prepared.parent(position) {
        let index = index.filter(|_| prepared.nodes[above].scope != 0);
        let question = QuestionRef::new(prepared.id_of(above), index);
        if !questions.applies(above, row) {
            return Explanation::ParentHidden(question);
        }
        if node.groups.is_empty() || !questions.opens(above, row) {
            return Explanation::ParentUnanswered(question);
        }
    }
    let mut groups = prepared.groups(node).iter();
    let unmet = groups.find(|group| !questions.is_met(group, node, row));
    unmet.map_or(Explanation::Ring, |group| Explanation::TriggerNotMet {
        source: prepared.ids.text(group.source).into(),
        wanted: prepared.wanted(group).map(str::to_owned).collect(),
    })
}
