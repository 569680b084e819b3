//! Why a question applies, or why it does not.

use std::fmt;

use super::QuestionRef;
use super::ids::NONE;
use super::view::View;
use crate::model::QuestionId;

/// Why a question applies, or what keeps it from doing so. `Display` says it in words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explanation {
    /// It applies.
    Applies,
    /// No question has this id.
    Unknown,
    /// It appears in none of the forms, or a question above it does not.
    OtherForms,
    /// No answer stands in the row.
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
    /// It waits for itself: see [`LintKind::Ring`](super::LintKind::Ring).
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
pub(super) fn explain(view: View<'_>, id: &str, index: Option<i64>) -> Explanation {
    let nodes = view.prepared.nodes_of(id);
    let mut nodes = nodes.iter().map(|node| *node as usize).peekable();
    if nodes.peek().is_none() {
        return Explanation::Unknown;
    }
    if view.play.too_large {
        return Explanation::TooLarge;
    }
    if nodes.clone().any(|node| view.applies_in(node, index)) {
        return Explanation::Applies;
    }
    let on_forms = nodes.find(|node| view.play.on_forms[*node]);
    on_forms.map_or(Explanation::OtherForms, |node| of_node(view, node, index))
}

fn of_node(view: View<'_>, position: usize, index: Option<i64>) -> Explanation {
    let prepared = view.prepared;
    let node = &prepared.nodes[position];
    if view.is_in_ring(position) {
        return Explanation::Ring;
    }
    let row = match node.scope {
        0 => None,
        scope => match view.row(scope, index) {
            None => return Explanation::NoSuchRow,
            row => row,
        },
    };
    if node.parent != NONE {
        let above = node.parent as usize;
        let index = index.filter(|_| prepared.nodes[above].scope != 0);
        let question = QuestionRef::new(prepared.id_of(above), index);
        if !view.play.applies[view.cell(above, row)] {
            return Explanation::ParentHidden(question);
        }
        if node.groups.is_empty() || !view.opens(above, row) {
            return Explanation::ParentUnanswered(question);
        }
    }
    let groups = prepared.groups[node.groups.range()].iter();
    let unmet = groups.into_iter().find(|g| !view.is_met(g, node, row));
    unmet.map_or(Explanation::Ring, |group| Explanation::TriggerNotMet {
        source: match group.source {
            NONE => "".into(),
            source => prepared.name(source).into(),
        },
        wanted: prepared.values(group.wanted).map(str::to_owned).collect(),
    })
}
