//! The pages of a declaration: their fields with the stored values, and the form after a post.
//!
//! `q.4.0` is the answer to question 4 in row 0, `f.origin.pic` a field of the input.

use std::collections::{BTreeMap, HashMap, HashSet};

use envd_sdk::model::{AnswerInput, ConsignmentInput, Day, Maybe, Pic};
use envd_sdk::validate::{EditError, Form, Item, ItemKind, QuestionRef, Questionnaire};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::server::fields::Fields;

/// The pages without questions: name, title, and the paths of their fields.
const FIELD_PAGES: [(&str, &str, &str); 4] = [
    ("forms", "Livestock and forms", "forms"),
    (
        "movement",
        "Where and when",
        "origin.pic destination.pic movementDate movementTime owner.pic owner.name",
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
        "declaration.fullName declaration.phone declaration.email declaration.signature declaration.accept",
    ),
];

pub(crate) const DECLARATION: &str = "declaration";

/// A page of the form.
pub(crate) struct Section {
    /// In its address.
    pub(crate) name: String,
    pub(crate) title: String,
    /// The paths of the fields of the input.
    pub(crate) paths: Vec<&'static str>,
    /// The questions.
    pub(crate) items: Vec<Item>,
    /// The stored value of each field, by name. A row counts as a field without a value.
    pub(crate) values: BTreeMap<String, String>,
    /// The names of its questions, including the sections with rows.
    places: HashSet<String>,
}

/// All pages in order. Each section with rows is a page; the other questions are grouped by heading.
pub(crate) fn sections(form: &Form) -> Vec<Section> {
    let input = json!(form.save().input());
    let mut pages = FIELD_PAGES
        .iter()
        .map(|page| Section::of_fields(page, &input));
    let mut all: Vec<Section> = pages.by_ref().take(FIELD_PAGES.len() - 1).collect();
    let mut heading = ("q".to_owned(), "Questions".to_owned());
    for item in form.items() {
        if item.kind == ItemKind::Rows {
            let title = item.text.clone();
            all.push(Section::of_questions(page_name(&item), title, vec![item]));
        } else if item.kind == ItemKind::Display && item.children.is_empty() {
            heading = (page_name(&item), item.text);
        } else if let Some(page) = all.iter_mut().find(|page| page.name == heading.0) {
            page.items.push(item);
        } else {
            let (name, title) = heading.clone();
            all.push(Section::of_questions(name, title, vec![item]));
        }
    }
    all.extend(pages);
    for section in &mut all {
        section.read_values();
    }
    all
}

/// The name of a page after its heading or its rows.
fn page_name(item: &Item) -> String {
    format!("q{}", item.question.id)
}

impl Section {
    fn of_fields(
        (name, title, paths): &(&'static str, &'static str, &'static str),
        input: &Value,
    ) -> Self {
        let mut section = Self::of_questions((*name).to_owned(), (*title).to_owned(), Vec::new());
        section.paths = paths.split_whitespace().collect();
        for path in &section.paths {
            let value = value_at(input, path);
            section.values.insert(format!("f.{path}"), value);
        }
        section
    }

    fn of_questions(name: String, title: String, items: Vec<Item>) -> Self {
        Self {
            name,
            title,
            paths: Vec::new(),
            items,
            values: BTreeMap::new(),
            places: HashSet::new(),
        }
    }

    fn read_values(&mut self) {
        let mut values = BTreeMap::new();
        for item in self.questions() {
            for row in &item.rows {
                values.insert(format!("row.{}", row_name(item, row.index)), String::new());
            }
            if !matches!(item.kind, ItemKind::Rows | ItemKind::Display) {
                values.insert(name(&item.question), item.value.clone().unwrap_or_default());
            }
        }
        self.places = self.questions().map(|item| name(&item.question)).collect();
        self.values.extend(values);
    }

    pub(crate) fn questions(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().flat_map(Item::descendants)
    }

    pub(crate) fn is_filled(&self) -> bool {
        let mut values = self.values.iter();
        values.any(|(name, value)| name.starts_with("row.") || !value.is_empty())
    }

    /// The version of the page, a hash of its values.
    pub(crate) fn version(&self) -> String {
        version(&self.values)
    }

    /// Whether a finding at `place` belongs to this page.
    pub(crate) fn has(&self, place: &str) -> bool {
        let field = place.strip_prefix("add.").unwrap_or(place);
        self.values.contains_key(field) || self.places.contains(field)
    }

    /// The form with the posted fields of this page, and the posted values whose row or question is gone. All answers change in one
    /// step.
    pub(crate) fn apply(
        &self,
        form: &Form,
        questions: &Questionnaire,
        posted: &Fields,
    ) -> Result<(Form, Vec<String>), EditError> {
        let mut fields: HashMap<&str, &str> = posted.iter().collect();
        let mut given: HashMap<(String, Option<i64>), String> = HashMap::new();
        for item in self.questions().filter(|item| !item.read_only) {
            let field = name(&item.question);
            if !self.values.contains_key(&field) {
                continue;
            }
            let Some(text) = fields.remove(field.as_str()) else {
                continue;
            };
            let value = if item.choices.is_empty() {
                item.kind.from_typed(text)
            } else {
                text.trim().to_owned()
            };
            given.insert((item.question.id.to_string(), item.question.row), value);
        }
        let mut input = form.save().into_input();
        put_answers(&mut input, given);
        let mut form = questions.adopt(form, input);
        for path in &self.paths {
            let field = format!("f.{path}");
            let Some(text) = fields.remove(field.as_str()) else {
                continue;
            };
            let value = typed(path, text);
            if shown(&value) != self.values[&field] {
                form.field(path, value)?;
            }
        }
        let left = fields.into_iter().filter(|(name, text)| {
            (name.starts_with("q.") || name.starts_with("f.")) && !text.trim().is_empty()
        });
        Ok((form, left.map(|(_, text)| text.to_owned()).collect()))
    }
}

/// Replaces answers; an empty value removes one.
fn put_answers(input: &mut ConsignmentInput, given: HashMap<(String, Option<i64>), String>) {
    let mut answers: Vec<AnswerInput> = input.answers().to_vec();
    answers.retain(|answer| {
        let id = answer.question_id.value().map(ToString::to_string);
        let row = answer.index.value().copied();
        !given.contains_key(&(id.unwrap_or_default(), row))
    });
    for ((id, row), value) in given {
        let answer = AnswerInput::new(id, value.as_str());
        if !value.is_empty() {
            answers.push(match row {
                Some(row) => answer.row(row),
                None => answer,
            });
        }
    }
    // Equal answers must be equal JSON, because the outbox compares the text.
    answers.sort_by_key(|answer| {
        let id = answer.question_id.value().map(ToString::to_string);
        (answer.index.value().copied(), id)
    });
    input.answers = Maybe::Value(answers);
}

/// The JSON value of a field of the input; null for an empty text.
fn typed(path: &str, text: &str) -> Value {
    let text = text.trim();
    if text.is_empty() {
        return if path == "forms" {
            json!([])
        } else {
            Value::Null
        };
    }
    match path.rsplit('.').next().unwrap_or_default() {
        "forms" => json!(text.split(',').collect::<Vec<_>>()),
        "accept" => json!(text == "true"),
        "pic" => Pic::from_typed(text).map_or(json!(text), |pic| json!(pic)),
        "movementDate" => json!(ItemKind::Date.from_typed(text)),
        "movementTime" => json!(ItemKind::Time.from_typed(text)),
        _ => json!(text),
    }
}

/// A field of an input as text.
fn value_at(input: &Value, path: &str) -> String {
    let value = input.pointer(&format!("/{}", path.replace('.', "/")));
    value.map(shown).unwrap_or_default()
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "true".to_owned(),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(","),
        _ => String::new(),
    }
}

/// A short hash of a content.
pub(crate) fn version(content: &impl serde::Serialize) -> String {
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

/// Removes the signature, because the user has signed another text.
pub(crate) fn unsigned(form: &Form) -> Result<Form, EditError> {
    let mut form = form.clone();
    for path in ["accept", "signature", "date"] {
        form.field(&format!("declaration.{path}"), Value::Null)?;
    }
    Ok(form)
}

/// A declaration that is accepted is signed today.
pub(crate) fn date_signature(form: &mut Form, today: Day) -> Result<(), EditError> {
    let is_signed = is_signed(form.save().input());
    let date = is_signed.then(|| format!("{today}T00:00:00"));
    form.field("declaration.date", date)?;
    Ok(())
}

pub(crate) fn is_signed(input: &ConsignmentInput) -> bool {
    let declaration = input.declaration.value();
    declaration.is_some_and(|it| it.accept.value() == Some(&true))
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
    if let Some(declaration) = next.declaration.value_mut() {
        declaration.accept = Maybe::Absent;
        declaration.signature = Maybe::Absent;
        declaration.date = Maybe::Absent;
    }
    let answers = input.answers().iter().filter(|answer| {
        let id = answer.question_id.value();
        id.is_some_and(|id| TRANSPORT.contains(&id.as_str()))
    });
    next.answers = Maybe::Value(answers.cloned().collect());
    next
}
