//! The page, from its template.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use envd_sdk::model::{Program, QuestionId};
use envd_sdk::validate::{Blocker, Finding, Rule};
use minijinja::{Environment, UndefinedBehavior, Value, context};

use super::{App, Declaration, Failure};

/// The name of the field that a finding is about.
pub(crate) fn place(finding: &Finding) -> String {
    let path = finding.input_path();
    // Of a list the field as a whole.
    let path = path.iter().take_while(|name| name.parse::<u64>().is_err());
    let path: Vec<&str> = path.map(String::as_str).collect();
    let question = finding.question.as_ref();
    question.map_or(format!("f.{}", path.join(".")), |question| {
        name(&question.id, question.row)
    })
}

fn name(id: &QuestionId, row: Option<i64>) -> String {
    let row = row.map_or(String::new(), |row| row.to_string());
    format!("q.{id}.{row}")
}

/// The whole page. The names of the templates end in .html, so what they show is escaped.
pub(crate) async fn render(app: &App, shown: &Declaration) -> Result<String, Failure> {
    let mut pages = Environment::new();
    pages.set_undefined_behavior(UndefinedBehavior::Strict);
    pages.add_template("item.html", include_str!("item.html"))?;
    pages.add_template("page.html", include_str!("page.html"))?;
    let forms = app.bank.forms().iter();
    let forms = forms.filter(|form| form.closed_from().is_none());
    let forms = forms.map(|form| {
        let program = form.program().map(Program::as_str);
        context!(id => form, species => form.species(), program)
    });
    let entries = shown.entries(&app.outbox).await?;
    let entries = entries.iter().map(|entry| {
        let reason = entry.reason.map(|reason| reason.to_string());
        context!(state => entry.state, code => entry.reason, reason, number => entry.number)
    });
    let page = context! {
        token => app.token,
        forms => forms.collect::<Vec<Value>>(),
        input => shown.form.to_input(),
        items => shown.form.items(),
        progress => shown.form.progress(),
        blockers => shown.form.blockers().iter().map(blocker).collect::<Vec<Value>>(),
        notes => notes(shown),
        is_stopped => shown.is_stopped,
        is_cut => app.is_cut.load(Ordering::Relaxed),
        entries => entries.collect::<Vec<Value>>(),
    };
    Ok(pages.get_template("page.html")?.render(page)?)
}

/// What is wrong, by field. What is missing is shown once it was to be sent.
fn notes(shown: &Declaration) -> BTreeMap<String, Vec<String>> {
    let findings = shown.form.report().findings().iter();
    let missing = [Rule::Required, Rule::PicPresent];
    let findings = findings.filter(|found| shown.is_stopped || !missing.contains(&found.rule));
    let found = findings.map(|finding| (place(finding), finding.sentence()));
    let mut notes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (field, text) in found.chain(shown.remarks.iter().cloned()) {
        notes.entry(field).or_default().push(text);
    }
    notes
}

/// A blocker in words, and the element that it is about.
fn blocker(blocker: &Blocker) -> Value {
    let place = match blocker {
        Blocker::Finding(finding) => place(finding),
        Blocker::NoRow { section, .. } => format!("add.{}", name(&section.id, section.row)),
        Blocker::EmptyRow { section, row, .. } => format!("row.{}", name(&section.id, *row)),
        _ => String::new(),
    };
    context!(place, text => blocker.to_string())
}
