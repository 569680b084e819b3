//! What a screen shows of a form.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::Serialize;

use super::super::answers::Instance;
use super::super::applicability::Applicability;
use super::super::applied_question;
use super::super::question_tree::{Choice, ItemKind};
use super::super::{Finding, QuestionRef, Report};

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
    /// The position of its row among those that are left, from 1, as people count; `None` outside rows.
    pub row_number: Option<usize>,
    /// What kind of answer it takes.
    pub kind: ItemKind,
    /// The text of the question.
    pub text: String,
    /// A longer explanation.
    pub help: Option<String>,
    /// A short hint.
    pub tip: Option<String>,
    /// The answers to choose from; empty where the question is no choice.
    pub choices: Vec<Choice>,
    /// The answer; several answers have commas between them.
    pub value: Option<String>,
    /// Whether an answer must be given, filled or not.
    pub required: bool,
    /// Whether it is only presentation.
    pub read_only: bool,
    /// Why it applies, in words; `None` for a question that stands under no other and has no trigger.
    pub why: Option<String>,
    /// What is wrong with the answer.
    pub findings: Vec<Arc<Finding>>,
    /// Whether [`Form::add_row`](super::Form::add_row) adds a row to it.
    pub can_add: bool,
    /// The rows of a section.
    pub rows: Vec<ItemRow>,
    /// What stands under it outside rows, in display order.
    pub children: Items,
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
    /// Its number, as it stands in the answers; `None` for answers without one.
    pub index: Option<i64>,
    /// What stands in it, in display order.
    pub items: Items,
}

/// The [`Item`]s of a form, a row or a section in display order. It is a slice.
///
/// See [`Item`] for an example.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub struct Items(Vec<Item>);

impl Deref for Items {
    type Target = [Item];

    fn deref(&self) -> &[Item] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Items {
    type Item = &'a Item;
    type IntoIter = std::slice::Iter<'a, Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} items", self.0.len())
    }
}

/// Not recursive: questions may be nested thousands of levels deep.
impl Drop for Items {
    fn drop(&mut self) {
        let mut open = std::mem::take(&mut self.0);
        while let Some(mut item) = open.pop() {
            open.append(&mut item.children.0);
            for row in &mut item.rows {
                open.append(&mut row.items.0);
            }
        }
    }
}

/// Makes items of the questions that apply.
pub(super) struct Builder<'a> {
    questions: &'a Applicability<'a>,
    findings: HashMap<&'a QuestionRef, Vec<&'a Arc<Finding>>>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(questions: &'a Applicability<'a>, report: &'a Report) -> Self {
        let mut findings: HashMap<_, Vec<_>> = HashMap::new();
        for finding in &report.findings {
            if let Some(question) = &finding.question {
                findings.entry(question).or_default().push(finding);
            }
        }
        Self {
            questions,
            findings,
        }
    }

    /// All items, as a tree. Each is made when all below it are, so that nothing is recursive.
    pub(super) fn tree(&self) -> Items {
        // The items below each question in each row, the last one first.
        let mut below: HashMap<(Option<usize>, Option<i64>), Vec<Item>> = HashMap::new();
        let take = |items: Option<Vec<Item>>| {
            let mut items = items.unwrap_or_default();
            items.reverse();
            Items(items)
        };
        for instance in self.questions.applied.iter().rev() {
            let Instance { question, row } = *instance;
            let at = &self.questions.tree[question];
            let mut item = self.item(*instance);
            if at.kind != ItemKind::Rows {
                item.children = take(below.remove(&(Some(question), row)));
            } else if at.rows_of.is_none() {
                let rows = self.questions.rows(question).iter().map(|row| ItemRow {
                    index: row.row,
                    items: take(below.remove(&(Some(question), row.row))),
                });
                item.rows = rows.collect();
            } else if self.questions.has_rows(*instance) {
                item.rows.push(ItemRow {
                    index: row,
                    items: take(below.remove(&(Some(question), row))),
                });
            }
            below.entry((at.parent, row)).or_default().push(item);
        }
        take(below.remove(&(None, None)))
    }

    /// One item without what stands under it.
    pub(super) fn item(&self, instance: Instance) -> Item {
        let asked = applied_question::describe(self.questions, instance);
        let question = &self.questions.tree[instance.question];
        let kind = question.kind;
        let mut choices = asked.choices;
        if kind == ItemKind::YesNo && choices.is_empty() {
            choices = vec![Choice::new("True", "Yes"), Choice::new("False", "No")];
        }
        let given = self.questions.given(instance).iter();
        let texts: Vec<&str> = given
            .filter(|given| !given.is_empty())
            .map(|given| given.text)
            .collect();
        let because: Vec<String> = asked.because.iter().map(ToString::to_string).collect();
        let findings = self.findings.get(&asked.question).into_iter().flatten();
        Item {
            findings: findings.copied().cloned().collect(),
            question: asked.question,
            row_number: self
                .questions
                .row_number(instance)
                .filter(|_| question.rows_of.is_some()),
            kind,
            text: asked.text,
            help: question.help.clone(),
            tip: question.tip.clone(),
            choices,
            value: (!texts.is_empty()).then(|| texts.join(", ")),
            required: asked.required,
            read_only: question.read_only,
            why: (!because.is_empty()).then(|| because.join(" and ")),
            can_add: kind == ItemKind::Rows && (question.rows_of.is_none() || !asked.answered),
            rows: Vec::new(),
            children: Items::default(),
        }
    }
}
