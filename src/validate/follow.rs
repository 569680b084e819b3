//! How a session follows an answer: the short way along what hangs on it, or the long way over everything.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::ids::at;
use super::node::{Kind, Node, Prepared};
use super::play::{Play, Row};
use super::session::{Change, Session};
use super::view::View;
use super::{Context, Finding, QuestionRef, QuestionRules, Report, answers, fields, judge};
use crate::model::{AnswerInput, ConsignmentInput, Maybe, QuestionId};

impl Session {
    /// What stands where an answer is to be put.
    pub(super) fn place(&self, number: u32, row: Option<i64>) -> Place {
        let view = self.view();
        let nodes = view.prepared.id_nodes.of(number);
        let is_inside = |node: &&u32| view.prepared.nodes[**node as usize].scope != 0;
        let inside = nodes.iter().filter(is_inside).count();
        if nodes.is_empty() || inside != 0 && inside != nodes.len() {
            return Place::Elsewhere;
        }
        for node in nodes
            .iter()
            .filter(|node| view.play.on_forms[**node as usize])
        {
            let node = &view.prepared.nodes[*node as usize];
            if inside != 0 && (view.row(node.scope, row).is_none() || is_in_inner_rows(view, node))
            {
                return Place::Elsewhere;
            }
        }
        let mut given = view
            .all(number)
            .filter(|given| inside == 0 || answers::row(&self.input.answers()[*given]) == row);
        match (given.next(), given.next()) {
            (None, _) => Place::Free,
            (Some(only), None) => Place::Given(only),
            _ => Place::Elsewhere,
        }
    }

    pub(super) fn replace(&mut self, number: u32, position: usize, value: &str) -> Change {
        let row = answers::row(&self.input.answers()[position]);
        self.change(number, row, |session| {
            if let Some(answers) = session.input.answers.value_mut() {
                match &mut answers[position].value {
                    Maybe::Value(text) => {
                        text.clear();
                        text.push_str(value);
                    }
                    other => *other = Maybe::Value(value.to_owned()),
                }
            }
        })
    }

    /// Adds an answer in a place that has none, in a row that is there.
    pub(super) fn append(&mut self, number: u32, row: Option<i64>, value: &str) -> Change {
        self.change(number, row, |session| {
            let id = session.questionnaire.0.name(number);
            let answer = new_answer(id, row, value);
            let position = at(session.input.answers().len());
            match &mut session.input.answers {
                Maybe::Value(answers) => answers.push(answer),
                other => *other = Maybe::Value(vec![answer]),
            }
            let view = View::new(&session.questionnaire.0, &session.input, &session.play);
            let nodes = view.prepared.id_nodes.of(number).iter();
            let cells: Vec<usize> = nodes
                .map(|node| *node as usize)
                .filter(|node| view.prepared.nodes[*node].scope != 0 && view.play.on_forms[*node])
                .map(|node| view.cell(node, view.row(view.prepared.nodes[node].scope, row)))
                .collect();
            session.play.append(number, position, &cells);
        })
    }

    /// The slow way to put an answer: whatever is there gives way.
    pub(super) fn put(&mut self, id: &str, row: Option<i64>, value: Option<&str>) {
        let nodes = self.questionnaire.0.nodes_of(id).iter();
        let nodes = nodes.map(|node| &self.questionnaire.0.nodes[*node as usize]);
        let anywhere = nodes.clone().next().is_some() && nodes.clone().all(|node| node.scope == 0);
        let mut answer = value.map(|value| new_answer(id, row, value));
        let answers = match &mut self.input.answers {
            Maybe::Value(answers) => answers,
            other => {
                if let Some(answer) = answer {
                    *other = Maybe::Value(vec![answer]);
                }
                return;
            }
        };
        let is_here = |given: &AnswerInput| {
            given.question_id.value().is_some_and(|given| *given == id)
                && (anywhere || answers::row(given) == row)
        };
        // The new answer takes the place of the first old one.
        answers.retain_mut(|given| {
            if !is_here(given) {
                return true;
            }
            answer.take().is_some_and(|answer| {
                *given = answer;
                true
            })
        });
        answers.extend(answer);
    }

    /// Changes an answer without moving any cell, and follows what hangs on it.
    fn change(&mut self, number: u32, row: Option<i64>, edit: impl FnOnce(&mut Self)) -> Change {
        let mut change = Change::default();
        self.judge_id(number, row, &mut change.removed);
        edit(self);
        self.judge_id(number, row, &mut change.added);
        let prepared = Arc::clone(&self.questionnaire.0);
        for &node in prepared.id_nodes.of(number) {
            let cell_row = self.view().row(prepared.nodes[node as usize].scope, row);
            self.open_dependents(node, cell_row);
        }
        self.follow(&mut change);
        if !change.removed.is_empty() && !change.added.is_empty() {
            cancel(&mut change.removed, &mut change.added);
        }
        change
    }

    /// Findings of all questions with an id, in a row.
    fn judge_id(&self, number: u32, row: Option<i64>, found: &mut Vec<Arc<Finding>>) {
        let view = self.view();
        for &node in view.prepared.id_nodes.of(number) {
            let position = node as usize;
            let row = view.row(view.prepared.nodes[position].scope, row);
            let exists = view.prepared.nodes[position].scope == 0 || row.is_some();
            if exists && !self.stopped && view.play.applies[view.cell(position, row)] {
                judge::of_question(view, position, row, &self.context, found);
            }
        }
    }

    fn open_dependents(&mut self, node: u32, row: Option<Row>) {
        let view = View::new(&self.questionnaire.0, &self.input, &self.play);
        let scope = view.prepared.nodes[node as usize].scope;
        for &dependent in self.links.dependents.of(node) {
            let position = dependent as usize;
            let rank = self.links.rank[position];
            match view.prepared.nodes[position].scope {
                0 => self.open.push(Reverse((rank, dependent, None))),
                other if other == scope => {
                    let index = row.map(|row| row.index);
                    self.open.push(Reverse((rank, dependent, index)));
                }
                other => {
                    let rows = view.rows(other).iter();
                    let rows = rows.map(|row| Reverse((rank, dependent, Some(row.index))));
                    self.open.extend(rows);
                }
            }
        }
    }

    fn follow(&mut self, change: &mut Change) {
        while let Some(Reverse(next)) = self.open.pop() {
            let (_, node, index) = next;
            if self.open.peek() == Some(&Reverse(next)) {
                continue;
            }
            let position = node as usize;
            let view = self.view();
            if !view.play.on_forms[position] || view.is_in_ring(position) {
                continue;
            }
            let scope = view.prepared.nodes[position].scope;
            let row = index.and_then(|index| view.row(scope, index));
            if scope != 0 && row.is_none() {
                continue;
            }
            let cell = view.cell(position, row);
            let applies = view.judge(position, row);
            if applies == view.play.applies[cell] {
                continue;
            }
            let question = QuestionRef::new(view.prepared.id_of(position), index.flatten());
            let (moved, findings) = if applies {
                (&mut change.appeared, &mut change.added)
            } else {
                (&mut change.vanished, &mut change.removed)
            };
            moved.push(question);
            if !self.stopped {
                judge::of_question(view, position, row, &self.context, findings);
            }
            self.play.applies[cell] = applies;
            self.open_dependents(node, row);
        }
    }

    /// The slow way: everything is looked at again.
    pub(super) fn rebuild(&mut self, edit: impl FnOnce(&mut Self)) -> Change {
        let (asked, said) = (self.asked(), self.report().findings);
        edit(self);
        let prepared = Arc::clone(&self.questionnaire.0);
        self.play.set(&prepared, &self.input);
        self.links.rank = ranks(&self.play, &prepared);
        self.stopped = is_stopped(&self.input, &self.context);
        let (asks, says) = (self.asked(), self.report().findings);
        let only = |these: &BTreeSet<(usize, Option<i64>)>, those: &BTreeSet<_>| {
            let only = these.difference(those);
            only.map(|(node, row)| QuestionRef::new(prepared.id_of(*node), *row))
                .collect()
        };
        let mut change = Change {
            appeared: only(&asks, &asked),
            vanished: only(&asked, &asks),
            added: says,
            removed: said,
        };
        cancel(&mut change.removed, &mut change.added);
        change
    }

    fn asked(&self) -> BTreeSet<(usize, Option<i64>)> {
        let mut asked = BTreeSet::new();
        self.view().walk(|position, _, row| {
            asked.insert((position, row.and_then(|row| row.index)));
        });
        asked
    }
}
/// What stands where an answer is to be put.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// One answer, at this position of the input.
    Given(usize),
    /// None, and its row is there.
    Free,
    /// The answer brings a row, or replaces several.
    Elsewhere,
}

fn is_in_inner_rows(view: View<'_>, node: &Node) -> bool {
    let mut parent = node.parent;
    while let Some(above) = view.prepared.nodes.get(parent as usize) {
        if above.kind == Kind::Rows && above.scope != 0 {
            return true;
        }
        parent = above.parent;
    }
    false
}

fn new_answer(id: impl Into<QuestionId>, row: Option<i64>, value: &str) -> AnswerInput {
    let answer = AnswerInput::new(id, value);
    match row {
        Some(row) => answer.row(row),
        None => answer,
    }
}

pub(super) fn ranks(play: &Play, prepared: &Prepared) -> Vec<u32> {
    let mut ranks = vec![0; prepared.nodes.len()];
    for (rank, node) in (0..).zip(play.order(prepared)) {
        ranks[*node as usize] = rank;
    }
    ranks
}

pub(super) fn is_stopped(input: &ConsignmentInput, context: &Context) -> bool {
    !fields::check(input, context, &mut Report::new(QuestionRules::Checked))
}

/// Takes away what stands in both lists.
fn cancel(removed: &mut Vec<Arc<Finding>>, added: &mut Vec<Arc<Finding>>) {
    let mut counts: HashMap<Arc<Finding>, usize> = HashMap::new();
    for finding in removed.iter() {
        *counts.entry(Arc::clone(finding)).or_default() += 1;
    }
    added.retain(|finding| match counts.get_mut(finding) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    removed.retain(|finding| match counts.get_mut(finding) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    });
}
