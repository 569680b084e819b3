//! The questions of a form as a screen shows them.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::super::question_tree::{Choice, ItemKind, TreeQuestion};
use super::super::walk::{Instance, Walk};
use super::super::{Finding, QuestionRef, Report, Severity};

/// A question that applies, a heading, or a section with rows: see [`Form::items`](super::Form::items).
///
/// `Debug` leaves out what the user entered.
///
/// ```
/// # use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
/// # use envd_sdk::validate::{Context, ItemKind, Questionnaire};
/// # let questions: Vec<Question> = serde_json::from_str(
/// #     r#"[{"id": "3", "forms": ["LPAC1"], "type": "NUMBER", "text": "Number of head", "validators": [{"type": "required"}]}]"#,
/// # )?;
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// # let mut form = Questionnaire::prepare(&questions).form(&input, &Context::on(Day::parse("2026-11-20")?));
/// for item in form.items().iter().filter(|item| item.kind == ItemKind::Number) {
///     let star = if item.required { "*" } else { "" };
///     println!("{}{star} [{}]", item.text, item.value.as_deref().unwrap_or_default());
///     for finding in &item.findings {
///         println!("  {}", finding.sentence());
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Item {
    /// The question and its row.
    pub question: QuestionRef,
    /// The position of its row among the remaining rows, from 1; `None` outside rows.
    pub row_number: Option<usize>,
    /// What kind of answer it takes.
    pub kind: ItemKind,
    /// The text of the question.
    pub text: String,
    /// A longer explanation.
    pub help: Option<String>,
    /// A short hint.
    pub tip: Option<String>,
    /// The answers to choose from; empty unless it is a choice.
    pub choices: Vec<Choice>,
    /// The answer; several answers are separated by commas.
    pub value: Option<String>,
    /// Whether the question must be answered, even if it already is.
    pub required: bool,
    /// Whether the user cannot change it.
    pub read_only: bool,
    /// Why it applies, in words; `None` for a top-level question without triggers.
    pub why: Option<String>,
    /// Problems with the answer.
    pub findings: Vec<Arc<Finding>>,
    /// Likely problems with the answer, such as an unusual number. Empty unless
    /// [`advice`](crate::validate::Context::advice) is set.
    pub advice: Vec<Arc<Finding>>,
    /// Whether [`Form::add_row`](super::Form::add_row) can add a row to it.
    pub can_add: bool,
    /// The rows of a section.
    pub rows: Vec<ItemRow>,
    /// Its children outside rows, in display order.
    pub children: Vec<Self>,
}

debug_shows!(Item, |it| question: it.question, kind: it.kind, required: it.required, findings: it.findings);

/// A row of a section.
///
/// ```
/// # use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
/// # use envd_sdk::validate::{Context, ItemKind, Questionnaire};
/// # let questions: Vec<Question> = serde_json::from_str(
/// #     r#"[{"id": "1", "forms": ["LPAC1"], "type": "REPEATABLE", "childQuestions": [{"id": "3", "type": "NUMBER"}]}]"#,
/// # )?;
/// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
/// # let mut form = Questionnaire::prepare(&questions).form(&input, &Context::on(Day::parse("2026-11-20")?));
/// form.add_row("1")?;
/// let items = form.items();
/// let row = &items[0].rows[0];
/// assert_eq!(row.index, Some(0));
/// assert_eq!(row.items[0].question.id, "3");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ItemRow {
    /// The index of its answers; `None` if they have none.
    pub index: Option<i64>,
    /// The items of the row, in display order.
    pub items: Vec<Item>,
}

impl Item {
    /// This item and all items below it, including those in its rows, in display order.
    ///
    /// ```
    /// # use envd_sdk::model::{ConsignmentInput, Day, FormType, PartyInput, Question};
    /// # use envd_sdk::validate::{Context, Item, ItemKind, Questionnaire};
    /// # let questions: Vec<Question> = serde_json::from_str(
    /// #     r#"[{"id": "1", "forms": ["LPAC1"], "type": "REPEATABLE", "childQuestions": [{"id": "3", "type": "NUMBER"}]}]"#,
    /// # )?;
    /// # let input = ConsignmentInput::new([FormType::Lpac1], PartyInput::new("QAZZ7777"), PartyInput::new("QDZZ3333"));
    /// # let mut form = Questionnaire::prepare(&questions).form(&input, &Context::on(Day::parse("2026-11-20")?));
    /// # form.add_row("1")?;
    /// let items = form.items();
    /// let all = items.iter().flat_map(Item::descendants);
    /// let open = all.filter(|item| item.kind != ItemKind::Rows && item.value.is_none());
    /// assert_eq!(open.count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn descendants(&self) -> impl Iterator<Item = &Self> {
        let mut open = vec![self];
        iter::from_fn(move || {
            let item = open.pop()?;
            let in_rows = item.rows.iter().flat_map(|row| &row.items);
            open.extend(in_rows.chain(&item.children).rev());
            Some(item)
        })
    }
}

/// Builds the items of the questions that apply.
pub(super) struct Builder<'a> {
    walk: &'a Walk<'a>,
    /// The findings and the advice about each question.
    about: HashMap<&'a QuestionRef, [Vec<Arc<Finding>>; 2]>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(walk: &'a Walk<'a>, report: &'a Report) -> Self {
        let mut about: HashMap<_, [Vec<_>; 2]> = HashMap::new();
        for finding in report.findings.iter().chain(&report.advice) {
            if let Some(question) = &finding.question {
                let [findings, advice] = about.entry(question).or_default();
                let is_advice = finding.severity == Severity::Advice;
                let list = if is_advice { advice } else { findings };
                list.push(Arc::clone(finding));
            }
        }
        Self { walk, about }
    }

    /// All items, as a tree.
    pub(super) fn tree(&self) -> Vec<Item> {
        self.items(0..self.walk.tree.len(), None)
    }

    /// The items of these questions and their descendants, in one row.
    fn items(&self, questions: Range<usize>, row: Option<i64>) -> Vec<Item> {
        let siblings = self.walk.tree.siblings(questions);
        let instances = siblings.map(|question| Instance::new(question, row));
        let applied = instances.filter(|instance| self.walk.applies(*instance));
        let items = applied.map(|instance| {
            let mut item = self.item(instance);
            let below = instance.question + 1..self.walk.tree[instance.question].end;
            if item.kind == ItemKind::Rows {
                let rows = self.walk.rows_of(instance).iter().map(|row| ItemRow {
                    index: row.row,
                    items: self.items(below.clone(), row.row),
                });
                item.rows = rows.collect();
            } else {
                item.children = self.items(below, row);
            }
            item
        });
        items.collect()
    }

    /// An item without its children and rows.
    pub(super) fn item(&self, instance: Instance) -> Item {
        let walk = self.walk;
        let question = &walk.tree[instance.question];
        let reference = walk.reference(instance);
        let [findings, advice] = self.about.get(&reference).cloned().unwrap_or_default();
        let mut choices = question.choices.clone();
        if question.kind == ItemKind::YesNo && choices.is_empty() {
            choices = vec![Choice::new("True", "Yes"), Choice::new("False", "No")];
        }
        let texts: Vec<&str> = walk.texts(instance).collect();
        let why = self.why(question, instance);
        let row_number = walk.row_number(instance);
        let has_no_row = || walk.rows_of(instance).is_empty();
        Item {
            findings,
            advice,
            row_number: row_number.filter(|_| question.rows_of.is_some()),
            kind: question.kind,
            text: question.text.text.clone(),
            help: question.text.help.clone(),
            tip: question.text.tip.clone(),
            choices,
            value: (!texts.is_empty()).then(|| texts.join(", ")),
            required: question.required,
            read_only: question.read_only,
            why: (!why.is_empty()).then(|| why.join(" and ")),
            can_add: question.is_outermost_section()
                || question.kind == ItemKind::Rows && has_no_row(),
            rows: Vec::new(),
            children: Vec::new(),
            question: reference,
        }
    }

    /// Why a question applies, in words: the triggering answers, or the parent.
    fn why(&self, question: &TreeQuestion, instance: Instance) -> Vec<String> {
        let tree = self.walk.tree;
        if question.triggers.is_empty() {
            let parent = question.parent.map(|parent| &tree[parent]);
            let stands_under = |above| format!("it belongs to {}", named(above));
            return parent.map(stands_under).into_iter().collect();
        }
        let met = question.triggers.iter().filter_map(|trigger| {
            let value = self.walk.trigger_value(trigger, instance)?;
            let source = &tree[*trigger.sources.first()?];
            let choice = source.choices.iter().find(|choice| choice.value == value);
            let name = choice.map_or(value, |choice| &choice.name);
            Some(format!("{} is answered {name}", named(source)))
        });
        met.collect()
    }
}

fn named(question: &TreeQuestion) -> String {
    match question.text.text.trim() {
        "" => format!("question {}", question.id),
        text => format!("\u{201c}{text}\u{201d}"),
    }
}
