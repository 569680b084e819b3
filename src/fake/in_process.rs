//! A service in the same process as its client.

use std::sync::Arc;

use futures_util::FutureExt;
use serde::Serialize;

use super::script::{Received, checked_header, checked_status};
use crate::error::Error;
use crate::transport::header::{CONTENT_TYPE, HeaderMap};
use crate::transport::{HttpOptions, InProcessHandler, Reply};

/// A test service in the same process as its client: a function from a request to a reply, instead of the network.
///
/// Pass it to a client, a provider or a register with [`HttpOptions::in_process`]. There is no socket, thread or task: each
/// call polls the future of its reply itself. Many thousand calls take a second, and with a [manual
/// clock](crate::Clock::manual) every run is identical: a call dropped at its n-th poll is always dropped at the same point of
/// the service.
///
/// The function receives each request as it would be sent, without the headers of a connection (`host`, `content-length`,
/// `user-agent`). Any endpoint works, because no connection is made. Connection settings have no effect: proxy, certificates,
/// and the time limits of a request. A request to which the function responds with [`pending`](std::future::pending) ends at
/// the [deadline](crate::Call::deadline) of its call, on the client's clock.
///
/// Alternatively, use [`Fake`](super::Fake), which implements the behaviour of the service and serves it over TCP. This type
/// has no behaviour of its own.
///
/// ```
/// # test_support::example(async {
/// use envd_sdk::auth::StaticToken;
/// use envd_sdk::fake::{InProcess, InProcessReply, NoReply};
/// use envd_sdk::{Client, HttpOptions};
/// use serde_json::json;
///
/// let service = InProcess::new(|request| async move {
///     match request.operation().as_deref() {
///         Some("UserDetails") => {
///             let data = json!({"userDetails": {"firstName": "Sam"}});
///             Ok(InProcessReply::status(200).json(json!({"data": data})))
///         }
///         _ => Err(NoReply::ConnectionLost),
///     }
/// });
/// let client = Client::builder("https://api.example.com/graphql")
///     .http(HttpOptions::default().in_process(service))
///     .token_source(StaticToken::new("a-token")?)
///     .build()?;
///
/// assert_eq!(client.user_details().await?.value.first_name.as_deref(), Some("Sam"));
/// // The reply to a change is lost, so the change may have been carried out.
/// let error = client.account("envd-1").copy_consignment("C-900000101").await.unwrap_err();
/// assert!(error.kind() == envd_sdk::ErrorKind::Transport && error.may_have_applied());
/// # Ok(()) });
/// ```
#[derive(Clone)]
#[doc(alias("mock", "stub", "transport", "handler", "deterministic", "simulation"))]
pub struct InProcess(InProcessHandler);

impl InProcess {
    /// Creates a service that answers each request with this function. It may be called again before an earlier reply is
    /// complete.
    ///
    /// Clones share the function, so several clients can use one service.
    pub fn new<F, A>(answer: F) -> Self
    where
        F: Fn(Received) -> A + Send + Sync + 'static,
        A: Future<Output = Result<InProcessReply, NoReply>> + Send + 'static,
    {
        Self(Arc::new(move |request| {
            answer(Received::sent(request))
                .map(|answer| match answer {
                    Ok(InProcessReply(reply)) => Ok(reply),
                    Err(no_reply) => Err(no_reply.into_error()),
                })
                .boxed()
        }))
    }
}

debug_shows!(InProcess);

impl HttpOptions {
    /// Answers all requests with a service in this process, for tests without sockets. [`InProcess`] has an example with a
    /// client.
    ///
    /// For a [provider](crate::auth::ProviderBuilder::http), these are all token requests, including those of a token manager:
    ///
    /// ```
    /// # test_support::example(async {
    /// use envd_sdk::HttpOptions;
    /// use envd_sdk::auth::{Provider, TokenManager};
    /// use envd_sdk::fake::{InProcess, InProcessReply};
    /// use serde_json::json;
    ///
    /// let idp = InProcess::new(|request| async move {
    ///     assert_eq!(request.path(), "/oauth/token");
    ///     let tokens = json!({
    ///         "access_token": "at-1", "refresh_token": "rt-1", "expires_in": 600, "token_type": "Bearer",
    ///     });
    ///     Ok(InProcessReply::status(200).json(tokens))
    /// });
    /// let provider = Provider::builder("my-client-id")
    ///     .http(HttpOptions::default().in_process(idp))
    ///     .authorize_url("https://sso.example.com/authorize")
    ///     .token_url("https://sso.example.com/oauth/token")
    ///     .redirect_uri("https://app.example.com/callback")
    ///     .scopes(["offline_access"])
    ///     .build()?;
    /// let manager = TokenManager::builder(provider).build()?;
    ///
    /// let login = manager.provider().authorization().start()?;
    /// let (_, state) = login.url().query_pairs().find(|(name, _)| name == "state").unwrap();
    /// let callback = format!("https://app.example.com/callback?code=c-1&state={state}");
    /// manager.complete_login(login, &callback).await?;
    /// assert_eq!(manager.access_token().await?.expose(), "at-1");
    /// # Ok(()) });
    /// ```
    #[doc(alias("mock", "transport"))]
    pub fn in_process(mut self, service: InProcess) -> Self {
        self.in_process = Some(service.0);
        self
    }
}

/// A reply from an [`InProcess`] service.
///
/// ```
/// use envd_sdk::fake::InProcessReply;
///
/// let busy = InProcessReply::status(429).header("retry-after", "30");
/// # let _ = busy;
/// ```
#[derive(Clone)]
#[must_use]
pub struct InProcessReply(Reply);

impl InProcessReply {
    /// A reply with this HTTP status, from 200 to 599, and an empty body.
    ///
    /// # Panics
    ///
    /// If the status is out of this range.
    #[track_caller]
    pub fn status(status: u16) -> Self {
        Self(Reply {
            status: checked_status(status),
            headers: HeaderMap::new(),
            body: Vec::new().into(),
        })
    }

    /// Sets a header of the reply.
    ///
    /// # Panics
    ///
    /// If the name or the value is invalid.
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let (name, value) = checked_header(name, value);
        self.0.headers.insert(name, value);
        self
    }

    /// Sets the body and its media type.
    ///
    /// # Panics
    ///
    /// If the media type is not a valid header value.
    #[track_caller]
    pub fn body(mut self, media_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.0.body = body.into().into();
        self.header(CONTENT_TYPE.as_str(), media_type)
    }

    /// Sets a JSON body.
    ///
    /// # Panics
    ///
    /// If the value cannot be serialized as JSON.
    #[track_caller]
    pub fn json(self, body: impl Serialize) -> Self {
        let body = serde_json::to_vec(&body);
        let body = body.unwrap_or_else(|error| panic!("cannot be serialized as JSON: {error}"));
        self.body("application/json", body)
    }
}

// Hides headers and body, which may contain tokens.
debug_shows!(InProcessReply, |it| status: it.0.status);

/// Why a request to an [`InProcess`] service gets no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoReply {
    /// The service is unreachable: the request certainly was not sent ([`Connect`](crate::ErrorKind::Connect)).
    Unreachable,
    /// The connection was lost after the client started sending: a change may have been carried out
    /// ([`may_have_applied`](Error::may_have_applied)).
    ConnectionLost,
    /// The request timed out, but may have arrived ([`Timeout`](crate::ErrorKind::Timeout)).
    TimedOut,
}

impl NoReply {
    fn into_error(self) -> Error {
        Error::no_reply(self == Self::TimedOut, self != Self::Unreachable)
    }
}
