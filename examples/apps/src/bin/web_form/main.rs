//! Declarations as web pages, on a fake unless `ENVD_` settings name a service: `cargo run -p apps --bin web_form -- --help`.
//!
//! Each section of a declaration has a page. A GET shows the stored draft; a POST stores the fields of one page and redirects. So
//! a kill, a reload, a double click or a lost connection neither loses an answer nor submits a declaration twice.
//! [`declarations`] has the calls of the SDK.

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

use std::env;
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
use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;

use cli::Failure;
use declarations::{Declarations, Open, is_closed};
use pages::{Page, Problem};
use remarks::{remarks, remarks_on};
use section::{
    DECLARATION, Section, date_signature, is_signed, name, next_load, question, sections,
};
use server::fields::Fields;
use server::files::{CSS, SCRIPT, file};
use server::guard::Guard;

/// The maximum number of drafts.
const MOST_DRAFTS: usize = 200;

/// The maximum number of rows in a section.
const MOST_ROWS: usize = 200;

const USAGE: &str = "usage: web_form [--port N] [--store FILE]

Serves declarations as web pages on 127.0.0.1: on a fake of its own, or on the service that the ENVD_ settings
name. Ctrl-C ends it.

  --port N      the port; a free one unless set
  --store FILE  the drafts and what was sent, in SQLite; web_form.db unless set, on Windows in %LOCALAPPDATA%";

type App = State<Arc<Declarations>>;
type Reply = Result<Response, Problem>;

#[tokio::main]
async fn main() -> ExitCode {
    let (port, store) = cli::arguments(USAGE, |given| {
        let mut port = 0;
        let mut store = default_store();
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

/// On Windows, other users can read files of most working directories, but not of this folder.
fn default_store() -> PathBuf {
    let folder = env::var_os("LOCALAPPDATA").filter(|_| cfg!(windows));
    PathBuf::from(folder.unwrap_or_default()).join("web_form.db")
}

async fn serve(port: u16, store: &FilePath) -> Result<(), Failure> {
    let (listener, home) = server::listen(port).await?;
    session::begin(store)?;
    let base = session::base();
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
    let look = include_str!("../../../../look/style.css");
    let unknown = "Open the address that the program printed when it started.";
    let routes = Router::new()
        .nest(&base, pages)
        .route("/look.css", file(CSS, look))
        .route("/style.css", file(CSS, include_str!("style.css")))
        .route("/sign.js", file(SCRIPT, include_str!("sign.js")))
        .fallback(async move || (StatusCode::NOT_FOUND, unknown));
    // Only the script of this program, and the image of a signature.
    let policy = "script-src 'self'; img-src 'self' data:; form-action 'self'";
    let guard = Guard::new(&home, policy)?.only_host_of(&home)?;
    server::serve(listener, guard.protect(routes), &home.join(&base)?).await
}

/// Redirects to a page of this application.
fn to(place: &str) -> Response {
    Redirect::to(&format!("{}/{place}", session::base())).into_response()
}

/// Parses the query of an address.
fn query(text: Option<String>) -> Fields {
    Fields::read(&text.unwrap_or_default()).unwrap_or_default()
}

/// Parses the body of a post and checks its token.
fn fields(body: &str) -> Result<Fields, Problem> {
    let fields = Fields::read(body)
        .ok_or_else(|| Problem::request("A field is not UTF-8. Nothing was saved."))?;
    if fields.get("token") != Some(session::token()) {
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

async fn list(State(app): App, RawQuery(asked): RawQuery) -> Page {
    let asked = query(asked);
    pages::list(&app, asked.get("number").unwrap_or_default().trim()).await
}

/// Begins an empty draft, or a copy for the next load. The page contains the id, so a double click creates one draft.
async fn begin(State(app): App, body: String) -> Reply {
    let fields = fields(&body)?;
    let id = checked_id(fields.get("id").unwrap_or_default())?;
    if app.count_drafts().await? >= MOST_DRAFTS {
        let sentence =
            format!("There are {MOST_DRAFTS} drafts already. Submit or delete some of them first.");
        return Err(Problem(StatusCode::CONFLICT, sentence));
    }
    let nobody = PartyInput::default;
    let mut input = ConsignmentInput::new([FormType::Lpac1], nobody(), nobody());
    if let Some(other) = fields.get("like") {
        let other = app.sent(checked_id(other)?).await?;
        input = next_load(&other.and_then(|sent| sent.input).unwrap_or(input));
    }
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
async fn overview(State(app): App, Path(id): Path<String>) -> Page {
    if let Some(open) = draft(&app, &id).await? {
        return pages::tasks(&app, &open).await;
    }
    match app.sent(&id).await? {
        Some(sent) => pages::receipt(&app, &sent).await,
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
    let page = pages::section(&app, &open, &section, &query(asked), None).await?;
    Ok(page.into_response())
}

/// Stores the fields of a page and redirects to the page that its button leads to.
async fn save(State(app): App, Path((id, name)): Path<(String, String)>, body: String) -> Reply {
    let fields = fields(&body)?;
    let version = fields.get("version").unwrap_or_default();
    if u64::from_str_radix(version, 16).is_err() {
        let sentence = "The page has no version that it can be compared by. Nothing was saved.";
        return Err(Problem::request(sentence));
    }
    loop {
        let Some(open) = draft(&app, &id).await? else {
            return Ok(to(&id));
        };
        let section = find(&open.form, &name)?;
        let (mut edited, lost) = section.apply(&open, &fields)?;
        let after = find(&edited, &name)?;
        let is_stale = version != section::version(&section.values);
        let is_lost = !lost.is_empty() && fields.get("remove").is_none();
        if is_stale && (is_lost || after.values != section.values) {
            let typed = Some((&after.values, &*lost));
            let page = pages::section(&app, &open, &section, &fields, typed).await?;
            return Ok((StatusCode::CONFLICT, page).into_response());
        }
        // A stale page without a change is a second click: the first one has saved the fields and pressed the button.
        if !is_stale {
            press(&fields, &after, &mut edited)?;
            if name == DECLARATION {
                date_signature(&mut edited, app.today())?;
            } else if is_signed(open.draft.form().input())
                && edited.to_input() != open.form.to_input()
            {
                // The user has signed another text, and a signed draft keeps its forms: store it unsigned before the change.
                app.keep(&open, &open.unsigned()).await?;
                continue;
            }
            if !app.keep(&open, &edited).await? {
                continue;
            }
        }
        return Ok(to(&next(&id, &name, &fields, &open.form, &edited)?));
    }
}

/// Adds or removes a row, or skips a section, if the user pressed a button for that.
fn press(fields: &Fields, section: &Section, form: &mut Form) -> Result<(), Problem> {
    let button = |name: &str| fields.get(name).and_then(question);
    let pressed = if let Some(at) = button("add") {
        let rows = section.with_rows(&at).map_or(0, |item| item.rows.len());
        if rows >= MOST_ROWS {
            let sentence = format!(
                "There are {MOST_ROWS} rows already. Put the other animals into a declaration of their own."
            );
            return Err(Problem(StatusCode::CONFLICT, sentence));
        }
        form.add_row(at).map(drop)
    } else if let Some(at) = button("remove") {
        form.remove_row(at.id, at.row).map(drop)
    } else if let Some(at) = button("none") {
        form.skip(at)
    } else {
        Ok(())
    };
    pressed.map_err(|_| Problem::request("There is no such row. Nothing was saved."))
}

/// The page after a save. It is this page again if its rows changed, if it has an error, or if its answers led to further questions.
fn next(
    id: &str,
    page: &str,
    fields: &Fields,
    before: &Form,
    after: &Form,
) -> Result<String, Problem> {
    if fields.get("later").is_some() {
        return Ok(id.to_owned());
    }
    let section = find(after, page)?;
    let change = fields.get("change").map_or("", |_| "&change=1");
    let rows = fields
        .get("add")
        .or(fields.get("remove"))
        .and_then(question);
    if let Some(row) = rows.and_then(|at| section.last_row(&at)) {
        return Ok(format!("{id}/{page}?{change}#{row}"));
    }
    let appeared = after.changes_since(before).appeared;
    let new: Vec<String> = appeared
        .iter()
        .map(name)
        .filter(|name| section.has(name))
        .collect();
    let names = new.join(",");
    if remarks_on(&section, after, &new)
        .iter()
        .any(|remark| remark.blocks)
    {
        return Ok(format!("{id}/{page}?checked=1&new={names}{change}"));
    }
    if let Some(first) = new.first() {
        return Ok(format!("{id}/{page}?new={names}{change}#field.{first}"));
    }
    let sections = sections(after);
    let mut following = sections
        .iter()
        .skip_while(|section| section.name != page)
        .skip(1);
    Ok(match following.next().filter(|_| change.is_empty()) {
        Some(section) => format!("{id}/{}", section.name),
        None => format!("{id}/check"),
    })
}

async fn check(State(app): App, Path(id): Path<String>) -> Reply {
    match draft(&app, &id).await? {
        Some(open) => Ok(pages::check(&app, &open, false).await?.into_response()),
        None => Ok(to(&id)),
    }
}

/// Submits the declaration, unless it has changed since the user checked it.
async fn submit(State(app): App, Path(id): Path<String>, body: String) -> Reply {
    let fields = fields(&body)?;
    let Some(open) = draft(&app, &id).await? else {
        // A second click waits for the request of the first one.
        app.send().await?;
        return Ok(to(&id));
    };
    let input = open.form.to_input();
    if fields.get("version") != Some(&section::version(&input)) {
        let page = pages::check(&app, &open, true).await?;
        return Ok((StatusCode::CONFLICT, page).into_response());
    }
    if remarks(&open.form).iter().any(|remark| remark.blocks) {
        return Ok(to(&format!("{id}/check")));
    }
    app.submit(&id, input).await?;
    Ok(to(&id))
}

/// Carries out what the user decides about a declaration in the outbox.
async fn decide(State(app): App, Path(id): Path<String>, body: String) -> Reply {
    let fields = fields(&body)?;
    let sent = app.sent(checked_id(&id)?).await?;
    let sent = sent.ok_or_else(|| Problem::request("There is no such declaration."))?;
    match fields.get("decision").unwrap_or_default() {
        "try again" => {}
        "change" if sent.state.is_final() => {}
        "change" => Box::pin(app.reopen(&id, &sent)).await?,
        decision => {
            let unknown = |_| Problem::request("There is no such answer.");
            app.decide(&sent, decision.parse().map_err(unknown)?)
                .await?;
        }
    }
    app.send().await?;
    Ok(to(&id))
}

/// Deletes a draft that is not submitted.
async fn delete(State(app): App, Path(id): Path<String>, body: String) -> Reply {
    fields(&body)?;
    if let Some(open) = draft(&app, &id).await? {
        app.remove(&open.draft).await?;
    }
    Ok(Redirect::to(&session::base()).into_response())
}

/// The declaration as the service prints it.
async fn print(State(app): App, Path(id): Path<String>) -> Reply {
    let printed = match app.sent(checked_id(&id)?).await? {
        Some(sent) => app.printed(&sent).await,
        None => None,
    };
    let missing = "The service does not print this declaration now. Try again later.";
    let printed = printed.ok_or_else(|| Problem(StatusCode::NOT_FOUND, missing.to_owned()))?;
    Ok(([(CONTENT_TYPE, "application/pdf")], printed).into_response())
}
