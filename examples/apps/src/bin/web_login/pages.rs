//! The pages.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use envd_sdk::ErrorKind;
use minijinja::{Value, context};

use super::cli;
use super::server::pages::Pages;

static PAGES: Pages = Pages::new(&[
    ("base.html", include_str!("pages/base.html")),
    ("message.html", include_str!("pages/message.html")),
    ("desk.html", include_str!("pages/desk.html")),
]);

/// The page without a login.
pub(crate) fn login_needed() -> Response {
    let text =
        "Log in with your livestock account to see your accounts and your latest consignments.";
    message(
        StatusCode::OK,
        ("Your consignments", text, None),
        Some(("/login", "Log in")),
    )
}

/// The page of a logged-in user.
pub(crate) fn desk(values: Value) -> Response {
    render(StatusCode::OK, "desk.html", values)
}

fn message(
    status: StatusCode,
    (heading, text, detail): (&str, &str, Option<String>),
    link: Option<(&str, &str)>,
) -> Response {
    let values = context! { heading, text, detail, link };
    render(status, "message.html", values)
}

fn render(status: StatusCode, name: &str, values: Value) -> Response {
    let page = PAGES.html(name, values);
    page.map(|page| (status, page)).into_response()
}

/// An error, with its page.
pub(crate) enum Problem {
    Sdk(envd_sdk::Error),
    NoLogin,
    OtherLogin,
    NoSuchAccount,
    NoSuchPage,
    NoRandomness,
}

impl From<envd_sdk::Error> for Problem {
    fn from(error: envd_sdk::Error) -> Self {
        Self::Sdk(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        const LOG_IN: (&str, &str) = ("/login", "Log in again");
        const BACK: (&str, &str) = ("/", "Back to your accounts");
        let (status, heading, text, link) = match self {
            Self::Sdk(error) => return sdk_problem(&error),
            Self::NoLogin => (
                StatusCode::BAD_REQUEST,
                "This login is over",
                "No login was started in this browser, or its link was already used.",
                LOG_IN,
            ),
            Self::OtherLogin => (
                StatusCode::BAD_REQUEST,
                "This is not your login",
                "This address belongs to a login in another browser. Continue there, or log in here.",
                LOG_IN,
            ),
            Self::NoSuchAccount => (
                StatusCode::NOT_FOUND,
                "No such account",
                "Your login has no account with this id.",
                BACK,
            ),
            Self::NoSuchPage => (
                StatusCode::NOT_FOUND,
                "No such page",
                "There is nothing at this address.",
                BACK,
            ),
            Self::NoRandomness => (
                StatusCode::INTERNAL_SERVER_ERROR,
                "No login now",
                "This machine has no random numbers.",
                LOG_IN,
            ),
        };
        message(status, (heading, text, None), Some(link))
    }
}

/// Errors of the crate contain no secrets.
fn sdk_problem(error: &envd_sdk::Error) -> Response {
    const LOG_IN: (&str, &str) = ("/login", "Log in again");
    let (status, heading, text, link) = if error.is_reauth_required() {
        (
            StatusCode::UNAUTHORIZED,
            "Your login has ended",
            "Log in again to continue.",
            LOG_IN,
        )
    } else if error.kind() == ErrorKind::LoginRefused {
        (
            StatusCode::FORBIDDEN,
            "You are not logged in",
            "The identity provider did not complete the login.",
            LOG_IN,
        )
    } else if error.kind() == ErrorKind::NotRegistered {
        (
            StatusCode::FORBIDDEN,
            "Not registered yet",
            "Your login works, but you are not registered with the service. Register on its website first.",
            LOG_IN,
        )
    } else {
        (
            StatusCode::BAD_GATEWAY,
            "The service does not respond correctly",
            "Nothing was changed. Try again in a moment.",
            ("/", "Try again"),
        )
    };
    let detail = Some(cli::printable(error));
    message(status, (heading, text, detail), Some(link))
}
