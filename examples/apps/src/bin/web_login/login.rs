//! Login and logout.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use envd_sdk::auth::PendingLogin;

use super::pages::Problem;
use super::{App, cli, cookies};

/// The cookie of a started login.
const LOGIN: &str = "login";
/// The cookie of a session.
pub(crate) const SESSION: &str = "session";

/// Redirects the browser to the identity provider.
pub(crate) async fn log_in(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let login = app.provider.authorization().start()?;
    let id = cookies::new_id()?;
    app.pending.keep(cookies::hash(&id), login.to_secret_json());
    let to = Redirect::to(login.url().as_str());
    Ok((AppendHeaders([app.cookies.set(LOGIN, &id)]), to).into_response())
}

/// Completes the login of the cookie. The login can be used only once, even if it fails.
pub(crate) async fn callback(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let query = query.unwrap_or_default();
    // If the browser repeats the request, it already has the session.
    let over = || match app.session(&headers).filter(|key| app.sessions.touch(key)) {
        Some(_) => Ok(Redirect::to("/").into_response()),
        None => Err(Problem::NoLogin),
    };
    let id = app.cookies.read(&headers, LOGIN);
    let Some(key) = id.map(|id| cookies::hash(&id)) else {
        return over();
    };
    let Some(login) = app.pending.read(&key) else {
        return over();
    };
    let login = PendingLogin::from_secret_json(&app.provider, &login)?;
    // Any page can send the browser here with a forged callback, which must not use up the login.
    if !login.expects(&query) {
        return Err(Problem::OtherLogin);
    }
    if !app.pending.remove(&key) {
        return over();
    }
    // A new id prevents session fixation: no other site can have set it before the login.
    let session = cookies::new_id()?;
    let account = cookies::hash(&session);
    let manager = app.manager(&account)?;
    manager.complete_login(login, &query).await?;
    let earlier = app.session(&headers).filter(|old| app.sessions.end(old));
    for over in app.sessions.begin(&account).into_iter().chain(earlier) {
        if let Ok(manager) = app.manager(&over) {
            // The logout runs in its own task.
            drop(manager.logout(None));
        }
    }
    let cookies = [
        app.cookies.forget(LOGIN),
        app.cookies.set(SESSION, &session),
    ];
    Ok((AppendHeaders(cookies), Redirect::to("/")).into_response())
}

/// Ends the session here, and redirects the browser to end the session at the identity provider.
pub(crate) async fn log_out(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let account = app.session(&headers).filter(|old| app.sessions.end(old));
    let mut next = "/".to_owned();
    if let Some(manager) = account.and_then(|account| app.manager(&account).ok()) {
        let report = manager.logout(None).await;
        for problem in &report.problems {
            eprintln!("logout: {}", cli::printable(problem));
        }
        next = report.url.map_or(next, Into::into);
    }
    let cookies = [app.cookies.forget(SESSION)];
    (AppendHeaders(cookies), Redirect::to(&next)).into_response()
}
