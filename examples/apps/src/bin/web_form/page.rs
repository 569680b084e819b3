//! The page from its template, and the names of its fields: `q.4.0` is question 4 in row 0, `f.origin.pic` a field of the input.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::Html;
use envd_sdk::model::Program;
use envd_sdk::sync::outbox::EntryState;
use envd_sdk::validate::{Blocker, EditError, Finding, QuestionRef, Report, Rule, compare};
use minijinja::context;

use super::app::App;
use super::server::pages::Pages;

static PAGES: Pages = Pages::new(&[
    ("page.html", include_str!("page.html")),
    ("item.html", include_str!("item.html")),
]);

pub(crate) fn render(app: &App) -> Result<Html<String>, StatusCode> {
    let forms = app.bank.forms().iter();
    let forms = forms.filter(|form| form.closed_from().is_none());
    let forms = forms.map(|form| (form, form.species(), form.program().map(Program::as_str)));
    let blockers = app.form.blockers().into_iter();
    let blockers = blockers.map(|found| (element(&found), found.to_string()));
    let entries = app.entries.iter().map(|entry| {
        let reason = entry.reason.map(|reason| reason.to_string());
        context!(state => entry.state, code => entry.reason, reason, number => entry.number)
    });
    let values = context! {
        token => app.token,
        forms => forms.collect::<Vec<_>>(),
        input => app.form.to_input(),
        items => app.form.items(),
        progress => app.form.progress(),
        blockers => blockers.collect::<Vec<_>>(),
        notes => notes(app),
        is_stopped => app.is_stopped,
        is_cut => app.is_cut,
        submits => app.submits(),
        is_changed => app.is_changed(),
        entries => entries.collect::<Vec<_>>(),
    };
    PAGES.html("page.html", values)
}

/// What is wrong, by field. What is missing is shown once it was to be sent.
fn notes(app: &App) -> BTreeMap<String, Vec<String>> {
    let report = app.form.report();
    let is_missing = |rule| matches!(rule, Rule::Required | Rule::PicPresent);
    let mut found = report.findings().to_vec();
    found.retain(|found| app.is_stopped || !is_missing(found.rule));
    for entry in &app.entries {
        // What the service refuses beyond that, as long as the field is as it was sent.
        if entry.state == EntryState::Refused {
            let service = Report::from_server_errors(&entry.findings);
            let mut service = compare(report, &service).only_server;
            service.retain(|found| app.fields.get(&place(found)) == app.sent.get(&place(found)));
            found.extend(service);
        }
    }
    let mut notes = BTreeMap::<_, Vec<String>>::new();
    for found in found {
        let here = notes.entry(place(&found)).or_default();
        here.push(found.sentence());
    }
    notes
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
