//! Why a question applies, or why it does not.

use super::QuestionRef;
use super::play::Play;
use crate::model::QuestionId;

/// Why a question applies, or what keeps it from doing so.
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
    /// It waits for itself: see [`LintKind::Ring`](super::LintKind::Ring).
    Ring,
}

/// Of several questions with the id, the first that applies, else the first of the forms.
pub(super) fn explain(play: &Play<'_>, id: &str, row: Option<i64>) -> Explanation {
    let nodes = play
        .prepared
        .by_id
        .get(id)
        .map(|id| &play.prepared.id_nodes[*id]);
    let Some(nodes) = nodes.filter(|nodes| !nodes.is_empty()) else {
        return Explanation::Unknown;
    };
    if nodes.iter().any(|node| play.applies_in(*node, row)) {
        return Explanation::Applies;
    }
    let on_forms = nodes.iter().find(|node| play.is_on_forms(**node));
    on_forms.map_or(Explanation::OtherForms, |node| of_node(play, *node, row))
}

fn of_node(play: &Play<'_>, position: usize, row: Option<i64>) -> Explanation {
    let node = &play.prepared.nodes[position];
    if play.is_in_ring(position) {
        return Explanation::Ring;
    }
    if !play.has_row(node.scope, row) {
        return Explanation::NoSuchRow;
    }
    let groups = &play.prepared.groups[node.groups.clone()];
    if let Some(above) = node.parent {
        let parent = &play.prepared.nodes[above];
        let row = row.filter(|_| parent.scope != 0);
        let question = QuestionRef::new(&play.prepared.ids[parent.id], row);
        if !play.applies_in(above, row) {
            return Explanation::ParentHidden(question);
        }
        if groups.is_empty() {
            return Explanation::ParentUnanswered(question);
        }
    }
    let unmet = groups.iter().find(|group| !play.is_met(group, node, row));
    unmet.map_or(Explanation::Ring, |group| Explanation::TriggerNotMet {
        source: group.source.map_or("", |id| &play.prepared.ids[id]).into(),
        wanted: play.prepared.texts[group.wanted.clone()]
            .iter()
            .map(ToString::to_string)
            .collect(),
    })
}
