//! Which questions are in play: forms, parents, triggers, rows (spec 2.6). Whether answers are right is told elsewhere.

use super::answers::{Answers, Given};
use super::node::{Group, Kind, Node, Prepared};
use super::order;
use crate::model::ConsignmentInput;

/// The questions of a list, with the answers of one consignment.
#[derive(Debug)]
pub(super) struct Play<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) answers: Answers<'a>,
    /// The rows of each scope; scope 0 has one, without a number.
    rows: Vec<Vec<Option<i64>>>,
    /// Where the states of each node begin: one for each row of its scope.
    starts: Vec<usize>,
    applies: Vec<bool>,
    on_forms: Vec<bool>,
    /// Those that wait for themselves; empty when the list has no ring.
    in_ring: Vec<bool>,
}

impl<'a> Play<'a> {
    pub(super) fn new(prepared: &'a Prepared, input: &'a ConsignmentInput) -> Self {
        let forms = prepared.forms.bits(&input.forms);
        // A form hides with a question all that stand below it.
        let mut on_forms: Vec<bool> = Vec::with_capacity(prepared.nodes.len());
        for node in &prepared.nodes {
            let above = node.parent.is_none_or(|parent| on_forms[parent]);
            on_forms.push(above && node.forms & forms != 0);
        }
        let mut play = Self {
            prepared,
            answers: Answers::new(prepared, input.answers()),
            rows: Vec::with_capacity(prepared.scopes.len()),
            starts: Vec::with_capacity(prepared.nodes.len()),
            applies: Vec::new(),
            on_forms: Vec::new(),
            in_ring: Vec::new(),
        };
        play.find_rows(&on_forms);
        let mut states = 0;
        for node in &prepared.nodes {
            play.starts.push(states);
            states += play.rows[node.scope].len();
        }
        play.applies.resize(states, false);
        play.evaluate(&on_forms);
        play.on_forms = on_forms;
        play
    }

    /// The rows of a REPEATABLE question are the distinct indexes of answers below it. An answer without an index, as in
    /// the sample payloads (spec 2.4), stands in a row of its own.
    fn find_rows(&mut self, on_forms: &[bool]) {
        self.rows.push(vec![None]);
        for scope in &self.prepared.scopes[1..] {
            let mut rows = Vec::new();
            let below = scope.start + 1..scope.end;
            for (node, on_forms) in self.prepared.nodes[below.clone()]
                .iter()
                .zip(&on_forms[below])
            {
                if *on_forms {
                    let given = self.answers.all(node.id);
                    rows.extend(given.iter().map(|answer| answer.row));
                }
            }
            rows.sort_unstable();
            rows.dedup();
            self.rows.push(rows);
        }
    }

    fn evaluate(&mut self, on_forms: &[bool]) {
        let prepared = self.prepared;
        if !prepared.has_rings {
            for &node in &prepared.evaluation {
                self.settle(node, on_forms);
            }
            return;
        }
        // A ring may lead through questions of other forms; then it is none for these forms.
        let order = order::sort(&prepared.waits_for, |node| on_forms[node]);
        let mut in_ring = vec![false; prepared.nodes.len()];
        for member in order.rings.into_iter().flatten() {
            in_ring[member] = true;
        }
        for node in order.positions {
            if !in_ring[node] {
                self.settle(node, on_forms);
            }
        }
        self.in_ring = in_ring;
    }

    fn settle(&mut self, position: usize, on_forms: &[bool]) {
        if !on_forms[position] {
            return;
        }
        let node = &self.prepared.nodes[position];
        for nth in 0..self.rows[node.scope].len() {
            let row = self.rows[node.scope][nth];
            self.applies[self.starts[position] + nth] = self.judge(node, nth, row);
        }
    }

    fn judge(&self, node: &Node, nth: usize, row: Option<i64>) -> bool {
        let groups = &self.prepared.groups[node.groups.clone()];
        if let Some(position) = node.parent {
            let parent = &self.prepared.nodes[position];
            let nth = if parent.scope == node.scope { nth } else { 0 };
            if !self.applies[self.starts[position] + nth] {
                return false;
            }
            let inner_rows = parent.kind == Kind::Rows && parent.scope != 0;
            if inner_rows && !self.is_answered_below(position, row) {
                return false;
            }
            if groups.is_empty() {
                return self.is_answered(parent, row);
            }
        }
        groups.iter().all(|group| self.is_met(group, node, row))
    }

    /// Whether children without triggers apply. What has no answer of its own counts as answered. assumed
    pub(super) fn is_answered(&self, node: &Node, row: Option<i64>) -> bool {
        matches!(node.kind, Kind::Rows | Kind::Display | Kind::Several)
            || self
                .values(node, row)
                .iter()
                .any(|given| !given.value.is_empty())
    }

    fn is_answered_below(&self, position: usize, row: Option<i64>) -> bool {
        let below = position + 1..self.prepared.nodes[position].end;
        self.prepared.nodes[below]
            .iter()
            .any(|node| !self.answers.at(node.id, row).is_empty())
    }

    /// Whether some answer that counts has one of the values. Answers to a question that does not apply do not count.
    pub(super) fn is_met(&self, group: &Group, asking: &Node, row: Option<i64>) -> bool {
        let Some(id) = group.source else { return false };
        let wanted = &self.prepared.texts[group.wanted.clone()];
        self.prepared.id_nodes[id].iter().any(|&position| {
            let source = &self.prepared.nodes[position];
            // In the same row first, then outside of it. assumed
            let mut given: &[Given<'_>] = &[];
            if asking.scope != 0 {
                given = self.answers.at(id, row);
            }
            if given.is_empty() && (asking.scope == 0 || asking.scope != source.scope) {
                given = self.answers.all(id);
            }
            given.iter().any(|given| {
                self.applies_in(position, given.row)
                    && wanted
                        .iter()
                        .any(|wanted| says(source, given.value, wanted))
            })
        })
    }

    /// Whether a question applies in a row. Outside rows the index of an answer does not matter.
    pub(super) fn applies_in(&self, position: usize, row: Option<i64>) -> bool {
        let scope = self.prepared.nodes[position].scope;
        let nth = if scope == 0 {
            Some(0)
        } else {
            self.rows[scope].binary_search(&row).ok()
        };
        nth.is_some_and(|nth| self.applies[self.starts[position] + nth])
    }

    /// Whether a question and those above it appear in the forms.
    pub(super) fn is_on_forms(&self, position: usize) -> bool {
        self.on_forms[position]
    }

    pub(super) fn is_in_ring(&self, position: usize) -> bool {
        self.in_ring.get(position) == Some(&true)
    }

    /// Whether a scope has a row. Outside rows the index does not matter.
    pub(super) fn has_row(&self, scope: usize, row: Option<i64>) -> bool {
        scope == 0 || self.rows[scope].binary_search(&row).is_ok()
    }

    /// Whether a question applies anywhere.
    pub(super) fn applies_somewhere(&self, position: usize) -> bool {
        let start = self.starts[position];
        let rows = self.rows[self.prepared.nodes[position].scope].len();
        self.applies[start..start + rows].contains(&true)
    }

    /// The answers to a question in a row.
    pub(super) fn values(&self, node: &Node, row: Option<i64>) -> &[Given<'a>] {
        if node.scope == 0 {
            self.answers.all(node.id)
        } else {
            self.answers.at(node.id, row)
        }
    }

    /// Whether there is a row of a REPEATABLE question that applies.
    pub(super) fn has_answers_below(&self, position: usize, node: &Node, row: Option<i64>) -> bool {
        let own =
            self.prepared.scopes.iter().position(|scope| {
                node.scope == 0 && scope.start == position && scope.end > position
            });
        match own {
            Some(scope) => !self.rows[scope].is_empty(),
            None => self.is_answered_below(position, row),
        }
    }

    /// Calls back for each question that applies, in display order, rows one after the other.
    pub(super) fn walk(&self, mut visit: impl FnMut(usize, &'a Node, Option<i64>)) {
        let nodes = &self.prepared.nodes;
        let mut scopes = self.prepared.scopes.iter().enumerate().skip(1).peekable();
        let mut position = 0;
        while let Some(node) = nodes.get(position) {
            if self.applies[self.starts[position]] {
                visit(position, node, None);
            }
            let Some((scope, below)) = scopes.next_if(|(_, below)| below.start == position) else {
                position += 1;
                continue;
            };
            for (nth, row) in self.rows[scope].iter().enumerate() {
                let inside = below.start + 1..below.end;
                for (inner, node) in inside.clone().zip(&nodes[inside]) {
                    if self.applies[self.starts[inner] + nth] {
                        visit(inner, node, *row);
                    }
                }
            }
            position = below.end;
        }
    }
}

/// Whether an answer is a value, or a list of several choices that has it.
fn says(source: &Node, answer: &str, wanted: &str) -> bool {
    !answer.is_empty()
        && (answer == wanted
            || source.kind == Kind::Several && answer.split(',').any(|part| part.trim() == wanted))
}
