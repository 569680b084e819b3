//! Which questions are in play: forms, parents, triggers, rows (spec 2.6). Whether answers are right is told elsewhere.

use super::answers::{self, Chains};
use super::ids::{NONE, at};
use super::node::Prepared;
use super::order;
use super::size;
use super::view::View;
use crate::model::{ConsignmentInput, FormType};

/// A row of a REPEATABLE question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Its number; `None` for the row of answers without an index, as in the sample payloads (spec 2.4).
    pub(super) index: Option<i64>,
    /// The cell of the first question below the REPEATABLE question.
    pub(super) start: u32,
}

/// What one consignment makes of a list of questions. It can be used again for another.
///
/// A cell is a question in a row. Cells of questions outside rows come first and are numbered as the questions are.
#[derive(Clone, Debug, Default)]
pub(super) struct Play {
    pub(super) chains: Chains,
    pub(super) rows: Vec<Row>,
    /// By scope: where its rows begin in `rows`. One more for the end.
    pub(super) scope_rows: Vec<u32>,
    /// By cell.
    pub(super) applies: Vec<bool>,
    /// By cell inside rows: its first answer.
    pub(super) first: Vec<u32>,
    /// By question: whether it and those above it appear in the forms.
    pub(super) on_forms: Vec<bool>,
    /// By question: whether it waits for itself; empty when the list has no ring.
    pub(super) in_ring: Vec<bool>,
    /// The order of evaluation when the list has rings.
    order: Vec<u32>,
    found: Vec<(u32, Option<i64>)>,
    /// What the answers cost; see `Weights`.
    pub(super) steps: u64,
    /// Whether there is too much to judge; then nothing applies, and there are no rows.
    pub(super) too_large: bool,
    /// Whether the consignment has the form LPAHRG0, so that question 185 is judged with the fields.
    pub(super) has_rangeland_goats: bool,
}

impl Play {
    pub(super) fn set(&mut self, prepared: &Prepared, input: &ConsignmentInput) {
        let forms = prepared.forms.bits(&input.forms);
        self.has_rangeland_goats = input.forms.contains(&FormType::Lpahrg0);
        self.on_forms.clear();
        for node in &prepared.nodes {
            // A form hides with a question all that stand below it.
            let above = node.parent == NONE || self.on_forms[node.parent as usize];
            self.on_forms.push(above && node.forms & forms != 0);
        }
        self.chains.set(prepared, input.answers());
        self.steps = prepared.weights.of_answers(&self.chains.ids);
        let fits = !prepared.too_large && size::fits(prepared, self.steps, std::iter::empty());
        self.too_large = !fits || !self.find_rows(prepared, input);
        if self.too_large {
            self.apply_nothing(prepared);
        } else {
            self.find_order(prepared);
            self.evaluate(prepared, input);
        }
    }

    fn apply_nothing(&mut self, prepared: &Prepared) {
        self.rows.clear();
        self.scope_rows.clear();
        self.scope_rows.resize(prepared.scopes.len() + 1, 0);
        self.applies.clear();
        self.applies.resize(prepared.nodes.len(), false);
        self.in_ring.clear();
        self.order.clear();
    }

    /// The rows of a REPEATABLE question are the distinct indexes of answers below it. False when there are too many.
    fn find_rows(&mut self, prepared: &Prepared, input: &ConsignmentInput) -> bool {
        let mut cells = prepared.nodes.len();
        self.rows.clear();
        self.scope_rows.clear();
        self.found.clear();
        if prepared.scopes.len() > 1 {
            for (answer, &id) in input.answers().iter().zip(&self.chains.ids) {
                for position in nodes(prepared, id) {
                    let scope = prepared.nodes[position].scope;
                    let found = (scope, answers::row(answer));
                    if scope != 0 && self.on_forms[position] && self.found.last() != Some(&found) {
                        self.found.push(found);
                    }
                }
            }
            self.found.sort_unstable();
            self.found.dedup();
        }
        let mut found = self.found.iter().peekable();
        for (scope, span) in (0..).zip(&prepared.scopes) {
            self.scope_rows.push(at(self.rows.len()));
            while let Some((_, index)) = found.next_if(|(other, _)| *other == scope) {
                let start = at(cells);
                let index = *index;
                self.rows.push(Row { index, start });
                // A cell beyond all numbers is one too many as well.
                cells = cells.saturating_add((span.end - span.start - 1) as usize);
            }
        }
        self.scope_rows.push(at(self.rows.len()));
        let rows = self
            .scope_rows
            .windows(2)
            .map(|two| u64::from(two[1] - two[0]));
        if !size::fits(prepared, self.steps, rows) {
            return false;
        }
        self.applies.clear();
        self.applies.resize(cells, false);
        self.first.clear();
        if !self.rows.is_empty() {
            self.first.resize(cells, NONE);
            self.fill_rows(prepared, input);
        }
        true
    }

    fn fill_rows(&mut self, prepared: &Prepared, input: &ConsignmentInput) {
        for (position, answer) in input.answers().iter().enumerate().rev() {
            let row = answers::row(answer);
            for node in nodes(prepared, self.chains.ids[position]) {
                let scope = prepared.nodes[node].scope;
                if scope == 0 {
                    continue;
                }
                let rows = self.scope_rows[scope as usize] as usize
                    ..self.scope_rows[scope as usize + 1] as usize;
                let rows = &self.rows[rows];
                if let Ok(nth) = rows.binary_search_by_key(&row, |row| row.index) {
                    let inner = node - prepared.scopes[scope as usize].start as usize - 1;
                    let cell = rows[nth].start as usize + inner;
                    // Several questions with the id have the same chain, so it does not matter that each sets the link.
                    self.chains.next_in_row[position] = self.first[cell];
                    self.first[cell] = at(position);
                }
            }
        }
    }

    fn find_order(&mut self, prepared: &Prepared) {
        self.in_ring.clear();
        if prepared.has_rings {
            // A ring may lead through questions of other forms; then it is none for these forms.
            let order = order::sort(&prepared.waits_for, |node| self.on_forms[node as usize]);
            self.in_ring.resize(prepared.nodes.len(), false);
            for member in order.rings.into_iter().flatten() {
                self.in_ring[member as usize] = true;
            }
            self.order = order.positions;
        }
    }

    /// Notes one more answer, at the end of the input, in cells that exist and have none yet.
    pub(super) fn append(&mut self, id: u32, position: u32, cells: &[usize]) {
        let chains = &mut self.chains;
        chains.ids.push(id);
        chains.next.push(NONE);
        chains.next_in_row.push(NONE);
        let mut last = chains.first[id as usize];
        if last == NONE {
            chains.first[id as usize] = position;
        } else {
            while chains.next[last as usize] != NONE {
                last = chains.next[last as usize];
            }
            chains.next[last as usize] = position;
        }
        for cell in cells {
            self.first[*cell] = position;
        }
    }

    /// All questions, each behind what it waits for.
    pub(super) fn order<'a>(&'a self, prepared: &'a Prepared) -> &'a [u32] {
        if prepared.has_rings {
            &self.order
        } else {
            &prepared.evaluation
        }
    }

    fn evaluate(&mut self, prepared: &Prepared, input: &ConsignmentInput) {
        let order = std::mem::take(&mut self.order);
        let positions = if prepared.has_rings {
            &order
        } else {
            &prepared.evaluation
        };
        for &position in positions {
            let position = position as usize;
            if !self.on_forms[position] || self.in_ring.get(position) == Some(&true) {
                continue;
            }
            let scope = prepared.nodes[position].scope;
            if scope == 0 {
                let view = View::new(prepared, input, self);
                self.applies[position] = view.judge(position, None);
                continue;
            }
            let rows = self.scope_rows[scope as usize]..self.scope_rows[scope as usize + 1];
            for nth in rows {
                let row = self.rows[nth as usize];
                let view = View::new(prepared, input, self);
                let applies = view.judge(position, Some(row));
                let cell = view.cell(position, Some(row));
                self.applies[cell] = applies;
            }
        }
        self.order = order;
    }
}

fn nodes(prepared: &Prepared, id: u32) -> impl Iterator<Item = usize> {
    let nodes = if id == NONE {
        &[]
    } else {
        prepared.id_nodes.of(id)
    };
    nodes.iter().map(|node| *node as usize)
}
