//! The pages from their templates.

use std::collections::BTreeMap;
use std::slice;

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};
use envd_sdk::model::{ConsignmentInput, Jurisdiction, Pic, TimeZone, Timestamp};
use envd_sdk::validate::Finding;
use envd_sync::outbox::{Decision, Declaration, DeclarationState, Wanted};
use minijinja::{Value, context};

use super::cli::chain;
use super::declarations::{Declarations, Open};
use super::remarks::{Remark, remarks, remarks_on, words};
use super::section::{Section, sections, version};
use super::server::fields::Fields;
use super::server::pages::{Pages, day};
use super::server::random_id;
use super::session;

static PAGES: Pages = Pages::new(&[
    ("base.html", include_str!("pages/base.html")),
    ("macros.html", include_str!("pages/macros.html")),
    ("list.html", include_str!("pages/list.html")),
    ("tasks.html", include_str!("pages/tasks.html")),
    ("section.html", include_str!("pages/section.html")),
    ("field.html", include_str!("pages/field.html")),
    ("check.html", include_str!("pages/check.html")),
    ("receipt.html", include_str!("pages/receipt.html")),
    ("answers.html", include_str!("pages/answers.html")),
    ("outcome.html", include_str!("pages/outcome.html")),
    ("message.html", include_str!("pages/message.html")),
]);

/// The question that counts the animals of a row, in public lists.
const HEAD: &str = "3";

/// The maximum number of declarations in the list.
const MOST_LISTED: usize = 50;

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
        let page = page("message.html", context!(sentence));
        (status, page.map_err(|Self(status, _)| status)).into_response()
    }
}

/// A page, unless its template is wrong.
pub(crate) type Page = Result<Html<String>, Problem>;

fn page(name: &str, values: Value) -> Page {
    let base = Value::from_safe_string(session::base());
    let values = context! { base, token => session::token(), ..values };
    let failed = "The page cannot be shown.";
    let page = PAGES.html(name, values);
    page.map_err(|status| Problem(status, failed.to_owned()))
}

/// Lists the drafts and the declarations of the outbox.
pub(crate) async fn list(app: &Declarations, number: &str) -> Page {
    let mut drafts = Vec::new();
    for draft in app.drafts().await?.iter().filter(|_| number.is_empty()) {
        let load = load(draft.form().input());
        drafts.push(context! { id => draft.name(), saved => when(draft.saved_at()), ..load });
    }
    let mut declarations = Vec::new();
    for sent in app.latest(number, MOST_LISTED).await? {
        let load = load(&sent.input.clone().unwrap_or_default());
        declarations.push(context! { ..outcome(&sent), ..load });
    }
    let is_full = declarations.len() == MOST_LISTED;
    let values = context! { drafts, declarations, is_full, number, new_id => random_id()? };
    page("list.html", values)
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
fn outcome(sent: &Declaration) -> Value {
    let kind = match (sent.state, sent.wanted) {
        (DeclarationState::Confirmed, Wanted::Submit) => "Submitted",
        (DeclarationState::Confirmed, _) => "Draft",
        (DeclarationState::Refused, _) => "Refused",
        (DeclarationState::NeedsAttention, _) => "Asked",
        (DeclarationState::Discarded, _) => "Discarded",
        _ => "Waiting",
    };
    let mut decisions = Vec::new();
    if sent.state != DeclarationState::Confirmed {
        for decision in sent.decisions() {
            let value = match &decision {
                Decision::Adopt(id) => format!("adopt {id}"),
                other => other.to_string(),
            };
            decisions.push(context! { value, consequence => sent.consequence(&decision) });
        }
    }
    let problems = sent
        .findings
        .iter()
        .map(|found| words(&Finding::from_server(found)));
    context! {
        id => sent.key, kind, number => sent.number, sentence => sent.sentence(), written => when(&sent.created_at),
        can_change => !sent.state.is_final(), has_record => sent.consignment.is_some(),
        decisions, problems => problems.collect::<Vec<_>>(),
    }
}

/// The task list: the pages of a draft, and whether they are complete.
pub(crate) async fn tasks(app: &Declarations, open: &Open) -> Page {
    let id = open.draft.name();
    let sent = app.sent(id).await?;
    let mut remarks = remarks(&open.form);
    remarks.retain(|remark| remark.blocks);
    let tasks = sections(&open.form).into_iter().map(|section| {
        let is_blocked = remarks.iter().any(|remark| section.has(&remark.place));
        let state = match (is_blocked, section.is_filled) {
            (true, true) => "Incomplete",
            (true, false) => "To do",
            (false, true) => "Complete",
            (false, false) => "Optional",
        };
        context! { name => section.name, title => section.title, state }
    });
    let values = context! {
        id, tasks => tasks.collect::<Vec<_>>(), saved => when(open.draft.saved_at()), outcome => sent.as_ref().map(outcome),
        ..load(open.draft.form().input())
    };
    page("tasks.html", values)
}

/// A page of the form. `asked` has what its address or its post says: whether the page was sent before, so that it shows errors; the
/// questions that the last answers led to; and whether the user came from the check of all answers. `typed`, after a conflict: the
/// posted values by field, and the posted values whose field is gone.
pub(crate) async fn section(
    app: &Declarations,
    open: &Open,
    section: &Section,
    asked: &Fields,
    typed: Option<(&BTreeMap<String, String>, &[String])>,
) -> Page {
    let new = asked.get("new").unwrap_or_default().split(',');
    let new: Vec<&str> = new.filter(|name| !name.is_empty()).collect();
    let mut remarks = Vec::new();
    if asked.get("checked").is_some() {
        remarks = remarks_on(section, &open.form, &new);
    }
    let mut by_place: BTreeMap<&str, Vec<&Remark>> = BTreeMap::new();
    for remark in &remarks {
        by_place.entry(&remark.place).or_default().push(remark);
    }
    let (values, lost) = typed.unwrap_or((&section.values, &[]));
    let mut open_forms = open.bank.forms().to_vec();
    open_forms.retain(|form| form.closed_from().is_none());
    page(
        "section.html",
        context! {
            id => open.draft.name(), section, values, lost, remarks, by_place, new, open_forms,
            is_stale => typed.is_some(), is_change => asked.get("change").is_some(), version => version(&section.values),
            saved => when(open.draft.saved_at()), properties => properties(app, slice::from_ref(section)).await,
        },
    )
}

/// All answers for a check before the submit. `is_stale`: they have changed since the user checked them.
pub(crate) async fn check(app: &Declarations, open: &Open, is_stale: bool) -> Page {
    let sections = sections(&open.form);
    let remarks = remarks(&open.form).into_iter().map(|remark| {
        let section = sections.iter().find(|section| section.has(&remark.place));
        context! { section => section.map(|section| &section.name), ..Value::from_serialize(&remark) }
    });
    let remarks: Vec<Value> = remarks.collect();
    page(
        "check.html",
        context! {
            id => open.draft.name(), is_stale, remarks, version => version(&open.form.to_input()), saved => when(open.draft.saved_at()),
            properties => properties(app, &sections).await, sections,
        },
    )
}

/// The receipt: the record of the service, and the state of the outbox.
pub(crate) async fn receipt(app: &Declarations, sent: &Declaration) -> Page {
    let record = app.record(sent).await;
    let is_read = record.is_some();
    let input = match record {
        Some(record) => ConsignmentInput::from(&record),
        None => sent.input.clone().unwrap_or_default(),
    };
    let sections = sections(&app.form(&input).await?);
    let values = context! {
        id => sent.key, is_read, outcome => outcome(sent), new_id => random_id()?,
        properties => properties(app, &sections).await, sections, ..load(&input)
    };
    page("receipt.html", values)
}

/// Sentences from the register about the PICs in these sections.
async fn properties(app: &Declarations, sections: &[Section]) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for (name, value) in sections.iter().flat_map(|section| &section.values) {
        let is_pic = name.starts_with("f.") && name.rsplit('.').next() == Some("pic");
        if let Some(pic) = Pic::from_typed(value).filter(|_| is_pic) {
            let (sentence, is_warning) = app.property(&pic).await;
            found.insert(name.clone(), context! { sentence, is_warning });
        }
    }
    found
}

/// A time in the zone of Queensland.
fn when(at: &Timestamp) -> String {
    let Some(at) = at.to_time() else {
        return String::new();
    };
    let text = TimeZone::from(Jurisdiction::Qld).date_time(at);
    format!("{}, {}", day(&text), text.get(11..16).unwrap_or_default())
}
