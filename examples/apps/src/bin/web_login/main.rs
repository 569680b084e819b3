//! A web application with many users: `cargo run -p apps --bin web_login -- [--serve [--port N] [--address URL]]`.
//!
//! Each browser has a session cookie. Each session has its own record in one store, and a token manager in a cache. The
//! account's key is a hash of the session id, because stores show keys in clear text and must not reveal a cookie. The numbers
//! of sessions and managers are limited. All users share one client, and so one connection pool. A second login ends the first
//! session of its browser; a forged callback changes nothing. By default the example logs one user in and out, then ends. With
//! `--serve` it keeps running, with a fake identity provider that needs no password.

#[path = "../../../../browser/mod.rs"]
mod browser;
#[path = "../../../../cli/mod.rs"]
mod cli;
mod command_line;
mod cookies;
mod desk;
mod login;
mod pages;
mod pending;
#[path = "../../server/mod.rs"]
mod server;
mod sessions;
mod visit;

use std::process::ExitCode;
use std::sync::Arc;

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use envd_sdk::Client;
use envd_sdk::auth::{MemoryStore, Provider, TokenManager, TokenManagerBuilder};
use envd_sdk::fake::Fake;
use quick_cache::sync::Cache;

use cli::Failure;
use command_line::Arguments;
use cookies::Cookies;
use pages::Problem;
use pending::Pending;
use server::files::{CSS, file};
use server::guard::Guard;
use sessions::Sessions;

/// The state that all requests share. With several hosts, the last two fields are tables in a database, with the same keys.
struct App {
    provider: Provider,
    /// The connections and settings of all users, without a token.
    client: Client,
    /// The settings that all token managers share, such as the store.
    template: TokenManagerBuilder,
    /// The token managers of the active users; the store has the tokens of the others.
    managers: Cache<String, TokenManager>,
    /// Started logins, by the hash of their cookie.
    pending: Pending,
    /// Sessions, by the hash of their cookie, which is also the account's key.
    sessions: Sessions,
    cookies: Cookies,
}

impl App {
    /// The key of a request's session, which may have ended.
    fn session(&self, headers: &HeaderMap) -> Option<String> {
        let id = self.cookies.read(headers, login::SESSION)?;
        Some(cookies::hash(&id))
    }

    /// The token manager of a session.
    fn manager(&self, account: &str) -> envd_sdk::Result<TokenManager> {
        let new = || self.template.clone().account(account).build();
        self.managers.get_or_insert_with(account, new)
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    cli::end(run(Arguments::read()).await)
}

async fn run(arguments: Arguments) -> Result<(), Failure> {
    let (listener, local) = server::listen(arguments.port).await?;
    let home = arguments.address.unwrap_or(local);
    // After a logout the provider redirects the browser to the application's default page (spec 5.8).
    let fake = Fake::builder().allow_return_to(home.clone());
    let fake = fake.start().await?;
    let redirect = command_line::redirect_uri(&home)?;
    let provider = fake.provider().redirect_uri(redirect.as_str()).build()?;
    let client = Client::builder(fake.graphql_url())
        .token_source(|| async { Err(envd_sdk::Error::login_needed()) })
        .build()?;
    let app = App {
        template: TokenManager::builder(provider.clone()).store(MemoryStore::new()),
        provider,
        client,
        managers: Cache::new(100_000),
        pending: Pending::default(),
        sessions: Sessions::default(),
        cookies: Cookies::at(&home),
    };
    // The logout form redirects to the identity provider, and browsers apply `form-action` to that redirect.
    let provider = fake.logout_url().origin().ascii_serialization();
    let policy = format!("img-src data:; form-action 'self' {provider}");
    let routes = Router::new()
        .route("/", get(desk::page))
        .route(
            "/style.css",
            file(CSS, include_str!("../../../../look/style.css")),
        )
        .route("/login", get(login::log_in))
        .route(redirect.path(), get(login::callback))
        .route("/logout", post(login::log_out))
        .fallback(async || Problem::NoSuchPage)
        .with_state(Arc::new(app));
    let routes = Guard::new(&home, &policy)?.protect(routes);
    if arguments.serve {
        server::serve(listener, routes, &home).await
    } else {
        tokio::spawn(axum::serve(listener, routes).into_future());
        visit::play(&home).await
    }
}
