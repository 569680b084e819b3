//! A consignment that is filled in answer by answer.

use std::sync::Arc;

use super::follow::{Place, is_stopped, ranks};
use super::ids::at;
use super::node::Table;
use super::play::Play;
use super::view::View;
use super::waiting::Waiting;
use super::{
    AppliedQuestion, Context, Finding, Progress, QuestionRef, QuestionRules, Questionnaire, Report,
    applied, fields, judge,
};
use crate::model::ConsignmentInput;

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
    pub(super) questionnaire: Questionnaire,
    pub(super) input: ConsignmentInput,
    pub(super) context: Context,
    pub(super) play: Play,
    pub(super) links: Links,
    /// Cells that wait to be looked at again.
    pub(super) open: Waiting,
    /// The cells of the answer that changes; kept, so that the next answer needs no memory of its own.
    pub(super) touched: Vec<Touched>,
    /// By cell: whether its answers are known to be right, so that a question that comes and goes is judged once.
    pub(super) sound: Vec<bool>,
    /// Whether the fields hold what the server's schema cannot take, so that answers are not judged.
    pub(super) stopped: bool,
}

/// A cell whose answer changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    pub(super) position: usize,
    /// Which of all rows; `NONE` outside rows.
    pub(super) row: u32,
    pub(super) cell: usize,
}

/// Who must be looked at again after a question.
#[derive(Clone, Debug)]
pub(super) struct Links {
    /// By question: those that wait for it.
    pub(super) dependents: Table,
    /// By question: its place in the order of evaluation.
    pub(super) rank: Vec<u32>,
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
    pub added: Vec<Arc<Finding>>,
    /// Findings that are no longer there.
    pub removed: Vec<Arc<Finding>>,
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
            let others = prepared.waits_for.of(node).iter();
            let from = pairs.len();
            pairs.extend(others.map(|other| (*other, node)));
            pairs[from..].sort_unstable();
        }
        // Many a question waits for its parent by a trigger too.
        pairs.dedup();
        let links = Links {
            dependents: Table::of_pairs(nodes, &pairs),
            rank: ranks(&play, prepared),
        };
        Self {
            stopped: is_stopped(&input, &context),
            sound: vec![false; play.applies.len()],
            questionnaire,
            input,
            context,
            play,
            links,
            open: Waiting::default(),
            touched: Vec::new(),
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
        let policy = self.questionnaire.0.policy;
        if fields::check(&self.input, &self.context, policy, &mut report) {
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
            // The rule of question 185 is about the consignment: judge all again.
            (Some(value), Some(number))
                if id != fields::DEVICES_QUESTION && !self.play.too_large =>
            {
                match self.place(number, row) {
                    Place::Given(position) => self.replace(number, position, value),
                    Place::Free if self.has_room(number) => self.append(number, row, value),
                    _ => self.rebuild(|session| session.put(id, row, Some(value))),
                }
            }
            _ => self.rebuild(|session| session.put(id, row, value)),
        }
    }

    /// Changes anything else of the consignment, and looks at all of it again.
    pub fn edit(&mut self, edit: impl FnOnce(&mut ConsignmentInput)) -> Change {
        self.rebuild(|session| edit(&mut session.input))
    }

    fn has_room(&self, number: u32) -> bool {
        let weights = &self.questionnaire.0.weights;
        weights.have_room(self.play.steps, number)
    }

    pub(super) fn view(&self) -> View<'_> {
        View::new(&self.questionnaire.0, &self.input, &self.play)
    }
}
