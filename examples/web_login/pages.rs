//! The pages.

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Response};

/// The page without a login.
pub(crate) fn login_needed() -> Response {
    let page = Html("<p><a href=\"/login\">Log in</a></p>");
    (StatusCode::UNAUTHORIZED, page).into_response()
}

/// The page of a logged-in user.
pub(crate) fn greeting(name: Option<&str>) -> Response {
    let name = name.unwrap_or_default();
    let name = name.replace('&', "&amp;").replace('<', "&lt;");
    let form = "<form method=\"post\" action=\"/logout\"><button>Log out</button></form>";
    Html(format!("<p>Good day, {name}.</p>{form}")).into_response()
}

/// An error, with its page.
pub(crate) enum Problem {
    Sdk(envd_sdk::Error),
    NoLogin,
    NoRandomness,
}

impl From<envd_sdk::Error> for Problem {
    fn from(error: envd_sdk::Error) -> Self {
        Self::Sdk(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let error = match self {
            Self::Sdk(error) => error,
            Self::NoLogin => {
                let page = "no login was started in this browser";
                return (StatusCode::BAD_REQUEST, page).into_response();
            }
            Self::NoRandomness => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        };
        let status = if error.is_reauth_required() || error.is_login_refused() {
            StatusCode::UNAUTHORIZED
        } else {
            StatusCode::BAD_GATEWAY
        };
        // Errors of the crate contain no secrets.
        (status, error.to_string()).into_response()
    }
}
