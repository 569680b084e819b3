//! Which questions apply: forms, parents, triggers, rows (spec 2.6). `judge` says whether their answers are right.

use std::collections::BTreeSet;

use super::answers::{Answers, Given};
use super::prepared::{EMPTY, Group, Kind, NONE, Node, Prepared, at};
use super::{order, size};
use crate::model::{ConsignmentInput, FormType, QuestionId};

/// A row of an outermost REPEATABLE question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Row {
    scope: u32,
    /// Its number; `None` for the row of answers without an index, as in the sample payloads (spec 2.4).
    pub(super) index: Option<i64>,
    /// The cell of the first question below the REPEATABLE question.
    start: u32,
}

/// Rows that a form has opened, by REPEATABLE question: they are there before anything in them is answered.
pub(super) type OpenedRows = BTreeSet<(QuestionId, Option<i64>)>;

/// Which questions of a list apply to a consignment, row by row.
///
/// A cell is a question in a row. Cells of questions outside rows come first and are numbered as the questions are.
#[derive(Debug)]
pub(super) struct Applicability<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) answers: Answers<'a>,
    opened: Option<&'a OpenedRows>,
    /// By scope, then by index.
    rows: Vec<Row>,
    /// By question: whether it and those above it appear in the forms.
    on_forms: Vec<bool>,
    /// By question: whether it waits for itself; empty when the list has no ring.
    in_ring: Vec<bool>,
    /// By cell.
    applies: Vec<bool>,
    /// Whether there is too much to judge; then nothing applies, and there are no rows.
    pub(super) too_large: bool,
    /// Whether the consignment has the form LPAHRG0, so that question 185 is judged with the fields.
    pub(super) has_rangeland_goats: bool,
}

impl<'a> Applicability<'a> {
    pub(super) fn new(prepared: &'a Prepared, input: &'a ConsignmentInput) -> Self {
        Self::with_rows(prepared, input, None)
    }

    /// As `new`, with rows that a form has opened.
    pub(super) fn with_rows(
        prepared: &'a Prepared,
        input: &'a ConsignmentInput,
        opened: Option<&'a OpenedRows>,
    ) -> Self {
        let mut this = Self {
            prepared,
            answers: Answers::new(prepared, input.answers()),
            opened,
            rows: Vec::new(),
            on_forms: on_forms(prepared, &input.forms),
            in_ring: Vec::new(),
            applies: Vec::new(),
            too_large: false,
            has_rangeland_goats: input.forms.contains(&FormType::Lpahrg0),
        };
        this.too_large = prepared.too_large || !this.find_rows();
        if this.too_large {
            this.rows.clear();
            this.applies = vec![false; prepared.nodes.len()];
        } else if prepared.has_rings {
            // A ring may lead through questions of other forms; then it is none for these forms.
            let on_forms = |node| this.on_forms[node as usize];
            let order = order::sort(&prepared.waits_for, on_forms);
            this.in_ring = vec![false; prepared.nodes.len()];
            for member in order.rings.into_iter().flatten() {
                this.in_ring[member as usize] = true;
            }
            this.evaluate(&order.positions);
        } else {
            this.evaluate(&prepared.evaluation);
        }
        this
    }

    /// The rows of a REPEATABLE question are the distinct indexes of answers below it, and those that a form has opened.
    /// False when there are too many.
    fn find_rows(&mut self) -> bool {
        let prepared = self.prepared;
        let ids = self.answers.all().iter().map(|given| given.id);
        let steps = prepared.weights.of_answers(ids);
        if !size::fits(prepared, steps, std::iter::empty()) {
            return false;
        }
        for given in self.answers.all() {
            for position in prepared.nodes_of_number(given.id) {
                let (scope, index) = (prepared.nodes[position].scope, given.row);
                let start = 0;
                let row = Row {
                    scope,
                    index,
                    start,
                };
                if scope != 0 && self.on_forms[position] && self.rows.last() != Some(&row) {
                    self.rows.push(row);
                }
            }
        }
        for (id, index) in self.opened.into_iter().flatten() {
            let nodes = prepared
                .nodes_of(id.as_str())
                .filter(|node| self.on_forms[*node]);
            let outermost = nodes.filter(|node| prepared.opens_scope(*node));
            self.rows.extend(outermost.map(|node| Row {
                scope: prepared.scope_below(node),
                index: *index,
                start: 0,
            }));
        }
        self.rows.sort_unstable();
        self.rows.dedup();
        let mut cells = prepared.nodes.len();
        for row in &mut self.rows {
            let scope = prepared.scopes[row.scope as usize];
            row.start = at(cells);
            // A cell beyond all numbers is one too many as well.
            cells = cells.saturating_add((scope.end - scope.start - 1) as usize);
        }
        let scopes = 0..at(prepared.scopes.len());
        let rows = scopes.map(|scope| self.rows(scope).len() as u64);
        if !size::fits(prepared, steps, rows) {
            return false;
        }
        self.applies = vec![false; cells];
        true
    }

    /// Settles all questions, each behind what it waits for.
    fn evaluate(&mut self, order: &[u32]) {
        let order = order.iter().map(|position| *position as usize);
        for position in order {
            if !self.on_forms[position] || self.is_in_ring(position) {
                continue;
            }
            let scope = self.prepared.nodes[position].scope;
            if scope == 0 {
                self.applies[position] = self.decide(position, None);
            }
            for nth in self.rows_of(scope) {
                let row = Some(&self.rows[nth]);
                let cell = self.cell(position, row);
                self.applies[cell] = self.decide(position, row);
            }
        }
    }

    /// Whether a question of the forms applies, when all that it waits for has been settled (spec 2.6).
    #[inline]
    fn decide(&self, position: usize, row: Option<&Row>) -> bool {
        size::step();
        let node = &self.prepared.nodes[position];
        let groups = self.prepared.groups(node);
        if let Some(parent) = self.prepared.parent(position) {
            if !self.applies(parent, row) || !self.opens(parent, row) {
                return false;
            }
            if groups.is_empty() {
                return self.is_answered(parent, row);
            }
        }
        groups.iter().all(|group| self.is_met(group, node, row))
    }

    /// Whether a question lets anything below it apply. Rows inside rows: without an answer there is no such row.
    pub(super) fn opens(&self, position: usize, row: Option<&Row>) -> bool {
        let node = &self.prepared.nodes[position];
        node.kind != Kind::Rows || node.scope == 0 || self.is_there(position, row)
    }

    /// Whether children without triggers apply below a question. A `MULTIPLE_CHOICE` question was seen answered with an
    /// empty text (public); what cannot have an answer of its own counts as answered. assumed
    fn is_answered(&self, position: usize, row: Option<&Row>) -> bool {
        match self.prepared.nodes[position].kind {
            Kind::Rows | Kind::Display => true,
            Kind::Several => !self.given(position, row).is_empty(),
            _ => self.is_filled(position, row),
        }
    }

    /// Whether some answer that counts has one of the values: in the same row if there is an answer in it, else anywhere.
    /// assumed
    #[inline]
    pub(super) fn is_met(&self, group: &Group, asking: &Node, row: Option<&Row>) -> bool {
        let sources = self.prepared.nodes_of_number(group.source);
        if asking.scope != 0 {
            let in_row = sources.clone().filter(|source| {
                self.prepared.nodes[*source].scope == asking.scope && self.counts(*source, row)
            });
            let mut in_row = in_row.filter(|source| !self.given(*source, row).is_empty());
            if let Some(first) = in_row.next() {
                return self.triggers(first, row, group)
                    || in_row.any(|source| self.triggers(source, row, group));
            }
        }
        sources.into_iter().any(|source| {
            match self.prepared.nodes[source].scope {
                0 => self.counts(source, None) && self.triggers(source, None, group),
                // Other rows of the asking question's own scope do not count.
                scope if scope == asking.scope => false,
                scope => self.rows(scope).iter().any(|row| {
                    self.counts(source, Some(row)) && self.triggers(source, Some(row), group)
                }),
            }
        })
    }

    /// Whether answers to a question trigger others: stale ones do only if the policy says so.
    #[inline]
    fn counts(&self, source: usize, row: Option<&Row>) -> bool {
        self.applies(source, row)
            || self.prepared.policy.stale_answers_count && self.on_forms[source]
    }

    /// Whether an answer to the question is one of the values, or a list of several choices that has it.
    #[inline]
    fn triggers(&self, source: usize, row: Option<&Row>, group: &Group) -> bool {
        let wanted = &self.prepared.wanted[group.wanted.range()];
        let is_wanted = |value: u32| {
            let mut wanted = wanted.iter().inspect(|_| size::step());
            // An empty text is no answer.
            value != EMPTY && wanted.any(|wanted| *wanted == value)
        };
        let several = self.prepared.nodes[source].kind == Kind::Several;
        self.given(source, row).iter().any(|given| {
            is_wanted(given.value)
                || several
                    && self
                        .answers
                        .parts(given)
                        .iter()
                        .any(|part| is_wanted(*part))
        })
    }

    /// The answers to a question: in its row, or all of them outside rows, whatever their index.
    #[inline]
    pub(super) fn given(&self, position: usize, row: Option<&Row>) -> &[Given] {
        let node = &self.prepared.nodes[position];
        match row {
            Some(row) if node.scope != 0 => self.answers.in_row(node.id, row.index),
            _ => self.answers.of(node.id),
        }
    }

    /// Whether some answer is not empty.
    #[inline]
    pub(super) fn is_filled(&self, position: usize, row: Option<&Row>) -> bool {
        let mut given = self.given(position, row).iter();
        given.any(|given| !given.is_empty())
    }

    /// Whether a REPEATABLE question inside another is there in a row: opened, or something below it is answered.
    fn is_there(&self, position: usize, row: Option<&Row>) -> bool {
        let is_opened = |row: &Row| {
            let opened =
                |opened: &OpenedRows| opened.contains(&(self.prepared.id_of(position), row.index));
            self.opened.is_some_and(opened)
        };
        row.is_some_and(is_opened) || self.is_answered_below(position, row)
    }

    /// Whether there is an answer in the row below a REPEATABLE question, to a question of the forms.
    pub(super) fn is_answered_below(&self, position: usize, row: Option<&Row>) -> bool {
        let mut below = self.prepared.below(position);
        row.is_some() && below.any(|node| self.on_forms[node] && !self.given(node, row).is_empty())
    }

    /// Whether there is a row of a REPEATABLE question.
    pub(super) fn has_rows(&self, position: usize, row: Option<&Row>) -> bool {
        if self.prepared.nodes[position].scope != 0 {
            return self.is_there(position, row);
        }
        !self.rows(self.prepared.scope_below(position)).is_empty()
    }

    /// The rows of a scope, by their index.
    pub(super) fn rows(&self, scope: u32) -> &[Row] {
        &self.rows[self.rows_of(scope)]
    }

    fn rows_of(&self, scope: u32) -> std::ops::Range<usize> {
        let start = self.rows.partition_point(|row| row.scope < scope);
        let end = self.rows[start..].partition_point(|row| row.scope == scope);
        start..start + end
    }

    /// The row of a question with an index; `None` outside rows, and where no such row is.
    pub(super) fn row(&self, position: usize, index: Option<i64>) -> Option<&Row> {
        let rows = self.rows(self.prepared.nodes[position].scope);
        let nth = rows.binary_search_by_key(&index, |row| row.index).ok()?;
        Some(&rows[nth])
    }

    /// The cell of a question; the row is that of its scope and is not looked at outside rows.
    #[inline]
    fn cell(&self, position: usize, row: Option<&Row>) -> usize {
        match (self.prepared.nodes[position].scope as usize, row) {
            (0, _) | (_, None) => position,
            (scope, Some(row)) => {
                row.start as usize + position - self.prepared.scopes[scope].start as usize - 1
            }
        }
    }

    /// Whether a question applies; the row is that of its scope and is not looked at outside rows.
    #[inline]
    pub(super) fn applies(&self, position: usize, row: Option<&Row>) -> bool {
        self.applies[self.cell(position, row)]
    }

    /// Whether a question applies in the row with an index. Outside rows the index does not matter.
    pub(super) fn applies_in(&self, position: usize, index: Option<i64>) -> bool {
        let row = self.row(position, index);
        (self.prepared.nodes[position].scope == 0 || row.is_some()) && self.applies(position, row)
    }

    /// Whether a question applies anywhere.
    pub(super) fn applies_somewhere(&self, position: usize) -> bool {
        let rows = self.rows(self.prepared.nodes[position].scope);
        // Outside rows there are none, and below a question without rows nothing applies.
        self.applies[position] || rows.iter().any(|row| self.applies(position, Some(row)))
    }

    pub(super) fn is_on_forms(&self, position: usize) -> bool {
        self.on_forms[position]
    }

    pub(super) fn is_in_ring(&self, position: usize) -> bool {
        self.in_ring.get(position) == Some(&true)
    }

    /// Calls back for each question that applies, in display order, rows one after the other.
    #[inline]
    pub(super) fn walk(&self, mut visit: impl FnMut(usize, Option<&Row>)) {
        let mut position = 0;
        while let Some(node) = self.prepared.nodes.get(position) {
            if self.applies[position] {
                visit(position, None);
            }
            position += 1;
            if node.kind == Kind::Rows {
                let below = position..node.end as usize;
                for row in self.rows(self.prepared.scope_below(position - 1)) {
                    let inside = below.clone();
                    let inside = inside.filter(|inner| self.applies(*inner, Some(row)));
                    inside.for_each(|inner| visit(inner, Some(row)));
                }
                position = below.end;
            }
        }
    }
}

/// By question: whether it and those above it appear in the forms. A form hides with a question all that stand below it.
fn on_forms(prepared: &Prepared, forms: &[FormType]) -> Vec<bool> {
    let forms = prepared.forms.bits(forms);
    let mut on_forms: Vec<bool> = Vec::with_capacity(prepared.nodes.len());
    for node in &prepared.nodes {
        let above = node.parent == NONE || on_forms[node.parent as usize];
        on_forms.push(above && node.forms & forms != 0);
    }
    on_forms
}
