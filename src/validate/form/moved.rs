//! What moving a form to another list of questions needs.

use super::SavedForm;
use crate::model::{ConsignmentInput, QuestionId};
use crate::validate::answers::{self, Instance};
use crate::validate::applicability::Applicability;
use crate::validate::explanation::explain;
use crate::validate::{ContentHash, Explanation, QuestionRef, Questionnaire};

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
    /// For each answer of an input, in its order: its question, in its row if it stands in one, and why that applies or not.
    /// There are two questions where the id stands outside rows as well, and never none.
    pub(crate) fn explain_answers(
        &self,
        input: &ConsignmentInput,
    ) -> Vec<(Vec<QuestionRef>, Explanation)> {
        let questions = Applicability::new(&self.tree, input);
        let explained = input.answers().iter().map(|answer| {
            let id = answer.question_id.value().map_or("", QuestionId::as_str);
            let row = answers::row(answer);
            let is_outside = |question: usize| self.tree[question].rows_of.is_none();
            let place = |is_outside: bool| QuestionRef::new(id, row.filter(|_| !is_outside));
            let mut places = Vec::new();
            let with_id = self.tree.with_id(id);
            for question in with_id.clone() {
                let place = place(is_outside(question));
                if questions.applies(Instance { question, row }) && !places.contains(&place) {
                    places.push(place);
                }
            }
            if places.is_empty() {
                let is_known = with_id.len() > 0;
                places.push(place(is_known && with_id.clone().all(is_outside)));
            }
            (places, explain(&questions, id, row))
        });
        explained.collect()
    }
}
