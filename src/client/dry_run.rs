//! A request that is looked at and not sent.

use std::fmt;

use url::Url;

use crate::transport::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use crate::transport::{Body, Request};

/// A request as it would be sent, all but the `authorization` header, from [`Call::dry_run`](super::Call::dry_run).
///
/// `Debug` shows neither header values nor the body, which may hold personal data.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use envd_sdk::graphql::generated::{Questions, questions};
///
/// let fake = envd_sdk::fake::Fake::start().await;
/// let client = fake.client().build()?;
/// let request = client.request::<Questions>(questions::Variables {}).dry_run()?;
/// assert_eq!(request.method(), "POST");
/// assert!(request.body().starts_with(r#"{"operationName":"Questions","query":"query Questions"#));
/// assert!(request.headers().any(|(name, _)| name == "content-type"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct DryRun {
    url: Url,
    headers: HeaderMap,
    body: String,
}

impl DryRun {
    pub(super) fn of(request: Request, user_agent: &str) -> Self {
        let mut headers = request.headers;
        if let Some(media_type) = request.body.media_type() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        if let Ok(name) = HeaderValue::from_str(user_agent) {
            headers.insert(USER_AGENT, name);
        }
        let body = match &request.body {
            Body::Empty => String::new(),
            Body::Json(body) | Body::Form(body) => String::from_utf8_lossy(body).into_owned(),
        };
        Self {
            url: request.url,
            headers,
            body,
        }
    }

    /// The HTTP method, always `POST` (spec 4.1).
    #[must_use]
    pub fn method(&self) -> &'static str {
        "POST"
    }

    /// The endpoint.
    #[must_use]
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Names, in lower case, and values.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
    }

    /// The JSON that is posted, with all variables.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }
}

impl fmt::Debug for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("DryRun")
            .field("headers", &names)
            .field("bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
