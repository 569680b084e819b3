//! The page from its template, and the names of its fields: `q.4.0` is question 4 in row 0, `f.origin.pic` a field of the input.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::Html;
use envd_sdk::model::{ConsignmentInput, Pic};
use envd_sdk::validate::{Blocker, EditError, Finding, QuestionRef, Report, Rule, compare};
use envd_sync::outbox::DeclarationState;
use minijinja::context;
use serde_json::Value;

use super::app::{App, Step};
use super::form_title::title;
use super::server::pages::Pages;

static PAGES: Pages = Pages::new(&[
    ("page.html", include_str!("page.html")),
    ("form.html", include_str!("form.html")),
    ("item.html", include_str!("item.html")),
    ("summary.html", include_str!("summary.html")),
    ("answer.html", include_str!("answer.html")),
]);

pub(crate) const PARTIES: [&str; 4] = ["origin", "destination", "owner", "consignee"];

pub(crate) fn render(app: &App) -> Result<Html<String>, StatusCode> {
    let forms = app.bank.forms().iter();
    let forms = forms.filter(|form| form.closed_from().is_none());
    let forms = forms.map(|form| (form, form.species(), title(form)));
    let blockers = app.form.blockers().into_iter();
    let blockers = blockers.map(|found| (element(&found), in_words(&found)));
    let advice = app.form.report().advice().iter();
    let advice = advice.map(|found| (place(found), found.sentence()));
    let declaration = app.declaration.as_ref().map(|it| {
        context!(state => it.state, reason => it.reason, sentence => it.sentence(), number => it.number)
    });
    let values = context! {
        token => app.token,
        forms => forms.collect::<Vec<_>>(),
        input => app.form.to_input(),
        items => app.form.items(),
        properties => properties(app),
        blockers => blockers.collect::<Vec<_>>(),
        advice => advice.collect::<Vec<_>>(),
        notes => notes(app),
        checks => checks(app),
        today => app.today,
        view => if app.is_submitted() { "done" } else if app.step == Step::Review { "review" } else { "form" },
        is_stopped => app.step == Step::Stopped,
        has_removed => app.has_removed,
        is_cut => app.is_cut,
        submits => app.submits(),
        is_changed => app.is_changed(),
        declaration,
    };
    PAGES.html("page.html", values)
}

/// The register's name for each PIC on the page, by its field.
fn properties(app: &App) -> BTreeMap<String, String> {
    let input = app.form.to_input();
    let fields = PARTIES.map(|party| format!("{party}.pic"));
    let named = fields.into_iter().filter_map(|field| {
        let pic = Pic::parse(&text_at(&input, &field)).ok()?;
        let Some(property) = app.properties.get(&pic)? else {
            return Some((
                field,
                "This PIC is not in the register. Check it.".to_owned(),
            ));
        };
        let parts = [&property.name, &property.town, &property.registered_state];
        let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        Some((field, parts.join(", ")))
    });
    named.collect()
}

/// What is wrong, by field. What is missing is shown once it was to be sent.
fn notes(app: &App) -> BTreeMap<String, Vec<(String, String)>> {
    let report = app.form.report();
    let is_missing = |rule| matches!(rule, Rule::Required | Rule::PicPresent);
    let mut found = report.findings().to_vec();
    found.retain(|found| app.step == Step::Stopped || !is_missing(found.rule));
    let input = app.form.to_input();
    let declaration = app.declaration.as_ref();
    if let Some(refused) = declaration.filter(|it| it.state == DeclarationState::Refused) {
        // What the service refuses beyond that, as long as the field is as it was sent.
        let service = Report::from_server_errors(&refused.findings);
        let mut service = compare(report, &service).only_server;
        service.retain(|found| value_of(&input, found) == value_of(&app.sent, found));
        found.extend(service);
    }
    by_field(found.iter().map(|found| &**found))
}

/// What looks odd in what is entered, by field.
fn checks(app: &App) -> BTreeMap<String, Vec<(String, String)>> {
    let is_missing = |rule| matches!(rule, Rule::DeclarationAccepted | Rule::RowsPresent);
    let advice = app.form.report().advice().iter().map(|found| &**found);
    by_field(advice.filter(|found| !is_missing(found.rule)))
}

/// The names of rules and their sentences, by field.
fn by_field<'a>(
    found: impl Iterator<Item = &'a Finding>,
) -> BTreeMap<String, Vec<(String, String)>> {
    let mut notes = BTreeMap::<_, Vec<_>>::new();
    for found in found {
        let here = notes.entry(place(found)).or_default();
        here.push((format!("{:?}", found.rule), sentence(found)));
    }
    notes
}

/// What to do about a finding. A browser posts no day that does not exist, so the sentence has none to show.
fn sentence(finding: &Finding) -> String {
    if finding.rule == Rule::Date && place(finding) == "f.movementDate" {
        return "Enter a day of the move that exists.".to_owned();
    }
    finding.sentence()
}

fn in_words(blocker: &Blocker) -> String {
    match blocker {
        Blocker::Finding(finding) => sentence(finding),
        Blocker::NoRow { text, .. } => format!("{text}: add a line, or choose “There is none”."),
        other => other.to_string(),
    }
}

/// A text of the input by its path.
pub(crate) fn text_at(input: &ConsignmentInput, path: &str) -> String {
    let json = serde_json::to_value(input).unwrap_or_default();
    let value = json.pointer(&format!("/{}", path.replace('.', "/")));
    value.and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What the field or the answer has that a finding is about.
fn value_of(input: &ConsignmentInput, finding: &Finding) -> String {
    let Some(question) = &finding.question else {
        return text_at(input, &finding.input_path().join("."));
    };
    let answers = input.answers.value().into_iter().flatten();
    let mut answers = answers.filter(|answer| {
        answer.question_id.value() == Some(&question.id)
            && answer.index.value().copied() == question.row
    });
    answers
        .next()
        .map(|answer| format!("{:?}", answer.value))
        .unwrap_or_default()
}

/// The name of the field that a finding is about.
fn place(finding: &Finding) -> String {
    let mut path = finding.input_path();
    // Of a list the field as a whole.
    path.retain(|name| name.parse::<u64>().is_err());
    let field = format!("f.{}", path.join("."));
    let question = finding.question.as_ref();
    question.map_or(field, |question| name(question, question.row))
}

/// The element that a blocker is about.
fn element(blocker: &Blocker) -> String {
    match blocker {
        Blocker::Finding(finding) => place(finding),
        Blocker::NoRow { section, .. } => format!("add.{}", name(section, section.row)),
        Blocker::EmptyRow { section, row, .. } => format!("row.{}", name(section, *row)),
        _ => String::new(),
    }
}

fn name(question: &QuestionRef, row: Option<i64>) -> String {
    let row = row.map_or(String::new(), |row| row.to_string());
    format!("q.{}.{row}", question.id)
}

/// The question of a name without its `q.`.
pub(crate) fn question(name: &str) -> Result<QuestionRef, EditError> {
    let unknown = || EditError::UnknownQuestion(name.into());
    let (id, row) = name.rsplit_once('.').ok_or_else(unknown)?;
    let mut question = QuestionRef::from(id);
    if !row.is_empty() {
        question.row = Some(row.parse().map_err(|_| unknown())?);
    }
    Ok(question)
}
