//! The pages from their templates.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use envd_sdk::model::{ConsignmentInput, FormType, Jurisdiction, Pic, TimeZone, Timestamp};
use envd_sdk::validate::{Finding, ItemKind};
use envd_sync::outbox::{Decision, Declaration, DeclarationState, Wanted};
use minijinja::{Value, context};

use super::cli::chain;
use super::declarations::{Declarations, Open, is_final};
use super::form_title::title;
use super::remarks::{Remark, SENTENCES, remarks, words};
use super::section::{Section, name, sections};
use super::server::pages::{Pages, day};
use super::server::random_id;
use super::session::Session;

static PAGES: Pages = Pages::new(&[
    ("base.html", include_str!("pages/base.html")),
    ("list.html", include_str!("pages/list.html")),
    ("tasks.html", include_str!("pages/tasks.html")),
    ("section.html", include_str!("pages/section.html")),
    ("field.html", include_str!("pages/field.html")),
    ("check.html", include_str!("pages/check.html")),
    ("receipt.html", include_str!("pages/receipt.html")),
    ("answers.html", include_str!("pages/answers.html")),
    ("answer.html", include_str!("pages/answer.html")),
    ("outcome.html", include_str!("pages/outcome.html")),
    ("message.html", include_str!("pages/message.html")),
]);

/// The question that counts the animals of a row, in public lists.
const HEAD: &str = "3";

/// An error reply: a status, and a sentence for the user.
pub(crate) struct Problem(pub(crate) StatusCode, pub(crate) String);

impl Problem {
    /// For requests that no page of this program sends.
    pub(crate) fn request(sentence: &str) -> Self {
        Self(StatusCode::BAD_REQUEST, sentence.to_owned())
    }
}

impl<E: std::error::Error> From<E> for Problem {
    fn from(error: E) -> Self {
        Self(StatusCode::INTERNAL_SERVER_ERROR, chain(&error))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(status, sentence) = self;
        (status, page("message.html", context!(sentence))).into_response()
    }
}

fn page(name: &str, values: Value) -> Result<Html<String>, StatusCode> {
    let session = Session::now();
    PAGES.html(
        name,
        context! { base => Value::from_safe_string(session.base.clone()), token => session.token, ..values },
    )
}

/// Lists the drafts and the declarations of the outbox.
pub(crate) async fn list(app: &Declarations, number: &str) -> Result<Response, Problem> {
    const MOST: usize = 50;
    let declarations = app.latest(number, MOST).await?;
    let mut drafts = Vec::new();
    for draft in app.drafts().await? {
        if number.is_empty() {
            let input = draft.form().input();
            drafts.push(
                context! { id => draft.name(), saved => when(draft.saved_at()), ..load(input) },
            );
        }
    }
    let is_full = declarations.len() == MOST;
    let declarations = declarations.into_iter().map(|declaration| {
        let input = declaration.input.clone().unwrap_or_default();
        context! { written => when(&declaration.created_at), ..context! { ..outcome(&declaration), ..load(&input) } }
    });
    let declarations: Vec<Value> = declarations.collect();
    let new_id = random_id()?;
    Ok(page(
        "list.html",
        context! { drafts, declarations, is_full, number, new_id },
    )
    .into_response())
}

/// The columns of a list: head, PICs and day.
fn load(input: &ConsignmentInput) -> Value {
    let heads = input.answers().iter().filter(|answer| {
        let id = answer.question_id.value();
        id.is_some_and(|id| *id == HEAD)
    });
    let counts = heads.filter_map(|answer| answer.value.value()?.parse::<u64>().ok());
    let head = counts.fold(0, u64::saturating_add);
    context! {
        head, from => input.origin.pic.value(), to => input.destination.pic.value(),
        date => input.movement_date.value().map(|date| day(date)),
    }
}

/// The state of a declaration in the outbox, with the possible decisions as buttons.
fn outcome(declaration: &Declaration) -> Value {
    let is_confirmed = declaration.state == DeclarationState::Confirmed;
    let kind = match (declaration.state, declaration.wanted) {
        (DeclarationState::Confirmed, Wanted::Submit) => "Submitted",
        (DeclarationState::Confirmed, _) => "Draft",
        (DeclarationState::Refused, _) => "Refused",
        (DeclarationState::NeedsAttention, _) => "Asked",
        (DeclarationState::Discarded, _) => "Discarded",
        _ => "Waiting",
    };
    let decisions = declaration
        .decisions()
        .into_iter()
        .filter(|_| !is_confirmed);
    let decisions = decisions.map(|decision| {
        let value = match &decision {
            Decision::Adopt(id) => format!("adopt {id}"),
            other => other.to_string(),
        };
        context! { value, consequence => declaration.consequence(&decision) }
    });
    let problems = declaration.findings.iter().map(Finding::from_server);
    let problems = problems.map(|found| words(&found));
    context! {
        id => declaration.key, kind, number => declaration.number, sentence => declaration.sentence(),
        can_change => !is_final(declaration),
        is_waiting => kind == "Waiting", has_record => declaration.consignment.is_some(),
        decisions => decisions.collect::<Vec<_>>(), problems => problems.collect::<Vec<_>>(),
    }
}

/// The task list: the pages of a draft, and whether they are complete.
pub(crate) async fn tasks(app: &Declarations, id: &str, open: &Open) -> Result<Response, Problem> {
    let sent = app.sent(id).await?;
    let remarks = remarks(&open.form, sent.as_ref());
    let blocking: Vec<&Remark> = remarks.iter().filter(|remark| remark.blocks).collect();
    let sections = sections(&open.form);
    let tasks = sections.iter().map(|section| {
        let is_blocked = blocking.iter().any(|remark| section.has(&remark.place));
        let state = match (is_blocked, section.is_filled()) {
            (true, true) => "Incomplete",
            (true, false) => "To do",
            (false, true) => "Complete",
            (false, false) => "Optional",
        };
        context! { name => section.name, title => section.title, state }
    });
    let values = context! {
        id, tasks => tasks.collect::<Vec<_>>(), left => blocking.len(), saved => when(open.draft.saved_at()),
        outcome => sent.as_ref().map(outcome), ..load(open.draft.form().input())
    };
    Ok(page("tasks.html", values).into_response())
}

/// How to show a page of the form.
#[derive(Default)]
pub(crate) struct Shown<'a> {
    /// The page was sent, so it shows errors.
    pub(crate) is_checked: bool,
    /// Questions that the last answers led to.
    pub(crate) new: Vec<&'a str>,
    /// The user came from the page of all answers.
    pub(crate) is_change: bool,
    /// After a conflict: the posted values by field, and the posted values whose field is gone.
    pub(crate) typed: Option<(&'a BTreeMap<String, String>, &'a [String])>,
}

pub(crate) async fn section(
    app: &Declarations,
    id: &str,
    open: &Open,
    section: &Section,
    shown: Shown<'_>,
) -> Result<Response, Problem> {
    let sent = app.sent(id).await?;
    let mut remarks = remarks(&open.form, sent.as_ref());
    remarks.retain(|remark| {
        let is_new = shown.new.iter().any(|new| remark.place.ends_with(new));
        shown.is_checked && section.has(&remark.place) && !is_new
    });
    let mut by_place: BTreeMap<&str, Vec<&Remark>> = BTreeMap::new();
    for remark in &remarks {
        by_place.entry(&remark.place).or_default().push(remark);
    }
    let (is_stale, lost) = shown
        .typed
        .map_or((false, &[][..]), |(_, lost)| (true, lost));
    let kinds = kinds(section);
    let mut values: BTreeMap<&str, String> = BTreeMap::new();
    let mut theirs: BTreeMap<&str, String> = BTreeMap::new();
    for (name, stored) in &section.values {
        let stored = readable(&kinds, name, stored);
        let mine = shown.typed.and_then(|(typed, _)| typed.get(name));
        if let Some(mine) = mine.filter(|mine| **mine != stored) {
            theirs.insert(name, stored);
            values.insert(name, mine.clone());
        } else {
            values.insert(name, stored);
        }
    }
    let fields = section.paths.iter().map(|path| input_field(path));
    let answer = context! {
        id, name => section.name, title => section.title, items => section.items, fields => fields.collect::<Vec<_>>(), values, theirs,
        lost, is_stale, remarks, by_place, version => section.version(), new => shown.new, is_change => shown.is_change,
        saved => when(open.draft.saved_at()), properties => properties(app, section.values.iter()).await,
        forms => forms_to_choose(app, &open.draft.form().input().forms).await?,
    };
    Ok((status(is_stale), page("section.html", answer)).into_response())
}

/// The status of a page, which conflicts with what another page has stored if it is stale.
fn status(is_stale: bool) -> StatusCode {
    if is_stale {
        StatusCode::CONFLICT
    } else {
        StatusCode::OK
    }
}

/// All answers for a check before the submit. `is_stale`: they have changed since the user checked them.
pub(crate) async fn check(
    app: &Declarations,
    id: &str,
    open: &Open,
    is_stale: bool,
) -> Result<Response, Problem> {
    let sent = app.sent(id).await?;
    let remarks = remarks(&open.form, sent.as_ref());
    let sections = sections(&open.form);
    let placed = remarks.iter().map(|remark| {
        let section = sections.iter().find(|section| section.has(&remark.place));
        context! { section => section.map(|section| &section.name), ..Value::from_serialize(remark) }
    });
    let values = context! {
        id, is_stale, version => super::section::version(&open.form.to_input()), remarks => placed.collect::<Vec<_>>(),
        saved => when(open.draft.saved_at()), ..answers(app, &sections).await
    };
    Ok((status(is_stale), page("check.html", values)).into_response())
}

/// The receipt: the record of the service, and the state of the outbox.
pub(crate) async fn receipt(
    app: &Declarations,
    id: &str,
    declaration: &Declaration,
) -> Result<Response, Problem> {
    let record = app.record(declaration).await;
    let is_read = record.is_some();
    let input = record
        .or_else(|| declaration.input.clone())
        .unwrap_or_default();
    let form = app.form(&input).await?;
    let values = context! {
        id, is_read, outcome => outcome(declaration), written => when(&declaration.created_at), new_id => random_id()?,
        ..context! { ..load(&input), ..answers(app, &sections(&form)).await }
    };
    Ok(page("receipt.html", values).into_response())
}

/// The sections with their answers as text.
async fn answers(app: &Declarations, sections: &[Section]) -> Value {
    let all = sections.iter().flat_map(|section| &section.values);
    let properties = properties(app, all).await;
    let sections = sections.iter().map(|section| {
        let kinds = kinds(section);
        let values = section.values.iter();
        let values = values.map(|(name, value)| match name.as_str() {
            "f.forms" => ("f.forms", form_names(value)),
            name => (name, readable(&kinds, name, value)),
        });
        let fields = section.paths.iter().map(|path| input_field(path));
        context! {
            name => section.name, title => section.title, items => section.items, fields => fields.collect::<Vec<_>>(),
            values => values.collect::<BTreeMap<_, _>>(), is_filled => section.is_filled(),
        }
    });
    context! { sections => sections.collect::<Vec<_>>(), properties }
}

/// The kinds of the questions by the names of their fields.
fn kinds(section: &Section) -> BTreeMap<String, ItemKind> {
    let questions = section.questions();
    questions
        .map(|item| (name(&item.question), item.kind))
        .collect()
}

/// A value for display; days as Australians write them.
fn readable(kinds: &BTreeMap<String, ItemKind>, name: &str, value: &str) -> String {
    let is_date = name == "f.movementDate" || kinds.get(name) == Some(&ItemKind::Date);
    if is_date {
        day(value)
    } else {
        value.to_owned()
    }
}

/// Sentences from the register about the PICs among these fields.
async fn properties(
    app: &Declarations,
    values: impl Iterator<Item = (&String, &String)>,
) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for (name, value) in values {
        let is_pic = name.starts_with("f.") && name.rsplit('.').next() == Some("pic");
        if let Some(pic) = Pic::from_typed(value).filter(|_| is_pic) {
            let (sentence, is_warning) = app.property(pic).await;
            found.insert(name.clone(), context! { sentence, is_warning });
        }
    }
    found
}

/// The forms that are open now, and the chosen ones.
async fn forms_to_choose(app: &Declarations, chosen: &[FormType]) -> Result<Vec<Value>, Problem> {
    let bank = app.bank().await?;
    let forms = bank.forms().iter();
    let forms = forms.filter(|form| form.closed_from().is_none() || chosen.contains(form));
    Ok(forms
        .map(|form| context! { value => form, species => form.species(), name => form_name(form) })
        .collect())
}

fn form_name(form: &FormType) -> &str {
    match title(form) {
        "" => form.as_str(),
        title => title,
    }
}

fn form_names(codes: &str) -> String {
    let names = codes
        .split(',')
        .map(|code| form_name(&FormType::from(code)).to_owned());
    names.collect::<Vec<_>>().join(", ")
}

/// A field of the input in the shape of an item.
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
        required => matches!(path, "origin.pic" | "destination.pic" | "movementDate" | "movementTime" | "declaration.fullName"),
    }
}

/// A time in the zone of Queensland.
fn when(at: &Timestamp) -> String {
    let Some(at) = at.to_time() else {
        return String::new();
    };
    let text = TimeZone::from(Jurisdiction::Qld).date_time(at);
    format!("{}, {}", day(&text), text.get(11..16).unwrap_or_default())
}
