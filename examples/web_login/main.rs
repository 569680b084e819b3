//! A web application with many users: `cargo run --example web_login -- [--serve [--port N]]`.
//!
//! Each browser has a session cookie, each session an account in a set of token managers, with a record of its own in one
//! store. The account's key is a hash of the session id: keys stand in stores, where nobody should find a cookie. Sessions and managers are bounded. Alone, the example logs one user in and out through itself and ends. With
//! `--serve` it stays up, on a fake identity provider that asks nobody for a password.

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

/// What all requests share. A server on many hosts keeps the last two in a database, under the same keys.
struct App {
    provider: Provider,
    /// The connections and settings of all users. It has no token of its own.
    client: Client,
    /// A token manager for each user who is doing something; the store knows the others.
    managers: TokenManagerSet,
    /// Logins that have begun, by their cookie.
    pending: Pending,
    /// Users by the hash of their cookie, which is their account's key as well.
    sessions: Sessions,
}

#[tokio::main]
async fn main() -> ExitCode {
    cli::end(run(Arguments::read()).await)
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let listener = TcpListener::bind(("127.0.0.1", arguments.port)).await?;
    let home = Url::parse(&format!("http://{}/", listener.local_addr()?))?;
    // After a logout the provider sends the browser to the application's default page (5.8).
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

/// Greets the user, with what the service knows.
async fn front_page(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    // Only the key of a session that was found: whoever names a key gets its tokens.
    let account = sessions::account(&headers).filter(|account| app.sessions.touch(account));
    let Some(account) = account else {
        return Ok(pages::stranger());
    };
    let client = app
        .client
        .with_token_source(app.managers.manager(&account)?);
    let user = client.registered_user().await?.value;
    Ok(pages::greeting(user.first_name.as_deref()))
}

/// Sends the browser to the identity provider.
async fn log_in(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let login = app.provider.authorization().start()?;
    let id = cookies::new_id()?;
    app.pending.keep(&id, login.to_secret_json());
    let to = Redirect::to(login.url().as_str());
    Ok((cookies::set("login", &id), to).into_response())
}

/// The browser is back. The login is found by its cookie and used up, whatever comes of it.
async fn callback(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let login = cookies::read(&headers, "login").and_then(|id| app.pending.take(&id));
    let login = login.ok_or(Problem::NoLogin)?;
    let login = PendingLogin::from_secret_json(&app.provider, &login)?;
    // A new id: nobody can have handed it to this browser before the login.
    let session = cookies::new_id()?;
    let account = sessions::account_of(&session);
    let manager = app.managers.manager(&account)?;
    let query = query.unwrap_or_default();
    manager.complete_login(login, &query).await?;
    for over in app.sessions.begin(&account) {
        if let Ok(manager) = app.managers.manager(&over) {
            // Goes on by itself.
            drop(manager.logout(None));
        }
    }
    Ok((cookies::set("session", &session), Redirect::to("/")).into_response())
}

/// Ends the session here, and sends the browser on to end the one at the identity provider.
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
