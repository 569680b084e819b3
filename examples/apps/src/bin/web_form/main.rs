//! Declarations as web pages, on a fake unless `ENVD_` settings name a service: `cargo run -p apps --bin web_form -- --help`.
//!
//! Each section of a declaration has a page. A GET shows the stored draft; a POST stores the fields of one page and redirects. So
//! a kill, a reload, a double click or a lost connection neither loses an answer nor submits a declaration twice.
//! [`declarations`] has the calls of the SDK; the other modules are about forms and pages.

#[path = "../../../../cli/mod.rs"]
mod cli;
mod declarations;
#[path = "../../../../look/form_title.rs"]
mod form_title;
mod pages;
mod remarks;
mod section;
#[path = "../../server/mod.rs"]
mod server;
mod session;
#[path = "../../../../settings/mod.rs"]
mod settings;

use std::path::{Path as FilePath, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use envd_sdk::model::{ConsignmentInput, FormType, PartyInput};
use envd_sdk::validate::Form;
use envd_sync::outbox::Decision;
use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;

use cli::Failure;
use declarations::{Declarations, MOST_DRAFTS, Open, is_closed, is_final};
use pages::{Problem, Shown};
use remarks::remarks;
use section::{
    DECLARATION, Section, date_signature, is_signed, next_load, question, sections, unsigned,
};
use server::fields::Fields;
use server::files::{CSS, SCRIPT, SVG, file};
use server::guard::Guard;
use session::Session;

/// The maximum number of rows in a section.
const MOST_ROWS: usize = 200;

const USAGE: &str = "usage: web_form [--port N] [--store FILE]

Serves declarations as web pages on 127.0.0.1: on a fake of its own, or on the service that the ENVD_ settings
name. Ctrl-C ends it.

  --port N      the port; a free one unless set
  --store FILE  the drafts and what was sent, in SQLite; web_form.db unless set";

type App = State<Arc<Declarations>>;
type Reply = Result<Response, Problem>;

#[tokio::main]
async fn main() -> ExitCode {
    let (port, store) = cli::arguments(USAGE, |given| {
        let mut port = 0;
        let mut store = PathBuf::from("web_form.db");
        while let Some(argument) = given.next()? {
            match argument {
                Long("port") => port = cli::port(given)?,
                Long("store") => store = given.value()?.parse()?,
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        Ok((port, store))
    });
    cli::end(serve(port, &store).await)
}

async fn serve(port: u16, store: &FilePath) -> Result<(), Failure> {
    let (listener, home) = server::listen(port).await?;
    let session = Session::of(store)?;
    let home = home.join(&session.base)?;
    let pages = Router::new()
        .route("/", get(list))
        .route("/new", post(begin))
        .route("/{id}", get(overview))
        .route("/{id}/check", get(check))
        .route("/{id}/submit", post(submit))
        .route("/{id}/decide", post(decide))
        .route("/{id}/delete", post(delete))
        .route("/{id}/pdf", get(print))
        .route("/{id}/{section}", get(show).post(save))
        .with_state(Arc::new(Declarations::start(store).await?));
    let routes = Router::new()
        .nest(&session.base, pages)
        .route(
            "/look.css",
            file(CSS, include_str!("../../../../look/style.css")),
        )
        .route("/style.css", file(CSS, include_str!("style.css")))
        .route("/sign.js", file(SCRIPT, include_str!("sign.js")))
        .route("/icon.svg", file(SVG, include_str!("icon.svg")))
        .fallback(async || {
            (
                StatusCode::NOT_FOUND,
                "Open the address that the program printed when it started.",
            )
        });
    session.begin();
    // Only the files of this program, and the image of a signature.
    let policy = "script-src 'self'; img-src 'self' data:; form-action 'self'";
    let guard = Guard::new(&home, policy)?.only_host_of(&home)?;
    server::serve(listener, guard.protect(routes), &home).await
}

/// Redirects to a page of this application.
fn to(place: &str) -> Response {
    Redirect::to(&format!("{}/{place}", Session::now().base)).into_response()
}

/// The value of a query parameter.
fn query(query: Option<&str>, name: &str) -> Option<String> {
    Fields::read(query?)?.get(name).map(str::to_owned)
}

/// Parses the body of a post and checks its token.
fn fields(body: &str) -> Result<Fields, Problem> {
    let fields = Fields::read(body);
    let fields =
        fields.ok_or_else(|| Problem::request("A field is not UTF-8. Nothing was saved."))?;
    if fields.get("token") != Some(&Session::now().token) {
        let sentence = "This page does not belong to this program any more. Nothing was saved: go back, load the page again, and send it once more.";
        return Err(Problem(StatusCode::FORBIDDEN, sentence.to_owned()));
    }
    Ok(fields)
}

/// Checks that an id has the form of the ids that this program creates.
fn checked_id(id: &str) -> Result<&str, Problem> {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if id.len() == 32 && id.bytes().all(is_hex) {
        return Ok(id);
    }
    Err(Problem::request(
        "This is not the address of a declaration.",
    ))
}

async fn list(State(app): App, RawQuery(asked): RawQuery) -> Reply {
    let number = query(asked.as_deref(), "number").unwrap_or_default();
    pages::list(&app, number.trim()).await
}

/// Begins an empty draft, or a copy for the next load. The page contains the id, so a double click creates one draft.
async fn begin(State(app): App, body: String) -> Reply {
    let fields = fields(&body)?;
    let id = checked_id(fields.get("id").unwrap_or_default())?;
    if app.count().await? >= MOST_DRAFTS {
        let sentence =
            format!("There are {MOST_DRAFTS} drafts already. Submit or delete some of them first.");
        return Err(Problem(StatusCode::CONFLICT, sentence));
    }
    let input = match fields.get("like") {
        Some(other) => {
            let other = app.sent(checked_id(other)?).await?;
            next_load(&other.and_then(|it| it.input).unwrap_or_default())
        }
        None => ConsignmentInput::new(
            [FormType::Lpac1],
            PartyInput::default(),
            PartyInput::default(),
        ),
    };
    app.begin(id, &input).await?;
    Ok(to(id))
}

/// Opens the draft; `None` once the declaration is submitted.
async fn draft(app: &Declarations, id: &str) -> Result<Option<Open>, Problem> {
    let sent = app.sent(checked_id(id)?).await?;
    if sent.is_some_and(|sent| is_closed(&sent)) {
        return Ok(None);
    }
    Ok(app.open(id).await?)
}

/// The task list of a draft, or the receipt.
async fn overview(State(app): App, Path(id): Path<String>) -> Reply {
    if let Some(open) = draft(&app, &id).await? {
        return pages::tasks(&app, &id, &open).await;
    }
    match app.sent(&id).await? {
        Some(declaration) => pages::receipt(&app, &id, &declaration).await,
        None => Err(Problem(
            StatusCode::NOT_FOUND,
            "There is no such declaration. It may have been deleted.".to_owned(),
        )),
    }
}

fn find(form: &Form, name: &str) -> Result<Section, Problem> {
    let mut sections = sections(form).into_iter();
    let found = sections.find(|section| section.name == name);
    found.ok_or_else(|| Problem::request("This declaration has no such page. It may have gone with the forms or an answer that it belonged to."))
}

async fn show(
    State(app): App,
    Path((id, name)): Path<(String, String)>,
    RawQuery(asked): RawQuery,
) -> Reply {
    let Some(open) = draft(&app, &id).await? else {
        return Ok(to(&id));
    };
    let section = find(&open.form, &name)?;
    let asked = |name: &str| query(asked.as_deref(), name);
    let new = asked("new").unwrap_or_default();
    let shown = Shown {
        is_checked: asked("checked").is_some(),
        new: new.split(',').filter(|name| !name.is_empty()).collect(),
        is_change: asked("change").is_some(),
        typed: None,
    };
    pages::section(&app, &id, &open, &section, shown).await
}

/// Stores the fields of a page and redirects to the page that its button leads to.
async fn save(State(app): App, Path((id, name)): Path<(String, String)>, body: String) -> Reply {
    let fields = fields(&body)?;
    let version = fields.get("version").unwrap_or_default();
    if version.len() != 16 || !version.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Problem::request(
            "The page has no version that it can be compared by. Nothing was saved.",
        ));
    }
    let button = Button::read(&fields);
    loop {
        let Some(open) = draft(&app, &id).await? else {
            return Ok(to(&id));
        };
        let section = find(&open.form, &name)?;
        let (mut edited, lost) = section.apply(&open.form, &open.questions, &fields)?;
        let after = find(&edited, &name)?;
        let is_lost = !lost.is_empty() && !matches!(button, Button::Remove(_));
        let is_change = after.values != section.values;
        let is_stale = version != section.version();
        if is_stale && (is_change || is_lost) {
            let shown = Shown {
                typed: Some((&after.values, &lost)),
                ..Shown::default()
            };
            return pages::section(&app, &id, &open, &section, shown).await;
        }
        // A stale page without a change is a second click: the first one has saved the fields and pressed the button.
        if !is_stale {
            button.press(&mut edited, &after)?;
            if name == DECLARATION {
                date_signature(&mut edited, app.today())?;
            }
            let mut draft = open.draft.clone();
            let is_other_text = edited.to_input() != open.form.to_input();
            if is_other_text && name != DECLARATION && is_signed(draft.form().input()) {
                // A signed draft keeps its forms, so the signature is removed first.
                let Some(kept) = app.keep(&draft, &unsigned(&open.form)?).await? else {
                    continue;
                };
                draft = kept;
                edited = unsigned(&edited)?;
            }
            if app.keep(&draft, &edited).await?.is_none() {
                continue;
            }
        }
        return Ok(to(&button.next(&id, &fields, &section, &edited)));
    }
}

/// The button that posted a page.
enum Button {
    Continue,
    Later,
    /// Adds a row to a section.
    Add(String),
    Remove(String),
    /// A section has no rows.
    Nothing(String),
}

impl Button {
    fn read(fields: &Fields) -> Self {
        if let Some(section) = fields.get("add") {
            return Self::Add(section.to_owned());
        }
        if let Some(row) = fields.get("remove") {
            return Self::Remove(row.to_owned());
        }
        if let Some(section) = fields.get("none") {
            return Self::Nothing(section.to_owned());
        }
        if fields.get("later").is_some() {
            Self::Later
        } else {
            Self::Continue
        }
    }

    fn press(&self, form: &mut Form, section: &Section) -> Result<(), Problem> {
        let (Self::Add(field) | Self::Remove(field) | Self::Nothing(field)) = self else {
            return Ok(());
        };
        let unknown = || Problem::request("There is no such row. Nothing was saved.");
        let at = question(field).ok_or_else(unknown)?;
        let rows = section.questions().find(|item| item.question.id == at.id);
        let rows = rows.ok_or_else(unknown)?.rows.len();
        match self {
            Self::Add(_) if rows >= MOST_ROWS => {
                let sentence = format!("There are {MOST_ROWS} rows already. Put the other animals into a declaration of their own.");
                return Err(Problem(StatusCode::CONFLICT, sentence));
            }
            Self::Add(_) => form.add_row(at).map(drop),
            Self::Remove(_) => form.remove_row(at.id, at.row).map(drop),
            _ => form.skip(at),
        }
        .map_err(|_| unknown())
    }

    /// The path of the next page. It is this page again if it has an error or if its answers led to further questions.
    fn next(&self, id: &str, fields: &Fields, before: &Section, form: &Form) -> String {
        let here = format!("{id}/{}", before.name);
        let change = if fields.get("change").is_some() {
            "&change=1"
        } else {
            ""
        };
        match self {
            Self::Later => return id.to_owned(),
            Self::Remove(row) => {
                let section = question(row)
                    .map(|at| at.id.to_string())
                    .unwrap_or_default();
                return format!("{here}?{change}#add.q.{section}.");
            }
            Self::Add(_) | Self::Continue | Self::Nothing(_) => {}
        }
        let sections = sections(form);
        let position = sections
            .iter()
            .position(|section| section.name == before.name);
        let after = position.map_or(before, |position| &sections[position]);
        if let Self::Add(rows) = self {
            let rows = after
                .questions()
                .find(|item| section::name(&item.question) == *rows);
            let last = rows.and_then(|item| Some(section::row_name(item, item.rows.last()?.index)));
            return format!("{here}?{change}#row.{}", last.unwrap_or_default());
        }
        let is_new = |name: &str| !before.values.contains_key(name) && !before.has(name);
        let questions = after.questions().map(|item| section::name(&item.question));
        let new: Vec<String> = questions.filter(|name| is_new(name)).collect();
        let is_wrong = remarks(form, None).iter().any(|remark| {
            remark.blocks
                && after.has(&remark.place)
                && !new.iter().any(|new| remark.place.ends_with(new))
        });
        let new_names = new.join(",");
        if is_wrong {
            return format!("{here}?checked=1&new={new_names}{change}");
        }
        if let Some(first) = new.first() {
            return format!("{here}?new={new_names}{change}#field.{first}");
        }
        let following = position.and_then(|position| sections.get(position + 1));
        match following.filter(|_| change.is_empty()) {
            Some(section) => format!("{id}/{}", section.name),
            None => format!("{id}/check"),
        }
    }
}

async fn check(State(app): App, Path(id): Path<String>) -> Reply {
    match draft(&app, &id).await? {
        Some(open) => pages::check(&app, &id, &open, false).await,
        None => Ok(to(&id)),
    }
}

/// Submits the declaration, unless it has changed since the user checked it.
async fn submit(State(app): App, Path(id): Path<String>, body: String) -> Reply {
    let fields = fields(&body)?;
    let Some(open) = draft(&app, &id).await? else {
        return Ok(to(&id));
    };
    let input = open.form.to_input();
    let is_stale = fields.get("version") != Some(&section::version(&input));
    if is_stale || remarks(&open.form, None).iter().any(|remark| remark.blocks) {
        return pages::check(&app, &id, &open, is_stale).await;
    }
    app.submit(&id, input).await?;
    Ok(to(&id))
}

/// What a person says of a declaration in the outbox.
async fn decide(State(app): App, Path(id): Path<String>, body: String) -> Reply {
    let fields = fields(&body)?;
    let sent = app.sent(checked_id(&id)?).await?;
    let declaration = sent.ok_or_else(|| Problem::request("There is no such declaration."))?;
    match fields.get("decision").unwrap_or_default() {
        "try again" => {}
        "change" if is_final(&declaration) => {}
        "change" => {
            app.begin(&id, &declaration.input.clone().unwrap_or_default())
                .await?;
            while let Some(open) = app.open(&id).await? {
                if app
                    .keep(&open.draft, &unsigned(&open.form)?)
                    .await?
                    .is_some()
                {
                    break;
                }
            }
            if is_closed(&declaration) {
                app.outbox.withdraw(declaration.id).await?;
            }
        }
        decision => {
            let decision: Decision = decision
                .parse()
                .map_err(|_| Problem::request("There is no such answer."))?;
            // The question may have been answered meanwhile: the page shows what it is now.
            if declaration.decisions().contains(&decision) {
                app.outbox.decide(declaration.id, decision).await?;
            }
        }
    }
    app.send().await?;
    Ok(to(&id))
}

/// Deletes a draft that is not submitted.
async fn delete(State(app): App, Path(id): Path<String>, body: String) -> Reply {
    fields(&body)?;
    if draft(&app, &id).await?.is_some() {
        app.remove(&id).await?;
    }
    Ok(Redirect::to(&Session::now().base).into_response())
}

/// The declaration as the service prints it.
async fn print(State(app): App, Path(id): Path<String>) -> Reply {
    let sent = app.sent(checked_id(&id)?).await?;
    let printed = match sent {
        Some(declaration) => app.printed(declaration).await,
        None => None,
    };
    let missing = "The service does not print this declaration now. Try again later.";
    let printed = printed.ok_or_else(|| Problem(StatusCode::NOT_FOUND, missing.to_owned()))?;
    Ok(([(CONTENT_TYPE, "application/pdf")], printed).into_response())
}
