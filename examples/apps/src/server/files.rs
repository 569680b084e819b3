//! Static files of the pages.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::routing::{MethodRouter, get};

pub(crate) const CSS: &str = "text/css; charset=utf-8";
pub(crate) const SCRIPT: &str = "text/javascript; charset=utf-8";

/// A file in the program. Browsers fetch it again after a minute, because the next build may have a new version.
pub(crate) fn file<S>(media_type: &'static str, text: &'static str) -> MethodRouter<S>
where
    S: Clone + Send + Sync + 'static,
{
    let headers = [(CONTENT_TYPE, media_type), (CACHE_CONTROL, "max-age=60")];
    get((headers, text))
}
