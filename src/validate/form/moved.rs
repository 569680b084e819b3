//! What moving a form to another list of questions needs.

use super::SavedForm;
use crate::model::{ConsignmentInput, QuestionId};
use crate::validate::applicability::Applicability;
use crate::validate::explanation::explain;
use crate::validate::{ContentHash, Explanation, QuestionRef, Questionnaire, answers};

impl SavedForm {
    /// The same with another list of questions and another input. Opened rows and skipped questions stay; those that the list
    /// does not have are without effect.
    pub(crate) fn moved(
        mut self,
        content_hash: ContentHash,
        input: ConsignmentInput,
        further_rows: impl IntoIterator<Item = (QuestionId, Option<i64>)>,
    ) -> Self {
        self.content_hash = content_hash;
        self.input = input;
        self.opened.extend(further_rows);
        self.opened.sort();
        self.opened.dedup();
        self
    }
}

impl Questionnaire {
    /// For each answer its question, and why that applies or what keeps it from doing so.
    pub(crate) fn explain_answers(
        &self,
        input: &ConsignmentInput,
    ) -> Vec<(QuestionRef, Explanation)> {
        let questions = Applicability::new(&self.0, input);
        let explained = input.answers().iter().map(|answer| {
            let id = answer.question_id.value().map_or("", QuestionId::as_str);
            let mut nodes = self.0.nodes_of(id).peekable();
            let is_known = nodes.peek().is_some();
            // Outside rows the index of an answer does not matter.
            let is_outside = is_known && nodes.all(|node| self.0.nodes[node].scope == 0);
            let row = answers::row(answer).filter(|_| !is_outside);
            (QuestionRef::new(id, row), explain(&questions, id, row))
        });
        explained.collect()
    }
}
