//! A web application with many users: `cargo run --example web_login -- [--serve [--port N] [--address URL]]`.
//!
//! Each browser has a session cookie. Each session has an account in a set of token managers, with a record of its own in one
//! store. The account's key is a hash of the session id, because stores contain keys in clear text and must not reveal a
//! cookie. The numbers of sessions and managers are limited. All users share one client, and so one pool of connections. A
//! second login ends the first session of its browser; a made-up callback changes nothing. By default the example logs one
//! user in and out and ends. With `--serve` it keeps running, on a fake identity provider that needs no password.

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../cli/mod.rs"]
mod cli;
mod command_line;
mod cookies;
mod desk;
mod headers;
mod login;
mod pages;
mod pending;
mod server;
mod sessions;
mod visit;

use std::process::ExitCode;
use std::sync::Arc;

use axum::http::HeaderMap;
use axum::routing::{get, post};
use axum::{Router, middleware};
use envd_sdk::Client;
use envd_sdk::auth::{MemoryStore, Provider, TokenManager, TokenManagerSet};
use envd_sdk::fake::Fake;
use tokio::net::TcpListener;
use url::Url;

use cli::Failure;
use command_line::Arguments;
use cookies::Cookies;
use headers::Headers;
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
    /// Started logins, by the hash of their cookie.
    pending: Pending,
    /// Sessions, by the hash of their cookie, which is also the account's key.
    sessions: Sessions,
    cookies: Cookies,
}

impl App {
    /// The key of a request's session, which may be over.
    fn session(&self, headers: &HeaderMap) -> Option<String> {
        let id = self.cookies.read(headers, login::SESSION)?;
        Some(cookies::hash(&id))
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    cli::end(run(Arguments::read()).await)
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let listener = TcpListener::bind(("127.0.0.1", arguments.port)).await?;
    let home = match arguments.address {
        Some(address) => address,
        None => Url::parse(&format!("http://{}/", listener.local_addr()?))?,
    };
    // After a logout the provider redirects the browser to the application's default page (spec 5.8).
    let fake = Fake::builder().allow_return_to(home.clone());
    let fake = fake.start().await?;
    let provider = fake.provider().redirect_uri(home.join("callback")?);
    let provider = provider.build()?;
    let template = TokenManager::builder(provider.clone()).store(MemoryStore::new());
    let client = Client::builder(fake.graphql_url())
        .token_source(|| async { Err(envd_sdk::Error::login_needed()) })
        .build()?;
    let app = App {
        provider,
        client,
        managers: TokenManagerSet::builder(template).build()?,
        pending: Pending::default(),
        sessions: Sessions::default(),
        cookies: Cookies::at(&home),
    };
    let headers = Headers::of(&home, &fake.logout_url())?;
    let routes = Router::new()
        .route("/", get(desk::page))
        .route("/style.css", get(pages::style))
        .route("/login", get(login::log_in))
        .route("/callback", get(login::callback))
        .route("/logout", post(login::log_out))
        .fallback(async || Problem::NoSuchPage)
        .layer(middleware::from_fn_with_state(headers, headers::secure))
        .with_state(Arc::new(app));
    if arguments.serve {
        server::stay(listener, routes, &home).await
    } else {
        server::show(listener, routes, &home).await
    }
}
