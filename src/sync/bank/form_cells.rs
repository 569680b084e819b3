//! What a form shows, question by question and row by row.

use std::collections::{HashMap, HashSet};

use crate::model::QuestionId;
use crate::validate::{Item, ItemKind, Items, QuestionRef};

/// The items of a form by question and row.
pub(super) struct FormCells<'a> {
    by_question: HashMap<&'a QuestionRef, &'a Item>,
    /// In display order.
    all: Vec<&'a Item>,
}

impl<'a> FormCells<'a> {
    /// Without recursion: questions may be nested thousands of levels deep.
    pub(super) fn new(items: &'a Items) -> Self {
        let mut all = Vec::new();
        let mut open: Vec<&Item> = items.iter().rev().collect();
        while let Some(item) = open.pop() {
            all.push(item);
            open.extend(item.children.iter().rev());
            for row in item.rows.iter().rev() {
                open.extend(row.items.iter().rev());
            }
        }
        // Where several have the id, the first one.
        let by_question = all.iter().rev().map(|item| (&item.question, *item));
        Self {
            by_question: by_question.collect(),
            all,
        }
    }

    pub(super) fn of(&self, question: &QuestionRef) -> Option<&'a Item> {
        self.by_question.get(question).copied()
    }

    fn sections(&self) -> impl Iterator<Item = &'a Item> {
        let items = self.all.iter().copied();
        items.filter(|item| item.kind == ItemKind::Rows)
    }

    fn rows(&self) -> impl Iterator<Item = (&'a QuestionRef, Option<i64>)> {
        self.sections().flat_map(|section| {
            section
                .rows
                .iter()
                .map(|row| (&section.question, row.index))
        })
    }

    /// The questions that the other form does not have, in display order.
    pub(super) fn without(&self, other: &Self) -> Vec<QuestionRef> {
        let questions = self.all.iter().map(|item| &item.question);
        let only = questions.filter(|question| other.of(question).is_none());
        only.cloned().collect()
    }
}

/// The rows of sections that are there before and not after, of sections that are there in both.
pub(super) fn lost_rows(
    before: &FormCells<'_>,
    after: &FormCells<'_>,
) -> Vec<(QuestionId, Option<i64>)> {
    let sections = after.sections().map(|section| &section.question);
    let sections: HashSet<&QuestionRef> = sections.collect();
    let kept: HashSet<_> = after.rows().collect();
    let lost = before
        .rows()
        .filter(|(section, row)| sections.contains(section) && !kept.contains(&(*section, *row)));
    lost.map(|(section, row)| (section.id.clone(), row))
        .collect()
}
