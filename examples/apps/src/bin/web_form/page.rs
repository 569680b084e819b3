//! The pages from their templates.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::response::{IntoResponse, Response, Result};
use envd_sdk::model::{ConsignmentInput, Day, Jurisdiction, Pic, TimeZone};
use envd_sdk::validate::{
    Blocker, Finding, Form, Item, ItemKind, Report, Rule, Sentences, compare,
};
use envd_sync::outbox::{Declaration, DeclarationState, Wanted};
use minijinja::{Value, context};
use serde::Serialize;

use super::app::{App, is_submitted};
use super::document::{DECLARER, Document, MOVE, PARTIES, PARTY, hash, name};
use super::form_title::title;
use super::server::pages::{Pages, day};

static PAGES: Pages = Pages::new(&[
    ("page.html", include_str!("page.html")),
    ("start.html", include_str!("start.html")),
    ("form.html", include_str!("form.html")),
    ("item.html", include_str!("item.html")),
    ("summary.html", include_str!("summary.html")),
    ("answer.html", include_str!("answer.html")),
]);

/// The sentences of this page: with the value in quotes, and days as Australians write them.
static SENTENCES: LazyLock<Sentences> = LazyLock::new(|| {
    let texts = include_str!("sentences.txt").lines();
    texts.filter_map(|line| line.split_once(": ")).collect()
});

/// The question that counts the animals of a row, in public lists.
const HEAD: &str = "3";

/// The longest answer.
const LONGEST: usize = 1_000;

/// A remark about a field.
#[derive(Serialize)]
pub(crate) struct Remark {
    place: String,
    sentence: String,
    pub(crate) kind: RemarkKind,
    /// A missing entry, shown only once the user has tried to submit.
    is_missing: bool,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RemarkKind {
    BlocksSaving,
    BlocksSubmitting,
    /// It is what the service refused.
    Refused,
    /// It looks odd.
    Asked,
}

/// The rows of a section as a table.
#[derive(Serialize)]
struct Table {
    /// Ids and texts.
    columns: Vec<(String, String)>,
    /// The animals of all rows.
    head: Option<u64>,
}

/// The page with all declarations.
pub(crate) async fn start(app: &App) -> Result<Response> {
    let mut lines = Vec::new();
    for (declaration, key) in app.all().await.map_err(super::failed)? {
        let form = app.form_of(&declaration.input.clone().unwrap_or_default());
        let items = form.items();
        let mut questions = items.iter().flat_map(Item::descendants);
        let written = declaration.created_at.day_in(Jurisdiction::Qld);
        let kind = match declaration.wanted {
            Wanted::Submit if is_sent(&declaration) => "sent",
            Wanted::Submit => "waiting",
            _ => "draft",
        };
        lines.push(context! {
            key, kind, is_today => written == Some(app.today), is_submitted => is_submitted(&declaration),
            head => questions.find_map(|item| table(item).head), input => declaration.input, declaration => outcome(&declaration),
        });
    }
    let shown = context!(view => "start", lines, is_cut => app.is_cut());
    Ok(PAGES.html("page.html", shown).into_response())
}

/// The page of a declaration that is submitted, or waits to be.
pub(crate) async fn receipt(app: &App, declaration: &Declaration) -> Result<Response> {
    let form = app.form_of(&declaration.input.clone().unwrap_or_default());
    let problems = declaration.findings.iter().map(Finding::from_server);
    let problems = problems.map(|found| SENTENCES.sentence(&found));
    let shown = context! {
        view => "sent", key => app.key(declaration.id).await, is_sent => is_sent(declaration),
        declaration => outcome(declaration), problems => problems.collect::<Vec<_>>(), ..answers(app, &form.to_input(), &form.items()).await
    };
    Ok(PAGES.html("page.html", shown).into_response())
}

/// The page of a document: `view` is the form or the review, and `said` what a button had no effect for.
pub(crate) async fn document(
    app: &App,
    (document, form): (&Document, &Form),
    (view, said): (&str, &str),
) -> Result<Response> {
    let kept = app
        .declaration(&document.key)
        .await
        .map_err(super::failed)?;
    let kept = kept.as_ref().map(|(kept, _)| kept);
    let (input, items) = (form.to_input(), form.items());
    let fields: BTreeMap<&str, &str> = document.fields.iter().collect();
    let questions = || items.iter().flat_map(Item::descendants);
    let names: Vec<String> = questions().map(|item| name(&item.question)).collect();
    // Fields without a control on the page.
    let is_hidden = |field: &str| match (view, field.get(..2)) {
        (_, Some("q.")) => view == "review" || !names.iter().any(|name| name == field),
        (_, Some("f.")) => view == "review",
        _ => matches!(field, "row" | "none" | "checked"),
    };
    let hidden = document.fields.iter().filter(|(field, _)| is_hidden(field));
    let mut remarks = remarks(document, form, &items);
    remarks.retain(|it| said != "unsaved" || it.kind == RemarkKind::BlocksSaving);
    remarks.extend(
        kept.into_iter()
            .flat_map(|kept| refused(form, (&input, &items), kept)),
    );
    let rows = questions().filter(|item| item.kind == ItemKind::Rows);
    let next_rows = rows.map(|item| (name(&item.question), next_row(document, item)));
    let forms = app.bank.forms().iter();
    let forms = forms.filter(|form| form.closed_from().is_none() || input.forms.contains(form));
    let removed = document
        .rows()
        .into_iter()
        .filter(|(_, is_there)| !is_there);
    let values = context! {
        view, said, key => document.key, version => document.version() + 1, hash => hash(&input),
        is_checked => said == "stopped" || fields.contains_key("checked"), hidden => hidden.collect::<Vec<_>>(), fields, remarks,
        next_rows => next_rows.collect::<BTreeMap<_, _>>(), removed => removed.map(|(row, _)| row).collect::<Vec<_>>(),
        forms => forms.map(|form| (form, form.species(), title(form))).collect::<Vec<_>>(),
        declaration => kept.map(outcome), is_changed => kept.is_some_and(|kept| kept.input.as_ref() != Some(&input)),
        ..answers(app, &input, &items).await
    };
    Ok(PAGES.html("page.html", values).into_response())
}

/// The answers of a form for reading, with the properties of its parties.
async fn answers(app: &App, input: &ConsignmentInput, items: &[Item]) -> Value {
    let document = Document::of(String::new(), input);
    let read: BTreeMap<&str, &str> = document.fields.iter().collect();
    let mut properties = BTreeMap::new();
    for party in PARTIES {
        let field = format!("f.{party}.pic");
        let pic = read.get(&*field).and_then(|text| Pic::from_typed(text));
        if let Some(pic) = pic
            && let Some(sentence) = app.property(pic).await
        {
            properties.insert(field, sentence);
        }
    }
    for field in ["f.movementDate", "f.declaration.date"] {
        if let Some(text) = read
            .get(field)
            .filter(|text| Day::from_typed(text).is_some())
        {
            properties.insert(field.to_owned(), (*text).to_owned());
        }
    }
    let questions = items.iter().flat_map(Item::descendants);
    let tables = questions.map(|item| (name(&item.question), table(item)));
    context! {
        is_cut => app.is_cut(), read, properties, tables => tables.collect::<BTreeMap<_, _>>(),
        chosen => input.forms.iter().map(|form| Some(title(form)).filter(|it| !it.is_empty()).unwrap_or(form.as_str())).collect::<Vec<_>>(),
        parties => PARTIES.map(|party| (party, input_fields(PARTY, &format!("{party}.")))),
        movement => input_fields(MOVE, ""), declarer => input_fields(DECLARER, ""), input, items,
    }
}

fn is_sent(declaration: &Declaration) -> bool {
    is_submitted(declaration) && declaration.state == DeclarationState::Confirmed
}

fn outcome(declaration: &Declaration) -> Value {
    let applied = declaration
        .history
        .iter()
        .rfind(|event| event.event == "applied");
    let at = applied
        .map_or(&declaration.created_at, |event| &event.at)
        .to_time();
    let at = at.map_or(String::new(), |at| {
        TimeZone::from(Jurisdiction::Qld).date_time(at)
    });
    context! {
        id => declaration.id, state => declaration.state, wanted => declaration.wanted, number => declaration.number,
        sentence => declaration.sentence(), when => format!("{}, {}", day(&at), at.get(11..16).unwrap_or_default()),
    }
}

/// The remarks about a document: obstacles, and entries that look odd. A declaration needs animals and the vendor's declaration
/// before it can be submitted.
pub(crate) fn remarks(document: &Document, form: &Form, items: &[Item]) -> Vec<Remark> {
    let count = |name: &str| {
        document
            .fields
            .get(name)
            .unwrap_or_default()
            .chars()
            .count()
    };
    let remark = |place: String, sentence: String| Remark {
        place,
        sentence,
        kind: RemarkKind::BlocksSubmitting,
        is_missing: false,
    };
    let names = document.fields.iter().map(|(name, _)| name);
    let long = names.filter(|name| name.starts_with("q.") && count(name) > LONGEST);
    let mut all: Vec<Remark> = Vec::new();
    for name in long {
        let sentence = format!(
            "The text has {} characters. Use at most {LONGEST}.",
            count(name)
        );
        all.push(Remark {
            kind: RemarkKind::BlocksSaving,
            ..remark(name.to_owned(), sentence)
        });
    }
    let advice = form.report().advice();
    let animals = advice.iter().find(|found| found.rule == Rule::RowsPresent);
    let animals = animals.and_then(|found| found.question.as_ref());
    let mut is_said = false;
    for blocker in form.blockers() {
        let mut found = match &blocker {
            Blocker::Finding(found) => {
                let place = place(found);
                let mut sentence = sentence(items, found);
                if found.rule == Rule::MaxLength {
                    sentence = format!("{sentence} It has {}.", count(&place));
                }
                let is_missing = matches!(found.rule, Rule::Required | Rule::PicPresent);
                Remark {
                    is_missing,
                    ..remark(place, sentence)
                }
            }
            Blocker::NoRow { section, .. } if animals == Some(section) => continue,
            Blocker::NoRow { section, text } => {
                let sentence =
                    format!("{text}: add a row, or choose \u{201c}There is none\u{201d}.");
                remark(format!("add.{}", name(section)), sentence)
            }
            Blocker::EmptyRow { section, row, .. } => {
                is_said |= animals == Some(section);
                let row = name(&(section.id.clone(), *row).into());
                remark(format!("row.{row}"), blocker.to_string())
            }
            other => remark(String::new(), other.to_string()),
        };
        if blocker.blocks_creating() {
            found.kind = RemarkKind::BlocksSaving;
        }
        all.push(found);
    }
    for found in advice {
        let is_zero = found
            .value
            .as_deref()
            .is_some_and(|value| value.bytes().all(|it| it == b'0'));
        let mut asked = remark(place(found), sentence(items, found));
        asked.is_missing = matches!(found.rule, Rule::DeclarationAccepted | Rule::RowsPresent);
        let blocks = asked.is_missing || found.rule == Rule::HeadCount && is_zero;
        if !blocks {
            asked.kind = RemarkKind::Asked;
        }
        if found.rule == Rule::RowsPresent {
            asked.place = format!("field.{}", asked.place);
        }
        if found.rule != Rule::RowsPresent || !is_said {
            all.push(asked);
        }
    }
    all
}

/// The findings that only the service has, for fields that have not changed since they were sent.
fn refused(
    form: &Form,
    (input, items): (&ConsignmentInput, &[Item]),
    kept: &Declaration,
) -> Vec<Remark> {
    let (DeclarationState::Refused, Some(sent)) = (kept.state, &kept.input) else {
        return Vec::new();
    };
    let [sent, now] = [sent, input].map(|it| Document::of(String::new(), it));
    let service = Report::from_server_errors(&kept.findings);
    let found = compare(form.report(), &service).only_server.into_iter();
    let found = found.map(|found| Remark {
        place: place(&found),
        sentence: sentence(items, &found),
        kind: RemarkKind::Refused,
        is_missing: false,
    });
    let value = |document: &Document, place: &str| document.fields.get(place).map(str::to_owned);
    found
        .filter(|it| value(&now, &it.place) == value(&sent, &it.place))
        .collect()
}

/// The correction that a finding asks for: for its field, and for the list.
fn sentence(items: &[Item], finding: &Finding) -> String {
    if finding.rule != Rule::Required {
        return SENTENCES.sentence(finding);
    }
    let mut questions = items.iter().flat_map(Item::descendants);
    let item = questions.find(|item| finding.question.as_ref() == Some(&item.question));
    let what = match item.map_or(&[][..], |item| &item.choices) {
        [] => "enter an answer".to_owned(),
        [one, other] => format!("choose {} or {}", one.name, other.name),
        _ => "choose one".to_owned(),
    };
    format!("{}: {what}.", SENTENCES.label(finding))
}

/// The name of the field that a finding is about.
fn place(finding: &Finding) -> String {
    let mut path = finding.input_path();
    // An element of a list is shown at the list's field.
    path.retain(|name| name.parse::<u64>().is_err());
    let field = format!("f.{}", path.join("."));
    finding.question.as_ref().map_or(field, name)
}

/// Fields outside the questions.
fn input_fields(paths: &str, party: &str) -> Vec<Value> {
    let paths = paths.split(' ');
    paths
        .map(|path| input_field(&format!("{party}{path}")))
        .collect()
}

/// A field outside the questions, in the format of an item.
fn input_field(path: &str) -> Value {
    let parts: Vec<&str> = path.split('.').collect();
    let kind = match parts.last().copied().unwrap_or_default() {
        "movementDate" => "date",
        "movementTime" => "time",
        last => last,
    };
    let states = Jurisdiction::KNOWN.iter().filter(|_| kind == "state");
    let states = states.map(|state| context!(value => state.as_str(), name => state.as_str()));
    context! {
        name => format!("f.{path}"), text => SENTENCES.field_label(&parts), kind, choices => states.collect::<Vec<_>>(),
        required => matches!(path, "origin.pic" | "destination.pic" | "movementDate" | "movementTime"),
    }
}

/// The next row to add to a section. The number of a removed row is not used again.
fn next_row(document: &Document, section: &Item) -> String {
    let id = section.question.id.as_str();
    let known = document
        .rows()
        .into_keys()
        .filter_map(|row| row.strip_prefix(id)?.strip_prefix('.')?.parse().ok());
    let last: Option<i64> = section
        .rows
        .iter()
        .filter_map(|row| row.index)
        .chain(known)
        .max();
    let row = section
        .question
        .row
        .unwrap_or(last.map_or(0, |last| last.saturating_add(1)));
    format!("{id}.{row}")
}

fn table(section: &Item) -> Table {
    let mut columns: Vec<(String, String)> = Vec::new();
    let items = || section.rows.iter().flat_map(|row| &row.items);
    for item in items().filter(|item| item.kind != ItemKind::Display) {
        let column = (item.question.id.to_string(), item.text.clone());
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    let mut counts = items().filter(|item| item.question.id == HEAD).peekable();
    let counted = counts.peek().is_some();
    let count = |item: &Item| item.value.as_ref()?.parse::<u64>().ok();
    let head = counts.filter_map(count).fold(0, u64::saturating_add);
    Table {
        columns,
        head: counted.then_some(head),
    }
}
