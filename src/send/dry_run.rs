//! The result of a dry run.

use url::Url;

use crate::transport::Request;

/// A request as it would be sent, without the `authorization` header. Returned by [`Call::dry_run`](super::Call::dry_run).
///
/// `Debug` shows neither header values nor the body, which may hold personal data.
///
/// ```
/// # test_support::example(async {
/// let fake = envd_sdk::fake::Fake::start().await;
/// let client = fake.client().build()?;
/// let request = client.questions().dry_run()?;
/// assert_eq!(request.method, "POST");
/// assert!(request.body.starts_with(r#"{"operationName":"Questions","query":"query Questions"#));
/// assert!(request.headers.iter().any(|(name, _)| name == "content-type"));
/// # Ok(()) });
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct DryRun {
    /// The HTTP method.
    pub method: String,
    /// The address.
    pub url: Url,
    /// Names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The posted JSON with all variables; empty for a `GET`.
    pub body: String,
}

impl DryRun {
    pub(super) fn new(request: Request, user_agent: &str) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut headers = vec![("user-agent".to_owned(), user_agent.to_owned())];
        let set = request.headers.iter();
        headers.extend(set.map(|(name, value)| (name.to_string(), text(value.as_bytes()))));
        let body = text(&request.body);
        Self {
            method: request.method.to_string(),
            url: request.url,
            headers,
            body,
        }
    }
}

debug_shows!(DryRun, |it|
    headers: it.headers.iter().map(|(name, _)| name).collect::<Vec<_>>(),
    bytes: it.body.len(),
);
