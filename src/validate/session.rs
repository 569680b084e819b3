//! A consignment that is filled in answer by answer.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::sync::Arc;

use super::answers;
use super::ids::at;
use super::node::{Kind, Node, Prepared, Table};
use super::play::{Play, Row};
use super::view::View;
use super::{
    AppliedQuestion, Context, Finding, Progress, QuestionRef, QuestionRules, Questionnaire, Report,
    applied, fields, judge,
};
use crate::model::{AnswerInput, ConsignmentInput, Maybe};

/// Follows a consignment while it is filled in, so that a form need not judge everything after each answer.
///
/// [`report`](Self::report) is always what [`Questionnaire::validate`] says of [`input`](Self::input).
///
/// ```
/// use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
/// use envd_sdk::validate::{Context, Questionnaire};
///
/// let questions: Vec<Question> = serde_json::from_str(
///     r#"[{"id": "17", "forms": ["LPAC1"], "type": "STRING", "childQuestions": [
///           {"id": "20", "type": "STRING", "triggers": [{"questionId": "17", "value": "No"}],
///            "validators": [{"type": "required", "parameter": ""}]}]}]"#,
/// )?;
/// let questionnaire = Questionnaire::prepare(&questions);
/// let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// let context = Context::on(Day::parse("2026-11-20")?);
/// let mut session = questionnaire.session(&input, &context);
///
/// let change = session.answer("17", None, Some("No"));
/// assert_eq!(change.appeared[0].id, "20");
/// assert_eq!(change.added[0].message, "Required");
/// assert_eq!(session.report(), questionnaire.validate(session.input(), &context));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    questionnaire: Questionnaire,
    input: ConsignmentInput,
    context: Context,
    play: Play,
    links: Links,
    /// Cells that wait to be looked at again, what they wait for first.
    open: BinaryHeap<Reverse<(u32, u32, Option<Option<i64>>)>>,
    /// Whether the fields hold what the server's schema cannot take, so that answers are not judged.
    stopped: bool,
}

/// Who must be looked at again after a question.
#[derive(Clone, Debug)]
struct Links {
    /// By question: those that wait for it.
    dependents: Table,
    /// By question: its place in the order of evaluation.
    rank: Vec<u32>,
}

/// What an answer changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Questions that apply now.
    pub appeared: Vec<QuestionRef>,
    /// Questions that no longer apply.
    pub vanished: Vec<QuestionRef>,
    /// Findings that were not there before.
    pub added: Vec<Finding>,
    /// Findings that are no longer there.
    pub removed: Vec<Finding>,
}

impl Session {
    pub(super) fn new(
        questionnaire: Questionnaire,
        input: ConsignmentInput,
        context: Context,
    ) -> Self {
        let prepared = &questionnaire.0;
        let mut play = Play::default();
        play.set(prepared, &input);
        let nodes = prepared.nodes.len();
        let mut pairs = Vec::new();
        for node in 0..at(nodes) {
            pairs.extend(
                prepared
                    .waits_for
                    .of(node)
                    .iter()
                    .map(|other| (*other, node)),
            );
        }
        let links = Links {
            dependents: Table::of_pairs(nodes, &pairs),
            rank: ranks(&play, prepared),
        };
        Self {
            stopped: is_stopped(&input, &context),
            questionnaire,
            input,
            context,
            play,
            links,
            open: BinaryHeap::new(),
        }
    }

    /// The consignment as it is now. The order of its answers may differ from that in which they were given.
    #[must_use]
    pub fn input(&self) -> &ConsignmentInput {
        &self.input
    }

    /// The consignment, to be sent.
    #[must_use]
    pub fn into_input(self) -> ConsignmentInput {
        self.input
    }

    /// What is wrong with the consignment as it is now. Which questions apply is known already.
    #[must_use]
    pub fn report(&self) -> Report {
        let mut report = Report::new(QuestionRules::NoQuestionsLoaded);
        if fields::check(&self.input, &self.context, &mut report) {
            report.question_rules = QuestionRules::Checked;
            judge::check(self.view(), &self.context, &mut report);
            if self.context.advice {
                judge::advise(self.view(), &mut report);
            }
        }
        report
    }

    /// The questions that apply now: see [`Questionnaire::applicable`].
    #[must_use]
    pub fn applicable(&self) -> Vec<AppliedQuestion> {
        applied::list(self.view())
    }

    /// The questions that wait for an answer: see [`Questionnaire::next_questions`].
    #[must_use]
    pub fn next_questions(&self) -> Vec<AppliedQuestion> {
        let mut questions = self.applicable();
        questions.retain(|question| question.answerable && !question.answered);
        questions
    }

    /// How far the answers have come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        applied::progress(self.view())
    }

    /// Answers a question in a row (`None` outside rows), or takes its answer away; all answers in its place give way.
    ///
    /// An answer given or changed in a row that is there costs only what hangs on it; what brings or takes a row, and an
    /// answer taken away, costs as much as judging everything.
    pub fn answer(
        &mut self,
        question: impl AsRef<str>,
        row: Option<i64>,
        value: Option<&str>,
    ) -> Change {
        let id = question.as_ref();
        match (value, self.questionnaire.0.ids.find(id)) {
            // The rule about 185 is none of its question's.
            (Some(value), Some(number)) if id != "185" => match self.place(number, row) {
                Place::Given(position) => self.replace(number, position, value),
                Place::Free => self.append(number, row, value),
                Place::Elsewhere => self.rebuild(|session| session.put(id, row, Some(value))),
            },
            _ => self.rebuild(|session| session.put(id, row, value)),
        }
    }

    /// Changes anything else of the consignment, and looks at all of it again.
    pub fn edit(&mut self, edit: impl FnOnce(&mut ConsignmentInput)) -> Change {
        self.rebuild(|session| edit(&mut session.input))
    }

    fn view(&self) -> View<'_> {
        View::new(&self.questionnaire.0, &self.input, &self.play)
    }

    /// What stands where an answer is to be put.
    fn place(&self, number: u32, row: Option<i64>) -> Place {
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

    fn replace(&mut self, number: u32, position: usize, value: &str) -> Change {
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
    fn append(&mut self, number: u32, row: Option<i64>, value: &str) -> Change {
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
    fn put(&mut self, id: &str, row: Option<i64>, value: Option<&str>) {
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
        if !change.removed.is_empty() {
            cancel(&mut change.removed, &mut change.added);
        }
        change
    }

    /// Findings of all questions with an id, in a row.
    fn judge_id(&self, number: u32, row: Option<i64>, found: &mut Vec<Finding>) {
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
    fn rebuild(&mut self, edit: impl FnOnce(&mut Self)) -> Change {
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
enum Place {
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

fn new_answer(id: &str, row: Option<i64>, value: &str) -> AnswerInput {
    let answer = AnswerInput::new(id, value);
    match row {
        Some(row) => answer.row(row),
        None => answer,
    }
}

fn ranks(play: &Play, prepared: &Prepared) -> Vec<u32> {
    let mut ranks = vec![0; prepared.nodes.len()];
    for (rank, node) in (0..).zip(play.order(prepared)) {
        ranks[*node as usize] = rank;
    }
    ranks
}

fn is_stopped(input: &ConsignmentInput, context: &Context) -> bool {
    !fields::check(input, context, &mut Report::new(QuestionRules::Checked))
}

/// Takes away what stands in both lists.
fn cancel(removed: &mut Vec<Finding>, added: &mut Vec<Finding>) {
    let mut counts: HashMap<Finding, usize> = HashMap::new();
    for finding in removed.iter() {
        *counts.entry(finding.clone()).or_default() += 1;
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
