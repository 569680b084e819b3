//! A declaration as a web page, on a fake: `cargo run --example web_form -- [--port N]`.
//!
//! The first line on stdout is `{"url": ".."}`. The page shows what [`Form`](envd_sdk::validate::Form) says: the questions that
//! apply and why, what is wrong, what is missing. The outbox saves and submits it; a button cuts the line to the fake. What is
//! entered stays in memory.

#[path = "../cli/mod.rs"]
mod cli;
mod declaration;
mod guard;
mod page;
mod post;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header::CONTENT_TYPE};
use axum::middleware::from_fn_with_state;
use axum::response::{Html, Redirect};
use axum::routing::get;
use envd_sdk::fake::{Fake, Fault};
use envd_sdk::model::{Day, Jurisdiction};
use envd_sdk::sync::{bank::Bank, outbox::Outbox, store::MemorySync};
use envd_sdk::{Clock, RetryPolicy, validate::Context};
use lexopt::Arg::{Long, Short};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use cli::{Failure, chain};
use declaration::Declaration;
use post::Post;

const USAGE: &str = "usage: web_form [--port N]

Serves a declaration as a web page on 127.0.0.1, on a fake of its own, until Ctrl-C.

  --port N    the port; a free one unless set";

/// What all requests share.
struct App {
    fake: Fake,
    bank: Bank,
    context: Context,
    outbox: Outbox,
    declaration: Mutex<Declaration>,
    is_cut: AtomicBool,
    /// The name of this server in requests.
    host: String,
    /// What each page posts, and other sites do not know.
    token: String,
}

/// The status of a reply, and why it is no page.
type Refusal = (StatusCode, String);

#[tokio::main]
async fn main() -> ExitCode {
    let port = cli::arguments(USAGE, |given| {
        let mut port = 0;
        while let Some(argument) = given.next()? {
            match argument {
                Long("port") => port = cli::value(given, "--port", "a port", |n| n.parse().ok())?,
                Short('h') | Long("help") => cli::help(USAGE),
                _ => return Err(argument.unexpected()),
            }
        }
        Ok(port)
    });
    cli::end(serve(port).await)
}

async fn serve(port: u16) -> Result<(), Failure> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let app = Arc::new(start(listener.local_addr()?.to_string()).await?);
    println!("{}", json!({ "url": format!("http://{}/", app.host) }));
    let file = |kind: &'static str, text: &'static str| get(([(CONTENT_TYPE, kind)], text));
    let script = file("text/javascript", include_str!("script.js"));
    let routes = Router::new()
        .route("/", get(show).post(edit))
        .route("/style.css", file("text/css", include_str!("style.css")))
        .route("/script.js", script)
        .route("/icon.svg", file("image/svg+xml", include_str!("icon.svg")))
        .layer(DefaultBodyLimit::max(256 * 1024))
        .layer(from_fn_with_state(app.clone(), guard::check));
    Ok(axum::serve(listener, routes.with_state(app)).await?)
}

async fn start(host: String) -> Result<App, Failure> {
    // The clock is fixed at 2026-11-20, so that each run shows the same.
    let clock = Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_132_800));
    let fake = Fake::builder().clock(clock).start().await?;
    let client = fake.client().retry(RetryPolicy::none()).build()?;
    let account = client.account(fake.account_id());
    let store = MemorySync::new();
    let bank = account.banks(store.clone()).refresh().await?.bank;
    // The PIC of the account is left to the service, so that its refusal can be seen.
    let context = Context::on(Day::today_in(Jurisdiction::Qld, fake.clock().now()));
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(App {
        declaration: Mutex::new(Declaration::new(&bank, &context)),
        outbox: account.outbox(store),
        is_cut: AtomicBool::new(false),
        token: format!("{:032x}", u128::from_ne_bytes(random)),
        fake,
        bank,
        context,
        host,
    })
}

async fn show(State(app): State<Arc<App>>) -> Result<Html<String>, Refusal> {
    let declaration = app.declaration.lock().await;
    let page = page::render(&app, &declaration).await;
    page.map(Html).map_err(failed)
}

/// Takes over what was entered, and does what the button says.
async fn edit(State(app): State<Arc<App>>, body: String) -> Result<Redirect, Refusal> {
    let refused = |status, text: &str| Err((status, text.to_owned()));
    let Some(post) = Post::read(&body) else {
        return refused(StatusCode::BAD_REQUEST, "a field is not UTF-8");
    };
    if post.value("token") != app.token {
        let text = "the page is of an earlier run, or of another site";
        return refused(StatusCode::FORBIDDEN, text);
    }
    let mut declaration = app.declaration.lock().await;
    if let Err(error) = declaration.fill_in(&post) {
        return refused(StatusCode::BAD_REQUEST, &chain(&error));
    }
    let pressed = press(&app, &mut declaration, post).await;
    pressed.map_err(|error| failed(error.into()))?;
    Ok(Redirect::to("/"))
}

async fn press(app: &App, declaration: &mut Declaration, post: Post) -> envd_sdk::Result<()> {
    match post.value("do").as_str() {
        "save" => declaration.send(&app.outbox, post, false).await?,
        "submit" => declaration.send(&app.outbox, post, true).await?,
        "new" => *declaration = Declaration::new(&app.bank, &app.context),
        "cut" => {
            // Later than the outbox trusts its copy of the account: it reads first, so that surely nothing was sent.
            app.fake.clock().advance(Duration::from_secs(600));
            let line = app.fake.on_path("/v2/graphql");
            line.fault(Fault::dropped_before()).forever();
            app.is_cut.store(true, Ordering::Relaxed);
        }
        "connect" => {
            app.fake.clear_scripts();
            app.is_cut.store(false, Ordering::Relaxed);
            declaration.send_kept(&app.outbox).await?;
        }
        _ => {}
    }
    Ok(())
}

fn failed(error: Failure) -> Refusal {
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    (status, chain(error.as_ref()))
}
