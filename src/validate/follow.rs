//! How a session follows an answer: the short way along what hangs on it, or the long way over everything.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::ids::{NONE, at};
use super::node::{Kind, Node, Prepared};
use super::play::Play;
use super::session::{Change, Session, Touched};
use super::view::View;
use super::{Context, Finding, Policy, QuestionRef, QuestionRules, Report, answers, fields, judge};
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
        if inside != 0 {
            let on_forms = |node: &&u32| view.play.on_forms[**node as usize];
            let mut nodes = nodes.iter().filter(on_forms);
            if nodes.any(|node| {
                let node = &view.prepared.nodes[*node as usize];
                view.row(node.scope, row).is_none() || is_in_inner_rows(view, node)
            }) {
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
            session.play.steps += session.questionnaire.0.weights.of_answers(&[number]);
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
        let mut touched = std::mem::take(&mut self.touched);
        self.touch(number, row, &mut touched);
        for &touched in &touched {
            if self.play.applies[touched.cell] {
                self.judge(touched, &mut change.removed);
            }
        }
        edit(self);
        for &touched in &touched {
            self.sound[touched.cell] = false;
            if self.play.applies[touched.cell] {
                self.judge(touched, &mut change.added);
            }
            self.open_dependents(touched.position, touched.row);
        }
        touched.clear();
        self.touched = touched;
        self.follow(&mut change);
        if !change.removed.is_empty() && !change.added.is_empty() {
            cancel(&mut change.removed, &mut change.added);
        }
        change
    }

    /// The cells of all questions with an id, in a row.
    fn touch(&self, number: u32, row: Option<i64>, touched: &mut Vec<Touched>) {
        let view = self.view();
        for &node in view.prepared.id_nodes.of(number) {
            let position = node as usize;
            let row = match view.prepared.nodes[position].scope {
                0 => NONE,
                scope => view.place_of_row(scope, row),
            };
            if let Some(cell) = view.existing_cell(position, view.nth_row(row)) {
                touched.push(Touched {
                    position,
                    row,
                    cell,
                });
            }
        }
    }

    /// What is wrong with the answers to a question, unless they are known to be right.
    fn judge(&mut self, touched: Touched, found: &mut Vec<Arc<Finding>>) {
        if !self.stopped && !self.sound[touched.cell] {
            let before = found.len();
            let view = self.view();
            let row = view.nth_row(touched.row);
            judge::of_question(view, touched.position, row, &self.context, found);
            self.sound[touched.cell] = found.len() == before;
        }
    }

    fn open_dependents(&mut self, position: usize, row: u32) {
        let view = View::new(&self.questionnaire.0, &self.input, &self.play);
        let scope = view.prepared.nodes[position].scope;
        for &dependent in self.links.dependents.of(at(position)) {
            let rank = self.links.rank[dependent as usize];
            match view.prepared.nodes[dependent as usize].scope {
                0 => self.open.push((rank, NONE)),
                other if other == scope => self.open.push((rank, row)),
                other => {
                    let rows = &view.play.scope_rows[other as usize..];
                    (rows[0]..rows[1]).for_each(|row| self.open.push((rank, row)));
                }
            }
        }
    }

    fn follow(&mut self, change: &mut Change) {
        while let Some((rank, row)) = self.open.pop() {
            let view = self.view();
            let position = view.play.order(view.prepared)[rank as usize] as usize;
            if !view.play.on_forms[position] || view.is_in_ring(position) {
                continue;
            }
            let in_row = view.nth_row(row);
            let cell = view.cell(position, in_row);
            let applies = view.judge(position, in_row);
            if applies == view.play.applies[cell] {
                continue;
            }
            let index = in_row.and_then(|row| row.index);
            let question = QuestionRef::new(view.prepared.id_of(position), index);
            let (moved, findings) = if applies {
                (&mut change.appeared, &mut change.added)
            } else {
                (&mut change.vanished, &mut change.removed)
            };
            moved.push(question);
            self.play.applies[cell] = applies;
            self.judge(
                Touched {
                    position,
                    row,
                    cell,
                },
                findings,
            );
            self.open_dependents(position, row);
        }
    }

    /// The slow way: everything is looked at again.
    pub(super) fn rebuild(&mut self, edit: impl FnOnce(&mut Self)) -> Change {
        let (asked, said) = (self.asked(), self.report().findings);
        edit(self);
        let prepared = Arc::clone(&self.questionnaire.0);
        self.play.set(&prepared, &self.input);
        self.sound.clear();
        self.sound.resize(self.play.applies.len(), false);
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
    let mut report = Report::new(QuestionRules::Checked);
    !fields::check(input, context, Policy::default(), &mut report)
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
