//! A web application with many users: `cargo run --example web_login -- [--serve [--port N]]`.
//!
//! Each browser has a session cookie. Each session has an account in a set of token managers, with a record of its own in one
//! store. The account's key is a hash of the session id, because stores contain keys in clear text and must not reveal a
//! cookie. The numbers of sessions and managers are limited. All users share one client, and so one pool of connections. By
//! default the example logs one user in and out and ends. With `--serve` it keeps running, on a fake identity provider that
//! needs no password.

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../cli/mod.rs"]
mod cli;
mod command_line;
mod cookies;
mod pages;
mod pending;
mod server;
mod sessions;
mod visit;

use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use envd_sdk::Client;
use envd_sdk::auth::{MemoryStore, PendingLogin, Provider, TokenManager, TokenManagerSet};
use envd_sdk::fake::Fake;
use tokio::net::TcpListener;
use url::Url;

use cli::Failure;
use command_line::Arguments;
use pages::Problem;
use pending::Pending;
use sessions::Sessions;

/// The state that all requests share. A server on many hosts stores the last two in a database, under the same keys.
struct App {
    provider: Provider,
    /// The connections and settings of all users, without a token.
    client: Client,
    /// The token managers of the active users; the store has the tokens of the others.
    managers: TokenManagerSet,
    /// Started logins, by their cookie.
    pending: Pending,
    /// Sessions, by the hash of their cookie, which is also the account's key.
    sessions: Sessions,
}

#[tokio::main]
async fn main() -> ExitCode {
    cli::end(run(Arguments::read()).await)
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let listener = TcpListener::bind(("127.0.0.1", arguments.port)).await?;
    let home = Url::parse(&format!("http://{}/", listener.local_addr()?))?;
    // After a logout the provider redirects the browser to the application's default page (spec 5.8).
    let fake = Fake::builder().allow_return_to(home.clone());
    let fake = fake.start().await?;
    let provider = fake.provider().redirect_uri(home.join("callback")?);
    let provider = provider.build()?;
    let template = TokenManager::builder(provider.clone()).store(MemoryStore::new());
    let client = Client::builder(fake.graphql_url())
        .token_source(|| async { Err(envd_sdk::Error::login_needed()) })
        .build()?;
    let app = Arc::new(App {
        provider,
        client,
        managers: TokenManagerSet::builder(template).build()?,
        pending: Pending::default(),
        sessions: Sessions::default(),
    });
    let routes = Router::new()
        .route("/", get(front_page))
        .route("/login", get(log_in))
        .route("/callback", get(callback))
        .route("/logout", post(log_out))
        .with_state(app);
    if arguments.serve {
        server::stay(listener, routes, &home).await
    } else {
        server::show(listener, routes, &home).await
    }
}

/// Greets the user by the name that the service returns.
async fn front_page(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    // The key gives access to tokens, so it is used only for an existing session.
    let account = sessions::account(&headers).filter(|account| app.sessions.touch(account));
    let Some(account) = account else {
        return Ok(pages::login_needed());
    };
    let client = app
        .client
        .with_token_source(app.managers.manager(&account)?);
    let user = client.registered_user().await?.value;
    Ok(pages::greeting(user.first_name.as_deref()))
}

/// Redirects the browser to the identity provider.
async fn log_in(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let login = app.provider.authorization().start()?;
    let id = cookies::new_id()?;
    app.pending.keep(&id, login.to_secret_json());
    let to = Redirect::to(login.url().as_str());
    Ok((cookies::set("login", &id), to).into_response())
}

/// Completes the login of the cookie, which can be used once, even if it fails.
async fn callback(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let login = cookies::read(&headers, "login").and_then(|id| app.pending.take(&id));
    let login = login.ok_or(Problem::NoLogin)?;
    let login = PendingLogin::from_secret_json(&app.provider, &login)?;
    // A new id prevents session fixation: no other site can have set it before the login.
    let session = cookies::new_id()?;
    let account = sessions::account_of(&session);
    let manager = app.managers.manager(&account)?;
    let query = query.unwrap_or_default();
    manager.complete_login(login, &query).await?;
    for over in app.sessions.begin(&account) {
        if let Ok(manager) = app.managers.manager(&over) {
            // Runs in a task of its own.
            drop(manager.logout(None));
        }
    }
    Ok((cookies::set("session", &session), Redirect::to("/")).into_response())
}

/// Ends the session here, and redirects the browser to end the session at the identity provider.
async fn log_out(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let account = sessions::account(&headers).filter(|account| app.sessions.end(account));
    let mut next = "/".to_owned();
    if let Some(manager) = account.and_then(|account| app.managers.manager(&account).ok()) {
        let report = manager.logout(None).await;
        for problem in &report.problems {
            eprintln!("logout: {}", cli::printable(problem));
        }
        next = report.url.map_or(next, Into::into);
    }
    (cookies::forget("session"), Redirect::to(&next)).into_response()
}
