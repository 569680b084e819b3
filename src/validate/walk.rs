//! Decides which questions apply: forms, parents, triggers, rows (spec 2.6). `judge` then checks their answers.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use ecow::EcoString;

use super::answers::{self, has_value};
use super::question_tree::{ItemKind, MOST_STEPS, QuestionTree, TriggerGroup};
use super::{Finding, QuestionRef, Rule, Severity};
use crate::model::{AnswerInput, ConsignmentInput, QuestionId};

/// Rows opened by a form, by REPEATABLE question. They exist before they have an answer.
pub(super) type OpenedRows = BTreeSet<(QuestionId, Option<i64>)>;

/// A question, with its row if it is inside a REPEATABLE question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Instance {
    /// Its position in the [`QuestionTree`].
    pub(super) question: usize,
    /// The index of the row. `None` outside rows, and for the row formed by answers without an index, as in the sample payloads
    /// (spec 2.4).
    pub(super) row: Option<i64>,
}

/// An answer's question and index (kept even outside rows), and its position in the input.
pub(super) type GivenAnswer = (Instance, usize);

/// A list of questions and the answers of a consignment, with the results of evaluating both.
pub(super) struct Walk<'a> {
    pub(super) tree: &'a QuestionTree,
    /// The answers of the input, unchanged, including those to unknown questions.
    pub(super) answers: &'a [AnswerInput],
    pub(super) found: Cow<'a, Applied>,
}

/// Which questions of a list apply to a consignment, row by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Applied {
    /// The questions that apply, in display order, row by row.
    pub(super) instances: Vec<Instance>,
    /// Whether there is too much to check. Then nothing applies, and there are no rows.
    pub(super) is_too_large: bool,
    /// For each question, whether it and all its ancestors are on one of the forms.
    on_forms: Vec<bool>,
    /// Questions that depend on themselves, in these forms.
    cyclic: HashSet<usize>,
    /// The answers to known questions, once for each question with the id, sorted by question, row and input position.
    pub(super) given: Vec<GivenAnswer>,
    /// For each question, the range of its answers in `given`.
    given_to: Vec<Range<usize>>,
    /// The rows of all REPEATABLE questions, sorted: the indexes of answers below them, and rows opened by a form.
    rows: Vec<Instance>,
    /// Opened rows without answers: they are shown but not sent.
    empty_rows: HashSet<Instance>,
    /// For each question, whether it applies outside rows.
    outside: Vec<bool>,
    /// The questions that apply in rows.
    inside: HashSet<Instance>,
    /// The positions of answers that a form does not send; empty without a form.
    pub(super) superfluous: HashSet<usize>,
}

/// Why a question does not apply.
pub(super) enum HiddenBy<'t> {
    /// The parent does not apply.
    Parent(Instance),
    /// The parent has no answer.
    UnansweredParent(Instance),
    /// No answer that counts has one of the trigger's values.
    Trigger(&'t TriggerGroup),
}

impl Instance {
    pub(super) fn new(question: usize, row: Option<i64>) -> Self {
        Self { question, row }
    }

    /// Another question in the same row.
    pub(super) fn with(self, question: usize) -> Self {
        Self { question, ..self }
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        tree: &'a QuestionTree,
        input: &'a ConsignmentInput,
        opened: &OpenedRows,
    ) -> Self {
        let mut walk = Self {
            tree,
            answers: input.answers(),
            found: Cow::Owned(Applied {
                on_forms: tree.on_forms(&input.forms),
                outside: vec![false; tree.len()],
                ..Applied::default()
            }),
        };
        if tree.is_too_large || !walk.sort_answers() || !walk.make_rows(opened) {
            walk.found = Cow::Owned(Applied {
                is_too_large: true,
                ..Applied::default()
            });
            return walk;
        }
        if tree.cyclic.is_empty() {
            walk.evaluate(&tree.order);
        } else {
            // A cycle through a question of other forms is broken for these forms.
            let (order, cyclic) = tree.order_among(|question| walk.is_on_forms(question));
            walk.found.to_mut().cyclic = cyclic;
            walk.evaluate(&order);
        }
        let instances = walk.in_display_order();
        walk.found.to_mut().instances = instances;
        walk
    }

    /// Leaves out the answers that do not count: they are kept, but not sent.
    pub(super) fn leave_out(&mut self, superfluous: HashSet<usize>) {
        self.found.to_mut().superfluous = superfluous;
    }

    /// The answers that are sent, in input order.
    pub(super) fn sent_answers(&self) -> impl Iterator<Item = &'a AnswerInput> {
        let answers = self.answers.iter().enumerate();
        let sent = answers.filter(|(position, _)| !self.found.superfluous.contains(position));
        sent.map(|(_, answer)| answer)
    }

    /// Sorts the answers by question and row; false if there are more than the limit allows.
    fn sort_answers(&mut self) -> bool {
        let mut given = Vec::with_capacity(self.answers.len());
        let mut steps = 0;
        for (position, answer) in self.answers.iter().enumerate() {
            for question in self.tree.with(answer.question_id.value()).iter().copied() {
                let at = &self.tree[question];
                // Each part of a list is compared with the choices.
                let parts = match at.choices[..] {
                    [] => 1,
                    _ => 1 + answers::text(answer).matches(',').count(),
                };
                steps = at.steps.saturating_mul(parts).saturating_add(steps);
                if steps > MOST_STEPS {
                    return false;
                }
                given.push((Instance::new(question, answers::row(answer)), position));
            }
        }
        given.sort_unstable();
        let mut given_to = vec![0..0; self.tree.len()];
        let mut start = 0;
        for of_one in given.chunk_by(|(one, _), (next, _)| one.question == next.question) {
            let end = start + of_one.len();
            let question = of_one.first().map_or(0, |(given, _)| given.question);
            if let Some(range) = given_to.get_mut(question) {
                *range = start..end;
            }
            start = end;
        }
        let found = self.found.to_mut();
        (found.given, found.given_to) = (given, given_to);
        true
    }

    /// Collects the rows: an answer creates one in each REPEATABLE question above it, and a form may have opened others. False if
    /// there are more questions in rows than the limit allows: rows, choices and triggers multiply, so a short list could otherwise
    /// take hours or exhaust memory.
    fn make_rows(&mut self, opened: &OpenedRows) -> bool {
        let tree = self.tree;
        let mut rows = Vec::with_capacity(self.found.given.len());
        for (given, _) in &self.found.given {
            if tree[given.question].rows_of.is_some() && self.is_on_forms(given.question) {
                let sections = tree.sections_above(given.question);
                rows.extend(sections.map(|section| given.with(section)));
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let opened = opened.iter().flat_map(|(id, row)| {
            let sections = tree.with(Some(id)).iter();
            sections.map(|section| Instance::new(*section, *row))
        });
        let is_empty = |row: &Instance| {
            let is_section = tree[row.question].kind == ItemKind::Rows;
            is_section && self.is_on_forms(row.question) && rows.binary_search(row).is_err()
        };
        let empty_rows: HashSet<Instance> = opened.filter(is_empty).collect();
        rows.extend(&empty_rows);
        rows.sort_unstable();
        let below = rows.iter().flat_map(|row| {
            let below = row.question + 1..tree[row.question].end;
            below.map(|question| &tree[question])
        });
        let mut steps = 0_usize;
        let mut count = 0;
        for question in below {
            count += 1;
            let of_other_rows = question.steps_of_other_rows.saturating_mul(rows.len());
            steps = steps
                .saturating_add(question.steps)
                .saturating_add(of_other_rows);
            if steps > MOST_STEPS {
                return false;
            }
        }
        let found = self.found.to_mut();
        (found.rows, found.empty_rows) = (rows, empty_rows);
        found.inside.reserve(count);
        true
    }

    /// Evaluates all questions, each after its dependencies.
    fn evaluate(&mut self, order: &[usize]) {
        let mut applied = Vec::with_capacity(self.found.rows.len());
        for question in order.iter().copied() {
            if !self.is_on_forms(question) || self.is_in_cycle(question) {
                continue;
            }
            if let Some(section) = self.tree[question].rows_of {
                let rows = self.rows(section).iter().map(|row| row.with(question));
                applied.extend(rows.filter(|instance| self.hidden_by(*instance).is_none()));
                self.found.to_mut().inside.extend(applied.drain(..));
            } else if self.hidden_by(Instance::new(question, None)).is_none()
                && let Some(applies) = self.found.to_mut().outside.get_mut(question)
            {
                *applies = true;
            }
        }
    }

    /// Why a question on the forms does not apply (spec 2.6). Its dependencies must already be evaluated.
    pub(super) fn hidden_by(&self, instance: Instance) -> Option<HiddenBy<'a>> {
        let question = &self.tree[instance.question];
        if let Some(parent) = question.parent {
            let is_inside = self.tree[parent].rows_of.is_some();
            let above = Instance::new(parent, instance.row.filter(|_| is_inside));
            if !self.applies(above) {
                return Some(HiddenBy::Parent(above));
            }
            // A REPEATABLE question inside a row may not have a row there.
            let is_missing =
                self.tree[parent].kind == ItemKind::Rows && !self.has_row(instance.with(parent));
            if is_missing || question.triggers.is_empty() && !self.is_answered(above) {
                return Some(HiddenBy::UnansweredParent(above));
            }
        }
        let mut triggers = question.triggers.iter();
        triggers
            .find(|trigger| self.trigger_value(trigger, instance).is_none())
            .map(HiddenBy::Trigger)
    }

    /// Whether children without triggers apply below a question. A `MULTIPLE_CHOICE` question was seen answered with an empty
    /// text (public); questions that take no answer count as answered. assumed
    fn is_answered(&self, instance: Instance) -> bool {
        match self.tree[instance.question].kind {
            ItemKind::Rows | ItemKind::Display => true,
            ItemKind::MultipleChoice => !self.given(instance).is_empty(),
            _ => self.is_filled(instance),
        }
    }

    /// The first value of the trigger that was answered.
    pub(super) fn trigger_value<'t>(
        &self,
        trigger: &'t TriggerGroup,
        asking: Instance,
    ) -> Option<&'t str> {
        let rows_of = self.tree[asking.question].rows_of;
        let is_here = |source: usize| rows_of.is_some() && self.tree[source].rows_of == rows_of;
        // assumed: an answer in the same row takes precedence over answers elsewhere; other rows of the same section are ignored.
        let in_row = trigger.sources.iter().any(|source| {
            let source = asking.with(*source);
            is_here(source.question) && self.counts(source) && !self.given(source).is_empty()
        });
        let mut values = trigger.values.iter().map(EcoString::as_str);
        values.find(|value| {
            let mut sources = trigger.sources.iter().copied();
            sources.any(|source| {
                let given = match is_here(source) {
                    here if here != in_row => return false,
                    true => self.given(asking.with(source)),
                    false => self.given_to(source),
                };
                let question = &self.tree[source];
                given.iter().any(|given| {
                    has_value(self.text(given), value, question) && self.counts(given.0)
                })
            })
        })
    }

    /// Whether answers to a question may trigger others; stale answers only if the policy allows it.
    fn counts(&self, source: Instance) -> bool {
        self.applies(source)
            || self.tree.policy.stale_answers_count && self.is_on_forms(source.question)
    }

    /// The answers to a question in all rows.
    fn given_to(&self, question: usize) -> &[GivenAnswer] {
        let range = self.found.given_to.get(question);
        let given = range.and_then(|range| self.found.given.get(range.clone()));
        given.unwrap_or_default()
    }

    /// The answers to a question: those in its row, or, outside rows, all of them regardless of index.
    fn given(&self, instance: Instance) -> &[GivenAnswer] {
        let given = self.given_to(instance.question);
        match self.tree[instance.question].rows_of {
            None => given,
            Some(_) => equal_range(given, &instance, |(given, _)| *given),
        }
    }

    fn text(&self, (_, position): &GivenAnswer) -> &'a str {
        self.answers.get(*position).map_or("", answers::text)
    }

    /// The non-empty answers to a question; an empty text does not count as an answer.
    pub(super) fn texts(&self, instance: Instance) -> impl Iterator<Item = &'a str> {
        let texts = self.given(instance).iter().map(|given| self.text(given));
        texts.filter(|text| !text.is_empty())
    }

    /// Whether a question has a non-empty answer.
    pub(super) fn is_filled(&self, instance: Instance) -> bool {
        self.texts(instance).next().is_some()
    }

    /// Whether a REPEATABLE question has this row.
    pub(super) fn has_row(&self, row: Instance) -> bool {
        self.found.rows.binary_search(&row).is_ok()
    }

    /// Whether a row was opened by a form and has no answers yet.
    pub(super) fn is_empty_row(&self, row: Instance) -> bool {
        self.found.empty_rows.contains(&row)
    }

    /// Whether the question is sent: not inside an empty row.
    pub(super) fn is_sent(&self, instance: Instance) -> bool {
        let mut sections = self.tree.sections_above(instance.question);
        self.found.empty_rows.is_empty()
            || !sections.any(|section| self.is_empty_row(instance.with(section)))
    }

    /// The rows of a REPEATABLE question, by index.
    pub(super) fn rows(&self, section: usize) -> &[Instance] {
        equal_range(&self.found.rows, &section, |row| row.question)
    }

    /// As `rows`. A section inside a row has at most that one row.
    pub(super) fn rows_of(&self, section: Instance) -> &[Instance] {
        match self.tree[section.question].rows_of {
            None => self.rows(section.question),
            Some(_) => equal_range(&self.found.rows, &section, |row| *row),
        }
    }

    /// The position of a row among the remaining rows, from 1; `None` without an index.
    pub(super) fn row_number(&self, at: Instance) -> Option<usize> {
        at.row?;
        let question = &self.tree[at.question];
        let outermost = question.is_outermost_section().then_some(at.question);
        let rows = self.rows(question.rows_of.or(outermost)?);
        let row = rows.binary_search_by_key(&at.row, |row| row.row).ok()?;
        Some(row + 1)
    }

    /// Whether a question applies; outside rows the row is ignored.
    pub(super) fn applies(&self, instance: Instance) -> bool {
        match self.tree[instance.question].rows_of {
            None => self.found.outside.get(instance.question) == Some(&true),
            Some(_) => self.found.inside.contains(&instance),
        }
    }

    pub(super) fn is_on_forms(&self, question: usize) -> bool {
        self.found.on_forms.get(question) == Some(&true)
    }

    pub(super) fn is_in_cycle(&self, question: usize) -> bool {
        self.found.cyclic.contains(&question)
    }

    /// The public name of a question and its row.
    pub(super) fn reference(&self, instance: Instance) -> QuestionRef {
        QuestionRef::new(self.tree[instance.question].id.clone(), instance.row)
    }

    /// A finding about a question in its row, with the message of the validator that failed.
    pub(super) fn finding(
        &self,
        at: Instance,
        severity: Severity,
        rule: Rule,
        message: String,
        error_message: Option<&String>,
    ) -> Finding {
        Finding {
            row_number: self.row_number(at),
            question_text: Some(self.tree[at.question].for_finding(error_message).into()),
            ..Finding::answer(severity, rule, self.reference(at), message)
        }
    }

    fn in_display_order(&self) -> Vec<Instance> {
        let mut applied = Vec::with_capacity(self.tree.len());
        for (question, at) in self.tree.iter().filter(|(_, at)| at.rows_of.is_none()) {
            let outside = Instance::new(question, None);
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

/// The elements of a sorted slice that have this key.
fn equal_range<'t, T, K: Ord>(sorted: &'t [T], key: &K, key_of: impl Fn(&T) -> K) -> &'t [T] {
    let start = sorted.partition_point(|one| key_of(one) < *key);
    let after = sorted.get(start..).unwrap_or_default();
    let count = after.partition_point(|one| key_of(one) == *key);
    after.get(..count).unwrap_or_default()
}

/// The error that the answers were not checked. The server is not known to have such a limit.
pub(super) fn too_large() -> Finding {
    let message = "The answers were not checked: the questions, rows and choices are too many";
    Finding::whole(Rule::Size, message)
}
