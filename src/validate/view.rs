//! What can be seen of one consignment in a list of questions.

use super::answers::{self, Chain};
use super::ids::{NONE, at};
use super::node::{Group, Kind, Node, Prepared, Span};
use super::play::{Play, Row};
use super::work::step;
use crate::model::{AnswerInput, ConsignmentInput};

/// A list of questions, a consignment, and what the one makes of the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) answers: &'a [AnswerInput],
    pub(super) play: &'a Play,
}

impl<'a> View<'a> {
    pub(super) fn new(prepared: &'a Prepared, input: &'a ConsignmentInput, play: &'a Play) -> Self {
        Self {
            prepared,
            answers: input.answers(),
            play,
        }
    }

    /// The rows of a scope, by their numbers.
    pub(super) fn rows(self, scope: u32) -> &'a [Row] {
        let starts = &self.play.scope_rows[scope as usize..];
        &self.play.rows[starts[0] as usize..starts[1] as usize]
    }

    /// The row of a scope that has a number.
    pub(super) fn row(self, scope: u32, index: Option<i64>) -> Option<Row> {
        self.nth_row(self.place_of_row(scope, index))
    }

    /// Which of all rows has a number in a scope; `NONE` where there is no such row.
    pub(super) fn place_of_row(self, scope: u32, index: Option<i64>) -> u32 {
        let rows = self.rows(scope);
        match rows.binary_search_by_key(&index, |row| row.index) {
            Ok(nth) => self.play.scope_rows[scope as usize] + at(nth),
            Err(_) => NONE,
        }
    }

    /// A row by its place among all rows.
    pub(super) fn nth_row(self, place: u32) -> Option<Row> {
        self.play.rows.get(place as usize).copied()
    }

    /// The cell of a question; the row is that of its scope and is not looked at outside rows.
    pub(super) fn cell(self, position: usize, row: Option<Row>) -> usize {
        let scope = self.prepared.nodes[position].scope as usize;
        match row {
            Some(row) if scope != 0 => {
                row.start as usize + position - self.prepared.scopes[scope].start as usize - 1
            }
            _ => position,
        }
    }

    /// The cell of a question, unless it stands inside rows and there is no such row.
    pub(super) fn existing_cell(self, position: usize, row: Option<Row>) -> Option<usize> {
        let exists = self.prepared.nodes[position].scope == 0 || row.is_some();
        exists.then(|| self.cell(position, row))
    }

    /// Positions of the answers to a question: in its row, or all of them outside rows, whatever their index.
    pub(super) fn given(self, position: usize, row: Option<Row>) -> Chain<'a> {
        let node = &self.prepared.nodes[position];
        let chains = &self.play.chains;
        if node.scope == 0 {
            return self.all(node.id);
        }
        Chain {
            at: self.play.first[self.cell(position, row)],
            next: &chains.next_in_row,
        }
    }

    /// Positions of all answers to an id.
    pub(super) fn all(self, id: u32) -> Chain<'a> {
        Chain {
            at: self.play.chains.first[id as usize],
            next: &self.play.chains.next,
        }
    }

    /// Texts of the answers to a question.
    pub(super) fn values(self, position: usize, row: Option<Row>) -> impl Iterator<Item = &'a str> {
        let answers = self.answers;
        self.given(position, row)
            .map(move |given| answers::text(&answers[given]))
    }

    /// Whether a question of the forms applies, when all that it waits for has been settled.
    pub(super) fn judge(self, position: usize, row: Option<Row>) -> bool {
        step();
        let node = &self.prepared.nodes[position];
        if node.parent != NONE {
            let above = node.parent as usize;
            if !self.play.applies[self.cell(above, row)] {
                return false;
            }
            if !self.opens(above, row) {
                return false;
            }
            if node.groups.is_empty() {
                return self.is_answered(above, row);
            }
        }
        let groups = &self.prepared.groups[node.groups.range()];
        groups.iter().all(|group| self.is_met(group, node, row))
    }

    /// Whether a question lets anything below it apply. Rows inside rows: without an answer there is no such row.
    pub(super) fn opens(self, position: usize, row: Option<Row>) -> bool {
        let node = &self.prepared.nodes[position];
        node.kind != Kind::Rows || node.scope == 0 || self.is_answered_below(position, row)
    }

    /// Whether children without triggers apply below a question. A `MULTIPLE_CHOICE` question was seen answered with an
    /// empty text (public); what cannot have an answer of its own counts as answered. assumed
    pub(super) fn is_answered(self, position: usize, row: Option<Row>) -> bool {
        match self.prepared.nodes[position].kind {
            Kind::Rows | Kind::Display => true,
            Kind::Several => self.given(position, row).next().is_some(),
            _ => self.is_filled(position, row),
        }
    }

    /// Whether some answer is not empty.
    pub(super) fn is_filled(self, position: usize, row: Option<Row>) -> bool {
        self.values(position, row).any(|value| !value.is_empty())
    }

    /// Whether there is an answer in the row below a REPEATABLE question inside another, to a question of the forms.
    pub(super) fn is_answered_below(self, position: usize, row: Option<Row>) -> bool {
        let below = position + 1..self.prepared.nodes[position].end as usize;
        row.is_some()
            && below
                .into_iter()
                .any(|node| self.play.on_forms[node] && self.given(node, row).next().is_some())
    }

    /// Whether there is a row of a REPEATABLE question.
    pub(super) fn has_rows(self, position: usize, row: Option<Row>) -> bool {
        if self.prepared.nodes[position].scope != 0 {
            return self.is_answered_below(position, row);
        }
        let scopes = &self.prepared.scopes;
        let scope = scopes[1..].partition_point(|scope| (scope.start as usize) < position) + 1;
        (0..)
            .nth(scope)
            .is_some_and(|scope| !self.rows(scope).is_empty())
    }

    /// Whether some answer that counts has one of the values: in the same row if there is an answer in it, else anywhere.
    /// assumed: validator.md, "row first, then outside".
    pub(super) fn is_met(self, group: &Group, asking: &Node, row: Option<Row>) -> bool {
        if group.source == NONE {
            return false;
        }
        let sources = self.prepared.id_nodes.of(group.source);
        let mut in_row = false;
        if asking.scope != 0 {
            for &source in sources {
                let source = source as usize;
                let node = &self.prepared.nodes[source];
                if node.scope != asking.scope {
                    continue;
                }
                if !self.counts(source, self.cell(source, row)) {
                    continue;
                }
                for value in self.values(source, row) {
                    in_row = true;
                    if self.says(node.kind, value, group.wanted) {
                        return true;
                    }
                }
            }
        }
        !in_row && self.is_met_outside(group, asking, sources)
    }

    /// Whether answers in a cell of a question trigger others: stale ones do only if the policy says so.
    fn counts(self, source: usize, cell: usize) -> bool {
        self.play.applies[cell]
            || self.prepared.policy.stale_answers_count && self.play.on_forms[source]
    }

    fn is_met_outside(self, group: &Group, asking: &Node, sources: &[u32]) -> bool {
        sources.iter().any(|&source| {
            let source = source as usize;
            let node = &self.prepared.nodes[source];
            if node.scope == 0 {
                return self.counts(source, source)
                    && self
                        .values(source, None)
                        .any(|value| self.says(node.kind, value, group.wanted));
            }
            node.scope != asking.scope
                && self.rows(node.scope).iter().any(|&row| {
                    self.counts(source, self.cell(source, Some(row)))
                        && self
                            .values(source, Some(row))
                            .any(|value| self.says(node.kind, value, group.wanted))
                })
        })
    }

    /// Whether an answer is one of the values, or a list of several choices that has it.
    fn says(self, kind: Kind, answer: &str, wanted: Span) -> bool {
        let is_wanted = |text: &str| {
            let mut wanted = self.prepared.values(wanted).inspect(|_| step());
            // An empty text is no answer.
            !text.is_empty() && wanted.any(|wanted| wanted == text)
        };
        is_wanted(answer)
            || kind == Kind::Several && answer.split(',').any(|part| is_wanted(part.trim()))
    }

    /// Whether a question applies in the row with a number. Outside rows the number does not matter.
    pub(super) fn applies_in(self, position: usize, index: Option<i64>) -> bool {
        let scope = self.prepared.nodes[position].scope;
        if scope == 0 {
            return self.play.applies[position];
        }
        let row = self.row(scope, index);
        row.is_some_and(|row| self.play.applies[self.cell(position, Some(row))])
    }

    /// Whether a question applies anywhere.
    pub(super) fn applies_somewhere(self, position: usize) -> bool {
        let scope = self.prepared.nodes[position].scope;
        match scope {
            0 => self.play.applies[position],
            _ => self
                .rows(scope)
                .iter()
                .any(|row| self.play.applies[self.cell(position, Some(*row))]),
        }
    }

    pub(super) fn is_in_ring(self, position: usize) -> bool {
        self.play.in_ring.get(position) == Some(&true)
    }

    /// Calls back for each question that applies, in display order, rows one after the other.
    pub(super) fn walk(self, mut visit: impl FnMut(usize, &'a Node, Option<Row>)) {
        let nodes = &self.prepared.nodes;
        let mut scopes = (1..).zip(&self.prepared.scopes[1..]).peekable();
        let mut position = 0;
        while let Some(node) = nodes.get(position) {
            if self.play.applies[position] {
                visit(position, node, None);
            }
            let Some((scope, below)) = scopes.next_if(|(_, s)| s.start as usize == position) else {
                position += 1;
                continue;
            };
            for row in self.rows(scope) {
                let inside = position + 1..below.end as usize;
                let cells = &self.play.applies[row.start as usize..];
                for (inner, applies) in inside.zip(cells) {
                    if *applies {
                        visit(inner, &nodes[inner], Some(*row));
                    }
                }
            }
            position = below.end as usize;
        }
    }
}
