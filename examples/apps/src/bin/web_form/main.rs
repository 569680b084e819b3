//! Declarations as web pages, on a fake: `cargo run -p apps --bin web_form -- [--port N]`.
//!
//! The first line on stdout is a JSON object with the `url`. The page holds the [document](document): all that is entered. Each post
//! has all of it, and the reply is the page that follows from it by a [`Form`](envd_sdk::validate::Form): the questions that apply
//! and why, what is wrong, what is missing, what looks odd. The outbox saves and submits it; a button cuts the line to the fake.

mod app;
#[path = "../../../../cli/mod.rs"]
mod cli;
mod document;
#[path = "../../../../look/form_title.rs"]
mod form_title;
mod page;
#[path = "../../server/mod.rs"]
mod server;
#[path = "../../../../settings/mod.rs"]
mod settings;

use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Redirect, Response, Result};
use axum::routing::get;

use envd_sync::outbox::Declaration;

use app::{App, is_submitted};
use cli::{Failure, chain};
use document::{Document, hash};
use page::RemarkKind::{Asked, BlocksSaving};
use server::fields::Fields;
use server::files::{CSS, SCRIPT, SVG, file};
use server::guard::Guard;

type Shared = State<Arc<App>>;

#[tokio::main]
async fn main() -> ExitCode {
    let purpose = "Serves declarations as web pages on 127.0.0.1, on a fake of its own.";
    cli::end(serve(server::only_port("web_form", purpose)).await)
}

async fn serve(port: u16) -> Result<(), Failure> {
    let (listener, home) = server::listen(port).await?;
    let look = include_str!("../../../../look/style.css");
    let routes = Router::new()
        .route("/", get(start).post(line))
        .route("/new", get(begin))
        .route("/declaration/{key}", get(open).post(fill_in))
        .route("/sent/{id}", get(receipt).post(withdraw))
        .route("/sent/{id}/pdf", get(print))
        .route("/look.css", file(CSS, look))
        .route("/style.css", file(CSS, include_str!("style.css")))
        .route("/script.js", file(SCRIPT, include_str!("script.js")))
        .route("/icon.svg", file(SVG, include_str!("icon.svg")))
        .with_state(Arc::new(App::start().await?));
    // Allows only the files of this program, and the image of a signature.
    let policy = "script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'";
    let guard = Guard::new(&home, policy)?.only_host_of(&home)?;
    server::serve(listener, guard.protect(routes), &home).await
}

/// The declarations.
async fn start(State(app): Shared) -> Result<Response> {
    page::start(&app).await
}

/// Cuts or restores the line, from any page but that of a document.
async fn line(State(app): Shared, RawQuery(query): RawQuery) -> Result<Redirect> {
    app.set_line(query.as_deref() == Some("cut"))
        .await
        .map_err(failed)?;
    Ok(Redirect::to("/"))
}

/// A new document, empty or with the data of another load: `?copy=5`.
async fn begin(RawQuery(query): RawQuery) -> Result<Redirect> {
    let key =
        server::random_id().map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, chain(&error)))?;
    let query = query.map_or(String::new(), |query| format!("?{query}"));
    Ok(Redirect::to(&format!("/declaration/{key}{query}")))
}

/// The page of a document that the server does not have: empty, saved earlier, or for the next load.
async fn open(
    State(app): Shared,
    Path(key): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response> {
    if let Some(receipt) = submitted(&app, &key).await? {
        return Ok(receipt);
    }
    let copied = query
        .as_deref()
        .and_then(|query| query.strip_prefix("copy="));
    let document = if let Some((kept, version)) = app.declaration(&key).await.map_err(failed)? {
        let mut document = Document::of(key, &kept.input.unwrap_or_default());
        document.fields.add("version", &version.to_string());
        document
    } else if let Some(id) = copied {
        let sent = by_id(&app, id).await?.input.unwrap_or_default();
        Document::of(String::new(), &sent).next_load(key)
    } else {
        Document::new(key)
    };
    page::document(&app, (&document, &app.form(&document)), ("form", "")).await
}

/// The page that follows from a document, after what its button says: `?review`, `?submit`, `?save`, `?cut`, `?connect`.
async fn fill_in(
    State(app): Shared,
    Path(key): Path<String>,
    RawQuery(query): RawQuery,
    body: String,
) -> Result<Response> {
    let fields = Fields::read(&body).ok_or((StatusCode::BAD_REQUEST, "a field is not UTF-8"))?;
    if let Some(receipt) = submitted(&app, &key).await? {
        return Ok(receipt);
    }
    let document = Document { key, fields };
    let form = app.form(&document);
    let input = form.to_input();
    let remarks = page::remarks(&document, &form, &form.items());
    let shown = match query.as_deref().unwrap_or_default() {
        "review" | "submit" if remarks.iter().any(|it| it.kind != Asked) => ("form", "stopped"),
        "review" => ("review", ""),
        "submit" if document.fields.get("hash") != Some(&hash(&input)) => ("review", "changed"),
        "save" if remarks.iter().any(|it| it.kind == BlocksSaving) => ("form", "unsaved"),
        action @ ("save" | "submit") => {
            let put = app.put(&document, input, action == "submit").await;
            put.map_err(failed)?;
            if let Some(receipt) = submitted(&app, &document.key).await? {
                return Ok(receipt);
            }
            ("form", "")
        }
        line @ ("cut" | "connect") => {
            app.set_line(line == "cut").await.map_err(failed)?;
            ("form", "")
        }
        _ => ("form", ""),
    };
    page::document(&app, (&document, &form), shown).await
}

/// The sent declaration, and its state at the service.
async fn receipt(State(app): Shared, Path(id): Path<String>) -> Result<Response> {
    page::receipt(&app, &by_id(&app, &id).await?).await
}

async fn withdraw(State(app): Shared, Path(id): Path<String>) -> Result<Redirect> {
    let id = by_id(&app, &id).await?.id;
    app.withdraw(id).await.map_err(failed)?;
    Ok(Redirect::to(&format!("/declaration/{}", app.key(id).await)))
}

/// The printed declaration as the service has it.
async fn print(State(app): Shared, Path(id): Path<String>) -> Result<impl IntoResponse> {
    let printed = app.printed(by_id(&app, &id).await?).await;
    let printed = printed.map_err(|error| (StatusCode::BAD_GATEWAY, chain(&error)))?;
    let printed = printed.ok_or((StatusCode::NOT_FOUND, "nothing is submitted"))?;
    Ok(([(CONTENT_TYPE, "application/pdf")], printed))
}

async fn by_id(app: &App, id: &str) -> Result<Declaration> {
    let found = match id.parse() {
        Ok(id) => app.by_id(id).await.map_err(failed)?,
        Err(_) => None,
    };
    Ok(found.ok_or(StatusCode::NOT_FOUND)?)
}

/// The way to the receipt, where a document is submitted or waits for it.
async fn submitted(app: &App, key: &str) -> Result<Option<Response>> {
    let kept = app.declaration(key).await.map_err(failed)?;
    let sent = kept.filter(|(kept, _)| is_submitted(kept));
    Ok(sent.map(|(sent, _)| Redirect::to(&format!("/sent/{}", sent.id)).into_response()))
}

fn failed(error: envd_sync::Error) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, chain(&error))
}
