//! A declaration as a web page, on a fake: `cargo run -p apps --bin web_form -- [--port N]`.
//!
//! The first line on stdout is a JSON object with the `url`. The page shows what [`Form`](envd_sdk::validate::Form) says: the
//! questions that apply and why, what is wrong, what is missing, what looks odd; then all answers before they are submitted, and
//! what was submitted. The outbox saves and submits it; a button cuts the line to the fake. What is entered stays in memory.

mod app;
#[path = "../../../../cli/mod.rs"]
mod cli;
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
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{Html, IntoResponse, Redirect, Result};
use axum::routing::get;
use tokio::sync::Mutex;

use app::App;
use cli::{Failure, chain};
use server::fields::Fields;
use server::files::{CSS, SCRIPT, SVG, file};
use server::guard::Guard;

#[tokio::main]
async fn main() -> ExitCode {
    let purpose = "Serves a declaration as a web page on 127.0.0.1, on a fake of its own.";
    cli::end(serve(server::only_port("web_form", purpose)).await)
}

async fn serve(port: u16) -> Result<(), Failure> {
    let (listener, home) = server::listen(port).await?;
    let routes = Router::new()
        .route("/", get(show).post(edit))
        .route(
            "/look.css",
            file(CSS, include_str!("../../../../look/style.css")),
        )
        .route("/style.css", file(CSS, include_str!("style.css")))
        .route("/script.js", file(SCRIPT, include_str!("script.js")))
        .route("/declaration.pdf", get(print))
        .route("/icon.svg", file(SVG, include_str!("icon.svg")))
        .with_state(Arc::new(Mutex::new(App::start().await?)));
    // Nothing but the files of this program, and the picture of a signature.
    let policy = "script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'";
    let guard = Guard::new(&home, policy)?.only_host_of(&home)?;
    server::serve(listener, guard.protect(routes), &home).await
}

async fn show(State(app): State<Arc<Mutex<App>>>) -> Result<Html<String>, StatusCode> {
    page::render(&*app.lock().await)
}

/// Takes over what was entered, and does what the button says.
async fn edit(State(app): State<Arc<Mutex<App>>>, body: String) -> Result<Redirect> {
    let mut app = app.lock().await;
    let fields = Fields::read(&body).ok_or((StatusCode::BAD_REQUEST, "a field is not UTF-8"))?;
    if fields.get("token") != Some(&app.token) {
        let text = "the page is of an earlier run, or of another site";
        return Err((StatusCode::FORBIDDEN, text).into());
    }
    let button = fields.get("do").unwrap_or_default();
    let filled_in = app.fill_in(&fields, button);
    filled_in.map_err(|error| (StatusCode::BAD_REQUEST, chain(&error)))?;
    let pressed = app.press(button).await;
    pressed.map_err(|error| (StatusCode::INTERNAL_SERVER_ERROR, chain(&error)))?;
    let field = button.strip_prefix("change ");
    Ok(Redirect::to(
        &field.map_or("/".to_owned(), |field| format!("/#{field}")),
    ))
}

/// The printed declaration as the service has it.
async fn print(State(app): State<Arc<Mutex<App>>>) -> Result<impl IntoResponse> {
    let printed = app.lock().await.printed().await;
    let printed = printed.map_err(|error| (StatusCode::BAD_GATEWAY, chain(&error)))?;
    let printed = printed.ok_or((StatusCode::NOT_FOUND, "nothing is submitted"))?;
    Ok(([(CONTENT_TYPE, "application/pdf")], printed))
}
