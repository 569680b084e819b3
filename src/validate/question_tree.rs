//! A list of questions, read once for many consignments: the tree, the order of evaluation, and the questions that depend on
//! themselves.

use std::collections::{HashMap, HashSet};
use std::iter;
use std::mem;
use std::ops::{Index, IndexMut, Range};
use std::sync::{Arc, OnceLock};

use ecow::EcoString;
use serde::Serialize;

use super::content_hash::HashedContent;
use super::year::Years;
use super::{ContentHash, Finding, Policy, QuestionText};
use crate::model::{
    AcceptableAnswer, FormType, Question, QuestionId, QuestionType, QuestionValidator, Trigger,
    ValidatorType,
};

/// Questions removed from LPAG3, even if a list still names them for it (spec 2.6, 9.4).
const NOT_OF_LPAG3: [&str; 3] = ["23", "24", "87"];

/// The deepest nesting, so that recursion is safe. The sample list has 3 levels.
const MOST_LEVELS: usize = 64;

/// The longest list. The sample list has 175 questions.
const MOST_QUESTIONS: usize = MOST_STEPS / STEPS_OF_A_QUESTION;

/// The most steps that checking a consignment may take. The sample list takes some thousands with every question answered.
pub(super) const MOST_STEPS: usize = 1_000_000;

/// The steps that a question in a row takes, in addition to its choices and triggers: a finding about it needs memory.
const STEPS_OF_A_QUESTION: usize = 10;

/// A list of questions as a tree, with the order of evaluation.
#[derive(Debug, Default)]
pub(super) struct QuestionTree {
    pub(super) policy: Policy,
    /// In display order: each question directly before its descendants.
    questions: Vec<TreeQuestion>,
    /// An id may appear several times, if a question differs between forms.
    by_id: HashMap<QuestionId, Vec<usize>>,
    /// Each question after everything that it depends on.
    pub(super) order: Vec<usize>,
    /// The questions that depend on themselves.
    pub(super) cyclic: HashSet<usize>,
    /// Whether the list is too long, too deep or has too many triggers. Then nothing is checked.
    pub(super) is_too_large: bool,
    content: HashedContent,
    /// Computed on first use: SHA-256 takes longer than everything else here.
    hash: OnceLock<ContentHash>,
}

/// A question, reduced to what the rules need.
#[derive(Debug)]
pub(super) struct TreeQuestion {
    /// Empty if the question has no id.
    pub(super) id: QuestionId,
    pub(super) parent: Option<usize>,
    /// The position after its last descendant.
    pub(super) end: usize,
    /// The outermost REPEATABLE ancestor: the question is answered in each of its rows.
    pub(super) rows_of: Option<usize>,
    forms: Arc<[FormType]>,
    pub(super) kind: ItemKind,
    pub(super) read_only: bool,
    /// Whether the question must be answered when it applies. Read-only questions and headings are never required.
    pub(super) required: bool,
    pub(super) years: Years,
    pub(super) choices: Vec<Choice>,
    pub(super) triggers: Vec<TriggerGroup>,
    /// The steps for each answer, and for each row that has the question.
    pub(super) steps: usize,
    /// Further steps for each row of other sections that its triggers read.
    pub(super) steps_of_other_rows: usize,
    /// Rules that cannot be checked.
    pub(super) unchecked: Vec<String>,
    pub(super) text: QuestionText,
    /// The service's message for a missing answer.
    pub(super) required_message: Option<String>,
    /// The years that each validator accepts, with the service's message for other years.
    pub(super) year_messages: Vec<(Years, Option<String>)>,
    /// The finding for a missing answer outside rows. It is cached because drafts have many, and they are checked after each edit.
    pub(super) missing: OnceLock<Arc<Finding>>,
}

/// The triggers of a question on one source question: any of the values will do. assumed
#[derive(Debug)]
pub(super) struct TriggerGroup {
    /// `None` if the trigger names no question; it is then never met.
    pub(super) source: Option<QuestionId>,
    /// The positions of the questions with that id.
    pub(super) sources: Vec<usize>,
    pub(super) values: Vec<EcoString>,
}

/// What kind of answer an [`Item`](super::Item) takes.
///
/// See [`Form`](super::Form) for an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum ItemKind {
    /// A heading or an explanatory text: no answer.
    Display,
    /// A section that is answered row by row: [`Item::rows`](super::Item::rows).
    Rows,
    /// One of the [`Item::choices`](super::Item::choices).
    Choice,
    /// Some of the [`Item::choices`](super::Item::choices), with commas between their values.
    MultipleChoice,
    /// One of the two [`Item::choices`](super::Item::choices) `True` and `False`.
    YesNo,
    /// A text.
    Text,
    /// A number.
    Number,
    /// A date, yyyy-MM-dd.
    Date,
    /// A time, HH:mm.
    Time,
    /// A month, yyyy-MM.
    Month,
    /// A picture.
    Image,
    /// A type of question that this version of the crate does not know; show it as a text.
    Unknown,
}

/// One of the answers to choose from.
///
/// Of an [`Item`](super::Item), whose page has an example.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The value to send as the answer.
    pub value: String,
    /// The text to show; the value if the server gives no name.
    pub name: String,
}

impl QuestionTree {
    /// Never fails: validators and types that are not understood are listed in `unchecked`.
    pub(super) fn read(list: &[Question], policy: Policy) -> Self {
        let mut tree = Self {
            policy,
            ..Self::default()
        };
        tree.add_all(list, None, 1);
        tree.link();
        if !tree.is_too_large {
            (tree.order, tree.cyclic) = tree.order_among(|_| true);
        }
        tree
    }

    /// Adds siblings with their descendants. Questions without an order come last.
    fn add_all(&mut self, siblings: &[Question], parent: Option<usize>, level: usize) {
        let mut siblings: Vec<&Question> = siblings.iter().collect();
        // A stable sort keeps the server's order among equals.
        siblings.sort_by_key(|question| question.order.unwrap_or(i64::MAX));
        for question in siblings {
            let position = self.questions.len();
            self.content.add(question, parent);
            if level > MOST_LEVELS || position == MOST_QUESTIONS {
                self.is_too_large = true;
                continue;
            }
            let added = TreeQuestion::new(question, parent.map(|parent| (parent, &self[parent])));
            let with_id = self.by_id.entry(added.id.clone()).or_default();
            with_id.push(position);
            self.questions.push(added);
            self.add_all(&question.child_questions, Some(position), level + 1);
            self[position].end = self.questions.len();
        }
    }

    /// Links triggers to their sources and counts their steps. It stops at the limit: a trigger reads all questions with the
    /// source's id.
    fn link(&mut self) {
        let mut steps = 0;
        for position in 0..self.len() {
            let mut triggers = std::mem::take(&mut self[position].triggers);
            let rows_of = self[position].rows_of;
            for trigger in &mut triggers {
                let sources = self.with(trigger.source.as_ref());
                let per_source = 1 + trigger.values.len();
                steps += per_source * sources.len();
                if steps > MOST_STEPS {
                    self.is_too_large = true;
                    return;
                }
                trigger.sources = sources.to_vec();
                for source in trigger.sources.iter().copied() {
                    let of_source = self[source].rows_of;
                    let is_other = rows_of.is_some() && of_source.is_some() && of_source != rows_of;
                    self[source].steps += per_source;
                    self[position].steps += per_source;
                    self[position].steps_of_other_rows += per_source * usize::from(is_other);
                }
            }
            self[position].triggers = triggers;
        }
    }

    /// The order of evaluation among the questions that `is_counted` accepts, and those that depend on themselves.
    pub(super) fn order_among(
        &self,
        is_counted: impl Fn(usize) -> bool,
    ) -> (Vec<usize>, HashSet<usize>) {
        let depends_on = |position: usize| {
            let question = &self[position];
            let sources = question.triggers.iter().flat_map(|group| &group.sources);
            let dependencies = question.parent.into_iter().chain(sources.copied());
            dependencies.filter(|dependency| is_counted(*dependency))
        };
        let components = components(self.len(), depends_on);
        let is_cycle = |component: &&[(usize, usize)]| match **component {
            [(_, only)] => depends_on(only).any(|dependency| dependency == only),
            _ => true,
        };
        let cyclic = components.chunk_by(|(one, _), (next, _)| one == next);
        let cyclic = cyclic.filter(is_cycle).flatten().map(|(_, node)| *node);
        let order = components.iter().map(|(_, node)| *node);
        (order.collect(), cyclic.collect())
    }

    pub(super) fn len(&self) -> usize {
        self.questions.len()
    }

    /// All questions with their positions, in display order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &TreeQuestion)> {
        self.questions.iter().enumerate()
    }

    /// Those of these positions that are not below another of them.
    pub(super) fn siblings(&self, positions: Range<usize>) -> impl Iterator<Item = usize> {
        let Range { start, end } = positions;
        let within = move |position| (position < end).then_some(position);
        iter::successors(within(start), move |position| within(self[*position].end))
    }

    /// The REPEATABLE ancestors of a question, nearest first.
    pub(super) fn sections_above(&self, position: usize) -> impl Iterator<Item = usize> {
        let above = iter::successors(self[position].parent, |above| self[*above].parent);
        above.filter(|above| self[*above].kind == ItemKind::Rows)
    }

    /// The positions of the questions with an id; empty for `None`.
    pub(super) fn with(&self, id: Option<&QuestionId>) -> &[usize] {
        id.and_then(|id| self.by_id.get(id))
            .map_or(&[], Vec::as_slice)
    }

    /// Whether any question names this form.
    pub(super) fn names_form(&self, form: &FormType) -> bool {
        let mut questions = self.questions.iter();
        questions.any(|question| question.forms.contains(form))
    }

    /// For each question, whether it and all its ancestors are on one of the forms: descendants of a hidden question are hidden.
    pub(super) fn on_forms(&self, forms: &[FormType]) -> Vec<bool> {
        let mut forms: Vec<&FormType> = forms.iter().collect();
        forms.sort_unstable();
        forms.dedup();
        let mut on_forms: Vec<bool> = Vec::with_capacity(self.len());
        for question in &self.questions {
            let above = question
                .parent
                .is_none_or(|above| on_forms.get(above) == Some(&true));
            let mut own = question.forms.iter();
            on_forms.push(above && own.any(|form| forms.binary_search(&form).is_ok()));
        }
        on_forms
    }

    pub(super) fn content_hash(&self) -> ContentHash {
        *self.hash.get_or_init(|| self.content.hash())
    }
}

impl Index<usize> for QuestionTree {
    type Output = TreeQuestion;

    // OK because all positions come from `read`.
    #[allow(clippy::indexing_slicing)]
    fn index(&self, position: usize) -> &TreeQuestion {
        &self.questions[position]
    }
}

impl IndexMut<usize> for QuestionTree {
    // OK because all positions come from `read`.
    #[allow(clippy::indexing_slicing)]
    fn index_mut(&mut self, position: usize) -> &mut TreeQuestion {
        &mut self.questions[position]
    }
}

impl TreeQuestion {
    fn new(question: &Question, above: Option<(usize, &Self)>) -> Self {
        let kind = ItemKind::of(question.question_type.as_ref());
        let choices: Vec<_> = question
            .acceptable_answers
            .iter()
            .filter_map(Choice::of)
            .collect();
        let mut read = Self {
            id: question.id.clone().unwrap_or_default(),
            parent: above.map(|(parent, _)| parent),
            end: 0,
            rows_of: above.and_then(|(parent, above)| {
                let is_section = above.kind == ItemKind::Rows;
                above.rows_of.or(is_section.then_some(parent))
            }),
            forms: forms(question, above.map(|(_, above)| above)),
            kind,
            read_only: question.read_only == Some(true),
            required: false,
            years: Years::default(),
            steps: STEPS_OF_A_QUESTION + choices.len(),
            steps_of_other_rows: 0,
            choices,
            triggers: grouped(&question.triggers),
            unchecked: Vec::new(),
            text: QuestionText {
                text: question.text.clone().unwrap_or_default(),
                help: question.help.clone(),
                tip: question.tip.clone(),
                error_message: None,
            },
            required_message: None,
            year_messages: Vec::new(),
            missing: OnceLock::new(),
        };
        if question.id.is_none() {
            read.unchecked.push("it has no id".to_owned());
        }
        if kind == ItemKind::Unknown {
            let name = question
                .question_type
                .as_ref()
                .map_or("", QuestionType::as_str);
            read.unchecked.push(format!("its type is unknown: {name}"));
        }
        for validator in &question.validators {
            read.add_validator(validator);
        }
        // A question without an id cannot be answered.
        read.required &= !read.read_only && question.id.is_some() && read.takes_answers();
        read
    }

    fn add_validator(&mut self, validator: &QuestionValidator) {
        let message = validator
            .error_message
            .clone()
            .filter(|text| !text.is_empty());
        match bound(validator) {
            Ok(None) => {
                self.required = true;
                self.required_message = message;
            }
            Ok(Some(bound)) => {
                self.years = self.years.and(bound);
                self.year_messages.push((bound, message));
            }
            Err(reason) => self.unchecked.push(reason),
        }
    }

    /// Whether the question takes an answer itself.
    pub(super) fn takes_answers(&self) -> bool {
        !matches!(self.kind, ItemKind::Rows | ItemKind::Display)
    }

    /// Whether it is a REPEATABLE question that is not inside another.
    pub(super) fn is_outermost_section(&self) -> bool {
        self.kind == ItemKind::Rows && self.rows_of.is_none()
    }

    /// The question's texts for a finding, with the message of the validator that failed.
    pub(super) fn for_finding(&self, error_message: Option<&String>) -> QuestionText {
        QuestionText {
            error_message: error_message.cloned(),
            ..self.text.clone()
        }
    }
}

impl ItemKind {
    fn of(question_type: Option<&QuestionType>) -> Self {
        match question_type {
            Some(QuestionType::Display) => Self::Display,
            Some(QuestionType::Repeatable) => Self::Rows,
            Some(QuestionType::SingleChoice) => Self::Choice,
            Some(QuestionType::MultipleChoice) => Self::MultipleChoice,
            Some(QuestionType::Boolean) => Self::YesNo,
            Some(QuestionType::String) => Self::Text,
            Some(QuestionType::Number) => Self::Number,
            Some(QuestionType::Date) => Self::Date,
            Some(QuestionType::DateTime) => Self::Time,
            Some(QuestionType::DateMonth) => Self::Month,
            Some(QuestionType::Image) => Self::Image,
            Some(QuestionType::Unrecognized(_)) | None => Self::Unknown,
        }
    }
}

impl Choice {
    /// The name is the value if the server gives none.
    pub(super) fn new(value: &str, name: &str) -> Self {
        Self {
            value: value.to_owned(),
            name: if name.is_empty() { value } else { name }.to_owned(),
        }
    }

    /// `None` if it has no value.
    fn of(answer: &AcceptableAnswer) -> Option<Self> {
        let name = answer.display_name.as_deref().unwrap_or_default();
        Some(Self::new(answer.value.as_deref()?, name))
    }
}

/// A child that names no forms inherits those of its parent. assumed
fn forms(question: &Question, above: Option<&TreeQuestion>) -> Arc<[FormType]> {
    let forms = match above {
        Some(above) if question.forms.is_empty() => Arc::clone(&above.forms),
        _ => question.forms.iter().cloned().collect(),
    };
    let id = question.id.as_ref().map_or("", QuestionId::as_str);
    if NOT_OF_LPAG3.contains(&id) {
        return forms
            .iter()
            .filter(|form| **form != FormType::Lpag3)
            .cloned()
            .collect();
    }
    forms
}

/// Groups triggers by source, in the order of first appearance.
fn grouped(triggers: &[Trigger]) -> Vec<TriggerGroup> {
    let mut groups: Vec<TriggerGroup> = Vec::new();
    let mut positions = HashMap::new();
    for trigger in triggers {
        let source = trigger.question_id.as_ref();
        let position = *positions.entry(source).or_insert(groups.len());
        if position == groups.len() {
            groups.push(TriggerGroup {
                source: source.cloned(),
                sources: Vec::new(),
                values: Vec::new(),
            });
        }
        if let Some(group) = groups.get_mut(position) {
            group
                .values
                .extend(trigger.value.as_deref().map(EcoString::from));
        }
    }
    groups
}

/// The years that a validator accepts, `None` for `required`, or why it cannot be checked.
fn bound(validator: &QuestionValidator) -> Result<Option<Years>, String> {
    let parameter = validator.parameter.as_deref().unwrap_or_default().trim();
    let unreadable = || format!("a year cannot be read: {parameter}");
    let year = || parameter.parse().map(Some).map_err(|_| unreadable());
    let mut years = Years::default();
    match &validator.validator_type {
        Some(ValidatorType::Required) => return Ok(None),
        Some(ValidatorType::MinYear) => years.min = year()?,
        Some(ValidatorType::MaxYear) if parameter.eq_ignore_ascii_case("now") => {
            years.not_future = true;
        }
        Some(ValidatorType::MaxYear) => years.max = year()?,
        unknown => {
            let name = unknown.as_ref().map_or("", ValidatorType::as_str);
            return Err(format!("a validator is unknown: {name}"));
        }
    }
    Ok(Some(years))
}

/// Strongly connected components by Kosaraju's algorithm: pairs of component and node, with each node after its dependencies.
/// Nodes that depend on each other share a component and are adjacent.
pub(super) fn components<I: Iterator<Item = usize>>(
    count: usize,
    depends_on: impl Fn(usize) -> I,
) -> Vec<(usize, usize)> {
    let mut dependents = vec![Vec::new(); count];
    for node in 0..count {
        for dependency in depends_on(node) {
            if let Some(dependents) = dependents.get_mut(dependency) {
                dependents.push(node);
            }
        }
    }
    let finished = search(count, 0..count, depends_on);
    let finished = finished.into_iter().rev().map(|(_, node)| node);
    let dependents = |node: usize| dependents.get(node).into_iter().flatten().copied();
    let mut components = search(count, finished, dependents);
    components.reverse();
    components
}

/// Depth-first search in postorder: pairs of root and node, where a node reached from several roots appears under the first.
/// It is iterative because chains may be thousands of nodes long.
fn search<I: Iterator<Item = usize>>(
    count: usize,
    roots: impl Iterator<Item = usize>,
    next: impl Fn(usize) -> I,
) -> Vec<(usize, usize)> {
    let mut is_new = vec![true; count];
    let mut found = Vec::with_capacity(count);
    let mut open = Vec::new();
    for root in roots {
        open.push((root, false));
        while let Some((node, is_finished)) = open.pop() {
            if is_finished {
                found.push((root, node));
            } else if is_new.get_mut(node).is_some_and(mem::take) {
                open.push((node, true));
                open.extend(next(node).map(|next| (next, false)));
            }
        }
    }
    found
}
