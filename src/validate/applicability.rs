//! Which questions apply: forms, parents, triggers, rows (spec 2.6). `judge` checks whether their answers are right.

use std::collections::{BTreeSet, HashSet};

use ecow::EcoString;

use super::answers::{GivenAnswer, GivenAnswers, Instance};
use super::question_tree::{ItemKind, MOST_COMPARISONS, QuestionTree, TreeQuestion, TriggerGroup};
use super::{Finding, QuestionRef, Rule};
use crate::model::{AnswerInput, ConsignmentInput, FormType, QuestionId};

/// Questions in rows. The sample list has 16 below its longest REPEATABLE question, which makes 6,250 rows; a consignment that
/// people fill in has some dozens.
const MOST_IN_ROWS: usize = 100_000;

/// Rows that a form has opened, by REPEATABLE question: they are there before anything in them is answered.
pub(super) type OpenedRows = BTreeSet<(QuestionId, Option<i64>)>;

/// Which questions of a list apply to a consignment, row by row.
#[derive(Debug)]
pub(super) struct Applicability<'a> {
    pub(super) tree: &'a QuestionTree,
    /// The answers as they were sent, those to unknown questions included.
    pub(super) input: &'a [AnswerInput],
    pub(super) answers: GivenAnswers<'a>,
    /// The questions that apply, in display order, rows one after the other.
    pub(super) applied: Vec<Instance>,
    /// Whether there is too much to judge; then nothing applies, and there are no rows.
    pub(super) is_too_large: bool,
    /// Whether the consignment has the form LPAHRG0, so that question 185 is judged with the fields.
    pub(super) has_rangeland_goats: bool,
    /// By question: whether it and those above it appear in the forms.
    on_forms: Vec<bool>,
    /// Questions that depend on themselves, in these forms.
    cyclic: HashSet<usize>,
    /// The rows of all REPEATABLE questions, sorted: the indexes of answers below them, and those that a form has opened.
    rows: Vec<Instance>,
    /// Those of the opened rows in which nothing is answered.
    empty_rows: HashSet<Instance>,
    /// By question: whether it applies outside rows.
    applies_outside: Vec<bool>,
    /// The questions that apply in rows.
    applies_inside: HashSet<Instance>,
}

/// What keeps a question from applying.
pub(super) enum HiddenBy<'t> {
    /// The question above does not apply.
    Parent(Instance),
    /// The question above has no answer.
    UnansweredParent(Instance),
    /// No answer that counts has one of the values.
    Trigger(&'t TriggerGroup),
}

impl<'a> Applicability<'a> {
    pub(super) fn new(tree: &'a QuestionTree, input: &'a ConsignmentInput) -> Self {
        Self::with_rows(tree, input, &OpenedRows::new())
    }

    /// As `new`, with rows that a form has opened.
    pub(super) fn with_rows(
        tree: &'a QuestionTree,
        input: &'a ConsignmentInput,
        opened: &OpenedRows,
    ) -> Self {
        let mut this = Self {
            tree,
            input: input.answers(),
            answers: GivenAnswers::default(),
            applied: Vec::new(),
            is_too_large: true,
            has_rangeland_goats: input.forms.contains(&FormType::Lpahrg0),
            on_forms: tree.on_forms(&input.forms),
            cyclic: HashSet::new(),
            rows: Vec::new(),
            empty_rows: HashSet::new(),
            applies_outside: vec![false; tree.len()],
            applies_inside: HashSet::new(),
        };
        if tree.is_too_large {
            return this;
        }
        let Some(answers) = GivenAnswers::read(tree, this.input) else {
            return this;
        };
        this.answers = answers;
        this.make_rows(opened, true);
        let Some(count) = this.count_in_rows() else {
            this.rows.clear();
            return this;
        };
        this.applies_inside.reserve(count);
        this.is_too_large = false;
        this.make_rows(opened, false);
        if tree.order.cyclic.is_empty() {
            this.evaluate(&tree.order.positions);
        } else {
            // A cycle that leads through a question of other forms is no cycle for these forms.
            let order = tree.order_among(|question| this.is_on_forms(question));
            this.cyclic = HashSet::from_iter(order.cyclic);
            this.evaluate(&order.positions);
        }
        this.applied = this.in_display_order();
        this
    }

    /// An answer makes a row of each REPEATABLE question above it, and a form may have opened others. Rows of the outermost
    /// ones are made first, and are few enough when the others are.
    fn make_rows(&mut self, opened: &OpenedRows, outermost: bool) {
        let tree = self.tree;
        let is_wanted = |section: usize| {
            let section = &tree[section];
            section.kind == ItemKind::Rows && section.is_outermost_section() == outermost
        };
        let mut made = HashSet::new();
        for given in self.answers.all() {
            let Instance { question, row } = given.instance;
            let TreeQuestion {
                section, rows_of, ..
            } = tree[question];
            let mut section = if outermost { rows_of } else { section };
            // A section that has the row has it from an earlier answer, as have the sections above it.
            while let Some(question) = section.filter(|section| is_wanted(*section))
                && self.is_on_forms(given.instance.question)
                && made.insert(Instance { question, row })
            {
                section = tree[question].section;
            }
        }
        for (id, row) in opened {
            for question in tree.with(Some(id)).iter().copied() {
                let row = Instance::new(question, *row);
                if is_wanted(question) && self.is_on_forms(question) && made.insert(row) {
                    self.empty_rows.insert(row);
                }
            }
        }
        self.rows.extend(made);
        self.rows.sort_unstable();
    }

    /// How many questions in rows there are, unless they are too many: rows, choices and triggers multiply each other, so that
    /// a short list could cost hours of work or all of the memory.
    fn count_in_rows(&self) -> Option<usize> {
        let (mut count, mut comparisons) = (0_usize, 0_usize);
        for rows in self
            .rows
            .chunk_by(|row, next| row.question == next.question)
        {
            let section = rows.first()?.question;
            for below in section + 1..self.tree[section].end {
                let question = &self.tree[below];
                let of_other_rows = question.cost_of_other_rows.saturating_mul(self.rows.len());
                let cost = question.cost.saturating_add(of_other_rows);
                count = count.saturating_add(rows.len());
                comparisons = comparisons.saturating_add(rows.len().saturating_mul(cost));
            }
        }
        (count <= MOST_IN_ROWS && comparisons <= MOST_COMPARISONS).then_some(count)
    }

    /// Decides for all questions, each after those that it depends on.
    fn evaluate(&mut self, order: &[usize]) {
        for question in order.iter().copied() {
            if !self.is_on_forms(question) || self.is_in_cycle(question) {
                continue;
            }
            if let Some(section) = self.tree[question].rows_of {
                let mut nth = 0;
                while let Some(row) = self.rows(section).get(nth) {
                    let instance = row.with(question);
                    if self.hidden_by(instance).is_none() {
                        self.applies_inside.insert(instance);
                    }
                    nth += 1;
                }
            } else if self.hidden_by(Instance::outside_rows(question)).is_none()
                && let Some(applies) = self.applies_outside.get_mut(question)
            {
                *applies = true;
            }
        }
    }

    /// What keeps a question of the forms from applying (spec 2.6), when all that it depends on is decided.
    pub(super) fn hidden_by(&self, instance: Instance) -> Option<HiddenBy<'a>> {
        let triggers = &self.tree[instance.question].triggers;
        if let Some(above) = self.above(instance) {
            if !self.applies(above) {
                return Some(HiddenBy::Parent(above));
            }
            if !self.opens(above) || triggers.is_empty() && !self.is_answered(above) {
                return Some(HiddenBy::UnansweredParent(above));
            }
        }
        triggers
            .iter()
            .find(|trigger| self.trigger_value(trigger, instance).is_none())
            .map(HiddenBy::Trigger)
    }

    /// The question above, in the same row.
    fn above(&self, instance: Instance) -> Option<Instance> {
        let question = self.tree[instance.question].parent?;
        let row = instance
            .row
            .filter(|_| self.tree[question].rows_of.is_some());
        Some(Instance { question, row })
    }

    /// Whether a question lets anything below it apply. A REPEATABLE question inside a row may be missing there.
    fn opens(&self, instance: Instance) -> bool {
        let question = &self.tree[instance.question];
        question.kind != ItemKind::Rows
            || question.is_outermost_section()
            || self.has_rows(instance)
    }

    /// Whether children without triggers apply below a question. A `MULTIPLE_CHOICE` question was seen answered with an
    /// empty text (public); what cannot have an answer of its own counts as answered. assumed
    fn is_answered(&self, instance: Instance) -> bool {
        match self.tree[instance.question].kind {
            ItemKind::Rows | ItemKind::Display => true,
            ItemKind::MultipleChoice => !self.given(instance).is_empty(),
            _ => self.is_filled(instance),
        }
    }

    /// The first of a trigger's values that was answered.
    pub(super) fn trigger_value<'t>(
        &self,
        trigger: &'t TriggerGroup,
        asking: Instance,
    ) -> Option<&'t str> {
        let rows_of = self.tree[asking.question].rows_of;
        let section = |source: &usize| self.tree[*source].rows_of;
        let in_row = |source: &usize| asking.with(*source);
        let here = trigger.sources.iter().filter(|source| {
            rows_of.is_some()
                && section(source) == rows_of
                && self.counts(in_row(source))
                && !self.given(in_row(source)).is_empty()
        });
        // assumed: an answer in the same row counts first, then answers anywhere but in other rows of the same section.
        let is_in_row = here.clone().next().is_some();
        trigger.values.iter().map(EcoString::as_str).find(|value| {
            if is_in_row {
                return here
                    .clone()
                    .any(|source| self.has_value(in_row(source), value));
            }
            trigger.sources.iter().any(|source| match section(source) {
                None => self.has_value(in_row(source), value),
                own if own == rows_of => false,
                Some(other) => self
                    .rows(other)
                    .iter()
                    .any(|row| self.has_value(row.with(*source), value)),
            })
        })
    }

    /// Whether an answer that counts has a value.
    fn has_value(&self, source: Instance, value: &str) -> bool {
        let question = &self.tree[source.question];
        let mut given = self.given(source).iter();
        given.any(|given| given.has(value, question)) && self.counts(source)
    }

    /// Whether answers to a question trigger others; stale ones do only by the policy.
    fn counts(&self, source: Instance) -> bool {
        self.applies(source)
            || self.tree.policy.stale_answers_count && self.is_on_forms(source.question)
    }

    /// The answers to a question: in its row, or all of them outside rows, whatever their index.
    pub(super) fn given(&self, instance: Instance) -> &[GivenAnswer<'a>] {
        match self.tree[instance.question].rows_of {
            None => self.answers.of(instance.question),
            Some(_) => self.answers.in_row(instance),
        }
    }

    /// Whether some answer is not empty.
    pub(super) fn is_filled(&self, instance: Instance) -> bool {
        let mut given = self.given(instance).iter();
        given.any(|given| !given.is_empty())
    }

    /// Whether a REPEATABLE question has a row; inside another one there is at most that of the other one.
    pub(super) fn has_rows(&self, section: Instance) -> bool {
        match self.tree[section.question].rows_of {
            Some(_) => self.has_row(section),
            None => !self.rows(section.question).is_empty(),
        }
    }

    /// Whether a REPEATABLE question has this row.
    pub(super) fn has_row(&self, row: Instance) -> bool {
        self.rows.binary_search(&row).is_ok()
    }

    /// Whether something is answered in a row of a REPEATABLE question.
    pub(super) fn is_answered_below(&self, row: Instance) -> bool {
        self.has_row(row) && !self.empty_rows.contains(&row)
    }

    /// The rows of a REPEATABLE question by their index.
    pub(super) fn rows(&self, section: usize) -> &[Instance] {
        let start = self.rows.partition_point(|row| row.question < section);
        let rows = self.rows.get(start..).unwrap_or_default();
        let count = rows.partition_point(|row| row.question == section);
        rows.get(..count).unwrap_or_default()
    }

    /// The position of a row among those that are left, from 1, as people count; `None` without an index.
    pub(super) fn row_number(&self, at: Instance) -> Option<usize> {
        at.row?;
        let question = &self.tree[at.question];
        let outermost = question.is_outermost_section().then_some(at.question);
        let rows = self.rows(question.rows_of.or(outermost)?);
        let row = rows.binary_search_by_key(&at.row, |row| row.row).ok()?;
        Some(row + 1)
    }

    /// Whether a question applies; outside rows the row does not matter.
    pub(super) fn applies(&self, instance: Instance) -> bool {
        match self.tree[instance.question].rows_of {
            None => self.applies_outside.get(instance.question) == Some(&true),
            Some(_) => self.applies_inside.contains(&instance),
        }
    }

    /// Whether a question applies outside rows or in some row.
    pub(super) fn applies_somewhere(&self, question: usize) -> bool {
        let Some(section) = self.tree[question].rows_of else {
            return self.applies(Instance::outside_rows(question));
        };
        self.rows(section)
            .iter()
            .any(|row| self.applies(row.with(question)))
    }

    pub(super) fn is_on_forms(&self, question: usize) -> bool {
        self.on_forms.get(question) == Some(&true)
    }

    pub(super) fn is_in_cycle(&self, question: usize) -> bool {
        self.cyclic.contains(&question)
    }

    /// What a question and its row are called outside of the validator.
    pub(super) fn reference(&self, instance: Instance) -> QuestionRef {
        QuestionRef::new(self.tree[instance.question].id.clone(), instance.row)
    }

    fn in_display_order(&self) -> Vec<Instance> {
        let mut applied = Vec::with_capacity(self.tree.len());
        for (question, at) in self.tree.iter().filter(|(_, at)| at.rows_of.is_none()) {
            let outside = Instance::outside_rows(question);
            if !self.applies(outside) {
                continue;
            }
            applied.push(outside);
            if at.kind == ItemKind::Rows {
                for row in self.rows(question) {
                    let below = question + 1..at.end;
                    let inside = below.map(|question| row.with(question));
                    applied.extend(inside.filter(|instance| self.applies(*instance)));
                }
            }
        }
        applied
    }
}

/// The finding that the answers were not checked. The server is not known to have such a limit.
pub(super) fn too_large() -> Finding {
    let message = "The answers were not checked: the questions, rows and choices are too many";
    Finding::whole(Rule::Size, message)
}
