//! A web application with many users: `cargo run --example web_login -- [--serve [--port N]]`.
//!
//! Each browser has a session cookie, each session an account in a set of token managers, with a record of its own in one
//! store. Sessions and managers are bounded. Alone, the example logs one user in and out through itself and ends. With
//! `--serve` it stays up, on a fake identity provider that asks nobody for a password.

mod browser;
mod reader;
mod sessions;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use envd_sdk::auth::{MemoryStore, PendingLogin, Provider, TokenManager, TokenManagerSet};
use envd_sdk::fake::Fake;
use envd_sdk::{Client, Secret};
use tokio::net::TcpListener;
use url::Url;

use browser::{Browser, Failure};
use sessions::Sessions;

const USAGE: &str = "usage: web_login [--serve [--port N]]";

/// Who has begun a login and not come back; the oldest is forgotten when there are more.
const MOST_PENDING: usize = 10_000;

/// Users at once; the one who was last seen the longest time ago is logged out when there are more.
const MOST_SESSIONS: usize = 10_000;

/// A user who stays away for longer is logged out.
const IDLE: Duration = Duration::from_secs(12 * 3_600);

/// What all requests share. A server on many hosts keeps the texts in a database, under the same keys.
struct App {
    provider: Provider,
    graphql: Url,
    /// A token manager for each user who is doing something; the store knows the others.
    managers: TokenManagerSet,
    /// Logins by their cookie, as texts that any host can read.
    pending: Mutex<Vec<(String, Secret)>>,
    /// Users by their cookie, which is their account's key as well.
    sessions: Sessions,
}

#[tokio::main]
async fn main() -> ExitCode {
    reader::may_leave();
    let (serve, port) = match arguments(lexopt::Parser::from_env()) {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(serve, port).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn arguments(mut parser: lexopt::Parser) -> Result<(bool, u16), lexopt::Error> {
    use lexopt::{Arg::Long, ValueExt};
    let (mut serve, mut port) = (false, 0);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("serve") => serve = true,
            Long("help") => {
                println!("{USAGE}");
                std::process::exit(0);
            }
            Long("port") => port = parser.value()?.parse()?,
            _ => return Err(argument.unexpected()),
        }
    }
    Ok((serve, port))
}

async fn run(serve: bool, port: u16) -> Result<(), Failure> {
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let home = Url::parse(&format!("http://{}/", listener.local_addr()?))?;
    // After a logout the provider sends the browser to the application's default page (5.8).
    let fake = Fake::builder();
    let fake = fake.allow_return_to(home.clone()).start().await?;
    let provider = fake.provider().redirect_uri(home.join("callback")?);
    let provider = provider.build()?;
    let template = TokenManager::builder(provider.clone()).store(MemoryStore::new());
    let app = Arc::new(App {
        provider,
        graphql: fake.graphql_url(),
        managers: TokenManagerSet::builder(template).build()?,
        pending: Mutex::default(),
        sessions: Sessions::new(MOST_SESSIONS, IDLE),
    });
    let routes = Router::new()
        .route("/", get(front_page))
        .route("/login", get(log_in))
        .route("/callback", get(callback))
        .route("/logout", post(log_out))
        .with_state(app);
    let server = axum::serve(listener, routes).with_graceful_shutdown(async move {
        if serve {
            // OK to ignore: without the signal the server ends at once.
            let _ = tokio::signal::ctrl_c().await;
        } else {
            std::future::pending::<()>().await;
        }
    });
    if serve {
        println!("Open {home}; Ctrl-C ends.");
        return Ok(server.await?);
    }
    tokio::spawn(server.into_future());
    show(&home).await
}

/// One user, from the first page to the last.
async fn show(home: &Url) -> Result<(), Failure> {
    let mut browser = Browser::default();
    let page = browser.open(home).await?;
    expect(page.status == 401, "a stranger is asked to log in")?;
    let page = browser.open(&home.join("login")?).await?;
    expect(
        page.url == *home && page.body.contains("Sam"),
        "the user is greeted by name",
    )?;
    let page = Browser::default().open(home).await?;
    expect(page.status == 401, "another browser is another user")?;
    browser.submit(&home.join("logout")?).await?;
    let page = browser.open(home).await?;
    expect(
        page.status == 401,
        "after the logout the user is a stranger again",
    )
}

fn expect(holds: bool, what: &str) -> Result<(), Failure> {
    if holds {
        println!("ok: {what}");
        return Ok(());
    }
    Err(format!("not so: {what}").into())
}

/// Greets the user, with what the service knows.
async fn front_page(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Problem> {
    // Only the key of a session that was found: whoever names a key gets its tokens.
    let session = cookie(&headers, "session").filter(|id| app.sessions.touch(id));
    let Some(session) = session else {
        let page = Html("<p><a href=\"/login\">Log in</a></p>");
        return Ok((StatusCode::UNAUTHORIZED, page).into_response());
    };
    let client = Client::builder(app.graphql.as_str())
        .token_source(app.managers.manager(&session)?)
        .build()?;
    let user = client.registered_user().await?.value;
    let name = user.first_name.unwrap_or_default();
    let name = name.replace('&', "&amp;").replace('<', "&lt;");
    let form = "<form method=\"post\" action=\"/logout\"><button>Log out</button></form>";
    Ok(Html(format!("<p>Good day, {name}.</p>{form}")).into_response())
}

/// Sends the browser to the identity provider.
async fn log_in(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let login = app.provider.authorization().start()?;
    let id = random_id()?;
    {
        let mut pending = app.pending();
        if pending.len() >= MOST_PENDING {
            pending.remove(0);
        }
        pending.push((id.clone(), login.to_secret_json()));
    }
    let cookie = [(SET_COOKIE, set_cookie("login", &id))];
    Ok((cookie, Redirect::to(login.url().as_str())).into_response())
}

/// The browser is back. The login is found by its cookie and used up, whatever comes of it.
async fn callback(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = cookie(&headers, "login").unwrap_or_default();
    let login = {
        let mut pending = app.pending();
        let found = pending.iter().position(|(known, _)| *known == id);
        found.map(|at| pending.remove(at).1)
    };
    let Some(login) = login else {
        return Ok((
            StatusCode::BAD_REQUEST,
            "no login was begun in this browser",
        )
            .into_response());
    };
    let login = PendingLogin::from_secret_json(&app.provider, &login)?;
    // A new id: nobody can have handed it to this browser before the login.
    let session = random_id()?;
    let manager = app.managers.manager(&session)?;
    manager
        .complete_login(login, &query.unwrap_or_default())
        .await?;
    for over in app.sessions.begin(&session) {
        if let Ok(manager) = app.managers.manager(&over) {
            // Goes on by itself.
            drop(manager.logout(None));
        }
    }
    let cookie = [(SET_COOKIE, set_cookie("session", &session))];
    Ok((cookie, Redirect::to("/")).into_response())
}

/// Ends the session here, and sends the browser on to end the one at the identity provider.
async fn log_out(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let session = cookie(&headers, "session").filter(|id| app.sessions.end(id));
    let mut next = "/".to_owned();
    if let Some(manager) = session.and_then(|id| app.managers.manager(&id).ok()) {
        let report = manager.logout(None).await;
        for problem in &report.problems {
            eprintln!("logout: {problem}");
        }
        next = report.url.map_or(next, Into::into);
    }
    let cookie = [(
        SET_COOKIE,
        "session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
    )];
    (cookie, Redirect::to(&next)).into_response()
}

impl App {
    fn pending(&self) -> MutexGuard<'_, Vec<(String, Secret)>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Not for scripts, and not sent along with requests that other sites make. On `https` add `Secure`.
fn set_cookie(name: &str, value: &str) -> String {
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax")
}

fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let cookies = headers.get(COOKIE)?.to_str().ok()?;
    let mut pairs = cookies.split("; ").filter_map(|pair| pair.split_once('='));
    pairs
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value.to_owned())
}

/// 128 bits that cannot be guessed.
fn random_id() -> Result<String, Problem> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Problem::Unlucky)?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)))
}

/// What the user sees when something fails.
enum Problem {
    Sdk(envd_sdk::Error),
    Unlucky,
}

impl From<envd_sdk::Error> for Problem {
    fn from(error: envd_sdk::Error) -> Self {
        Self::Sdk(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self::Sdk(error) = self else {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        let status = if error.is_reauth_required() || error.is_login_refused() {
            StatusCode::UNAUTHORIZED
        } else {
            StatusCode::BAD_GATEWAY
        };
        // Errors of the crate hold no secrets.
        (status, error.to_string()).into_response()
    }
}
