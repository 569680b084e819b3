//! The pages of a declaration: their fields with the stored values, and the form after a post.
//!
//! `q.4.0` is the answer to question 4 in row 0, `f.origin.pic` a field of the input.

use std::collections::{BTreeMap, HashMap};

use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, FormType, Jurisdiction, Maybe, Pic};
use envd_sdk::validate::{EditError, Form, Item, ItemKind, QuestionRef};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::declarations::Open;
use super::form_title::title;
use super::remarks::SENTENCES;
use super::server::fields::Fields;
use super::server::pages::day;

/// The pages without questions: name, title, and the paths of their fields; a star marks a required one.
const FIELD_PAGES: [(&str, &str, &str); 4] = [
    ("forms", "Livestock and forms", "forms"),
    (
        "movement",
        "Where and when",
        "origin.pic* destination.pic* movementDate* movementTime* owner.pic owner.name",
    ),
    (
        "addresses",
        "Names and addresses",
        "origin.name origin.address.line1 origin.address.town origin.address.state origin.address.postcode destination.name \
         destination.address.line1 destination.address.town destination.address.state destination.address.postcode \
         owner.address.line1 owner.address.town owner.address.state owner.address.postcode consignee.pic consignee.name \
         consignee.address.line1 consignee.address.town consignee.address.state consignee.address.postcode",
    ),
    (
        DECLARATION,
        "Declaration and signature",
        "declaration.fullName* declaration.phone declaration.email declaration.signature declaration.accept",
    ),
];

pub(crate) const DECLARATION: &str = "declaration";

/// A page of the form.
#[derive(Default, Serialize)]
pub(crate) struct Section {
    /// In its address.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The fields of the input.
    fields: Vec<Field>,
    /// The questions.
    items: Vec<Item>,
    /// What each field shows, by name. A row, and a section with rows, count as fields without a value.
    pub(crate) values: BTreeMap<String, String>,
    pub(crate) is_filled: bool,
}

/// A field of the input, as a template shows it; the same names as in an [`Item`].
#[derive(Serialize)]
struct Field {
    path: &'static str,
    name: String,
    text: String,
    kind: &'static str,
    required: bool,
    choices: Vec<Value>,
}

/// All pages in order. Each section with rows is a page; the other questions are grouped by heading.
pub(crate) fn sections(form: &Form) -> Vec<Section> {
    let mut all: Vec<Section> = FIELD_PAGES.into_iter().map(Section::of_fields).collect();
    let declaration = all.pop();
    let mut heading = ("q".to_owned(), "Questions".to_owned());
    for item in form.items() {
        let own = (format!("q{}", item.question.id), item.text.clone());
        if item.kind == ItemKind::Display && item.children.is_empty() {
            heading = own;
            continue;
        }
        let is_rows = item.kind == ItemKind::Rows;
        let (name, title) = if is_rows { own } else { heading.clone() };
        match all.iter_mut().find(|section| section.name == name) {
            Some(section) => section.items.push(item),
            None => all.push(Section {
                name,
                title,
                items: vec![item],
                ..Section::default()
            }),
        }
    }
    all.extend(declaration);
    let input = json!(form.save().input());
    for section in &mut all {
        section.read_values(&input);
    }
    all
}

impl Section {
    fn of_fields((name, title, paths): (&str, &str, &'static str)) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            fields: paths.split_whitespace().map(Field::new).collect(),
            ..Self::default()
        }
    }

    fn read_values(&mut self, input: &Value) {
        let mut values = BTreeMap::new();
        for field in &self.fields {
            let value = input.pointer(&format!("/{}", field.path.replace('.', "/")));
            let text = value.map(shown).unwrap_or_default();
            let is_day = field.kind == "date";
            values.insert(field.name.clone(), if is_day { day(&text) } else { text });
        }
        for item in self.questions() {
            for row in &item.rows {
                values.insert(format!("row.{}", row_name(item, row.index)), String::new());
            }
            let value = item.value.as_deref().unwrap_or_default();
            let shown = match item.kind {
                ItemKind::Display => continue,
                ItemKind::Date => day(value),
                _ => value.to_owned(),
            };
            values.insert(name(&item.question), shown);
        }
        self.is_filled = values
            .iter()
            .any(|(name, value)| name.starts_with("row.") || !value.is_empty());
        self.values = values;
    }

    pub(crate) fn questions(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().flat_map(Item::descendants)
    }

    /// The section with rows that has this row or, without a row, is this question.
    pub(crate) fn with_rows(&self, at: &QuestionRef) -> Option<&Item> {
        let mut sections = self.questions().filter(|item| item.question.id == at.id);
        sections.find(|item| item.question.row.is_none() || item.question == *at)
    }

    /// The id of the last row of a section on the page, or of its button if it has none.
    pub(crate) fn last_row(&self, at: &QuestionRef) -> Option<String> {
        let section = self.with_rows(at)?;
        Some(match section.rows.last() {
            Some(last) => format!("row.{}", row_name(section, last.index)),
            None => format!("add.{}", name(&section.question)),
        })
    }

    /// Whether a remark at `place` belongs to this page.
    pub(crate) fn has(&self, place: &str) -> bool {
        let field = place.strip_prefix("add.").unwrap_or(place);
        self.values.contains_key(field)
    }

    /// The form with the posted fields of this page, and the posted values whose row or question is gone. All answers change in one
    /// step, so that the work grows with the number of rows and not with its square.
    pub(crate) fn apply(
        &self,
        open: &Open,
        posted: &Fields,
    ) -> Result<(Form, Vec<String>), EditError> {
        let mut posted: HashMap<&str, &str> = posted.iter().collect();
        let mut input = open.form.save().into_input();
        // In one order: equal answers must be equal JSON, because the outbox compares the text.
        let place = |answer: &AnswerInput| {
            let row = answer.index.value().copied();
            (row, answer.question_id.value().cloned())
        };
        let answers = input.answers().iter().cloned();
        let mut answers: BTreeMap<_, _> = answers.map(|answer| (place(&answer), answer)).collect();
        for item in self.questions() {
            if item.read_only || matches!(item.kind, ItemKind::Display | ItemKind::Rows) {
                continue;
            }
            let Some(text) = posted.remove(name(&item.question).as_str()) else {
                continue;
            };
            let value = if item.choices.is_empty() {
                item.kind.from_typed(text)
            } else {
                text.trim().to_owned()
            };
            let mut answer = AnswerInput::new(item.question.id.clone(), value.as_str());
            if let Some(row) = item.question.row {
                answer = answer.row(row);
            }
            if value.is_empty() {
                answers.remove(&place(&answer));
            } else {
                answers.insert(place(&answer), answer);
            }
        }
        input.answers = Maybe::Value(answers.into_values().collect());
        let mut form = open.bank.questionnaire().adopt(&open.form, input);
        for field in &self.fields {
            let text = posted.remove(field.name.as_str()).map(str::trim);
            if let Some(text) = text.filter(|text| *text != self.values[&field.name]) {
                form.field(field.path, typed(field.kind, text))?;
            }
        }
        let is_field = |name: &str| name.starts_with("q.") || name.starts_with("f.");
        posted.retain(|name, text| is_field(name) && !text.trim().is_empty());
        Ok((form, posted.into_values().map(str::to_owned).collect()))
    }
}

impl Field {
    /// A star behind the path marks a required field.
    fn new(path: &'static str) -> Self {
        let (path, required) = match path.strip_suffix('*') {
            Some(path) => (path, true),
            None => (path, false),
        };
        let parts: Vec<&str> = path.split('.').collect();
        let kind = match parts.last().copied().unwrap_or_default() {
            "movementDate" => "date",
            "movementTime" => "time",
            last => last,
        };
        let choices = match kind {
            "state" => Jurisdiction::KNOWN
                .iter()
                .map(|state| json!({"value": state.as_str(), "name": state.as_str()}))
                .collect(),
            "forms" => FormType::KNOWN
                .iter()
                .map(|form| json!({"value": form, "name": title(form), "species": form.species()}))
                .collect(),
            _ => Vec::new(),
        };
        Self {
            path,
            name: format!("f.{path}"),
            text: SENTENCES.field_label(&parts),
            kind,
            required,
            choices,
        }
    }
}

/// The JSON value of a field of the input; null for an empty text.
fn typed(kind: &str, text: &str) -> Value {
    match kind {
        "forms" if text.is_empty() => json!([]),
        _ if text.is_empty() => Value::Null,
        "forms" => json!(text.split(',').collect::<Vec<_>>()),
        "accept" => json!(text == "true"),
        "pic" => Pic::from_typed(text).map_or(json!(text), |pic| json!(pic)),
        "date" => json!(ItemKind::Date.from_typed(text)),
        "time" => json!(ItemKind::Time.from_typed(text)),
        _ => json!(text),
    }
}

/// A field of an input as text.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "true".to_owned(),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(","),
        _ => String::new(),
    }
}

/// A short hash of a content.
pub(crate) fn version(content: &impl Serialize) -> String {
    let json = serde_json::to_vec(content).unwrap_or_default();
    let mut digest = format!("{:x}", Sha256::digest(json));
    digest.truncate(16);
    digest
}

/// The name of the field of a question.
pub(crate) fn name(question: &QuestionRef) -> String {
    let row = question.row.map_or(String::new(), |row| row.to_string());
    format!("q.{}.{row}", question.id)
}

/// The name of a row.
pub(crate) fn row_name(section: &Item, row: Option<i64>) -> String {
    name(&(section.question.id.clone(), row).into())
}

/// The question of a field name.
pub(crate) fn question(name: &str) -> Option<QuestionRef> {
    let (id, row) = name.strip_prefix("q.")?.rsplit_once('.')?;
    let row = match row {
        "" => None,
        row => Some(row.parse().ok()?),
    };
    Some((id, row).into())
}

/// Whether the user has signed, by name or by hand.
pub(crate) fn is_signed(input: &ConsignmentInput) -> bool {
    let declaration = input.declaration.value();
    declaration.is_some_and(|declaration| {
        declaration.accept.value() == Some(&true) || declaration.signature.value().is_some()
    })
}

/// Removes the signature, because the user has signed another text.
pub(crate) fn remove_signature(input: &mut ConsignmentInput) {
    if let Some(declaration) = input.declaration.value_mut() {
        declaration.accept = Maybe::Absent;
        declaration.signature = Maybe::Absent;
        declaration.date = Maybe::Absent;
    }
}

/// A signature has the date of today.
pub(crate) fn date_signature(form: &mut Form, today: Day) -> Result<(), EditError> {
    let is_signed = is_signed(form.save().input());
    let date = is_signed.then(|| format!("{today}T00:00:00"));
    form.field("declaration.date", date)?;
    Ok(())
}

/// The input for the next load: the same properties, transporters and signer.
pub(crate) fn next_load(input: &ConsignmentInput) -> ConsignmentInput {
    /// Transporter, registration of the vehicle, phone and email.
    const TRANSPORT: [&str; 4] = ["158", "159", "160", "182"];
    let mut next = ConsignmentInput::new(
        input.forms.clone(),
        input.origin.clone(),
        input.destination.clone(),
    );
    next.owner = input.owner.clone();
    next.consignee = input.consignee.clone();
    next.declaration = input.declaration.clone();
    remove_signature(&mut next);
    let answers = input.answers().iter().filter(|answer| {
        let id = answer.question_id.value();
        id.is_some_and(|id| TRANSPORT.contains(&id.as_str()))
    });
    next.answers = Maybe::Value(answers.cloned().collect());
    next
}
